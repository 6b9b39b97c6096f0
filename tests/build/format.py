"""Every C++ and CUDA source is as clang-format leaves it (version 14: others differ in places).
Answers to exercises are their reader's own.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def main():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = ""
    if tool:
        version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    if not re.search(r"version 14\.", version):
        print("clang-format 14 was not found")
        return 77
    folders = [path for path in pathlib.Path(".").iterdir()
               if path.is_dir() and path.name[0] != "." and path.name != "build"
               and not (path / "CMakeCache.txt").exists()]
    files = sorted(str(path) for folder in folders for path in folder.rglob("*")
                   if path.suffix in SUFFIXES
                   and path.parent != pathlib.Path("exercises", "mine"))
    print(f"{len(files)} files")
    return subprocess.run([tool, "--dry-run", "-Werror", *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
