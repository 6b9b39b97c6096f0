"""emulator/README.md's guide, followed to the letter: its files are written, its commands are run, and
print what it says.

usage: guide.py (in the source tree)
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GUIDE = "emulator/README.md"
BLOCK = re.compile(r"^```(cpp|console)\n(.*?)^```$", re.M | re.S)
FOLDERS = ("common", "emulator")  # what its commands name


def follow(folder, blocks):
    """Why it cannot be followed; empty if it can."""
    files = commands = 0
    for kind, text in blocks:
        if kind == "cpp":
            name = re.match(r"// (\S+)\n", text)
            if name:  # else it is a piece of code, not a file
                path = folder / name.group(1)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
                files += 1
            continue
        for step in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, expected = step.partition("\n")
            result = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
            said = result.stdout + result.stderr
            commands += 1
            if expected:
                right = said.startswith(expected)
            else:
                right = result.returncode == 0
            print(f"{'ok' if right else 'FAILED'}: {command}")
            if not right:
                return f"it should say {expected!r}; it says\n{said}"
    return "" if files >= 3 and commands >= 7 else f"{files} files and {commands} commands are too few"


def main():
    if shutil.which("g++") is None:
        return 77
    with open(GUIDE, encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in FOLDERS:
            (folder / source).symlink_to(pathlib.Path(source).resolve())
        problem = follow(folder, blocks)
        trace = folder / "mine" / "trace.json"
        if not problem and "traceEvents" not in trace.read_text(encoding="utf-8"):
            problem = "the trace is none"
    print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
