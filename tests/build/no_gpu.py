"""Where there is no GPU, programs that need one say so in one line and exit with 3.

usage: no_gpu.py PROGRAM...
"""
import os
import subprocess
import sys


def main(programs):
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="")  # hides a GPU that is there
    failed = False
    for program in programs:
        result = subprocess.run([program], capture_output=True, text=True, env=environment)
        said = result.stderr.strip()
        good = result.returncode == 3 and "Hopper GPU" in said and "\n" not in said
        print(f"{program}: exit {result.returncode}, {said!r}")
        failed |= not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
