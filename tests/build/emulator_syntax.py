"""Every kernel.cu is plain C++ to the project's compiler, and to g++ and clang++ where they are,
once the emulator's headers come first.

usage: emulator_syntax.py CXX VERSION... (in the source tree)
"""
import os
import shutil
import subprocess
import sys


def main(cxx, *versions):
    found = [path for path in (cxx, shutil.which("g++"), shutil.which("clang++")) if path]
    compilers = {os.path.realpath(path): path for path in found}.values()
    failed = False
    for version in versions:
        for compiler in compilers:
            command = [compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                       "-Wno-unknown-pragmas", "-Wno-unused-const-variable", "-x", "c++",
                       "-Iemulator", "-Iemulator/cuda", "-Icommon", f"{version}/kernel.cu"]
            result = subprocess.run(command, capture_output=True, text=True)
            print(f"{compiler} {version}: {'ok' if result.returncode == 0 else 'FAILED'}")
            if result.returncode != 0:
                print(result.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
