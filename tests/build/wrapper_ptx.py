"""Each wrapper of common/ptx/global.cuh is the one instruction that it is named after; those of
cluster.cuh for the other blocks' shared memory are mapa and that instruction.

usage: wrapper_ptx.py NVCC (in the source tree)
"""
import os
import re
import subprocess
import sys
import tempfile

HEADERS = ["common/ptx/global.cuh", "common/ptx/cluster.cuh"]
MAPA = "mapa.shared::cluster.u32"
U32, F32, F32X4 = "uint32_t* p, uint32_t v", "float* p, float v", "float4* p, float4 v"
ASYNC = "float* p, float v, MBarrier* m"
# Function, parameters of a kernel that calls it, arguments, instructions.
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
    ("ld_shared_cluster_f32", F32, "p, 1", MAPA, "ld.shared::cluster.f32"),
    ("ld_shared_cluster_v4_f32", F32X4, "p, 1", MAPA, "ld.shared::cluster.v4.f32"),
    ("st_shared_cluster_f32", F32, "p, 1, v", MAPA, "st.shared::cluster.f32"),
    ("st_shared_cluster_v4_f32", F32X4, "p, 1, v", MAPA, "st.shared::cluster.v4.f32"),
    ("st_async_f32", ASYNC, "p, 1, v, m", MAPA, MAPA,
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32"),
]
# Those that cuda_ptx_names.py and ptx.py see to.
ELSEWHERE = {"cluster_ctarank", "barrier_cluster_arrive", "barrier_cluster_wait",
             "mbarrier_arrive_cluster", "mbarrier_wait_parity_cluster",
             "cp_async_bulk_tensor_2d_multicast"}
FUNCTION = re.compile(r"^__device__ __forceinline__ \w+ (\w+)\(", re.M)
# What stands between the marks that nvcc puts around inline assembly.
INLINE = re.compile(r"// begin inline asm\n(.*?)// end inline asm", re.S)


def inline_instructions(nvcc):
    """For each wrapper the inline assembly of a kernel that calls it, as instructions."""
    lines = [f"#include <{header.removeprefix('common/')}>" for header in HEADERS]
    for i, (name, parameters, arguments, *_) in enumerate(WRAPPERS):
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
             if re.match("[a-z]", line.strip())]
            for entry in ptx.split(".entry ")[1:]]


def main(nvcc):
    failed = False
    declared = []
    for header in HEADERS:
        with open(header, encoding="utf-8") as file:
            declared += [name for name in FUNCTION.findall(file.read()) if name not in ELSEWHERE]
    for name in sorted(set(declared) | {wrapper[0] for wrapper in WRAPPERS}):
        listed = sum(wrapper[0] == name for wrapper in WRAPPERS)
        if declared.count(name) != listed:
            print(f"{name}: {declared.count(name)} in {HEADERS}, {listed} listed here")
            failed = True
    for (name, _, _, *expected), lines in zip(WRAPPERS, inline_instructions(nvcc), strict=True):
        right = [line.split()[0].rstrip(";") for line in lines] == expected
        print(f"{name}: {lines}{'' if right else f' IS NOT {expected}'}")
        failed |= not right
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
