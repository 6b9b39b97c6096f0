"""What CMake needs: all that is missing is said at once, with the command that installs it, and the
places that install it beforehand have the whole list.

usage: packages.py CMAKE CXX (in the source tree)
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = {"CLI11": "libcli11-dev", "Boost": "libboost-context-dev",
            "nlohmann_json": "nlohmann-json3-dev", "GTest": "libgtest-dev", "Python3": "python3"}
OF_TESTS = {"libgtest-dev", "python3"}
TOOLS = {"cmake", "make", "g++", "patch"}


def configure(cmake, cxx, testing):
    """What CMake says and files where nothing of this is found."""
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in PACKAGES]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [cmake, "-S", ".", "-B", folder, f"-DCMAKE_CXX_COMPILER={cxx}", "-DGPU_PART=OFF",
             f"-DBUILD_TESTING={testing}", *hidden], capture_output=True, text=True)
        filed = (pathlib.Path(folder) / "missing_packages.txt").read_text(encoding="utf-8")
    return result, set(filed.split())


def main(cmake, cxx):
    failed = False
    for testing, expected in (("ON", set(PACKAGES.values())),
                              ("OFF", set(PACKAGES.values()) - OF_TESTS)):
        result, filed = configure(cmake, cxx, testing)
        said = " ".join(result.stderr.split())
        command = re.search(r"sudo apt-get install ([^()]*) \(", said)
        good = (result.returncode != 0 and said.count("CMake Error") == 1 and command
                and set(command.group(1).split()) == expected == filed)
        print(f"BUILD_TESTING={testing}: {'ok' if good else 'FAILED'}: {said}; filed: {filed}")
        failed |= not good

    everything = set(PACKAGES.values()) | TOOLS
    for path in ("docs/reference/limits.md", ".devcontainer/Dockerfile"):
        text = pathlib.Path(path).read_text(encoding="utf-8").replace("\\\n", " ")
        lists = [set(words.split()) for words in re.findall(r"apt-get install ([^`&\n]*)", text)]
        good = any(everything <= words for words in lists)
        print(f"{path}: {'ok' if good else f'FAILED: no list has all of {sorted(everything)}'}")
        failed |= not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
