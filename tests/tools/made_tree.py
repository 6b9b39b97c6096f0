"""A small tree like this repository's, in a temporary folder, for the tests of the Python tools."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tools"))

KERNEL = """\
// v{number}: {idea}. Chapter: docs/{name}.md
// More of it.
namespace {name} {{

constexpr int kBlockM = 128;
constexpr int kBlockN = 128;
{more}
void matmul() {{
  if (true) {{
    wait();
  }}
}}

}}  // namespace {name}
"""
HEADER = """\
enum class Check {
  kLate,  // a comment on kNothing
  kEarly,
  kLong,
};
"""
SOURCE = """\
const char* check_name(Check check) {
  switch (check) {
    case Check::kLate:
      return "too late (RAW)";
    case Check::kEarly:   return   "too early";
    case Check::kLong:
      return "a name that was too long "
             "for one line";
  }
  return "unknown";
}
"""
EXPLAINED = "| too late (RAW) | x |\n| too early | x |\n| a name that was too long for one line | x |\n"


def contender(name, ms, checked=True, ratio=None, **more):
    """A row of a result file; without a time if `ms` is None."""
    row = {"name": name, "checked": checked, "rounds_ms": []}
    if ms is not None:
        row.update(ms=ms, ms_min=ms, ms_max=ms, tflops=100 / ms, rounds_ms=[ms, 1.5 * ms, 2 * ms],
                   ratio_to_cublas=2 / ms if ratio is None else ratio)
    row.update(more)
    return row


def result(contenders, schema=1, sizes=((4096, 4096, 4096), (100, 200, 300))):
    """The root of a result file: the same contenders on every problem."""
    return {"schema": schema, "commit": "0123456789", "date": "2030-01-02",
            "device": {"name": "Some GPU", "sms": 1, "power_limit_w": 700.0, "clock_max_mhz": 1,
                       "driver": "1", "cuda": "13.0", "cublas": "13.1"},
            "data": "uniform", "rounds": 3, "rest_ms": 10.0,
            "problems": [{"m": m, "n": n, "k": k, "throttled": False, "contenders": contenders}
                         for m, n, k in sizes]}


def full_result(**arguments):
    return result([contender("v1_one", 4.0), contender("v2_two", 2.5), contender("v10_ten", 2.0),
                   contender("cublas", 2.0, None, 1.0, api="cublas_lt"),
                   contender("cublas_gemm_ex", 2.2, None),
                   contender("wgmma_ceiling", 1.5, None)], **arguments)


def counted(versions):
    return {"schema": 1, "device": "Some GPU", "size": "4096x4096x4096", "metrics": {},
            "versions": {version: {"time_ms": 1.25, "l2_gb": 3.0} for version in versions}}


class TreeTest(unittest.TestCase):
    """A test in such a tree, `self.root`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for number, name, idea, more in ((1, "v1_one", "one thread", ""),
                                         (2, "v2_two", "two threads", "constexpr int kStages = 2;"),
                                         (10, "v10_ten", "ten threads", "constexpr int kStages = 3;")):
            self.write(f"{name}/kernel.cu",
                       KERNEL.format(number=number, name=name, idea=idea, more=more))
        self.write("emulator/emulator.h", HEADER)
        self.write("emulator/src/report.cpp", SOURCE)
        self.write("docs/emulator.md", EXPLAINED)
        self.write("docs/results/README.md", "compare-h200.json promised.json promised.txt\n")
        self.write("README.md", "A page.\n")

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def call(self, main, *arguments, **more):
        """The exit code of a tool, and everything that it printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                code = main(list(arguments), **more)
            except SystemExit as ended:  # of argparse
                code = ended.code
        return code, out.getvalue()
