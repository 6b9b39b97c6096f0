"""Wrappers that no version uses are the one instruction that they are called after.

usage: instructions_ptx.py NVCC (in the source tree)
"""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = "tests/build/instructions_ptx.cu"
# What each of these wrappers is made of: nothing else of this kind may be in a kernel.
INSTRUCTION = re.compile(
    r"^\s*(?:@\S+\s+)?((?:cp|ldmatrix|mma|wgmma|mbarrier|fence|red|atom|stmatrix)\.[^\n]*)", re.M)


def main(nvcc):
    with open(SOURCE, encoding="utf-8") as file:
        expected = dict(reversed(pair) for pair in re.findall(
            r"^// (.+)\n(?:template .+\n)?KERNEL (\w+)\(", file.read(), re.M))
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [nvcc, "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", "-Icommon",
             "-Werror=all-warnings", "-keep", f"-keep-dir={folder}", "-cubin", SOURCE, "-o",
             os.path.join(folder, "cubin")], capture_output=True, text=True)
        if result.returncode != 0:
            print(result.stdout + result.stderr)
            return 1
        with open(os.path.join(folder, "instructions_ptx.ptx"), encoding="utf-8") as file:
            entries = file.read().split(".entry ")[1:]
    failed = len(entries) == 0
    found = {re.match(r"\w+", entry).group(0): INSTRUCTION.findall(entry) for entry in entries}
    for name in sorted(found.keys() | expected.keys()):
        instructions = found.get(name, [])
        right = (name in expected and len(instructions) == 1
                 and re.match(expected[name], instructions[0]))
        print(f"{name}: {'ok' if right else 'DIFFERENT'}: {instructions}")
        failed = failed or not right
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
