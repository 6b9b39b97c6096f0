"""The bugs of zoo.txt and its like, made into what emulator_zoo is built from.

usage: make_zoo.py copy LISTS KERNEL COPY      the version's kernel.cu with all its bugs in it, each
                                               behind a switch: bug number N is on where
                                               zoo::is_on(N) says so. Line numbers stay.
       make_zoo.py list LISTS LIST KERNEL ...  the bugs for zoo.cpp, in C++
       make_zoo.py check LISTS KERNEL ...      nothing: fails if a bug does not fit its kernel

LISTS are one or more lists of bugs, with commas between them; bugs are numbered through, from 0.
KERNEL is the path of a kernel.cu, whose folder is the version's name.
"""
import json
import pathlib
import sys


class Fault(Exception):
    """Something in a list that cannot be right, as a sentence."""


class Bug:
    def __init__(self, place, version, name):
        self.place = place  # "zoo.txt:12"
        self.version = version
        self.name = name
        self.changes = []  # [line, replace, with]
        self.expected = []  # empty: it is no bug
        self.reason = ""  # then: why


def parse(path):
    """All bugs, in order; their lines are those that zoo.txt's head describes, and no others."""
    bugs = []
    for number, text in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        place = f"{path}:{number}"
        if not text or text.startswith("#"):
            continue
        key, colon, value = text.strip().partition(": ")
        if not colon or not value:
            raise Fault(f"{place}: '{text}' is no 'key: value'")
        if key.startswith("bug ") or key.startswith("rewrite "):
            finish(bugs)
            bugs.append(Bug(place, key.partition(" ")[2], value))
            continue
        if not bugs:
            raise Fault(f"{place}: '{key}' comes before the first bug")
        bug = bugs[-1]
        parts = len(bug.changes[-1]) if bug.changes else 3
        complete = parts == 3 and not is_finished(bug)
        if key == "line" and parts == 3:
            bug.changes.append([value])
        elif (key == "replace" and parts == 1) or (key == "with" and parts == 2):
            bug.changes[-1].append(value)
        elif key == "expect" and complete:
            bug.expected = value.split(" | ")
        elif key == "legal" and complete:
            bug.reason = value
        else:
            raise Fault(f"{place}: '{key}' is unknown, or does not belong here; a bug has line, "
                        "replace, with (as often as it takes), then expect (or legal)")
    finish(bugs)
    if not bugs:
        raise Fault(f"{path}: there is no bug in it")
    return bugs


def is_finished(bug):
    return bool(bug.expected or bug.reason)


def finish(bugs):
    """The latest bug is complete."""
    if bugs and not (bugs[-1].changes and len(bugs[-1].changes[-1]) == 3 and is_finished(bugs[-1])):
        raise Fault(f"{bugs[-1].place}: the bug lacks a line, replace, with or expect")


def parse_lists(lists):
    """The bugs of all lists, each with its list's name: that of the file, without .txt."""
    return [(pathlib.Path(path).stem, bug) for path in lists.split(",") for bug in parse(path)]


def version_of(kernel):
    return pathlib.Path(kernel).resolve().parent.name


class Span:
    """A piece of a line that bugs replace: columns begin ... end - 1 of the line as it is."""

    def __init__(self, begin, end):
        self.begin = begin
        self.end = end
        self.alternatives = []  # (bug's number, replacement)
        self.inner = []  # spans inside of this one

    def holds(self, other):
        return self.begin <= other.begin and other.end <= self.end

    def is_apart_from(self, other):
        return self.end <= other.begin or other.end <= self.begin

    def text(self, line):
        """With all that may stand here; what is meant to stand here is the last choice."""
        result = spliced(line, self.begin, self.end, self.inner)
        is_statement = result.endswith(";")
        for number, replacement in self.alternatives:
            if is_statement:
                result = f"{{ if (zoo::is_on({number})) {{ {replacement} }} else {{ {result} }} }}"
            else:
                result = f"(zoo::is_on({number}) ? ({replacement}) : ({result}))"
        return result


def spliced(line, begin, end, spans):
    result = ""
    for span in sorted(spans, key=lambda each: each.begin):
        result += line[begin:span.begin] + span.text(line)
        begin = span.end
    return result + line[begin:end]


def insert(spans, new):
    """The span of these columns, in its place among the others. None if it overlaps with one."""
    for span in spans:
        if (span.begin, span.end) == (new.begin, new.end):
            return span
        if span.holds(new):
            return insert(span.inner, new)
    inside = [span for span in spans if new.holds(span)]
    if not all(new.holds(span) or new.is_apart_from(span) for span in spans):
        return None
    new.inner = inside
    spans[:] = [span for span in spans if span not in inside] + [new]
    return new


