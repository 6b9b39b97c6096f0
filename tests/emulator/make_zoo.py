"""A copy of a version's kernel.cu that has all its bugs of zoo.txt in it, each behind a switch.

Bug number N of the file is on where zoo::is_on(N) says so. Line numbers stay what they were.

usage: make_zoo.py ZOO VERSION KERNEL COPY
"""
import pathlib
import sys


def read_bugs(path):
    """[(version, [(line, replace, with)])] in the order of the file."""
    bugs = []
    for number, text in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if text.startswith("bug "):
            bugs.append((text[4:].split(":")[0], []))
        elif text.startswith("  line: "):
            bugs[-1][1].append([text[8:]])
        elif text.startswith("  replace: "):
            bugs[-1][1][-1].append(text[11:])
        elif text.startswith("  with: "):
            bugs[-1][1][-1].append(text[8:])
        elif text and not text.startswith(("#", "  expect: ")):
            sys.exit(f"{path}:{number}: what is this? {text}")
    return bugs


def main(zoo, version, kernel, copy):
    path = pathlib.Path(kernel).resolve()
    lines = path.read_text().splitlines()
    for number, (bug_version, changes) in enumerate(read_bugs(zoo)):
        if bug_version != version:
            continue
        for where, old, new in changes:
            # The first that fits: a later change of the same line finds the text still there.
            for i, line in enumerate(lines):
                if where in line and old in line:
                    lines[i] = line.replace(
                        old, f"(zoo::is_on({number}) ? ({new}) : ({old}))", 1)
                    break
            else:
                # The program will find nothing, and its test fail; the build goes on.
                print(f"{kernel} has no line with '{where}' and '{old}': renew {zoo}",
                      file=sys.stderr)
    target = pathlib.Path(copy)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join([f'#line 1 "{path}"'] + lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
