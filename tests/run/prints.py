"""A program prints what a file says, nothing else, and ends well.

usage: prints.py FILE PROGRAM [ARGUMENT ...]
"""
import difflib
import pathlib
import subprocess
import sys


def main(path, *command):
    expected = pathlib.Path(path).read_text(encoding="utf-8")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), done.stdout.splitlines(True), path, " ".join(command)))
    print(done.stderr, end="")
    return 0 if done.returncode == 0 and not done.stderr and done.stdout == expected else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
