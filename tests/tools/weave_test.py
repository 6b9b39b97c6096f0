"""weave.py in a small tree: every weaver once, every mistake once, and that no text is ever lost."""
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import made_tree
from made_tree import REPOSITORY, TreeTest, contender, counted, full_result, result

import plot
import weave
from weaving import checks, results, tree


class WeaveTest(TreeTest):
    def weave(self, *arguments):
        return self.call(weave.main, *arguments, root=self.root)

    def woven(self, marker, page="README.md"):
        """What stands between a marker and its end after weaving, and weaving again changes nothing."""
        before, after = f"Before.\n<!-- weave: {marker} -->\n", "<!-- end -->\nAfter.\n"
        self.write(page, f"{before}old\n{after}")
        code, said = self.weave()
        self.assertEqual(code, 0, said)
        text = self.read(page)
        self.assertTrue(text.startswith(before) and text.endswith(after), text)
        self.assertEqual(self.weave("--check"), (0, ""))
        self.assertEqual(self.weave(), (0, ""))
        return text[len(before):-len(after)]

    def refused(self, page_text, *words, code=1):
        """One sentence with page and line; neither this page nor another stale one is written."""
        stale = "<!-- weave: ladder v* -->\nold\n<!-- end -->\n"
        self.write("docs/a.md", stale)
        self.write("docs/z.md", stale)
        self.write("README.md", page_text)
        for arguments in ((), ("--check",)):
            found, said = self.weave(*arguments)
            self.assertEqual(found, code, said)
            self.assertNotIn("Traceback", said)
            first = said.splitlines()[0]
            for word in words:
                self.assertIn(word, first)
            self.assertEqual(self.read("README.md"), page_text)
            self.assertEqual(self.read("docs/a.md"), stale)
            self.assertEqual(self.read("docs/z.md"), stale)


