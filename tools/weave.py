"""Writes into README.md and docs/*.md what they quote from sources and result files.

A quoted part stands between two comments and is replaced whole:
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
  <!-- weave: diff v1_simple v2_pipelined --> diff -u of two kernel.cu
  <!-- weave: code v1_simple first .. last --> lines of a kernel.cu, from the first line that holds
                                              the text `first` to the next one that holds `last`
  <!-- weave: figure v3 -->                   the ladder up to a version
  <!-- weave: report report-v3.txt -->        what the emulator says of a bug of the zoo
  <!-- weave: zoo zoo.txt -->                 the zoo's table (versions' names: theirs alone)
  <!-- weave: mutations mutations.txt -->     each line removed in turn (likewise)
  <!-- weave: text emulator-compare.txt M = --> what a program printed, from the line that begins so
  <!-- end -->
What is not in the files (yet) reads "(not measured yet)".

Also draws docs/figures (tools/plot.py), where there is matplotlib.

usage: weave.py [--check]   (--check: change nothing, fail if something would change)
"""
import difflib
import json
import os
import pathlib
import re
import statistics
import sys

import plot

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
PART = re.compile(r"(<!-- weave: (\w+) (.*?) -->\n).*?(<!-- end -->)", re.S)
NOT_YET = "(not measured yet)"
NOT_MEASURED = NOT_YET + "\n"
CHECKS = ROOT / "emulator" / "src" / "checks.cpp"
ZOO = ROOT / "tests" / "emulator" / "zoo.txt"
LARGE = 4096**3  # multiply-adds
APIS = {"cublas_gemm_ex": "cublasGemmEx", "cublas_lt": "cublasLt"}


def link(target, folder, text=None):
    """A link to a file of this repository from a page in `folder`."""
    relative = pathlib.PurePath(os.path.relpath(target, folder)).as_posix()
    return f"[{text or relative}]({relative})"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows)]


def read_kernel(version):
    return (ROOT / version / "kernel.cu").read_text(encoding="utf-8").splitlines()


def changed_lines(before, after):
    diff = [line[0] for line in difflib.unified_diff(before, after, lineterm="", n=0)
            if not line.startswith(("---", "+++"))]
    return f"−{diff.count('-')} / +{diff.count('+')}"


def ladder(pattern="v*"):
    """The versions, in order."""
    return sorted((path.parent.name for path in ROOT.glob(f"{pattern}/kernel.cu")),
                  key=lambda name: int(re.match(r"v(\d+)_", name)[1]))


def idea_of(text):
    """What the lines at the top of kernel.cu say of it."""
    head = " ".join(line[3:] for line in text[:2])
    return re.match(r"v\d+: (.*?)\.? Chapter:", head)[1]


def ladder_table(pattern, folder):
    versions = ladder(pattern)
    rows = []
    before = None
    for version in versions:
        text = read_kernel(version)
        chapter = ROOT / "docs" / f"{version}.md"
        rows.append([link(ROOT / version / "kernel.cu", folder, version), idea_of(text),
                     str(len(text)),
                     changed_lines(before, text) if before else "–",
                     link(chapter, folder) if chapter.exists() else "–"])
        before = text
    head = ["version", "its idea", "lines of kernel.cu", "changed lines", "chapter"]
    return "\n".join(table(head, rows)) + "\n"


def read_results(name):
    path = RESULTS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def contenders_of(problem):
    return {entry["name"]: entry for entry in problem["contenders"]}


def versions_of(root):
    """The contenders that are kernels of this repository, in the order measured."""
    return list(dict.fromkeys(entry["name"] for problem in root["problems"]
                              for entry in problem["contenders"]
                              if re.match(r"v\d+_", entry["name"])))


def describe_run(root):
    """Where, with what and how often a result was measured."""
    device = root["device"]
    checked = all(contender["checked"] in (True, None)
                  for problem in root["problems"] for contender in problem["contenders"])
    return (f"median of {root['rounds']} rounds. {device['name']}, {device['power_limit_w']:.0f} W, "
            f"driver {device['driver']}, CUDA {device['cuda']}, cuBLAS {device['cublas']}, "
            f"{root['data']} data, {root['date']}, commit {root['commit']}; "
            + ("every result checked" if checked else "NOT every result was right"))


def rounds_ratio(slow, fast):
    """Times of `slow` over times of `fast`, round by round."""
    return [a / b for a, b in zip(slow["rounds_ms"], fast["rounds_ms"])]


def median_and_range(ratios):
    if not ratios:
        return "–"
    return f"{statistics.median(ratios):.3f} [{min(ratios):.3f} – {max(ratios):.3f}]"


