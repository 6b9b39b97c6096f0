"""Wrappers that libcu++'s cuda::ptx has too carry its names and are the same instruction.

usage: cuda_ptx_names.py NVCC (in the source tree)
"""
import os
import re
import subprocess
import sys
import tempfile

# Spellings that mean the same: the defaults that cuda::ptx writes out (release and acquire at block
# scope), .aligned (our cluster barriers are called by whole warps), .tile (the default mode of a
# tensor copy), .shared (which is .shared::cta).
SAME = [(r"\.release\.cta", ""), (r"\.acquire\.cta", ""), (r"\.tile\b", ""), (r"\.aligned", ""),
        (r"\.shared\.", ".shared::cta.")]
INSTRUCTION = re.compile(
    r"^\s*(?:@\S+\s+)?((?:mbarrier|fence|cp\.async|barrier\.cluster)[\w.:]*)", re.M)


def main(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "names.ptx")
        result = subprocess.run(
            [nvcc, "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", "-Icommon", "-ptx",
             "tests/build/cuda_ptx_names.cu", "-o", path], capture_output=True, text=True)
        missing = re.findall(r"namespace \"cuda::ptx\" has no member \"(\w+)\"", result.stderr)
        if missing:  # it grew from toolkit to toolkit; with that of CUDA 13.0 all are compared
            print(f"this toolkit's cuda::ptx has no {', '.join(sorted(set(missing)))}")
            return 77
        print(result.stderr)
        if result.returncode != 0:
            return 1
        with open(path, encoding="utf-8") as file:
            ptx = file.read()
    found = {}
    for entry in ptx.split(".entry ")[1:]:
        name = re.match(r"\w+", entry).group(0)
        instructions = INSTRUCTION.findall(entry)
        for pattern, replacement in SAME:
            instructions = [re.sub(pattern, replacement, text) for text in instructions]
        found[name] = instructions
    failed = len(found) < 16
    for name in sorted(key for key in found if key.startswith("ours_")):
        wrapper = name[len("ours_"):]
        ours, theirs = found[name], found["theirs_" + wrapper]
        same = ours == theirs and len(ours) == 1
        print(f"{wrapper}: {'same' if same else 'DIFFERENT'}: {ours} {theirs if not same else ''}")
        failed |= not same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
