"""A program that only checks looks at the data that are timed last: counters.py counts on it.

usage: timed_data_last.py PROGRAM (which says on a terminal what it is checking)
"""
import os
import pty
import re
import subprocess
import sys


def main(program):
    ours, terminal = pty.openpty()
    run = subprocess.Popen([program, "--check-only", "--data", "uniform", "--m", "64", "--n", "64",
                            "--k", "64"], stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError:  # the program has closed the terminal
        pass
    code = run.wait()
    kinds = re.findall(r"checking \w+ on (\w+) data", said.decode())
    print(f"{program} ended with {code} and checked on: {', '.join(kinds)}")
    return 0 if code == 0 and kinds[-1:] == ["uniform"] and len(kinds) == len(set(kinds)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
