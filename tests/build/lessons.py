"""Each step must stay a lesson: kernel.cu short, its diff to the step before within budget.

usage: lessons.py VERSION... (in ladder order, run in the source tree)
"""
import re
import subprocess
import sys

ADDED_LINES = {2: 40, 3: 40, 4: 100, 5: 40, 6: 100, 7: 100, 8: 100, 9: 40, 10: 100}
KERNEL_LINES = {1: 120, 2: 120, 3: 120, 4: 190, 5: 190, 6: 270, 7: 270, 8: 320, 9: 320, 10: 400}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def number_of(version):
    return int(re.match(r"v(\d+)_", version)[1])


def main(versions):
    failed = False
    if not versions or versions != sorted(versions, key=number_of):
        print(f"these are no versions in ladder order: {versions}")
        return 1
    for version in versions:
        if number_of(version) not in KERNEL_LINES:
            print(f"{version} has no budget; give it one in tests/build/lessons.py")
            return 1

    for version in versions:
        lines = read(f"{version}/kernel.cu").count("\n")
        limit = KERNEL_LINES[number_of(version)]
        print(f"{version}/kernel.cu: {lines} lines (limit {limit})")
        if lines > limit:
            print(f"{version}/kernel.cu is too long by {lines - limit} lines")
            failed = True

    for before, after in zip(versions, versions[1:]):
        diff = subprocess.run(["diff", "-u", f"{before}/kernel.cu", f"{after}/kernel.cu"],
                              stdout=subprocess.PIPE, text=True).stdout.splitlines()
        added = sum(line.startswith("+") for line in diff[2:])  # behind the two names
        limit = ADDED_LINES[number_of(after)]
        print(f"{before} -> {after}: {added} added lines (budget {limit})")
        if added > limit:
            print("\n".join(diff))
            print(f"{before} -> {after} is over budget by {added - limit} lines")
            failed = True

    # A version's number belongs into its namespace and its two header lines, nowhere else.
    for version in versions:
        for number, line in enumerate(read(f"{version}/kernel.cu").splitlines(), 1):
            if number > 2 and re.search(r"\bv\d", line) and "namespace" not in line:
                print(f"{version}/kernel.cu:{number}: names a version: {line.strip()}")
                failed = True

    # Kernels speak through ptx/ and common/ alone, whatever they run on.
    for version in versions:
        for number, line in enumerate(read(f"{version}/kernel.cu").splitlines(), 1):
            if re.search(r"\basm\b|<<<|extern __shared__|^\s*#\s*if|__CUDA", line):
                print(f"{version}/kernel.cu:{number}: belongs behind a seam: {line.strip()}")
                failed = True

    # harness/versions.h has the tile shapes, for messages, and the stages, for tests.
    shapes = {name: tuple(map(int, numbers.split(", "))) for name, numbers in re.findall(
        r"VERSION\((v\d+_\w+), (\d+, \d+, \d+, \d+)\)", read("harness/versions.h"))}
    if list(shapes) != versions:
        print(f"harness/versions.h lists {list(shapes)}, CMakeLists.txt {versions}")
        failed = True
    for version in versions:
        kernel = read(f"{version}/kernel.cu")
        constants = dict(re.findall(r"constexpr int (k\w+) = (\d+);", kernel))
        constants.update(re.findall(r"template <int (kStages) = (\d+)", kernel))
        constants.update(re.findall(r"int (kStages) = kProducts == 1 \? (\d+)", kernel))
        shape = tuple(int(constants.get(name, default)) for name, default in
                      (("kBlockM", 0), ("kBlockN", 0), ("kConsumers", 1), ("kStages", 1)))
        if shape != shapes.get(version):
            print(f"{version}: kernel.cu has tiles and stages {shape}, harness/versions.h {shapes.get(version)}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
