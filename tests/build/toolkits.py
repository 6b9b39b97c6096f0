"""A CUDA toolkit that cannot build the kernels is no worse than none: what runs on the CPU is
built, and one sentence says why the rest is not.

usage: toolkits.py CMAKE CXX [NVCC] (in the source tree)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SAYS_VERSION = "echo 'Cuda compilation tools, release {0}, V{0}.99'"


def configure(cmake, cxx, options, environment):
    """Result of CMake, why there is no GPU part, and the names of the targets."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [cmake, "-S", ".", "-B", folder, f"-DCMAKE_CXX_COMPILER={cxx}", "-DBUILD_TESTING=OFF",
             *options], capture_output=True, text=True, env=dict(os.environ, **environment))
        reason = (pathlib.Path(folder) / "no_gpu_part.txt").read_text(encoding="utf-8")
        targets = subprocess.run([cmake, "--build", folder, "--target", "help"], text=True,
                                 capture_output=True).stdout.split()
    return result, reason, targets


def main(cmake, cxx, nvcc=None):
    failed = False

    def expect(what, options, part, **environment):
        nonlocal failed
        result, reason, targets = configure(cmake, cxx, options, environment)
        good = result.returncode == 0 and "emulated_compare" in targets and "\n" not in reason
        if part:
            good = (good and part in reason and "compare" not in targets
                    and f"Only what runs on the CPU is built: {reason}" in result.stdout)
        else:
            good = good and reason == "" and "compare" in targets
        print(f"{what}: {'ok' if good else 'FAILED'}: {reason}")
        if not good:
            print(result.stdout, result.stderr, targets)
            failed = True

    with tempfile.TemporaryDirectory() as folder:
        stub = pathlib.Path(folder) / "nvcc"
        for what, script, part in (
                ("too old", SAYS_VERSION.format("12.4"), "is of CUDA 12.4, which is too old"),
                ("broken", "exit 1", "does not work"),
                ("new, but it compiles nothing", SAYS_VERSION.format("99.0"), "does not work")):
            stub.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {script}\n", encoding="utf-8")
            stub.chmod(0o755)
            expect(what, [f"-DCMAKE_CUDA_COMPILER={stub}"], part)
    expect("not there", [], "there is no such program", CUDACXX="none")
    expect("not wanted", ["-DGPU_PART=OFF"], "GPU_PART is OFF")
    if nvcc:
        given = [f"-DCMAKE_CUDA_COMPILER={nvcc}"]
        expect("without cuBLAS", [*given, "-DCUDA_cublas_LIBRARY:FILEPATH="], "has no cuBLAS")
        expect("without cublasLt", [*given, "-DCUDA_cublasLt_LIBRARY:FILEPATH="], "has no cuBLAS")
        expect("complete", given, "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
