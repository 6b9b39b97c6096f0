"""Each wrapper of common/ptx/global.cuh is the one instruction that it is named after, and says so
in its comment.

usage: wrapper_ptx.py NVCC (in the source tree)
"""
import os
import re
import subprocess
import sys
import tempfile

HEADER = "common/ptx/global.cuh"
U32, F32, F32X4 = "uint32_t* p, uint32_t v", "float* p, float v", "float4* p, float4 v"
# Function, parameters of a kernel that calls it, arguments, instruction.
WRAPPERS = [
    ("ld_global_f32", F32, "p", "ld.global.f32"),
    ("ld_global_v4_f32", F32X4, "p", "ld.global.v4.f32"),
    ("st_global_f32", F32, "p, v", "st.global.f32"),
    ("st_global_v4_f32", F32X4, "p, v", "st.global.v4.f32"),
    ("red_add_relaxed_gpu", U32, "p, v", "red.relaxed.gpu.global.add.u32"),
    ("red_add_relaxed_gpu", F32, "p, v", "red.relaxed.gpu.global.add.f32"),
    ("red_add_release_gpu", U32, "p, v", "red.release.gpu.global.add.u32"),
    ("atom_add_relaxed_gpu", U32, "p, v", "atom.relaxed.gpu.global.add.u32"),
    ("atom_add_acq_rel_gpu", U32, "p, v", "atom.acq_rel.gpu.global.add.u32"),
    ("atom_cas_acquire_gpu", U32, "p, v, 1", "atom.acquire.gpu.global.cas.b32"),
    ("ld_relaxed_gpu", U32, "p", "ld.relaxed.gpu.global.u32"),
    ("ld_acquire_gpu", U32, "p", "ld.acquire.gpu.global.u32"),
    ("st_relaxed_gpu", U32, "p, v", "st.relaxed.gpu.global.u32"),
    ("st_release_gpu", U32, "p, v", "st.release.gpu.global.u32"),
    ("fence_acq_rel_gpu", "", "", "fence.acq_rel.gpu"),
    ("fence_proxy_async_global", "", "", "fence.proxy.async.global"),
    ("nanosleep", U32, "v", "nanosleep.u32"),
    ("globaltimer_lo", U32, "", "mov.u32"),
]
FUNCTION = re.compile(r"^__device__ __forceinline__ \w+ (\w+)\(([^)]*)\)", re.M)
# What stands between the marks that nvcc puts around inline assembly.
INLINE = re.compile(r"// begin inline asm\n(.*?)// end inline asm", re.S)


def inline_instructions(nvcc):
    """For each wrapper the inline assembly of a kernel that calls it, as instructions."""
    lines = [f"#include <{HEADER.removeprefix('common/')}>"]
    for i, (name, parameters, arguments, _) in enumerate(WRAPPERS):
        lines.append(f'extern "C" __global__ void kernel{i}({parameters}) '
                     f"{{ ptx::{name}({arguments}); }}")
    with tempfile.TemporaryDirectory() as folder:
        source, path = (os.path.join(folder, name) for name in ("wrappers.cu", "wrappers.cubin"))
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        # ptxas, too: it knows which instructions there are.
        command = [nvcc, "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", "-Icommon", "-cubin",
                   "-keep", f"-keep-dir={folder}", source, "-o", path]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(result.stdout + result.stderr)
        with open(os.path.join(folder, "wrappers.ptx"), encoding="utf-8") as file:
            ptx = file.read()
    return [[line.strip() for text in INLINE.findall(entry) for line in text.splitlines()
             if line.strip() and not line.strip().startswith("//")]
            for entry in ptx.split(".entry ")[1:]]


def main(nvcc):
    failed = False
    with open(HEADER, encoding="utf-8") as file:
        header = file.read()
    declared = [name for name, _ in FUNCTION.findall(header)]
    for name in sorted(set(declared) | {wrapper[0] for wrapper in WRAPPERS}):
        listed = sum(wrapper[0] == name for wrapper in WRAPPERS)
        if declared.count(name) != listed:
            print(f"{name}: {declared.count(name)} in {HEADER}, {listed} listed here")
            failed = True
    for (name, _, _, instruction), lines in zip(WRAPPERS, inline_instructions(nvcc), strict=True):
        right = len(lines) == 1 and lines[0].split(" ")[0].rstrip(";") == instruction
        print(f"{name}: {lines}{'' if right else ' IS NOT ' + instruction}")
        failed |= not right
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
