"""Every C++ and CUDA source is as clang-format leaves it (version 14: others differ in places)."""
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ["common", "emulator", "harness", "tests", "tools"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def main():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if tool else ""
    if not re.search(r"version 14\.", version):
        print("clang-format 14 was not found")
        return 77
    folders = FOLDERS + [str(path) for path in pathlib.Path(".").glob("v[0-9]*_*")]
    files = sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*")
                   if path.suffix in SUFFIXES)
    print(f"{len(files)} files")
    return subprocess.run([tool, "--dry-run", "-Werror", *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
