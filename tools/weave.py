"""Writes into README.md and docs/*.md what they quote from sources and result files.

A quoted part stands between two comments and is replaced whole:
  <!-- weave: ladder v* -->                   one row a version: its idea, its size, its chapter
  <!-- weave: results compare-h200.json -->   the table of a result file
  <!-- weave: steps compare-h200.json v1_simple v2_pipelined -->
                                              two versions of a result file, size by size
  <!-- weave: diff v1_simple v2_pipelined --> diff -u of two kernel.cu
  <!-- weave: code v1_simple first .. last --> lines of a kernel.cu, from the first line that holds
                                              the text `first` to the next one that holds `last`
  <!-- end -->

usage: weave.py [--check]   (--check: change nothing, fail if something would change)
"""
import difflib
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- weave: (\w+) (.*?) -->\n).*?(<!-- end -->)", re.S)


def read_kernel(version):
    return (ROOT / version / "kernel.cu").read_text(encoding="utf-8").splitlines()


def changed_lines(before, after):
    diff = [line[0] for line in difflib.unified_diff(before, after, lineterm="", n=0)
            if not line.startswith(("---", "+++"))]
    return f"−{diff.count('-')} / +{diff.count('+')}"


def ladder_table(pattern):
    """The idea is what line 1 of kernel.cu says of it."""
    versions = sorted((path.parent.name for path in ROOT.glob(f"{pattern}/kernel.cu")),
                      key=lambda name: int(re.match(r"v(\d+)_", name)[1]))
    lines = ["| version | its idea | lines of kernel.cu | changed lines | chapter |",
             "| --- | --- | --- | --- | --- |"]
    before = None
    for version in versions:
        text = read_kernel(version)
        idea = re.match(r"// v\d+: (.*?)\.? Chapter:", text[0])[1]
        changes = changed_lines(before, text) if before else "–"
        chapter = f"docs/{version}.md"
        link = f"[{chapter}]({chapter})" if (ROOT / chapter).exists() else "–"
        lines.append(f"| [{version}]({version}/kernel.cu) | {idea} | {len(text)} | {changes} "
                     f"| {link} |")
        before = text
    return "\n".join(lines) + "\n"


def read_results(name):
    path = ROOT / "docs" / "results" / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def size_of(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    return f"{m}³" if m == n == k else f"{m}×{n}×{k}"


def describe_run(root):
    """Where, with what and how often a result was measured."""
    device = root["device"]
    checked = all(contender["checked"] in (True, None)
                  for problem in root["problems"] for contender in problem["contenders"])
    return (f"median of {root['rounds']} rounds. {device['name']}, {device['power_limit_w']:.0f} W, "
            f"driver {device['driver']}, CUDA {device['cuda']}, cuBLAS {device['cublas']}, "
            f"{root['data']} data, {root['date']}, commit {root['commit']}; "
            + ("every result checked" if checked else "NOT every result was right"))


def results_table(name):
    """One row a version, one pair of columns a problem: TFLOP/s and the ratio to cuBLAS."""
    root = read_results(name)
    if root is None:
        return "(not measured yet)\n"
    problems = root["problems"]
    head = ["version"] + [size_of(problem) for problem in problems]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for index, contender in enumerate(problems[0]["contenders"]):
        row = [contender["name"]]
        for problem in problems:
            entry = problem["contenders"][index]
            if "ms" not in entry:
                row.append("wrong" if entry["checked"] is False else "–")
            elif entry["name"] == "cublas":
                row.append(f"{entry['tflops']:.0f} TFLOP/s")
            else:
                row.append(f"{entry['ratio_to_cublas']:.3f} ({entry['tflops']:.0f})")
        lines.append("| " + " | ".join(row) + " |")
    lines.append("")
    lines.append("Ratio to cuBLAS in the same round (above 1 is faster than cuBLAS), and TFLOP/s; "
                 + describe_run(root)
                 + f"; raw times in [docs/results/{name}](docs/results/{name}).")
    return "\n".join(lines) + "\n"


def steps_table(name, before, after):
    """One row a problem: both versions and cuBLAS, and what the step from one to the other buys."""
    root = read_results(name)
    if root is None:
        return "(not measured yet)\n"
    lines = [f"| size | {before} ms | {after} ms | cuBLAS ms | {before} / cuBLAS "
             f"| {after} / cuBLAS | the step [min – max] |", "|" + " --- |" * 7]
    for problem in root["problems"]:
        entries = {entry["name"]: entry for entry in problem["contenders"]}
        row = [size_of(problem)]
        row += [f"{entries[each]['ms']:.4f}" if "ms" in entries[each] else "–"
                for each in (before, after, "cublas")]
        row += [f"{entries[each]['ratio_to_cublas']:.3f}" if "ms" in entries[each] else "–"
                for each in (before, after)]
        pairs = zip(entries[before]["rounds_ms"], entries[after]["rounds_ms"])
        ratios = [old / new for old, new in pairs]
        row.append(f"{statistics.median(ratios):.3f} [{min(ratios):.3f} – {max(ratios):.3f}]"
                   if ratios else "–")
        lines.append("| " + " | ".join(row) + " |")
    lines.append("")
    lines.append("Medians in ms; ratios of times in the same round (above 1: faster than cuBLAS, and "
                 f"for the step: {after} faster than {before}); " + describe_run(root) + ".")
    return "\n".join(lines) + "\n"


def kernel_diff(before, after):
    paths = [f"{version}/kernel.cu" for version in (before, after)]
    diff = difflib.unified_diff(read_kernel(before), read_kernel(after), *paths, lineterm="")
    return "```diff\n" + "\n".join(diff) + "\n```\n"


def indent(line):
    return len(line) - len(line.lstrip())


def kernel_code(words):
    version, _, span = words.partition(" ")
    first, last = span.split(" .. ")
    text = read_kernel(version)
    start = next(i for i, line in enumerate(text) if first in line)
    end = next(i for i in range(start, len(text)) if last in text[i])
    # The braces that close what was opened in between belong to it.
    while re.fullmatch(r"\s*\};?", text[end + 1]) and indent(text[end + 1]) >= indent(text[start]):
        end += 1
    return "```cuda\n" + "\n".join(text[start:end + 1]) + "\n```\n"


WEAVERS = {
    "ladder": ladder_table,
    "results": results_table,
    "steps": lambda words: steps_table(*words.split()),
    "diff": lambda words: kernel_diff(*words.split()),
    "code": kernel_code,
}


def weave(text):
    return PART.sub(lambda part: part[1] + WEAVERS[part[2]](part[3]) + part[4], text)


def main():
    check = "--check" in sys.argv[1:]
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        woven = weave(text)
        if woven == text:
            continue
        stale.append(str(path.relative_to(ROOT)))
        if not check:
            path.write_text(woven, encoding="utf-8")
    if stale:
        print(("not fresh, run './run docs': " if check else "renewed: ") + ", ".join(stale))
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