def split(text):
    """The text at its commas, but for those inside of brackets."""
    pieces, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += char
    return pieces


def pieces_of(old, new):
    """What differs, as (column within `old`, old, new): a statement whole, arguments one by one.
    None if there are not as many."""
    if old.endswith(";") or "," not in old + new:
        return [(0, old, new)]
    olds, news = split(old), split(new)
    if len(olds) != len(news):
        return None
    columns = [sum(len(piece) + 1 for piece in olds[:i]) for i in range(len(olds))]
    return [(column, before, after)
            for column, before, after in zip(columns, olds, news) if before != after]


def place_of(lines, where, old):
    """The first line with both texts, and the column of the second. 'first .. second' means the
    first line with the second text that is not above one with the first."""
    *anchors, where = where.split(" .. ")
    start = 0
    for anchor in anchors:
        start = next((i for i in range(start, len(lines)) if anchor in lines[i]), len(lines))
    for i in range(start, len(lines)):
        if where in lines[i] and old in lines[i]:
            return i, lines[i].index(old)
    return None


def with_bugs(bugs, kernel):
    """The kernel's lines with all its bugs, and a sentence for each change that fits nowhere."""
    lines = pathlib.Path(kernel).read_text(encoding="utf-8").splitlines()
    spans = [[] for _ in lines]
    faults = []
    for number, (_, bug) in enumerate(bugs):
        if bug.version != version_of(kernel):
            continue
        for where, old, new in bug.changes:
            place = place_of(lines, where, old)
            if place is None:
                faults.append(f"{bug.place}: {bug.version}/kernel.cu has no line with '{where}' and "
                              f"'{old}'; renew the bug")
                continue
            line, column = place
            pieces = pieces_of(old, new)
            if pieces is None:
                faults.append(f"{bug.place}: '{old}' and '{new}' are not as many arguments; replace "
                              f"the whole statement, to its semicolon")
                continue
            for offset, before, after in pieces:
                begin = column + offset + len(before) - len(before.lstrip())
                span = insert(spans[line], Span(begin, column + offset + len(before)))
                if span is None:
                    faults.append(f"{bug.place}: '{old}' overlaps with what another bug replaces; "
                                  f"take in more, or less, of '{lines[line].strip()}'")
                    continue
                span.alternatives.append((number, after.lstrip()))
    return [spliced(line, 0, len(line), spans[i]) for i, line in enumerate(lines)], faults


def copy(lists, kernel, target):
    lines, faults = with_bugs(parse_lists(lists), kernel)
    # Whoever changes a kernel builds on: the zoo does not find the bug, and the check says why.
    for fault in faults:
        print(fault, file=sys.stderr)
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    head = f'#line 1 "{pathlib.Path(kernel).resolve()}"'
    target.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def parse_for(lists, kernels):
    """The bugs with their lists' names; each is in one of the kernels."""
    bugs = parse_lists(lists)
    versions = [version_of(kernel) for kernel in kernels]
    for _, bug in bugs:
        if bug.version not in versions:
            raise Fault(f"{bug.place}: there is no version '{bug.version}'; there are: "
                        f"{', '.join(versions)}")
    return bugs


def change_of(bug, kernels):
    """What the bug makes of the kernel's lines, for the eye: "- 96  before", "+ 96  after"."""
    kernel = next(kernel for kernel in kernels if version_of(kernel) == bug.version)
    lines = pathlib.Path(kernel).read_text(encoding="utf-8").splitlines()
    changed = list(lines)
    for where, old, new in bug.changes:
        place = place_of(lines, where, old)
        if place is not None:  # else `copy` says so
            changed[place[0]] = changed[place[0]].replace(old, new, 1)
    return "\n".join(f"- {i}  {before.strip()}\n+ {i}  {after.strip()}"
                     for i, (before, after) in enumerate(zip(lines, changed), 1) if before != after)


def list_bugs(lists, target, *kernels):
    text = ""
    for name_of_list, bug in parse_for(lists, kernels):
        # JSON's strings are C++'s, too.
        of_list, version, name, change, *expected = (json.dumps(word) for word in (
            name_of_list, bug.version, bug.name, change_of(bug, kernels), *bug.expected))
        text += f"{{{of_list}, {version}, {name}, {{{', '.join(expected)}}}, {change}}},\n"
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def check(lists, *kernels):
    bugs = parse_for(lists, kernels)
    for kernel in kernels:
        for fault in with_bugs(bugs, kernel)[1]:
            raise Fault(fault)


COMMANDS = {"copy": copy, "list": list_bugs, "check": check}

if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    try:
        COMMANDS[sys.argv[1]](*sys.argv[2:])
    except Fault as fault:
        sys.exit(str(fault))
