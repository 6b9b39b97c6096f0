"""The two back ends offer the same functions: what common/ has, emulator/ has, with the same template,
result and parameters, and no more.

usage: seam_test.py SOURCE_DIR
"""
import pathlib
import re
import sys

HEADERS = ["ptx/cluster.cuh", "ptx/cp_async.cuh", "ptx/global.cuh", "ptx/ldmatrix.cuh", "ptx/mbarrier.cuh",
           "ptx/mma.cuh", "ptx/tma.cuh", "ptx/warpgroup.cuh", "ptx/wgmma.cuh", "ptx/wgmma_shapes.cuh",
           "shared_storage.cuh", "global_store.cuh"]
# Comments, the preprocessor's lines, strings, and what macros define: text in capitals.
LEFT_OUT = re.compile(r'//[^\n]*|^#(?:[^\n]*\\\n)*[^\n]*|"[^"\n]*"|^[A-Z_]+\([^;{}]*?\)\n', re.M)
TOKEN = re.compile(r"\w+|[^\s\w]")
# What a back end may add: how a function is compiled, the caller's line, the name of an array.
ADDITIONS = [(re.compile(pattern), instead) for pattern, instead in (
    (r"(__device__|__forceinline__|inline|\[ \[ maybe_unused \] \]) ", ""),
    (r"(, )?SourceLine where = SourceLine : : current \( \) ", ""),
    (r"\( & \w+ \)", "( & )"))]


def signature(tokens):
    text = " ".join(tokens) + " "
    for pattern, instead in ADDITIONS:
        text = pattern.sub(instead, text)
    return text.strip()


def functions_of(text):
    """The functions of namespace ptx, and of the top, where kernels see them; what else a back end
    needs lives in namespaces of its own."""
    functions, declaration, namespaces, depth = set(), [], [], 0
    for token in TOKEN.findall(LEFT_OUT.sub("", text)):
        if token == "{" and depth == 0 and declaration[:1] == ["namespace"]:
            namespaces.append(declaration[-1])
            declaration = []
        elif token == "}" and depth == 0:
            namespaces.pop()
        elif token in "{;" and depth == 0:
            if "(" in declaration and namespaces[-1:] in ([], ["ptx"]):
                functions.add(signature(declaration))
            declaration = []
            depth += token == "{"
        elif depth == 0:
            declaration.append(token)
        else:
            depth += {"{": 1, "}": -1}.get(token, 0)
    return functions


SAMPLE = """#define NOT (this)
struct MBarrier {
  int f();
};
namespace ptx {
template <int kPending>
__device__ __forceinline__ void wait(float (&acc)[64]) {
  for (;;) { asm volatile("}"); }
}
bool test(MBarrier* barrier,  // it
          [[maybe_unused]] SourceLine where = SourceLine::current());
}  // namespace ptx
namespace emulator {
void* hidden();
}
"""
SAMPLES = {"template < int kPending > void wait ( float ( & ) [ 64 ] )", "bool test ( MBarrier * barrier )"}


def main(source_dir):
    failed = False
    if functions_of(SAMPLE) != SAMPLES:
        print(f"this test reads the sample as {functions_of(SAMPLE)}")
        failed = True
    for header in HEADERS:
        gpu, cpu = (functions_of((pathlib.Path(source_dir) / back_end / header).read_text())
                    for back_end in ("common", "emulator"))
        print(f"{header}: {len(gpu)} functions")
        for function in sorted(gpu ^ cpu):
            print(f"  {'common' if function in gpu else 'emulator'} alone has: {function}")
        failed = failed or not gpu or gpu != cpu
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
