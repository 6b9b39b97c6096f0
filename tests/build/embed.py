"""The ladder inside another project (examples/embed): it builds beside targets of the same names
and for other architectures, changes nothing of that project, needs no package but Boost's and nlohmann's JSON for the
emulator, and what links a kernel links no library but the CUDA runtime.

usage: embed.py CMAKE FOLDER CXX [NVCC] (in the source tree)
"""
import json
import os
import pathlib
import re
import subprocess
import sys

# The CUDA runtime, what it takes from the C library, and the emulator's fibers.
LIBRARIES = {"compare": {"cudart_static", "cudadevrt", "rt", "pthread", "dl"},
             "emulator": {"boost_context", "pthread"}}
OWN_TARGETS = {"all", "clean", "depend", "edit_cache", "rebuild_cache", "compare", "emulator"}
CACHE = {"CMAKE_CUDA_ARCHITECTURES": "80;90", "CMAKE_BUILD_TYPE": "", "WARNINGS_AS_ERRORS": None,
         "BOUNDED_WAITS": None, "GPU_PART": None, "BUILD_TESTING": None}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def main(cmake, folder, cxx, nvcc=None):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = False

    def expect(what, condition, details=""):
        nonlocal failed
        print(f"{what}: {'ok' if condition else f'FAILED {details}'}")
        failed |= not condition

    # Included by the outer project: files what its environment is in the end.
    witness = folder / "witness.cmake"
    witness.write_text("cmake_language(DEFER CALL file WRITE ${CMAKE_BINARY_DIR}/environment.txt "
                       "\"$ENV{CUDAARCHS}\")\n", encoding="utf-8")
    result = run(
        cmake, "--fresh", "-S", "examples/embed", "-B", folder, "-G", "Unix Makefiles",
        f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CUDA_COMPILER={nvcc or 'NOTFOUND'}",
        f"-DCMAKE_CUDA_ARCHITECTURES={CACHE['CMAKE_CUDA_ARCHITECTURES']}",
        f"-DCMAKE_PROJECT_embed_INCLUDE={witness}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON"
          for name in ("CLI11", "GTest", "Python3")),
        env=dict(os.environ, CUDAARCHS="75"))
    expect("configures", result.returncode == 0, result.stdout + result.stderr)
    if failed:
        return 1
    environment = (folder / "environment.txt").read_text(encoding="utf-8")
    expect("its environment is its own", environment == "75", environment)
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$",
                            (folder / "CMakeCache.txt").read_text(encoding="utf-8"), re.M))
    for name, value in CACHE.items():
        expect(f"its cache: {name}", cache.get(name) == value, cache.get(name))
    targets = re.findall(r"^\.\.\. (\w+)(?: |$)", run(
        cmake, "--build", folder, "--target", "help").stdout, re.M)
    foreign = [name for name in targets if not name.startswith("ladder_")]
    expect("names of targets", set(foreign) <= OWN_TARGETS and len(targets) > 14, targets)

    commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    own = [entry["command"] for entry in commands if entry["file"].endswith("main.cpp")]
    expect("its own flags", own and not any(re.search(" -W| -O", line) for line in own), own)
    kernels = [entry["command"] for entry in commands
               if nvcc and entry["command"].startswith(nvcc) and "kernel.cu" in entry["file"]]
    expect("kernels are of sm_90a alone", bool(kernels) == bool(nvcc) and all(
        set(re.findall(r"(?:compute|sm)_\w+", line)) == {"compute_90a", "sm_90a"}
        for line in kernels), kernels)

    result = run(cmake, "--build", folder, "-j2")
    expect("builds", result.returncode == 0, result.stdout + result.stderr)
    expected = {"emulator": {0}}
    if nvcc:
        expected["compare"] = {0, 3}  # 3: there is no GPU here
    for name, codes in expected.items():
        link = (folder / "CMakeFiles" / f"{name}.dir" / "link.txt").read_text(encoding="utf-8")
        libraries = re.findall(r"(?:/lib|\s-l)(\w+)(?=[\s.])(?!/)", link)
        foreign = [lib for lib in libraries if not lib.startswith("ladder_")]
        expect(f"{name}: its libraries", len(foreign) < len(libraries)
               and set(foreign) <= LIBRARIES[name], link)
        result = run(folder / name)
        expect(f"{name}: its result", result.returncode in codes
               and (result.returncode == 3 or result.stdout.startswith("0 of ")),
               result.stdout + result.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
