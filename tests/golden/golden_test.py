"""dump_golden makes, on this GPU, the files that lie here.

usage: golden_test.py DUMP_GOLDEN
"""
import filecmp
import pathlib
import subprocess
import sys
import tempfile

KINDS = (".bin", ".json")


def main(program):
    here = pathlib.Path(__file__).parent
    files = sorted(path.name for path in here.iterdir() if path.suffix in KINDS)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder], check=True)
        made = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.suffix in KINDS)
        _, different, missing = filecmp.cmpfiles(here, folder, files, shallow=False)
    print(f"{len(files)} files; different: {different}; missing: {missing}")
    if unrecorded := sorted(set(made) - set(files)):
        print(f"golden data not dumped yet: {unrecorded} (dump_golden tests/golden records them)")
    return 0 if files and not different and not missing else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
