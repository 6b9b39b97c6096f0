"""CMake refuses architectures on which the kernels cannot run, with a sentence.

usage: architectures.py CMAKE CXX (in the source tree)
"""
import subprocess
import sys
import tempfile


def main(cmake, cxx):
    failed = False
    for architecture in ("native", "90", "80;90a-real"):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [cmake, "-S", ".", "-B", folder, f"-DCMAKE_CXX_COMPILER={cxx}",
                 f"-DCMAKE_CUDA_ARCHITECTURES={architecture}"], capture_output=True, text=True)
        said = " ".join(result.stderr.split())
        good = result.returncode != 0 and "sm_90a alone" in said and "90a-real" in said
        print(f"{architecture}: {'refused' if good else 'NOT refused with the sentence'}")
        if not good:
            print(result.stdout, result.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
