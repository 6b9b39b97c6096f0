"""The gate tests/build/lessons.py in small trees: it reports what it is there for."""
import re
import subprocess
import sys
import unittest

from made_tree import REPOSITORY, TreeTest

GATE = REPOSITORY / "tests" / "build" / "lessons.py"
# A row of harness/versions.h: name, kBlockM, kBlockN, kConsumers, and as many more as it has today.
COLUMNS = len(re.search(r"VERSION\(v1_simple((?:, \d+)+)\)",
                        (REPOSITORY / "harness/versions.h").read_text())[1].split(", ")) - 1


def row(name, m=128, n=128, consumers=1, stages=1):
    numbers = (m, n, consumers, stages)[:COLUMNS]
    return f"VERSION({name}, {', '.join(map(str, numbers))})\n"


class Lessons(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("harness/versions.h", row("v1_one") + row("v2_two", stages=2))

    def gate(self, *versions):
        run = subprocess.run([sys.executable, str(GATE), *(versions or ("v1_one", "v2_two"))],
                             cwd=self.root, capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def append(self, path, text):
        self.write(path, self.read(path) + text)

    def fails(self, words, *versions):
        code, said = self.gate(*versions)
        self.assertEqual(code, 1, said)
        self.assertIn(words, said)

    def test_good(self):
        code, said = self.gate()
        self.assertEqual(code, 0, said)
        self.assertIn("v1_one -> v2_two: 4 added lines (budget 40)", said)

    def budgets(self, number, lines, added):
        """Exactly `lines` and `added` pass for this version; one more of either does not."""
        version = f"v{number}_x"
        self.write("v1_one/kernel.cu", "x\n" * 10)
        self.write("harness/versions.h", row("v1_one", 0, 0) + row(version, 0, 0))
        self.write(f"{version}/kernel.cu", "x\n" * 10 + "y\n" * added)
        self.assertEqual(self.gate("v1_one", version)[0], 0)
        self.append(f"{version}/kernel.cu", "y\n")
        self.fails(f"v1_one -> {version} is over budget by 1 lines", "v1_one", version)
        self.write("v1_one/kernel.cu", "x\n" * 120)
        self.write(f"{version}/kernel.cu", "x\n" * lines)
        self.assertNotIn("too long", self.gate("v1_one", version)[1])
        self.append(f"{version}/kernel.cu", "x\n")
        self.fails(f"{version}/kernel.cu is too long by 1 lines", "v1_one", version)

    def test_budgets(self):
        for number, lines, added in ((2, 120, 40), (3, 120, 40), (4, 190, 100), (5, 190, 40),
                                     (6, 270, 100), (7, 270, 100), (8, 320, 100), (9, 320, 40),
                                     (10, 400, 100)):
            with self.subTest(number):
                self.budgets(number, lines, added)

    def test_first_version_too_long(self):
        self.write("v1_one/kernel.cu", self.read("v1_one/kernel.cu") + "\n" * 107)
        self.fails("v1_one/kernel.cu is too long by 1 lines")

    def test_no_budget(self):
        self.write("v11_x/kernel.cu", "")
        self.fails("v11_x has no budget", "v1_one", "v11_x")

    def test_order(self):
        self.fails("in ladder order", "v10_ten", "v2_two")
        self.append("harness/versions.h", row("v10_ten", stages=3))
        self.assertEqual(self.gate("v1_one", "v2_two", "v10_ten")[0], 0)

    def test_version_in_the_text(self):
        self.append("v2_two/kernel.cu", "// as in v1_one\n")
        self.fails("v2_two/kernel.cu:15: names a version: // as in v1_one")

    def test_seams(self):
        for line in ('asm volatile("bar.sync 0;");', "kernel<<<1, 2>>>();", "#if 1", "  # ifdef X",
                     "extern __shared__ char x[];", "int x = __CUDA_ARCH__;"):
            kernel = self.read("v2_two/kernel.cu")
            self.append("v2_two/kernel.cu", line + "\n")
            self.fails(f"v2_two/kernel.cu:15: belongs behind a seam: {line.strip()}")
            self.write("v2_two/kernel.cu", kernel)

    def test_tile_shapes(self):
        self.write("harness/versions.h", row("v1_one") + row("v2_two", n=256, stages=2))
        self.fails("v2_two: kernel.cu has tiles")
        self.write("harness/versions.h", row("v1_one") + row("v2_two", 0, 0, stages=2))
        self.fails("v2_two: kernel.cu has tiles")
        self.write("harness/versions.h", row("v1_one"))
        self.fails("harness/versions.h lists ['v1_one']")
        self.write("harness/versions.h", "")
        self.fails("harness/versions.h lists []")


if __name__ == "__main__":
    unittest.main()
