"""What nvcc and ptxas make of a kernel.cu: the instructions that it is about are there, and ptxas
did not quietly undo them.

usage: ptx.py NVCC VERSION (in the source tree)
"""
import os
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-Icommon",
         "-Xcompiler=-Wall,-Wextra", "-Werror=all-warnings"]

EVERYWHERE = [
    r"mbarrier\.init\.shared::cta\.b64",
    r"fence\.mbarrier_init\.release\.cluster",
    r"mbarrier\.arrive\.expect_tx\.shared::cta\.b64",
    r"mbarrier\.try_wait\.parity(\.acquire\.cluster)?\.shared::cta\.b64",
    r"cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes",
    r"wgmma\.fence\.sync\.aligned",
    r"wgmma\.commit_group\.sync\.aligned",
    r"wgmma\.wait_group\.sync\.aligned 0",
]
LARGE_TILE = [r"wgmma\.mma_async\.sync\.aligned\.m64n256k16\.f32\.f16\.f16"]
CLUSTER = [
    r"barrier\.cluster\.arrive\.release\.aligned",
    r"barrier\.cluster\.wait\.acquire\.aligned",
    r"mapa\.shared::cluster\.u32",
    r"mbarrier\.arrive\.shared::cluster\.b64",
    r"mbarrier\.try_wait\.parity\.acquire\.cluster\.shared::cta\.b64",
    r"\.multicast::cluster",
]
TMA_STORE = [
    r"stmatrix\.sync\.aligned\.m8n8\.x4\.shared::cta\.b16",
    r"fence\.proxy\.async\.shared::cta",
    r"bar\.sync",
    r"cp\.async\.bulk\.tensor\.2d\.global\.shared::cta\.tile\.bulk_group",
    r"cp\.async\.bulk\.commit_group",
    r"cp\.async\.bulk\.wait_group\.read 1",
    r"cp\.async\.bulk\.wait_group\.read 0",
]
FITTED_TILE = LARGE_TILE + [
    r"wgmma\.mma_async\.sync\.aligned\.m64n200k16\.f32\.f16\.f16",
    r"wgmma\.mma_async\.sync\.aligned\.m64n184k16\.f32\.f16\.f16",
    r"wgmma\.mma_async\.sync\.aligned\.m64n176k16\.f32\.f16\.f16",
    r"setmaxnreg\.dec\.sync\.aligned\.u32 24",
    r"setmaxnreg\.inc\.sync\.aligned\.u32 240",
    r"shfl\.sync\.idx\.b32",
    r"elect\.sync",
    r"wgmma\.wait_group\.sync\.aligned 1",
]
MEETINGS = [
    r"red\.relaxed\.gpu\.global\.add\.u32",
    r"atom\.acq_rel\.gpu\.global\.add\.u32",
    r"ld\.relaxed\.gpu\.global\.u32",
    r"nanosleep\.u32",
    r"%globaltimer_lo",
]
SHARING = [
    r"wgmma\.mma_async\.sync\.aligned\.m64n64k16\.f32\.f16\.f16",
    r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.f16\.f16",
    r"ld\.acquire\.gpu\.global\.u32",
    r"st\.release\.gpu\.global\.u32",
]
SMALL_TILE = [r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.f16\.f16"]
SPECIALIZED = [r"elect\.sync", r"mbarrier\.arrive\.shared::cta\.b64"]
EXPECTED = {
    "v1": SMALL_TILE,
    "v2": SMALL_TILE,
    "v3": SMALL_TILE + SPECIALIZED,
    "v4": LARGE_TILE + SPECIALIZED,
    "v5": LARGE_TILE + SPECIALIZED + [r"wgmma\.wait_group\.sync\.aligned 1"],
    "v7": LARGE_TILE + ["elect\\.sync"] + TMA_STORE + CLUSTER
          + [r"wgmma\.wait_group\.sync\.aligned 1"],
    "v6": LARGE_TILE + SPECIALIZED + TMA_STORE + [r"wgmma\.wait_group\.sync\.aligned 1"],
    "v8": FITTED_TILE + TMA_STORE + CLUSTER,
    "v9": FITTED_TILE + TMA_STORE + CLUSTER + MEETINGS,
    "v10": FITTED_TILE + TMA_STORE + CLUSTER + MEETINGS + SHARING,
}

# What ptxas prints, at information level, when it takes the asynchrony out of the code, ignores
# setmaxnreg or moves registers to memory.
FORBIDDEN = [r"serialized", r"ignored", r"[1-9]\d* bytes stack frame", r"[1-9]\d* bytes spill"]


def early_reads(ptx):
    """Lines in which a thread may read an accumulator that a WGMMA still owns: the compiler is told
    by wgmma_wait_group's operands alone that it must not."""
    in_flight = False
    for line in ptx.splitlines():
        if "wgmma.mma_async" in line:
            in_flight = True
        elif re.search(r"wgmma\.wait_group\.sync\.aligned 0", line):
            in_flight = False
        elif in_flight and re.search(r"cvt\.rn\.f16x2\.f32|st\.global|stmatrix", line):
            yield line.strip()


def compile_kernel(nvcc, version, folder, *flags):
    """The PTX, and what nvcc and ptxas say; ends if they fail."""
    result = subprocess.run([nvcc, *FLAGS, *flags, "-Xptxas=-v", "-keep", f"-keep-dir={folder}",
                             "-cubin", f"{version}/kernel.cu", "-o", os.path.join(folder, "cubin")],
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stdout + result.stderr)
    with open(os.path.join(folder, "kernel.ptx"), encoding="utf-8") as file:
        return file.read(), result.stderr


def main(nvcc, version):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        # The debug build's bounded waits must compile too, without warnings. (That ptxas serializes
        # WGMMAs there, because of the call to printf, is no fault: such builds are not timed.)
        bounded, _ = compile_kernel(nvcc, version, folder, "-DBOUNDED_WAITS")
        ptx, said = compile_kernel(nvcc, version, folder)
    # (nvcc compiles device code alike at -O1, -O2 and -O3.)
    for what, text in (("bounded waits", bounded), ("as it is timed", ptx)):
        for line in early_reads(text):
            print(f"{what}: an accumulator may be read before its wait: {line}")
            failed = True
    for pattern in EVERYWHERE + EXPECTED[version.split("_")[0]]:
        count = len(re.findall(pattern, ptx))
        print(f"{count:5} × {pattern}")
        if count == 0:
            print("      missing from the PTX")
            failed = True
    print(said)
    if "registers" not in said:
        print("ptxas said nothing of registers: this gate would let everything pass")
        failed = True
    for line in said.splitlines():
        if any(re.search(pattern, line) for pattern in FORBIDDEN):
            print(f"ptxas: {line.strip()}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
