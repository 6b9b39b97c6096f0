"""The names of checks that weave.py reads from the sources are those that the emulator speaks of.

usage: check_names.py EMULATOR_ZOO (run in the source tree)
"""
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "tools")

from weaving.checks import check_names
from weaving.tree import Tree


def main(zoo):
    run = subprocess.run([zoo, "--checks"], capture_output=True, text=True)
    print(run.stderr, end="")
    spoken, read = run.stdout.splitlines(), check_names(Tree("."))
    print(f"the emulator speaks of {len(spoken)} checks, the sources of {len(read)}")
    for name in sorted(set(spoken) ^ set(read)):
        print(f"only in {'the emulator' if name in spoken else 'the sources'}: {name}")
    return 0 if run.returncode == 0 and spoken and sorted(spoken) == sorted(read) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
