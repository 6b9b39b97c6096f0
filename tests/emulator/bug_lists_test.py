"""zoo.txt and legal_removals.txt fit the kernels; and what is wrong with such a list is said.

usage: bug_lists_test.py EMULATOR_ZOO EMULATOR_MUTATIONS KERNEL ...
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
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
            ("a version that there is not", "bug v1_simple:", "bug v1_simpel:", 9, "v1_simpel"),
            ("a bug without a version", BUG, "bug half\n", 9, "key: value"),
            ("a key that there is not", "  replace: kS", "  replaces: kS", 11, "replaces"),
            ("a line without its replacement", "  replace: kStageBytes\n", "", 11, "with"),
            ("a bug that expects nothing", "  expect: deadlock\n\n", "\n", 45, "expect"),
            ("something before the first bug", BUG, "  line: x\n" + BUG, 9, "first bug")):
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
           says(result, 1, f"{zoo}:9: v1_simple/kernel.cu has no line", "kNothing"), result)
    result = make_zoo("copy", str(zoo), kernels[0], str(folder / "copy.cu"))
    expect("zoo: of which the build says the same", says(result, 0, "kNothing"), result)
    result = make_zoo("check", str(HERE / "zoo.txt"), *kernels)
    expect("zoo: each bug of the list fits", result.returncode == 0 and not result.stderr, result)


def test_zoo_program(program):
    bugs = sum(line.startswith("bug ") for line in ZOO.splitlines())
    for number in (str(bugs), "-1", "first"):
        result = run(program, "--show", number)
        expect(f"zoo --show {number}", says(result, 2, "zoo: ", "--show") and not result.stdout, result)
    result = run(program, "--show", "0")
    expect("zoo --show 0", result.returncode == 0 and BUG[4:] in result.stdout
           and "too few bytes expected" in result.stdout and not result.stderr, result)
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


def main(zoo, mutations, *kernels):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_zoo_list(folder, kernels)
        test_zoo_program(zoo)
        test_legal_removals(folder, mutations)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