class Weavers(WeaveTest):
    def test_every_weaver_has_a_test(self):
        for name in weave.WEAVERS:
            self.assertTrue(hasattr(self, f"test_{name}"), name)

    def test_ladder(self):
        self.write("docs/v2_two.md", "# A chapter\n\n**What limited the one before:** One thread.\n")
        text = self.woven("ladder v*")
        self.assertEqual([line.split(" ")[1] for line in text.splitlines()[2:]],
                         ["v1_one", "[v2_two](docs/v2_two.md)", "v10_ten"])  # by number
        self.assertIn("| two threads | One thread. | [14 lines](v2_two/kernel.cu), −4 / +4 |", text)
        self.assertIn("| – | [", text)  # who has no chapter

    def test_results(self):
        self.write("docs/results/r.json", full_result())
        text = self.woven("results r.json", "docs/page.md")
        self.assertIn("| v1_one | 0.500 (25) | 0.500 (25) |", text)
        self.assertIn("| **cuBLAS** | **1** (50) cublasLt |", text)
        self.assertIn("| cuBLAS, asked the other way | 0.909 (45) cublasGemmEx |", text)
        self.assertIn("| WGMMA alone | 1.333 (67) |", text)
        self.assertIn("4096³ | 100×200×300", text)
        self.assertIn("(results/r.json)", text)
        self.assertIn("every result checked", text)

    def test_results_of_a_version_not_measured_yet(self):
        self.write("docs/results/r.json", result([contender("v1_one", 1.0)]))
        self.assertIn("| v10_ten | (not measured yet) | (not measured yet) |",
                      self.woven("results r.json"))

    def test_results_without_times(self):
        """What schema 2 allows: no ratio, no time, no cuBLAS; and what was wrong."""
        self.write("docs/results/r.json", result(
            [contender("v1_one", None, None), contender("v2_two", None, False),
             dict(contender("v10_ten", 2.0), ratio_to_cublas=None, late=3),
             contender("cublas_lt", None, None), contender("wgmma_ceiling", None, None)],
            schema=2))
        text = self.woven("results r.json")
        for row in ("| v1_one | – |", "| v2_two | wrong |", "| v10_ten | – (50) |",
                    "| **cuBLAS** | – |", "| cuBLAS, asked the other way | – |",
                    "| WGMMA alone | – |", "NOT every result was right"):
            self.assertIn(row, text)
        for marker in ("order r.json", "means r.json", "steps r.json v1_one v2_two",
                       "steps r.json v2_two v10_ten", "ablation r.json"):
            self.assertIn("–", self.woven(marker))

    def test_order(self):
        slow = full_result()
        for problem in slow["problems"]:
            problem["contenders"][2] = contender("v10_ten", 2.75)
        self.write("docs/results/r.json", full_result())
        self.write("docs/results/s.json", slow)
        text = self.woven("order r.json s.json")
        self.assertIn("| v1_one → v2_two | **faster** 1.600, 1.600 |", text)
        self.assertIn("| v2_two → v10_ten | **undecided** 1.250, 0.909 |", text)
        self.assertIn("in 2 fresh processes", text)
        only = self.woven("order s.json v10_ten")
        self.assertIn("| v2_two → v10_ten | **slower** 0.909 |", only)
        self.assertNotIn("v1_one", only)

    def test_means(self):
        self.write("docs/results/r.json", full_result())
        text = self.woven("means r.json")
        self.assertIn("| v1_one | 0.500 |", text)
        self.assertIn("the 1 sizes", text)

    def test_steps(self):
        self.write("docs/results/r.json", full_result())
        text = self.woven("steps r.json v1_one v2_two")
        self.assertIn("| 4096³ | 4.0000 | 2.5000 | 2.0000 | 0.500 | 0.800 | 1.600 [1.600 – 1.600] |",
                      text)

    def test_steps_of_one_size(self):
        self.write("docs/results/r.json", full_result())
        text = self.woven("steps r.json v1_one v2_two 4096x4096x4096")
        self.assertEqual(len(text.splitlines()), 3)
        self.assertIn("| 4096³ | 4.0000 |", text)
        for size, words in (("8x8x8", "does not have all of 8x8x8"), ("eight", "is no problem size")):
            self.refused(f"<!-- weave: steps r.json v1_one v2_two {size} -->\n<!-- end -->\n",
                         "README.md:1:", words)

    def test_ablation(self):
        self.write("tools/ablations/v2_two.patch", "")
        self.write("docs/results/r.json", full_result())
        text = self.woven("ablation r.json")
        self.assertIn("| v1_one | 4.0000 | 1 | 0.500 |", text)
        self.assertIn("| [v2_two](tools/ablations/v2_two.patch) | 2.5000 | "
                      "1.600 [1.600 – 1.600] | 0.800 |", text)

    def test_counters(self):
        self.write("docs/results/c.json", counted(["v1_one", "v2_two"]))
        self.assertIn("| v1_one | 1.250 | – |", self.woven("counters c.json"))
        only = self.woven("counters c.json v2_two v10_ten")
        self.assertNotIn("v1_one", only)
        self.assertIn("| v10_ten | (not measured yet) | – |", only)
        self.assertNotIn("commit", only)  # an old file says no commit
        self.write("docs/results/c.json",
                   dict(counted(["v1_one"]), date="2030-01-02", commit="abc", ncu="2025.3"))
        self.assertIn("2030-01-02, commit abc; metrics", self.woven("counters c.json"))

    def test_roofline(self):
        root = counted(["v1_one", "v2_two"])
        root["size"] = "1000x1000x1000"  # 2 GFLOP
        root["versions"]["v1_one"] = {"time_ms": 0.01, "sm_clock_ghz": 1.5, "tensor_pipe_pct": 50.0,
                                      "l2_gb": 0.05, "dram_read_gb": 0.01}
        self.write("docs/results/c.json", root)
        text = self.woven("roofline c.json")
        # 132 · 4096 · 1.5 GHz is 811 TFLOP/s, half of it 406; 2 GFLOP in 10 µs are 200.
        self.assertIn("| v1_one | 1.500 | 50.0 | 406 | 200 | 0.493 | 5.0 | 1.0 |", text)
        self.assertIn("| v2_two | – | – | – | – | – | – | – |", text)

    def test_diff(self):
        text = self.woven("diff v1_one v2_two")
        self.assertTrue(text.startswith("```diff\n--- v1_one/kernel.cu\n+++ v2_two/kernel.cu\n@@"))
        self.assertIn("\n+constexpr int kStages = 2;\n", text)
        self.assertTrue(text.endswith("\n```\n"))

    def test_code(self):
        self.assertEqual(self.woven("code v1_one if (true) .. wait"),
                         "```cuda\n  if (true) {\n    wait();\n  }\n```\n")
        self.assertTrue(self.woven("code v1_one if (true) .. }  // namespace").endswith(
            "}  // namespace v1_one\n```\n"))  # the last line of the file

    def test_figure(self):
        self.write("docs/results/compare-h200.json",
                   result([contender("v1_one", 1.0), contender("v2_two", 1.0)]))
        with mock.patch.object(weave, "figures", lambda tree: {}):  # plot_test.py has them
            self.assertEqual(
                self.woven("figure v1", "docs/page.md"),
                "![TFLOP/s at 4096³ of v1 (v2 hollow), cuBLAS and WGMMA alone]"
                "(figures/progress-v1.svg)\n")
            self.assertEqual(self.woven("figure v10"), tree.NOT_MEASURED)

    def test_report(self):
        self.write("tests/emulator/zoo.txt", "bug v1_one: a\n  expect: x\nbug v2_two: b\n")
        self.write("docs/results/report.txt", "v2_two: b\nit says so\n")
        self.assertEqual(self.woven("report report.txt"),
                         "```console\n$ ./run zoo --show 1\nv2_two: b\nit says so\n```\n")

    def test_zoo(self):
        self.write("docs/results/zoo.txt", "| number | version | bug | found | as |\n"
                   "|  0 | v1_one  | a |  20/20 | x 20 |\n| 10 | v10_ten | b |  20/20 | y 20 |\n")
        self.assertIn("| 0 | v1_one | a | 20/20 | x 20 |\n| 10 | v10_ten |",
                      self.woven("zoo zoo.txt"))
        self.assertIn("| as (on how many seeds) |\n| --- | --- | --- | --- |\n"
                      "| 10 | b | 20/20 | y 20 |\n", self.woven("zoo zoo.txt v10_ten"))

    def test_mutations(self):
        long = "f(" + "x" * 70
        self.write("docs/results/mutations.txt", "| version | line | removed | caught | how |\n"
                   f"| v1_one | 7 | wait(); | 20/20 | x 20 |\n| v2_two | 8 | {long} | 1/20 | y 1 |\n")
        text = self.woven("mutations mutations.txt")
        self.assertIn("| v1_one | `wait();` | 20/20 | x 20 |", text)
        self.assertIn(f"| `{long}…` |", text)
        self.assertNotIn("v2_two", self.woven("mutations mutations.txt v1_one"))

    def test_text(self):
        self.write("docs/results/out.txt", "setup\nM = 1\n  row\n")
        self.assertEqual(self.woven("text out.txt M ="), "```text\nM = 1\n  row\n```\n")

    def test_what_is_promised_but_not_there(self):
        for marker in ("results promised.json", "order promised.json", "means promised.json",
                       "steps promised.json v1_one v2_two", "ablation promised.json",
                       "counters promised.json", "report promised.txt", "zoo promised.txt",
                       "mutations promised.txt", "text promised.txt M"):
            self.assertEqual(self.woven(marker), "(not measured yet)\n")


