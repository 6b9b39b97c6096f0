"""counters.py with a made-up ncu and made-up programs."""
import json
import os
import sys
import unittest
from unittest import mock

from made_tree import TreeTest, contender, result

import counters
from weaving import results

# Runs the program like ncu, and prints a table of LAUNCHES launches, the n-th of which took n ms.
NCU = f"""#!{sys.executable}
import os, subprocess, sys
if sys.argv[1:] == ["--version"]:
    print("NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)")
    sys.exit(0)
assert "--launch-skip" not in sys.argv and "--launch-count" not in sys.argv
program = next(i for i, word in enumerate(sys.argv) if "/bin/" in word)
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
mode = os.environ.get("NCU_MODE")
if mode == "permission":
    print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
          "Performance Counters on the target device 0.")
if mode == "error":
    print("==ERROR== No such metric.", file=sys.stderr)
    sys.exit(1)
code = subprocess.call(sys.argv[program:])
print("==PROF== Disconnected")
if mode not in ("silent", "permission"):
    print('"ID","Kernel Name","Metric Name","Metric Value"')
    for launch in range(int(os.environ["LAUNCHES"])):
        for metric in metrics:
            value = f"{{launch + 1}},000,000.0" if metric == "gpu__time_duration.sum" else "1.0"
            if mode == "missing" and metric == metrics[-1]:
                value = "n/a"
            print(f'"{{launch}}","matmul_kernel","{{metric}}","{{value}}"')
sys.exit(code)
"""
# Writes RESULT where --json says, and its arguments beside itself.
PROGRAM = f"""#!{sys.executable}
import os, sys
open(__file__ + ".args", "w").write(" ".join(sys.argv[1:-1]))
open(sys.argv[sys.argv.index("--json") + 1], "w").write(os.environ["RESULT"])
print("a program's own words on", "data", file=sys.stderr)
sys.exit(int(os.environ.get("CODE", 0)))
"""


class Counters(TreeTest):
    def setUp(self):
        super().setUp()
        for path, text in (("path/ncu", NCU), ("bin/v9_nine", PROGRAM), ("bin/v10_ten", PROGRAM),
                           ("bin/ablate", PROGRAM)):
            self.write(path, text)
            (self.root / path).chmod(0o755)
        self.out = self.root / "out.json"

    def run_tool(self, *arguments, launches=3, contenders=("v9_nine",), checked=True, **environment):
        root = result([contender(name, None, checked) for name in contenders], sizes=((8, 16, 32),))
        settings = {"PATH": f"{self.root}/path:{os.environ['PATH']}", "RESULT": json.dumps(root),
                    "LAUNCHES": str(launches), **environment}
        with mock.patch.dict(os.environ, settings):
            return self.call(counters.main, str(self.root / "bin"), str(self.out), *arguments)

    def refused(self, code, words, *arguments, **more):
        """One sentence and this exit code; no file."""
        found, said = self.run_tool(*arguments, **more)
        self.assertEqual(found, code, said)
        self.assertIn(words, said)
        self.assertNotIn("Traceback", said)
        self.assertFalse(self.out.exists())

    def test_the_last_launch_counts(self):
        """As many launches before it as there may be."""
        for launches in (1, 3, 4):
            code, said = self.run_tool("v9_nine", "--size", "8x16x32", launches=launches)
            self.assertEqual(code, 0, said)
            root = results.read_counters(self.out)
            self.assertEqual(root["versions"]["v9_nine"]["time_ms"], launches)
        self.assertEqual((root["date"], root["commit"], root["device"], root["size"], root["ncu"]),
                         ("2030-01-02", "0123456789", "Some GPU", "8x16x32", "2025.3.1.0"))
        self.assertEqual(self.read("bin/v9_nine.args"), "--m=8 --n=16 --k=32 --check-only --json")

    def test_versions_by_number(self):
        with mock.patch.object(counters, "profile", lambda program, _:
                               (result([]), {program.name: {}})):
            self.run_tool("v10_ten", "v9_nine")
        self.assertEqual(list(json.loads(self.read("out.json"))["versions"]), ["v9_nine", "v10_ten"])

    def test_ablation(self):
        names = ["v9_nine", "v9_a", "v9_b"]
        code, said = self.run_tool("--ablation", "v9", "--size=8x16x32", launches=9, contenders=names)
        self.assertEqual(code, 0, said)
        times = {name: values["time_ms"]
                 for name, values in json.loads(self.read("out.json"))["versions"].items()}
        self.assertEqual(times, {"v9_nine": 7, "v9_a": 8, "v9_b": 9})
        self.assertEqual(self.read("bin/ablate.args"), "v9 --problem 8x16x32 --check-only --json")

    def test_launches_that_do_not_add_up(self):
        self.refused(4, "8 launches", "--ablation", "v9", launches=8, contenders=["a", "b", "c"])
        self.refused(4, "0 launches", "v9_nine", launches=0)
        self.refused(4, "0 launches", "v9_nine", NCU_MODE="silent")
        self.refused(4, "0 kernels", "v9_nine", checked=None)

    def test_permission(self):
        self.refused(3, "ERR_NVGPUCTRPERM", "v9_nine", NCU_MODE="permission")
        self.refused(3, "run as root", "v9_nine", NCU_MODE="permission")

    def test_ncu_in_its_own_words(self):
        self.refused(4, "No such metric.", "v9_nine", NCU_MODE="error")
        self.refused(4, "every metric", "v9_nine", NCU_MODE="missing")

    def test_no_ncu(self):
        (self.root / "path/ncu").unlink()
        self.refused(3, "ncu (Nsight Compute)", "v9_nine", PATH=str(self.root / "path"))

    def test_program_in_its_own_words(self):
        self.refused(2, "exit code 2: a program's own words on data", "v9_nine", CODE="2")
        self.refused(4, "exit code 77", "v9_nine", CODE="77")
        self.refused(1, "what v9_nine computed is wrong", "v9_nine", checked=False)
        self.refused(2, "is no JSON", "v9_nine", RESULT='{"schema"')

    def test_usage(self):
        self.refused(2, "v1_none is not built", "v1_none")
        self.refused(2, "'nothing' is no version", "nothing")
        self.refused(2, "say which versions")
        self.refused(2, "say which versions", "v9_nine", "--ablation", "v9")
        self.refused(2, "expected one argument", "v9_nine", "--size")
        self.refused(2, "'8x8' is no problem size", "v9_nine", "--size", "8x8")
        self.out = self.root / "none" / "out.json"
        self.refused(2, "cannot be written", "v9_nine")

    def test_programs_of_different_commits(self):
        commits = iter("ab")
        with mock.patch.object(counters, "profile", lambda program, _:
                               (dict(result([]), commit=next(commits)), {})):
            self.refused(2, "different commits, a and b", "v9_nine", "v10_ten")


if __name__ == "__main__":
    unittest.main()
