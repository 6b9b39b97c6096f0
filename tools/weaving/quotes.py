"""Weavers that quote sources and what programs printed. Each takes the tree, the folder of the page,
and the words of its marker."""
import re
import subprocess

from weaving.results import Fault, size_of, version_number, versions_of
from weaving.tree import NOT_MEASURED, fence, link, table

ZOO = "tests/emulator/zoo.txt"


def diff_of(tree, before, after):
    """The lines of diff -u: what README tells the reader to type."""
    paths = [f"{version}/kernel.cu" for version in (before, after)]
    labels = [f"--label={path}" for path in paths]
    result = subprocess.run(["diff", "-u", *labels, *paths], cwd=tree.root, capture_output=True,
                            text=True)
    if result.returncode > 1:
        raise Fault(f"diff says: {result.stderr.strip()}")
    return result.stdout.splitlines()


def changed_lines(tree, before, after):
    diff = [line[0] for line in diff_of(tree, before, after)[2:]]
    return f"−{diff.count('-')} / +{diff.count('+')}"


def idea_of(version, text):
    """What the lines at the top of kernel.cu say of it."""
    found = re.match(r"v\d+: (.*?)\.? Chapter:", " ".join(line[3:] for line in text[:2]))
    if not found:
        raise Fault(f"{version}/kernel.cu does not begin with '// v1: its idea. Chapter: …'")
    return found[1]


def ladder_table(tree, folder, pattern):
    versions = tree.ladder(pattern)
    if not versions:
        raise Fault(f"there is no version '{pattern}'")
    rows = []
    before = None
    for version in versions:
        text = tree.kernel(version)
        chapter = tree.docs / f"{version}.md"
        rows.append([link(chapter, folder, version) if chapter.exists() else version,
                     idea_of(version, text), limit_of(chapter),
                     link(tree.root / version / "kernel.cu", folder, f"{len(text)} lines")
                     + (f", {changed_lines(tree, before, version)}" if before else "")])
        before = version
    head = ["chapter", "its idea", "what limited the one before", "kernel.cu, changed"]
    return "\n".join(table(head, rows)) + "\n"


def limit_of(chapter):
    """What a chapter says limited the version before."""
    if not chapter.exists():
        return "–"
    found = re.search(r"^\*\*What limited the one before:\*\* (.*)$",
                      chapter.read_text(encoding="utf-8"), re.M)
    return found[1] if found else "–"


def kernel_diff(tree, _folder, before, after):
    for version in (before, after):
        tree.kernel(version)  # that it is there
    return fence("diff", diff_of(tree, before, after))


def line_with(text, anchor, where, start=0):
    """The index of the next line that holds `anchor`."""
    for i in range(start, len(text)):
        if anchor in text[i]:
            return i
    raise Fault(f"{where} has no line with '{anchor}'" + (f" from line {start + 1} on" if start
                                                          else ""))


def indent(line):
    return len(line) - len(line.lstrip())


def kernel_code(tree, _folder, version, *span):
    first, dots, last = " ".join(span).partition(" .. ")
    if not (first and dots and last):
        raise Fault("'first .. last' are two texts with ' .. ' between them")
    text = tree.kernel(version)
    path = version if version.endswith(".cu") else f"{version}/kernel.cu"
    start = line_with(text, first, path)
    end = line_with(text, last, path, start)
    # The braces that close what was opened in between belong to it.
    while (end + 1 < len(text) and re.fullmatch(r"\s*\};?", text[end + 1])
           and indent(text[end + 1]) >= indent(text[start])):
        end += 1
    return fence("cuda", text[start:end + 1])


def figure(tree, folder, version):
    """The figure is drawn once the newest results have the version."""
    if version not in [name.split("_")[0] for name in tree.ladder()]:
        raise Fault(f"there is no version '{version}'")
    root = tree.measured("compare-h200.json")
    numbers = [f"v{version_number(name)}" for name in versions_of(root)] if root else []
    if version not in numbers:
        return NOT_MEASURED
    done, later = numbers[:numbers.index(version) + 1], numbers[numbers.index(version) + 1:]

    def span(names):
        return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"

    path = link(tree.docs / "figures" / f"progress-{version}.svg", folder,
                f"TFLOP/s at {size_of(root['problems'][0])} of {span(done)}"
                + (f" ({span(later)} hollow)" if later else "") + ", cuBLAS and WGMMA alone")
    return f"!{path}\n"


def report_text(tree, _folder, name):
    """The report with the command that prints it. A bug's number is its place in the zoo today."""
    text = tree.printed(name)
    if text is None:
        return NOT_MEASURED
    bugs = [line[4:] for line in tree.read(ZOO).splitlines() if line.startswith("bug ")]
    if text[0] not in bugs:
        raise Fault(f"docs/results/{name} is of a bug that {ZOO} does not have, '{text[0]}'; renew "
                    f"it as docs/results/README.md says")
    return fence("console", [f"$ ./run zoo --show {bugs.index(text[0])}", *text])


def table_rows(tree, name, only, columns):
    """The rows of a table that a program printed, as lists of cells; those of some versions."""
    for version in only:
        tree.kernel(version)  # there must be one
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")]
            for line in tree.printed(name) or [] if re.match(r"\| ([ \d]+ \| )?v\d+_", line)]
    for row in rows:
        if len(row) != columns:
            raise Fault(f"docs/results/{name} has a row of {len(row)} cells where {columns} are "
                        f"meant: {' | '.join(row)}")
    return [row for row in rows if not only or any(version in row for version in only)]


def zoo_table(tree, _folder, name, *only):
    rows = table_rows(tree, name, only, 5)
    if not rows:
        return NOT_MEASURED
    head = ["`--show`", "version", "bug", "found", "as (on how many seeds)"]
    if only:
        head.remove("version")
        rows = [[row[0], *row[2:]] for row in rows]
    return "\n".join(table(head, rows)) + "\n"


def mutations_table(tree, _folder, name, *only):
    """Without line numbers: they would change with every kernel."""
    rows = table_rows(tree, name, only, 5)
    if not rows:
        return NOT_MEASURED
    cells = []
    for version, _line, removed, caught, how in rows:
        cut = "…" if len(removed) >= 72 else ""
        cells.append([version, f"`{removed}{cut}`", caught, how])
    return "\n".join(table(["version", "removed", "caught", "as (on how many seeds)"], cells)) + "\n"


def program_text(tree, _folder, name, *first):
    text = tree.printed(name)
    if text is None:
        return NOT_MEASURED
    first = " ".join(first)
    for i, line in enumerate(text):
        if line.lstrip().startswith(first):
            return fence("text", text[i:])
    raise Fault(f"docs/results/{name} has no line that begins with '{first}'")