class Mistakes(WeaveTest):
    PART = "<!-- weave: ladder v* -->\nold\n<!-- end -->\n"

    def test_no_end(self):
        self.refused(f"a\n<!-- weave: ladder v* -->\nkept\n", "README.md:2:", "no <!-- end -->")

    def test_no_end_before_another_part(self):
        self.refused(f"<!-- weave: ladder v* -->\nkept\n\n{self.PART}",
                     "README.md:4:", "line 1", "missing")

    def test_end_alone(self):
        self.refused(f"{self.PART}kept\n<!-- end -->\n", "README.md:5:", "without a part")

    def test_malformed_markers(self):
        for marker in ("<!-- weave ladder v* -->", "<!--weave: ladder v* -->", "<!-- end-->",
                       "<!-- weave:  ladder v* -->", "text <!-- weave: ladder v* -->",
                       "<!-- Weave: ladder v* -->", "<!-- weave: -->", "  <!-- end -->"):
            self.refused(f"{marker}\n", "README.md:1:", "alone on its line")

    def test_unknown_weaver(self):
        self.refused("<!-- weave: lader v* -->\nkept\n<!-- end -->\n", "README.md:1:",
                     "no weaver 'lader'", "ladder")

    def test_words(self):
        for marker in ("steps r.json v1_one", "diff v1_one",
                       "results r.json s.json", "figure", "code", "text", "order"):
            self.refused(f"a\n<!-- weave: {marker} -->\n<!-- end -->\n", "README.md:2:",
                         f"write for example <!-- weave: {marker.split()[0]} ")

    def test_unknown_version(self):
        self.write("docs/results/r.json", full_result())
        self.write("docs/results/c.json", counted(["v1_one"]))
        self.write("docs/results/z.txt", "| 0 | v1_one | a | 1/1 | x |\n")
        self.write("docs/results/m.txt", "| v1_one | 1 | a | 1/1 | x |\n")
        for marker in ("diff v1_one v3_none", "code v3_none a .. b", "ladder v3*", "figure v3",
                       "steps r.json v1_one v3_none", "order r.json v3_none",
                       "counters c.json v3_none", "zoo z.txt v3_none", "mutations m.txt v3_none"):
            self.refused(f"<!-- weave: {marker} -->\n<!-- end -->\n", "README.md:1:", "v3")

    def test_missing_file(self):
        for marker in ("results typo.json", "counters typo.json", "text typo.txt M"):
            self.refused(f"<!-- weave: {marker} -->\n<!-- end -->\n", "README.md:1:",
                         "there is no docs/results/typo")

    def test_no_such_line(self):
        self.write("docs/results/out.txt", "setup\n")
        for marker, words in (("code v1_one nothing .. wait", "no line with 'nothing'"),
                              ("code v1_one wait .. kBlockM", "no line with 'kBlockM' from line"),
                              ("code v1_one wait", "' .. '"),
                              ("text out.txt M =", "begins with 'M ='")):
            self.refused(f"<!-- weave: {marker} -->\n<!-- end -->\n", "README.md:1:", words)

    def test_kernel_without_its_idea(self):
        self.write("v1_one/kernel.cu", "nothing\n")
        self.refused(self.PART, "v1_one/kernel.cu does not begin")

    def test_report_of_no_bug(self):
        self.write("tests/emulator/zoo.txt", "bug v1_one: renamed\n")
        self.write("docs/results/report.txt", "v1_one: a\nit says so\n")
        self.refused("<!-- weave: report report.txt -->\n<!-- end -->\n", "README.md:1:",
                     "'v1_one: a'")

    def test_rows_of_another_form(self):
        self.write("docs/results/z.txt", "| 0 | v1_one | a | 1/1 |\n")
        self.refused("<!-- weave: zoo z.txt -->\n<!-- end -->\n", "README.md:1:", "4 cells")

    def test_empty_text(self):
        self.write("docs/results/out.txt", "")
        self.refused("<!-- weave: text out.txt M -->\n<!-- end -->\n", "README.md:1:", "is empty")

    def test_processes_that_measured_different_problems(self):
        self.write("docs/results/r.json", full_result())
        self.write("docs/results/s.json", full_result(sizes=((8, 8, 8),)))
        self.refused("<!-- weave: order r.json s.json -->\n<!-- end -->\n", "README.md:1:", "s.json")

    def test_means_of_small_problems(self):
        self.write("docs/results/s.json", full_result(sizes=((8, 8, 8),)))
        self.refused("<!-- weave: means s.json -->\n<!-- end -->\n", "README.md:1:", "4096³")

    def test_damaged_result_files(self):
        whole = full_result()
        for text in ("", '{"schema": 1, "comm', "[]", "7", dict(whole, schema=3),
                     dict(whole, problems=[]), dict(whole, device={}),
                     dict(whole, problems=[{"m": 1}]),
                     result([{"name": "v1_one", "ms": 1.0, "checked": True}])):
            self.write("docs/results/r.json", text)
            self.refused("<!-- weave: results r.json -->\n<!-- end -->\n", "README.md:1:",
                         "docs/results/r.json", code=2)
        self.write("docs/results/r.json", {"schema": 1})
        self.refused("<!-- weave: counters r.json -->\n<!-- end -->\n", "README.md:1:", code=2)

    def test_quoted_marker(self):
        self.write("docs/results/out.txt", "M\n<!-- end -->\n")
        self.refused("<!-- weave: text out.txt M -->\n<!-- end -->\n", "README.md:1:", "a marker")

    def test_all_mistakes_are_named_at_once(self):
        self.write("README.md", "<!-- weave: a x -->\n<!-- end -->\n<!-- weave: b x -->\n")
        code, said = self.weave()
        self.assertEqual([line.split(":")[2] for line in said.splitlines()], ["1", "3", "3"])

    def test_no_readme(self):
        (self.root / "README.md").unlink()
        code, said = self.weave("--check")
        self.assertEqual((code, said), (1, "weave: README.md cannot be read: No such file or "
                                           "directory\n"))

    def test_markers_in_prose(self):
        text = "Write `<!-- weave: ladder v* -->` and `<!-- end -->`.\n"
        self.write("README.md", text)
        self.assertEqual(self.weave(), (0, ""))
        self.assertEqual(self.read("README.md"), text)

    def test_usage(self):
        for arguments in (["--chekc"], ["--check", "README.md"]):
            code, said = self.weave(*arguments)
            self.assertEqual(code, 2)
            self.assertNotIn("Traceback", said)
        self.assertEqual(self.weave("--help")[0], 0)


