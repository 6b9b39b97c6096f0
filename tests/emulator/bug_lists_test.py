"""The lists of bugs, of rewrites and of removals fit the kernels; and what is wrong with such a list
is said.

usage: bug_lists_test.py EMULATOR_ZOO EMULATOR_MUTATIONS KERNEL ...
"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LISTS = ("zoo.txt", "one_line_bugs.txt", "kept_back_bugs.txt", "legal_rewrites.txt")
ZOO = (HERE / "zoo.txt").read_text(encoding="utf-8")
LEGAL = (HERE / "legal_removals.txt").read_text(encoding="utf-8")
BUG = "bug v1_simple: half of the bytes are announced\n"


def make_zoo(*words):
    return run(sys.executable, str(HERE / "make_zoo.py"), *words)


def says(result, code, *parts):
    """The exit code, and one line on standard error that holds the parts."""
    return (result.returncode == code and result.stderr.count("\n") == 1
            and all(part in result.stderr for part in parts))


def changed(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def test_zoo_list(folder, kernels):
    zoo = folder / "zoo.txt"
    for what, old, new, place, part in (
            ("a version that there is not", "bug v1_simple:", "bug v1_simpel:", 8, "v1_simpel"),
            ("a bug without a version", BUG, "bug half\n", 8, "key: value"),
            ("a key that there is not", "  replace: kS", "  replaces: kS", 10, "replaces"),
            ("a line without its replacement", "  replace: kStageBytes\n", "", 10, "with"),
            ("a bug that expects nothing", "  expect: deadlock\n\n", "\n", 44, "expect"),
            ("something before the first bug", BUG, "  line: x\n" + BUG, 8, "first bug")):
        zoo.write_text(changed(ZOO, old, new), encoding="utf-8")
        result = make_zoo("list", str(zoo), str(folder / "list.inc"), *kernels)
        expect(f"zoo: {what}", says(result, 1, f"{zoo}:{place}: ", part), result)
        expect(f"zoo: {what}, no list", not (folder / "list.inc").exists(), result)
    zoo.write_text("# nothing\n", encoding="utf-8")
    result = make_zoo("list", str(zoo), str(folder / "list.inc"), *kernels)
    expect("zoo: no bug", says(result, 1, "no bug"), result)
    zoo.write_text(changed(ZOO, "  replace: kStageBytes\n", "  replace: kNothing\n"),
                   encoding="utf-8")
    result = make_zoo("check", str(zoo), *kernels)
    expect("zoo: a bug that fits no line",
           says(result, 1, f"{zoo}:8: v1_simple/kernel.cu has no line", "kNothing"), result)
    result = make_zoo("copy", str(zoo), kernels[0], str(folder / "copy.cu"))
    expect("zoo: of which the build says the same", says(result, 0, "kNothing"), result)
    result = make_zoo("check", ",".join(str(HERE / name) for name in LISTS), *kernels)
    expect("zoo: each bug of the lists fits", result.returncode == 0 and not result.stderr, result)


def test_several_changes_of_a_line(folder):
    """Statements, arguments, and what lies inside of what another bug replaces, in any order."""
    kernel = folder / "v1_x" / "kernel.cu"
    kernel.parent.mkdir()
    kernel.write_text("  f(a, b + 1);  // f\n  f(a, b);\n", encoding="utf-8")
    lists = folder / "lists.txt"
    change = "bug v1_x: a\n  line: {}\n  replace: {}\n  with: {}\n  expect: x\n"

    def copied(*changes):
        """What is said, and the lines."""
        lists.write_text("\n".join(change.format(*each) for each in changes), encoding="utf-8")
        result = make_zoo("copy", str(lists), str(kernel), str(folder / "x.cu"))
        result.lines = [line.strip() for line in
                        (folder / "x.cu").read_text(encoding="utf-8").splitlines()[1:]]
        return result

    for order in ((0, 1), (1, 0)):
        changes = [("// f", "a, b + 1", "a, c"), ("// f", "f(a, b + 1);", "g();")]
        result = copied(*(changes[i] for i in order))
        inside, whole = order.index(0), order.index(1)
        expect(f"zoo: one change inside of another, {order}", result.lines == [
            f"{{ if (zoo::is_on({whole})) {{ g(); }} else {{ f(a, (zoo::is_on({inside}) ? (c) : "
            "(b + 1))); } }  // f", "f(a, b);"] and not result.stderr, result)
    result = copied(("// f", "b", "c"), ("// f", "b", "d"))
    expect("zoo: two bugs at one place", result.lines[0] ==
           "f(a, (zoo::is_on(1) ? (d) : ((zoo::is_on(0) ? (c) : (b)))) + 1);  // f", result)
    result = copied(("// f .. f(a, b);", "b", "c"))
    expect("zoo: a line below another", result.lines[1] == "f(a, (zoo::is_on(0) ? (c) : (b)));",
           result)
    result = copied(("// f", "b + 1", "c"), ("// f", "1);", "2);"))
    expect("zoo: two that overlap", says(result, 0, "lists.txt:7: ", "overlaps"), result)
    result = copied(("// f", "a, b", "a, b, c"))
    expect("zoo: more arguments than there are", says(result, 0, "lists.txt:1: ", "arguments"), result)


def test_zoo_program(program):
    bugs = sum(line.startswith("bug ") for line in ZOO.splitlines())
    for number in (str(bugs), "-1", "first"):
        result = run(program, "--show", number)
        expect(f"zoo --show {number}", says(result, 2, "zoo: ", "--show") and not result.stdout, result)
    result = run(program, "--show", "0")
    expect("zoo --show 0", result.returncode == 0 and BUG[4:] in result.stdout
           and "too few bytes expected" in result.stdout and not result.stderr, result)
    result = run(program, "--list", "kept_back_bugs", "--show", "1")
    expect("zoo --list --show", result.returncode == 0 and "deadlock" in result.stdout, result)
    result = run(program, "--list", "no_such_list", "--show", "1")
    expect("zoo --list", says(result, 2, "no_such_list", "legal_rewrites"), result)
    names = run(program, "--checks").stdout.splitlines()
    expect("zoo --checks", len(names) == len(set(names)) > 30 and names[0].endswith("(WAR)")
           and names[-1] == "deadlock" and "unknown" not in names, run(program, "--checks"))


def test_legal_removals(folder, program):
    def mutate(text):
        legal.write_text(text, encoding="utf-8")
        return run(program, "--seeds", "1", "--legal", str(legal), "v1")

    legal = folder / "legal.txt"
    result = mutate(LEGAL)
    expect("mutate: the list", result.returncode == 0 and not result.stderr, result)
    result = mutate(changed(LEGAL, "v1_simple | ", "v1_simpel | "))
    expect("mutate: a version that there is not", says(result, 2, f"{legal}:2: ", "v1_simpel"), result)
    result = mutate(changed(LEGAL, "v1_simple | ", "v1_simple "))
    expect("mutate: a malformed line", says(result, 2, f"{legal}:2: ", "reason"), result)
    result = mutate(LEGAL + "v1_simple | no such text | it may\n")
    expect("mutate: an entry that fits no line",
           says(result, 1, f"{legal}:{LEGAL.count(chr(10)) + 1}: ", "no such text"), result)
    result = mutate("")
    expect("mutate: a removal that nobody has called legal",
           result.returncode == 1 and "UNEXPECTED" in result.stdout, result)
    legal.unlink()
    result = run(program, "--legal", str(legal), "v1")
    expect("mutate: no list", says(result, 2, str(legal)), result)
    result = run(program, "v99")
    expect("mutate: no such version", says(result, 2, "v99"), result)


def slices(path):
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return ({event["name"] for event in events if event["ph"] == "X"},
            [event for event in events if event["ph"] == "s" and event["name"] == "hazard"])


def test_shown_runs(folder, zoo, mutations):
    trace, page = folder / "trace.json", folder / "page.html"
    result = run(zoo, "--show", "7", "--trace", str(trace), "--watch", str(page))
    names, arrows = slices(trace)
    expect("a hazard's timeline", result.returncode == 0 and not result.stderr and arrows
           and "stage overwritten while it is read (WAR)" in names, result)
    text = page.read_text(encoding="utf-8")
    expect("a bug's page says what is changed", "- 96  ptx::wgmma_wait_group" in text
           and "+ 96  ptx::mbarrier_arrive" in text, result)
    result = run(zoo, "--show", "6", "--delays", "textbook", "--trace", str(trace))
    names, _ = slices(trace)
    expect("a deadlock's timeline", "waits for ever: parity 0 of empty[0]" in names, result)
    result = run(mutations, "v3", "--line", "97", "--trace", str(trace))
    names, _ = slices(trace)
    expect("mutate --line", result.returncode == 0 and "deadlock" in result.stdout
           and "wait empty[0]" in names | {name.replace("s for ever: parity 0 of", "")
                                           for name in names}, result)
    result = run(mutations, "v3", "--line", "95")
    expect("mutate --line of no wrapper", says(result, 2, "--line 95", "94, 96, 97"), result)
    result = run(mutations, "--line", "97")
    expect("mutate --line of no version", says(result, 2, "one version"), result)
    result = run(zoo, "--show", "7", "--trace", "/nonexistent/a")
    expect("zoo: a timeline nowhere", says(result, 2, "--trace: cannot write"), result)


def main(zoo, mutations, *kernels):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_zoo_list(folder, kernels)
        test_several_changes_of_a_line(folder)
        test_zoo_program(zoo)
        test_legal_removals(folder, mutations)
        test_shown_runs(folder, zoo, mutations)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
