"""Every check that the emulator can report has a row in the table of its page.

usage: checks_are_explained.py EMULATOR_ZOO PAGE
"""
import pathlib
import subprocess
import sys


def main(zoo, page):
    names = subprocess.run([zoo, "--checks"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    text = pathlib.Path(page).read_text(encoding="utf-8")
    unexplained = [name for name in names if f"| {name} |" not in text]
    for name in unexplained:
        print(f"{page} does not explain: {name}")
    if not names:
        print(f"{zoo} --checks names no check")
    return 1 if unexplained or not names else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
