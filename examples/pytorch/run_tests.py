"""The tests of this folder for CTest: exit code 77 where none of them can run."""
import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

for source in HERE.glob("*.py"):
    compile(source.read_text(), source.name, "exec")
if importlib.util.find_spec("pytest") is None:
    print("pytest is not installed; the sources are valid Python")
    sys.exit(77)
import pytest  # noqa: E402

code = pytest.main(["-q", "-rs", "-p", "no:cacheprovider", str(HERE)])
sys.exit(77 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code)