class Freshness(WeaveTest):
    def test_check_changes_nothing(self):
        stale = "<!-- weave: ladder v* -->\nold\n<!-- end -->\n"
        self.write("docs/page.md", stale)
        self.assertEqual(self.weave("--check"),
                         (1, "weave: docs/page.md is not fresh; run ./run docs\n"))
        self.assertEqual(self.read("docs/page.md"), stale)
        self.assertEqual(self.weave(), (0, "renewed: docs/page.md\n"))
        self.assertEqual(self.weave("--check"), (0, ""))

    def test_other_text_stays_byte_by_byte(self):
        self.write("README.md", "\n\n  a\n<!-- weave: ladder v* -->\n<!-- end -->\n\nno newline at the end")
        self.assertEqual(self.weave()[0], 0)
        text = self.read("README.md")
        self.assertTrue(text.startswith("\n\n  a\n<!-- weave: ladder v* -->\n| chapter"))
        self.assertTrue(text.endswith("|\n<!-- end -->\n\nno newline at the end"))

    def test_as_a_script_it_leaves_nothing_behind(self):
        shutil.copytree(REPOSITORY / "tools", self.root / "tools",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.write("README.md", "<!-- weave: ladder v* -->\n<!-- end -->\n")
        for code, arguments in ((1, ["--check"]), (0, []), (0, ["--check"])):
            run = subprocess.run([sys.executable, "tools/weave.py", *arguments], cwd=self.root,
                                 capture_output=True)
            self.assertEqual(run.returncode, code)
        left = [path for pattern in ("**/__pycache__", "**/*.new") for path in self.root.glob(pattern)]
        self.assertEqual(left, [])


class Checks(WeaveTest):
    def test_names(self):
        names = ["too late (RAW)", "too early", "a name that was too long for one line"]
        self.assertEqual(checks.check_names(tree.Tree(self.root)), names)
        (self.root / "emulator/src/report.cpp").rename(self.root / "emulator/src/checks.cpp")
        self.assertEqual(checks.check_names(tree.Tree(self.root)), names)

    def test_unexplained(self):
        self.write("docs/emulator.md", made_tree.EXPLAINED.replace("too early", "too soon"))
        self.assertEqual(self.weave("--check"),
                         (1, "weave: docs/emulator.md does not explain the check 'too early'\n"))

    def test_never_vacuous(self):
        for header, source, words in (
                (made_tree.HEADER, "", "defined 0 times"),
                (made_tree.HEADER, made_tree.SOURCE.replace("case Check::kEarly:", "default:"), "kEarly"),
                (made_tree.HEADER, made_tree.SOURCE.replace('"too early"', "kName"), "kEarly"),
                (made_tree.HEADER.replace("  kEarly,\n", ""), made_tree.SOURCE, "kEarly"),
                (made_tree.HEADER.replace("kLong,", "kLong,\n  kNew,"), made_tree.SOURCE, "kNew"),
                ("enum class Checks {};", made_tree.SOURCE, "emulator.h has no"),
                ("enum class Check {\n};", made_tree.SOURCE, "emulator.h has no")):
            self.write("emulator/emulator.h", header)
            self.write("emulator/src/report.cpp", source)
            code, said = self.weave("--check")
            self.assertEqual(code, 1)
            self.assertIn(words, said)
        self.write("emulator/emulator.h", made_tree.HEADER)
        self.write("emulator/src/report.cpp", made_tree.SOURCE)
        self.write("emulator/src/checks.cpp", made_tree.SOURCE)
        self.assertIn("defined 2 times", self.weave("--check")[1])


class Versions(unittest.TestCase):
    def test_order(self):
        self.assertEqual(sorted(["v10_a", "v9_b", "v2", "v1_c"], key=results.version_number),
                         ["v1_c", "v2", "v9_b", "v10_a"])
        for name in ("v1simple", "w1_x", "cublas"):
            with self.assertRaises(results.Fault):
                results.version_number(name)


if __name__ == "__main__":
    unittest.main()
