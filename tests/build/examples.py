"""Examples that are kernels build as projects of their own, and are right: in the emulator, and on a
GPU where there is one. One is built; the others have the same CMakeLists.txt but for the name, and
are tested with the rest (emulator_examples_test, gpu.transpose).

usage: examples.py CMAKE FOLDER CXX [NVCC] (in the source tree)
"""
import pathlib
import subprocess
import sys

NO_GPU = 3  # the exit code
BUILT, OTHERS = "attention", ["transpose"]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def main(cmake, folder, cxx, nvcc=None):
    failed = False

    def expect(what, condition, details=""):
        nonlocal failed
        print(f"{what}: {'ok' if condition else f'FAILED {details}'}")
        failed |= not condition

    def project(example):
        text = pathlib.Path("examples", example, "CMakeLists.txt").read_text(encoding="utf-8")
        return text.replace(example, "NAME")

    for example in OTHERS:
        expect(f"{example}: the same project", project(example) == project(BUILT))
    code, said = run(cmake, "-S", f"examples/{BUILT}", "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                     f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CUDA_COMPILER={nvcc or 'NOTFOUND'}")
    expect("configures", code == 0, said)
    code, said = run(cmake, "--build", folder, "-j2")
    expect("builds", code == 0, said)
    if failed:
        return 1
    code, said = run(pathlib.Path(folder) / f"{BUILT}_emulated")
    expect("in the emulator", code == 0 and "largest error" in said, said)
    if nvcc:
        code, said = run(pathlib.Path(folder) / BUILT)
        expect("on a GPU, or there is none", code in (0, NO_GPU)
               and ("largest error" if code == 0 else "no GPU") in said, said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
