"""The gate that follows links, on pages made for it."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "build"))
import links  # noqa: E402


class LinksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def dead(self, **pages):
        for name, text in pages.items():
            (self.root / f"{name}.md").write_text(text, encoding="utf-8")
        links.anchors.__defaults__[0].clear()
        return list(links.dead_links(self.root))

    def test_what_is_there(self):
        (self.root / "folder").mkdir()
        self.assertEqual(self.dead(
            a="[x](b.md) [y](b.md#two-words--a-dash) [z](#here) [w](folder) [v](https://a.b/c)\n## Here\n",
            b="# Two `words` – a dash\n"), [])

    def test_missing_file(self):
        self.assertEqual(self.dead(a="text\n[x](gone.md)\n"), ["a.md:2: gone.md: there is no such file"])

    def test_outside(self):
        self.assertEqual(len(self.dead(a="[x](../other)")), 1)

    def test_missing_heading(self):
        self.assertEqual(self.dead(a="[x](b.md#gone)", b="# There\n```\n# gone\n```\n"),
                         ["a.md:1: b.md#gone: there is no such heading"])

    def test_same_heading_twice(self):
        self.assertEqual(self.dead(a="[x](#one-1)\n# One\n# One\n"), [])

    def test_code_is_no_link(self):
        self.assertEqual(self.dead(a="`[x](gone.md)`\n\n```\n[x](gone.md)\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
