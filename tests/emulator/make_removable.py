"""A copy of a kernel.cu in which statements that wait inside of a class can be switched off, too.

The emulator switches off calls of wrappers by their line. A wait in a method of Pipeline has one
line for all its callers; in the copy, each line that calls such a method asks the emulator first.
Nothing else changes, line numbers included.

usage: make_removable.py KERNEL COPY
"""
import pathlib
import re
import sys

STATEMENT = re.compile(r"^(\s*)(\w+\.\w+_acquire\(\);)")


def main(kernel, copy):
    path = pathlib.Path(kernel).resolve()
    lines = [f'#line 1 "{path}"']
    for line in path.read_text().splitlines():
        lines.append(STATEMENT.sub(
            r"\1if (emulator::executes(__FILE__, __LINE__)) \2", line))
    target = pathlib.Path(copy)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
