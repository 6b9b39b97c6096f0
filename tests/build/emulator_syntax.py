"""Every kernel.cu is plain C++ to a host compiler once the emulator's headers come first.

usage: emulator_syntax.py VERSION... (in the source tree)
"""
import shutil
import subprocess
import sys


def main(versions):
    compilers = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]
    if not compilers:
        print("neither g++ nor clang++ was found")
        return 77
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
    sys.exit(main(sys.argv[1:]))
