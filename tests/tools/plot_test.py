"""plot.py, and the figures of docs/figures as weave.py keeps them fresh, with matplotlib and without."""
import unittest
from unittest import mock

from made_tree import REPOSITORY, TreeTest, contender, full_result, result

import plot
import weave
from weaving import results
from weaving.tree import Tree

DRAWN = '<?xml version="1.0"?>\n<svg width="1">\n</svg>\n'


class Shown(unittest.TestCase):
    def test_progress(self):
        shown = plot.progress(full_result(), upto="v2_two")
        self.assertEqual(shown["title"], "C = A · Bᵀ, fp16, 4096³, Some GPU")
        self.assertEqual(shown["bars"],
                         [["v1_one", 25, False], ["v2_two", 40, False], ["v10_ten", 50, True]])
        self.assertEqual([label for label, _ in shown["levels"]], ["cuBLAS", "WGMMA alone"])

    def test_progress_without_some_times(self):
        shown = plot.progress(result([contender("v1_one", None, False), contender("v2_two", 2.0),
                                      contender("cublas_lt", None, None)], schema=2))
        self.assertEqual((shown["bars"], shown["levels"]), ([["v2_two", 50, False]], []))
        with self.assertRaises(results.Fault):
            plot.progress(result([contender("v1_one", None)]))


