"""Writes into README.md and docs/*.md what they quote from sources and result files.

A quoted part stands between two comments, each alone on its line, and is replaced whole:
  <!-- weave: ladder v* -->                   one row a version: its idea, its size, its chapter
  <!-- weave: results compare-h200.json -->   the table of a result file
  <!-- weave: order compare-h200.json compare-h200-2.json compare-h200-3.json -->
                                              each step in several processes, and whether they agree
                                              (a version's name behind the files: that step alone)
  <!-- weave: means compare-h200.json compare-h200-2.json -->
                                              each version's ratio to cuBLAS, mean over large sizes,
                                              by process
  <!-- weave: steps compare-h200.json v1_simple v2_pipelined -->
                                              two contenders of a result file, size by size
  <!-- weave: ablation ablate-v4-h200.json -->  variants beside their default
  <!-- weave: counters counters-h200.json -->   hardware counters (versions' names: these alone)
  <!-- weave: roofline counters-h200.json -->   the same held against the peak
  <!-- weave: diff v1_simple v2_pipelined --> diff -u of two kernel.cu
  <!-- weave: code v1_simple first .. last --> lines of a kernel.cu, from the first line that holds
                                              the text `first` to the next one that holds `last`;
                                              of another file by its path: examples/hello/hello_tma.cu
  <!-- weave: figure v3 -->                   the ladder up to a version
  <!-- weave: report report-v3.txt -->        what the emulator says of a bug of the zoo
  <!-- weave: zoo zoo.txt -->                 the zoo's table (versions' names: theirs alone)
  <!-- weave: mutations mutations.txt -->     each line removed in turn (likewise)
  <!-- weave: text emulator-compare.txt M = --> what a program printed, from the line that begins so
  <!-- end -->
What is not in the files (yet) reads "(not measured yet)".

Also draws the figures of docs/figures that are not fresh (plot.py; needs matplotlib), and fails if
docs/emulator.md leaves a check of the emulator out.

Pages are written after all of them have been woven: a mistake in one leaves all as they were.
Exit codes: 0 good, 1 something is not fresh or a page cannot be woven, 2 usage or a result file that
cannot be read.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import inspect
import os
import pathlib
import re

import plot
from weaving import quotes, tables
from weaving.checks import PAGE, unexplained
from weaving.results import Fault, Unreadable, versions_of
from weaving.tree import Tree

WEAVERS = {
    "ladder": quotes.ladder_table,
    "results": tables.results_table,
    "order": tables.order_table,
    "means": tables.means_table,
    "steps": tables.steps_table,
    "ablation": tables.ablation_table,
    "counters": tables.counters_table,
    "roofline": tables.roofline_table,
    "diff": quotes.kernel_diff,
    "code": quotes.kernel_code,
    "figure": quotes.figure,
    "report": quotes.report_text,
    "zoo": quotes.zoo_table,
    "mutations": quotes.mutations_table,
    "text": quotes.program_text,
}
BEGIN = re.compile(r"<!-- weave: (\w+)(?: (\S|\S.*\S))? -->")
END = "<!-- end -->"
# What looks like a marker must be one; in prose it stands behind a backtick.
MARKER = re.compile(r"(?<!`)<!--\s*(?:weave|end)\b", re.I)


def woven(tree, folder, name, words):
    """The text of one part."""
    if name not in WEAVERS:
        raise Fault(f"there is no weaver '{name}'; there are: {', '.join(WEAVERS)}")
    parameters = list(inspect.signature(WEAVERS[name]).parameters.values())[2:]
    named = [each for each in parameters if each.kind != each.VAR_POSITIONAL]
    if len(words) < len(named) or (len(words) > len(named) and named == parameters):
        example = re.search(rf"<!-- weave: {name} .*? -->", __doc__)[0]
        raise Fault(f"'{name}' does not take {len(words)} words; write for example {example}")
    text = WEAVERS[name](tree, folder, *words)
    if MARKER.search(text):
        raise Fault("what it quotes holds a marker itself")
    return text


def weave(tree, page, faults):
    """The page with every quoted part renewed; whatever is wrong is appended to `faults`."""
    def fault(number, wrong):
        faults.append(type(wrong)(f"{page.relative_to(tree.root)}:{number}: {wrong}"))

    fresh = []
    part = None  # the line where the part that we are in begins
    for number, line in enumerate(tree.read(page.relative_to(tree.root)).split("\n"), 1):
        begin = BEGIN.fullmatch(line)
        if begin and part is None:
            part = number
            fresh.append(line)
            try:
                words = begin[2].split(" ") if begin[2] else []
                fresh += woven(tree, page.parent, begin[1], words)[:-1].split("\n")
            except Fault as wrong:
                fault(number, wrong)
        elif begin:
            fault(number, Fault(f"a part begins inside that of line {part}, whose {END} is missing"))
        elif line == END:
            if part is None:
                fault(number, Fault(f"{END} stands without a part that it could end"))
            part = None
            fresh.append(line)
        elif MARKER.search(line):
            fault(number, Fault(f"a marker stands alone on its line and reads '<!-- weave: NAME "
                                f"WORDS -->' or '{END}'"))
        elif part is None:
            fresh.append(line)
    if part is not None:
        fault(part, Fault(f"this part has no {END}"))
    return "\n".join(fresh)


def figures(tree):
    """What each file of docs/figures shows: the whole ladder, and the ladder up to each version."""
    root = tree.measured("compare-h200.json")
    if root is None:
        return {}
    folder = tree.docs / "figures"
    shown = {folder / "progress.svg": plot.progress(root)}
    for version in versions_of(root):
        shown[folder / f"progress-{version.split('_')[0]}.svg"] = plot.progress(root, upto=version)
    return shown


def text_of(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write(path, text):
    """All of it or nothing, whatever happens meanwhile."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def main(arguments, root=pathlib.Path(__file__).resolve().parent.parent):
    parser = argparse.ArgumentParser(prog="weave.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="change nothing, fail if something would change")
    check = parser.parse_args(arguments).check
    tree = Tree(root)
    faults = []
    pages, shown = {}, {}
    try:
        pages = {page: weave(tree, page, faults) for page in tree.pages()}
        shown = figures(tree)
        faults += [Fault(f"{PAGE} does not explain the check '{name}'") for name in unexplained(tree)]
    except Fault as wrong:
        faults.append(wrong)
    pages = {page: text for page, text in pages.items() if text != text_of(page)}
    reasons = {path: plot.stale_because(text_of(path), what) for path, what in shown.items()}
    stale = {path: reason for path, reason in reasons.items() if reason}
    if check:
        faults += [Fault(f"{page.relative_to(root)} is not fresh; run ./run docs") for page in pages]
        faults += [Fault(f"{path.relative_to(root)} is not fresh, {reason}; run ./run docs")
                   for path, reason in stale.items()]
    if faults:
        for wrong in dict.fromkeys(map(str, faults)):
            print("weave:", wrong.replace(f"{root}/", ""), file=sys.stderr)
        return 2 if any(isinstance(wrong, Unreadable) for wrong in faults) else 1
    if check:
        return 0
    can_draw = plot.available()
    fresh = {**pages, **{path: plot.stamped(shown[path]) for path in stale if can_draw}}
    for path, text in fresh.items():
        write(path, text)
        print(f"renewed: {path.relative_to(root)}")
    if stale and not can_draw:
        print(f"weave: {len(stale)} figures are to be drawn anew and matplotlib was not found; "
              f"install python3-matplotlib", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