def ratio_cell(entry):
    if entry is None or "ms" not in entry:
        return "wrong" if entry and entry["checked"] is False else "–"
    return f"{entry['ratio_to_cublas']:.3f} ({entry['tflops']:.0f})"


def results_table(name, folder):
    """One row a version, one column a problem: the ratio to cuBLAS, and TFLOP/s. Which of the two
    ways of asking cuBLAS is `cublas`, and which the other contender, differs between problems."""
    root = read_results(name)
    if root is None:
        return NOT_MEASURED
    problems = [contenders_of(problem) for problem in root["problems"]]
    rows = [[version] + [ratio_cell(entries.get(version)) for entries in problems]
            for version in versions_of(root)]
    rows += [[version] + [NOT_YET] * len(problems)
             for version in ladder() if version not in versions_of(root)]
    best, other = ["**cuBLAS**"], ["cuBLAS, asked the other way"]
    for entries in problems:
        cublas = entries["cublas"]
        best.append(f"**1** ({cublas['tflops']:.0f}) {APIS[cublas['api']]}")
        rest = [api for api in APIS if api in entries]
        other.append(f"{ratio_cell(entries[rest[0]])} {APIS[rest[0]]}" if rest else "–")
    rows += [best, other]
    rows.append(["WGMMA alone"] + [ratio_cell(entries.get("wgmma_ceiling"))
                                   for entries in problems])
    head = ["version"] + [plot.size_of(problem) for problem in root["problems"]]
    text = (f"Ratio to cuBLAS in the same round (above 1: faster than cuBLAS), in brackets TFLOP/s; "
            f"{describe_run(root)}; raw times in {link(RESULTS / name, folder)}. 1 is the better of "
            f"`cublasGemmEx` and the best of cublasLt's heuristics, size by size. \"WGMMA alone\": as "
            f"many WGMMAs on operands that are already in shared memory; no matmul, a ceiling.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


def order_table(words, folder):
    """One row a step, one column a problem: what each process says of the step."""
    names = [word for word in words.split() if word.endswith(".json")]
    only = [word for word in words.split() if not word.endswith(".json")]
    roots = [read_results(name) for name in names]
    if None in roots:
        return NOT_MEASURED
    versions = versions_of(roots[0])
    versions += [version for version in ladder() if version not in versions]
    rows = []
    for before, after in zip(versions, versions[1:]):
        if only and after not in only:
            continue
        row = [f"{before} → {after}"]
        for index in range(len(roots[0]["problems"])):
            entries = [contenders_of(root["problems"][index]) for root in roots]
            if any(before not in each or after not in each for each in entries):
                row.append(NOT_YET)
                continue
            ratios = [rounds_ratio(each[before], each[after]) for each in entries]
            if not all(ratios):
                row.append("–")
                continue
            medians = [statistics.median(each) for each in ratios]
            verdict = ("faster" if min(medians) > 1 else
                       "slower" if max(medians) < 1 else "undecided")
            row.append(f"**{verdict}** " + ", ".join(f"{each:.3f}" for each in medians))
        rows.append(row)
    head = ["step"] + [plot.size_of(problem) for problem in roots[0]["problems"]]
    files = ", ".join(link(RESULTS / name, folder, name) for name in names)
    text = (f"Time before / time after, median over the rounds, in {len(names)} fresh processes "
            f"({files}); faster or slower: in all {len(names)}.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


def means_table(words, folder):
    """One row a version, one column a process: the geometric mean over the large problems."""
    names = words.split()
    roots = [read_results(name) for name in names]
    if None in roots:
        return NOT_MEASURED
    large = [[problem for problem in root["problems"]
              if problem["m"] * problem["n"] * problem["k"] >= LARGE] for root in roots]
    rows = []
    for version in versions_of(roots[0]):
        row = [version]
        for problems in large:
            entries = [contenders_of(problem).get(version, {}) for problem in problems]
            row.append(f"{statistics.geometric_mean(e['ratio_to_cublas'] for e in entries):.3f}"
                       if entries and all("ms" in entry for entry in entries) else "–")
        rows.append(row)
    head = ["version"] + [link(RESULTS / name, folder, name) for name in names]
    text = (f"Ratio to cuBLAS, geometric mean over {', '.join(map(plot.size_of, large[0]))}: the "
            f"{len(large[0])} sizes of at least 4096³ multiply-adds.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


def steps_table(words, _folder):
    """One row a problem: two contenders and cuBLAS, and what the step from one to the other buys."""
    name, before, after = words.split()
    root = read_results(name)
    if root is None or not {before, after} <= set(versions_of(root)):
        return NOT_MEASURED
    rows = []
    for problem in root["problems"]:
        entries = contenders_of(problem)
        rows.append([plot.size_of(problem)]
                    + [f"{entries[each]['ms']:.4f}" if "ms" in entries[each] else "–"
                       for each in (before, after, "cublas")]
                    + [f"{entries[each]['ratio_to_cublas']:.3f}" if "ms" in entries[each] else "–"
                       for each in (before, after)]
                    + [median_and_range(rounds_ratio(entries[before], entries[after]))])
    head = ["size", f"{before} ms", f"{after} ms", "cuBLAS ms", f"{before} / cuBLAS",
            f"{after} / cuBLAS", "the step [min – max]"]
    text = (f"Medians in ms; ratios of times in the same round (above 1: faster than cuBLAS, and for "
            f"the step: {after} faster than {before}); {describe_run(root)}.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


def ablation_table(name, folder):
    """One row a variant, three columns a problem. The first contender is the default; a variant that
    is a patch is linked to it."""
    root = read_results(name)
    if root is None:
        return NOT_MEASURED
    versions = versions_of(root)
    rows = []
    for version in versions:
        patch = ROOT / "tools" / "ablations" / (re.sub(r"_stages_\d+$", "", version) + ".patch")
        row = [link(patch, folder, version) if patch.exists() else version]
        for problem in root["problems"]:
            entries = contenders_of(problem)
            entry = entries[version]
            row += ([f"{entry['ms']:.4f}",
                     "1" if version == versions[0] else
                     median_and_range(rounds_ratio(entries[versions[0]], entry)),
                     f"{entry['ratio_to_cublas']:.3f}"] if "ms" in entry else ["wrong", "–", "–"])
        rows.append(row)
    head = ["variant"]
    for problem in root["problems"]:
        head += [f"{plot.size_of(problem)}: ms", f"× {versions[0]} [min – max]", "/ cuBLAS"]
    text = (f"× {versions[0]}: its time / the variant's in the same round, above 1: the variant is "
            f"faster; {describe_run(root)}; raw times in {link(RESULTS / name, folder)}.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


COUNTERS = {
    "time_ms": ("ms", ".3f"),
    "tensor_pipe_pct": ("tensor pipe busy, %", ".1f"),
    "sm_clock_ghz": ("SM clock, GHz", ".3f"),
    "dram_read_gb": ("read from DRAM, GB", ".2f"),
    "dram_pct": ("DRAM busy, %", ".0f"),
    "l2_gb": ("through L2, GB", ".1f"),
    "l2_hit_pct": ("L2 hits, %", ".0f"),
}


def counters_table(words, folder):
    name, *only = words.split()
    root = read_results(name)
    if root is None:
        return NOT_MEASURED
    m, n, k = map(int, root["size"].split("x"))
    rows = [[version] + [format(values[key], form) for key, (_, form) in COUNTERS.items()]
            for version, values in root["versions"].items() if not only or version in only]
    rows += [[version, NOT_YET] + ["–"] * (len(COUNTERS) - 1)
             for version in only if version not in root["versions"]]
    head = [plot.size_of({"m": m, "n": n, "k": k})] + [title for title, _ in COUNTERS.values()]
    text = (f"One launch of each under Nsight Compute, clocks left alone, {root['device']}; metrics "
            f"by name in {link(RESULTS / name, folder)}.")
    return "\n".join([*table(head, rows), "", text]) + "\n"


def kernel_diff(words, _folder):
    before, after = words.split()
    paths = [f"{version}/kernel.cu" for version in (before, after)]
    diff = difflib.unified_diff(read_kernel(before), read_kernel(after), *paths, lineterm="")
    return "```diff\n" + "\n".join(diff) + "\n```\n"


def indent(line):
    return len(line) - len(line.lstrip())


def kernel_code(words, _folder):
    version, _, span = words.partition(" ")
    first, last = span.split(" .. ")
    text = read_kernel(version)
    start = next(i for i, line in enumerate(text) if first in line)
    end = next(i for i in range(start, len(text)) if last in text[i])
    # The braces that close what was opened in between belong to it.
    while re.fullmatch(r"\s*\};?", text[end + 1]) and indent(text[end + 1]) >= indent(text[start]):
        end += 1
    return "```cuda\n" + "\n".join(text[start:end + 1]) + "\n```\n"


def read_text(name):
    path = RESULTS / name
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else None


def figure(version, folder):
    """The figure is drawn once the newest results have the version."""
    root = read_results("compare-h200.json")
    numbers = [name.split("_")[0] for name in versions_of(root)] if root else []
    if version not in numbers:
        return NOT_MEASURED
    done, later = numbers[:numbers.index(version) + 1], numbers[numbers.index(version) + 1:]
    span = lambda names: names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    path = link(ROOT / "docs" / "figures" / f"progress-{version}.svg", folder,
                f"TFLOP/s at {plot.size_of(root['problems'][0])} of {span(done)}"
                + (f" ({span(later)} hollow)" if later else "") + ", cuBLAS and WGMMA alone")
    return f"!{path}\n"


def report_text(name, _folder):
    """The report with the command that prints it. A bug's number is its place in the zoo today."""
    text = read_text(name)
    if text is None:
        return NOT_MEASURED
    bugs = [line[4:] for line in ZOO.read_text(encoding="utf-8").splitlines()
            if line.startswith("bug ")]
    if text[0] not in bugs:
        return f"(the zoo has no such bug any more: renew docs/results/{name})\n"
    command = f"$ ./run zoo --show {bugs.index(text[0])}"
    return "\n".join(["```console", command, *text, "```"]) + "\n"


def table_rows(name, only):
    """The rows of a table that a program printed, as lists of cells; those of some versions."""
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")]
            for line in read_text(name) or [] if re.match(r"\| ([ \d]+ \| )?v\d+_", line)]
    return [row for row in rows if not only or any(version in row for version in only)]


def zoo_table(words, _folder):
    name, *only = words.split()
    rows = table_rows(name, only)
    if not rows:
        return NOT_MEASURED
    rows = [row if not only else [row[0], *row[2:]] for row in rows]
    head = ["`--show`", "version", "bug", "found", "as (on how many seeds)"]
    if only:
        head.remove("version")
    return "\n".join(table(head, rows)) + "\n"


def mutations_table(words, _folder):
    """Without line numbers: they would change with every kernel."""
    name, *only = words.split()
    rows = table_rows(name, only)
    if not rows:
        return NOT_MEASURED
    cells = []
    for version, _line, removed, caught, how in rows:
        cut = "…" if len(removed) >= 72 else ""
        cells.append([version, f"`{removed}{cut}`", caught, how])
    return "\n".join(table(["version", "removed", "caught", "as (on how many seeds)"], cells)) + "\n"


def program_text(words, _folder):
    name, _, first = words.partition(" ")
    text = read_text(name)
    if text is None:
        return NOT_MEASURED
    start = next(i for i, line in enumerate(text) if line.startswith(first))
    return "\n".join(["```text", *text[start:], "```"]) + "\n"


def unexplained_checks():
    """Names of checks that the emulator's page does not hold."""
    page = (ROOT / "docs" / "emulator.md").read_text(encoding="utf-8")
    names = re.findall(r"case Check::\w+:\n\s+return \"(.*)\";", CHECKS.read_text(encoding="utf-8"))
    return [name for name in names if f"| {name} |" not in page]


WEAVERS = {
    "ladder": ladder_table,
    "results": results_table,
    "order": order_table,
    "means": means_table,
    "steps": steps_table,
    "ablation": ablation_table,
    "counters": counters_table,
    "diff": kernel_diff,
    "code": kernel_code,
    "figure": figure,
    "report": report_text,
    "zoo": zoo_table,
    "mutations": mutations_table,
    "text": program_text,
}


def weave(text, folder):
    return PART.sub(lambda part: part[1] + WEAVERS[part[2]](part[3], folder) + part[4], text)


def figures():
    """docs/figures: the whole ladder, and for each version the ladder up to it."""
    root = read_results("compare-h200.json")
    if root is None or not plot.available():
        return {}
    folder = ROOT / "docs" / "figures"
    drawn = {folder / "progress.svg": plot.progress(root)}
    for version in versions_of(root):
        drawn[folder / f"progress-{version.split('_')[0]}.svg"] = plot.progress(root, upto=version)
    return drawn


def main():
    check = "--check" in sys.argv[1:]
    fresh = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.exists():
            fresh[path] = weave(path.read_text(encoding="utf-8"), path.parent)
    fresh.update(figures())
    stale = []
    for path, text in fresh.items():
        now = path.read_text(encoding="utf-8") if path.exists() else None
        if now == text:
            continue
        if check and now and path.suffix == ".svg" and plot.made_by_another(now):
            continue  # the same figure in other words, perhaps
        stale.append(str(path.relative_to(ROOT)))
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(("not fresh, run './run docs': " if check else "renewed: ") + ", ".join(stale))
    unexplained = unexplained_checks()
    if unexplained:
        print("docs/emulator.md does not explain: " + "; ".join(unexplained))
    return 1 if unexplained or (stale and check) else 0


if __name__ == "__main__":
    sys.exit(main())