class Stamp(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(plot, "draw", lambda shown: DRAWN)
        patch.start()
        self.addCleanup(patch.stop)
        sources = mock.patch.object(plot.inspect, "getsource", lambda function: self.code)
        sources.start()
        self.addCleanup(sources.stop)
        self.code = "def draw"
        self.shown = plot.progress(full_result())

    def test_fresh(self):
        svg = plot.stamped(self.shown)
        self.assertEqual(plot.STAMP.sub("", svg), DRAWN)
        self.assertIsNone(plot.stale_because(svg, self.shown))

    def test_stale(self):
        svg = plot.stamped(self.shown)
        self.assertIn("does not say", plot.stale_because(DRAWN, self.shown))
        self.assertIn("does not say", plot.stale_because("", self.shown))
        self.assertIn("data", plot.stale_because(svg, plot.progress(full_result(), upto="v1_one")))
        self.assertIn("after it was drawn", plot.stale_because(svg[:-7], self.shown))
        self.assertIn("after it was drawn",
                      plot.stale_because(svg.replace('width="1"', 'width="2"'), self.shown))
        self.code = "def draw(other)"
        self.assertIn("plot.py", plot.stale_because(svg, self.shown))


class Figures(TreeTest):
    """As weave.py sees them; nothing is really drawn."""

    def setUp(self):
        super().setUp()
        self.write("docs/results/compare-h200.json", full_result())
        self.folder = self.root / "docs" / "figures"

    def weave(self, *arguments, available=True):
        with mock.patch.object(plot, "draw", lambda shown: DRAWN), \
                mock.patch.object(plot.inspect, "getsource", lambda function: "def draw"), \
                mock.patch.object(plot, "available", lambda: available):
            return self.call(weave.main, *arguments, root=self.root)

    def test_drawn_and_checked(self):
        code, said = self.weave("--check")
        self.assertEqual(code, 1)
        self.assertIn("docs/figures/progress-v10.svg is not fresh", said)
        self.assertFalse(self.folder.exists())
        self.assertEqual(self.weave()[0], 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["progress-v1.svg", "progress-v10.svg", "progress-v2.svg", "progress.svg"])
        self.assertEqual(self.weave("--check", available=False), (0, ""))
        self.assertEqual(self.weave(available=False), (0, ""))

    def test_new_results(self):
        self.weave()
        root = full_result()
        root["problems"][0]["contenders"][2]["tflops"] = 51.0
        self.write("docs/results/compare-h200.json", root)
        for available in (True, False):
            code, said = self.weave("--check", available=available)
            self.assertEqual(code, 1)
            self.assertIn("progress.svg is not fresh, the data have changed", said)
        before = self.read("docs/figures/progress.svg")
        self.write("README.md", "<!-- weave: ladder v* -->\n<!-- end -->\n")
        code, said = self.weave(available=False)  # the pages are renewed, the figures cannot be
        self.assertEqual(code, 1)
        self.assertIn("renewed: README.md", said)
        self.assertIn("4 figures", said)
        self.assertIn("python3-matplotlib", said)
        self.assertEqual(self.read("docs/figures/progress.svg"), before)
        self.assertEqual(self.weave()[0], 0)
        self.assertEqual(self.weave("--check"), (0, ""))

    def test_a_mistake_in_a_page_leaves_the_figures(self):
        self.write("README.md", "<!-- end -->\n")
        self.assertEqual(self.weave()[0], 1)
        self.assertFalse(self.folder.exists())

    def test_damaged_results(self):
        self.write("docs/results/compare-h200.json", "{")
        self.assertEqual(self.weave()[0], 2)


class Repository(unittest.TestCase):
    """This repository's figures, whose freshness gate.docs_are_woven checks."""

    @unittest.skipUnless(plot.available(), "needs matplotlib")
    def test_drawn_twice(self):
        figures = weave.figures(Tree(REPOSITORY))
        self.assertGreater(len(figures), 1)
        for path, shown in figures.items():
            svg = plot.stamped(shown)
            self.assertEqual(svg, plot.stamped(shown), path)
            self.assertIsNone(plot.stale_because(svg, shown), path)


class CommandLine(TreeTest):
    def plot(self, *arguments):
        return self.call(plot.main, *map(str, arguments))

    def refused(self, words, *arguments):
        """One sentence, exit code 2, no figure."""
        with mock.patch.object(plot, "available", lambda: True), \
                mock.patch.object(plot, "draw", lambda shown: DRAWN):
            code, said = self.plot(*arguments)
        self.assertEqual(code, 2)
        self.assertIn(words, said)
        self.assertNotIn("Traceback", said)
        self.assertFalse((self.root / "f.svg").exists())

    def test_mistakes(self):
        good, figure = self.root / "r.json", self.root / "f.svg"
        self.write("r.json", full_result())
        self.write("cut.json", '{"schema": 1, "com')
        self.write("empty.json", "")
        self.write("bare.json", {"schema": 2})
        self.write("new.json", dict(full_result(), schema=3))
        self.write("untimed.json", result([contender("v1_one", None)]))
        (self.root / "binary.json").write_bytes(b"\xff\xfe\x00")
        self.refused("No such file", self.root / "none.json", figure)
        self.refused("cut.json is no JSON, line 1", self.root / "cut.json", figure)
        self.refused("empty.json is no JSON", self.root / "empty.json", figure)
        self.refused("not text", self.root / "binary.json", figure)
        self.refused('lacks "commit"', self.root / "bare.json", figure)
        self.refused("schema 3", self.root / "new.json", figure)
        self.refused("no times", self.root / "untimed.json", figure)
        self.refused("expected one argument", good, figure, "--problem")
        self.refused("'8x8' is no problem size", good, figure, "--problem", "8x8")
        self.refused("holds no problem 8x8x8; it holds: 4096x4096x4096, 100x200x300", good, figure,
                     "--problem", "8x8x8")
        self.refused("required", good)
        self.refused("cannot be written", good, self.root / "no" / "f.svg")

    def test_figure(self):
        self.write("r.json", full_result())
        drawn = []
        with mock.patch.object(plot, "available", lambda: True), \
                mock.patch.object(plot, "draw", lambda shown: drawn.append(shown) or DRAWN):
            code, said = self.plot(self.root / "r.json", self.root / "f.svg", "--problem=100x200x300")
        self.assertEqual((code, said), (0, ""))
        self.assertIn("100×200×300", drawn[0]["title"])
        self.assertEqual(plot.STAMP.sub("", self.read("f.svg")), DRAWN)

    def test_without_matplotlib(self):
        self.write("r.json", full_result())
        with mock.patch.object(plot, "available", lambda: False):
            code, said = self.plot(self.root / "r.json", self.root / "f.svg")
        self.assertEqual((code, said),
                         (2, "plot: matplotlib was not found; install python3-matplotlib\n"))


if __name__ == "__main__":
    unittest.main()
