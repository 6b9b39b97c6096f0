"""What the emulator lacks of CUDA is refused by the compiler with a sentence, and docs/emulator.md
names it; what the page says to be there compiles.

usage: refusals_test.py CXX (in the source tree)
"""
import os
import re
import shutil
import subprocess
import sys

# What does not compile, and the words that must come.
REFUSED = {
    "__shared__": ("void f() { __shared__ float x[4]; x[0] = 0; }\nextern __shared__ char bytes[];",
                   "__shared__: take a struct by shared_storage<T>()"),
    "__constant__": ("__constant__ int a;", "__constant__ memory: pass the values as kernel par"),
    "__managed__": ("__managed__ int b;", "__managed__ variables: use cudaMallocManaged"),
    "__cluster_dims__": ("__global__ void __cluster_dims__(2, 1, 1) c() {}",
                         "__cluster_dims__: launch with the cluster's attribute"),
    "cooperative_groups.h": ("#include <cooperative_groups.h>", "cooperative groups: use"),
    "cuda_bf16.h": ("#include <cuda_bf16.h>", "the type of bfloat16: "),
    "mma.h": ("#include <mma.h>", "wmma: use"),
    "cuda/barrier": ("#include <cuda/barrier>", "cuda::barrier: use"),
    "cuda/pipeline": ("#include <cuda/pipeline>", "cuda::pipeline: use"),
    "cuda/ptx": ("#include <cuda/ptx>", "cuda::ptx: common/ptx"),
}
CALLS = {"__activemask": "", "__match_any_sync": "~0u, 1", "__match_all_sync": "~0u, 1, &i",
         "__reduce_add_sync": "~0u, 1", "__reduce_min_sync": "~0u, 1", "__reduce_max_sync": "~0u, 1",
         "__syncthreads_count": "1", "__syncthreads_and": "1", "__syncthreads_or": "1",
         "__trap": ""}
for name, arguments in CALLS.items():
    REFUSED[name] = (f"void call{name}(int i) {{ {name}({arguments}); ++i; }}", f"{name}: ")


def compile_text(compiler, text):
    command = [compiler, "-std=c++17", "-fsyntax-only", "-ferror-limit=0", "-Iemulator",
               "-Iemulator/cuda", "-Icommon", "-x", "c++", "-"]
    if "clang" not in compiler:
        command.remove("-ferror-limit=0")
    text = f"#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n{text}\n"
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    return result.returncode == 0, result.stderr


def documented():
    """The names in the two lists of docs/emulator.md: what is there, and what is not."""
    with open("docs/emulator.md", encoding="utf-8") as file:
        section = file.read().split("## What of CUDA a kernel may use")[1].split("\n## ")[0]
    there, lacking = section.split("Not there")
    return [re.findall(r"`([\w/.]+)`", part) for part in (there, lacking)]


def main(cxx):
    found = [shutil.which(name) for name in (cxx, "g++", "clang++")]
    compilers = {os.path.realpath(path): path for path in found if path}.values()
    there, lacking = documented()
    failed = sorted(lacking) != sorted(REFUSED) or len(there) < 60
    if failed:
        print(f"docs/emulator.md and this test disagree: {set(lacking) ^ set(REFUSED)}")
    for compiler in compilers:
        compiles, said = compile_text(compiler, "\n".join(text for text, _ in REFUSED.values()))
        for name, (_, words) in REFUSED.items():
            sentence = f"the emulator lacks {words}"
            if compiles or not re.search(f"error:.*{re.escape(sentence)}", said):
                print(f"{compiler}: {name} is not refused by '{sentence}':\n{said}")
                failed = True
        declared = [f"#ifndef {name}\nusing ::{name};\n#endif" for name in there]
        compiles, said = compile_text(compiler, "\n".join(declared))
        if not compiles:
            print(f"{compiler}: what docs/emulator.md names is not there:\n{said}")
            failed = True
    print(f"{len(there)} names are there, {len(REFUSED)} are refused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
