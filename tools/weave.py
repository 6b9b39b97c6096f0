"""Writes into README.md and docs/*.md what they quote from sources and result files.

A quoted part stands between two comments and is replaced whole:
  <!-- weave: results compare-h200.json -->   the table of a result file
  <!-- weave: diff v1_simple v2_pipelined --> diff -u of two kernel.cu
  <!-- end -->

usage: weave.py [--check]   (--check: change nothing, fail if something would change)
"""
import difflib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- weave: (\w+) ([^>]*?) -->\n).*?(<!-- end -->)", re.S)


def results_table(name):
    """One row a version, one pair of columns a problem: TFLOP/s and the ratio to cuBLAS."""
    path = ROOT / "docs" / "results" / name
    if not path.exists():
        return "(not measured yet)\n"
    root = json.loads(path.read_text(encoding="utf-8"))
    device = root["device"]
    problems = root["problems"]
    head = ["version"]
    for problem in problems:
        m, n, k = problem["m"], problem["n"], problem["k"]
        head.append(f"{m}³" if m == n == k else f"{m}×{n}×{k}")
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
    checked = all(contender["checked"] in (True, None)
                  for problem in problems for contender in problem["contenders"])
    lines.append("")
    lines.append(f"Ratio to cuBLAS, in the same round, median of {root['rounds']} (above 1 is faster "
                 f"than cuBLAS), and TFLOP/s. {device['name']}, {device['power_limit_w']:.0f} W, "
                 f"driver {device['driver']}, CUDA {device['cuda']}, cuBLAS {device['cublas']}, "
                 f"{root['data']} data, {root['date']}, commit {root['commit']}; "
                 + ("every result checked" if checked else "NOT every result was right")
                 + f"; raw times in [docs/results/{name}](docs/results/{name}).")
    return "\n".join(lines) + "\n"


def kernel_diff(before, after):
    paths = [f"{version}/kernel.cu" for version in (before, after)]
    texts = [(ROOT / path).read_text(encoding="utf-8").splitlines() for path in paths]
    diff = difflib.unified_diff(*texts, *paths, lineterm="")
    return "```diff\n" + "\n".join(diff) + "\n```\n"


WEAVERS = {
    "results": lambda words: results_table(words[0]),
    "diff": lambda words: kernel_diff(*words),
}


def weave(text):
    return PART.sub(lambda part: part[1] + WEAVERS[part[2]](part[3].split()) + part[4], text)


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
