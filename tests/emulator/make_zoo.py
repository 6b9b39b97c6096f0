"""The bugs of zoo.txt, made into what emulator_zoo is built from.

usage: make_zoo.py copy ZOO KERNEL COPY        the version's kernel.cu with all its bugs in it, each
                                               behind a switch: bug number N of the file is on where
                                               zoo::is_on(N) says so. Line numbers stay.
       make_zoo.py list ZOO LIST KERNEL ...    the list of bugs for zoo.cpp, in C++
       make_zoo.py check ZOO KERNEL ...        nothing: fails if a bug does not fit its kernel

KERNEL is the path of a kernel.cu, whose folder is the version's name.
"""
import json
import pathlib
import sys


class Fault(Exception):
    """Something in zoo.txt that cannot be right, as a sentence."""


class Bug:
    def __init__(self, place, version, name):
        self.place = place  # "zoo.txt:12"
        self.version = version
        self.name = name
        self.changes = []  # [line, replace, with]
        self.expected = []
        self.says = []


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
        if key.startswith("bug "):
            finish(bugs)
            bugs.append(Bug(place, key[4:], value))
            continue
        if not bugs:
            raise Fault(f"{place}: '{key}' comes before the first bug")
        bug = bugs[-1]
        parts = len(bug.changes[-1]) if bug.changes else 3
        if key == "line" and parts == 3:
            bug.changes.append([value])
        elif (key == "replace" and parts == 1) or (key == "with" and parts == 2):
            bug.changes[-1].append(value)
        elif key == "expect" and parts == 3 and not bug.expected:
            bug.expected = value.split(" | ")
        elif key == "says" and bug.expected and not bug.says:
            bug.says = value.split(" | ")
        else:
            raise Fault(f"{place}: '{key}' is unknown, or does not belong here; a bug has line, "
                        "replace, with (as often as it takes), then expect, and says if it likes")
    finish(bugs)
    if not bugs:
        raise Fault(f"{path}: there is no bug in it")
    return bugs


def finish(bugs):
    """The latest bug is complete."""
    if bugs and not (bugs[-1].changes and len(bugs[-1].changes[-1]) == 3 and bugs[-1].expected):
        raise Fault(f"{bugs[-1].place}: the bug lacks a line, replace, with or expect")


def version_of(kernel):
    return pathlib.Path(kernel).resolve().parent.name


def with_bugs(bugs, kernel):
    """The kernel's lines with all its bugs, and a sentence for each change that fits nowhere."""
    lines = pathlib.Path(kernel).read_text(encoding="utf-8").splitlines()
    faults = []
    for number, bug in enumerate(bugs):
        if bug.version != version_of(kernel):
            continue
        for where, old, new in bug.changes:
            # The first that fits: a later change of the same line finds the text still there.
            for i, line in enumerate(lines):
                if where in line and old in line:
                    lines[i] = line.replace(
                        old, f"(zoo::is_on({number}) ? ({new}) : ({old}))", 1)
                    break
            else:
                faults.append(f"{bug.place}: {bug.version}/kernel.cu has no line with '{where}' and "
                              f"'{old}'; renew the bug")
    return lines, faults


def copy(zoo, kernel, target):
    lines, faults = with_bugs(parse(zoo), kernel)
    # Whoever changes a kernel builds on: the zoo does not find the bug, and the check says why.
    for fault in faults:
        print(fault, file=sys.stderr)
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    head = f'#line 1 "{pathlib.Path(kernel).resolve()}"'
    target.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def parse_for(zoo, kernels):
    """The bugs, each of which is in one of the kernels."""
    bugs = parse(zoo)
    versions = [version_of(kernel) for kernel in kernels]
    for bug in bugs:
        if bug.version not in versions:
            raise Fault(f"{bug.place}: there is no version '{bug.version}'; there are: "
                        f"{', '.join(versions)}")
    return bugs


def list_bugs(zoo, target, *kernels):
    text = ""
    for bug in parse_for(zoo, kernels):
        # JSON's strings are C++'s, too.
        words = [json.dumps(word) for word in (bug.version, bug.name)]
        words += [f"{{{', '.join(map(json.dumps, some))}}}" for some in (bug.expected, bug.says)]
        text += f"{{{', '.join(words)}}},\n"
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def check(zoo, *kernels):
    bugs = parse_for(zoo, kernels)
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
