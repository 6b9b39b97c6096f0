"""The emulator runs on ARM64, too: compare is built with cross compilers and run by qemu.

What this machine's g++ makes is tested elsewhere; here it is how others pass arguments and order
memory. On Debian it needs

  dpkg --add-architecture arm64 && apt-get update
  apt-get install g++-aarch64-linux-gnu qemu-user-static libboost-context-dev:arm64

and takes clang++, which is a cross compiler by itself, where there is one. About a minute.

usage: aarch64.py FOLDER   (in the source tree; FOLDER is for the builds)
Exit code 77: something of this is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys

TARGET = "aarch64-linux-gnu"
COMPILERS = {"g++": [f"{TARGET}-g++"], "clang++": ["clang++", f"--target={TARGET}"]}
PROBLEMS = ["300x264x200", "1x1x8"]


def missing():
    """What cannot be done without, in words; empty if all is there."""
    gcc = COMPILERS["g++"][0]
    if shutil.which(gcc) is None:
        return f"{gcc} was not found"
    if qemu() is None:
        return "qemu-aarch64-static was not found"
    library = "libboost_context.a"
    found = subprocess.run([gcc, f"-print-file-name={library}"], capture_output=True, text=True)
    # A compiler that does not find a library repeats its name.
    return "" if os.path.isabs(found.stdout.strip()) else f"{library} for arm64 was not found"


def qemu():
    return shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


def build(compiler, folder):
    """The path of compare; fails with the tools' own words."""
    program, *target = COMPILERS[compiler]
    options = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
               f"-DCMAKE_CXX_COMPILER={program}", "-DCMAKE_EXE_LINKER_FLAGS=-static",
               "-DBUILD_TESTING=OFF", "-DWARNINGS_AS_ERRORS=ON"]
    if target:
        options.append(f"-DCMAKE_CXX_COMPILER_TARGET={TARGET}")
    # The kernels for a GPU are not the question here: no CUDA compiler by that name is found.
    environment = dict(os.environ, CUDACXX="none")
    subprocess.run(["cmake", "-S", ".", "-B", folder, *options], check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "emulated_compare",
                    "-j", str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder) / "bin" / "emulated" / "compare"


def main(folder):
    lacking = missing()
    if lacking:
        print(f"skipped: {lacking}")
        return 77
    failed = False
    for compiler in COMPILERS:
        if shutil.which(COMPILERS[compiler][0]) is None:
            print(f"{compiler}: not installed")
            continue
        compare = build(compiler, pathlib.Path(folder) / compiler)
        words = [word for problem in PROBLEMS for word in ("--problem", problem)]
        result = subprocess.run([qemu(), compare, *words], capture_output=True, text=True)
        right = result.returncode == 0 and "no hazard was found" in result.stdout
        print(f"{compiler}: {'every version is right' if right else 'NOT right'}")
        if not right:
            print(result.stdout, result.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
