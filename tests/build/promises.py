"""docs/reference/promises.md names tests that exist: every promise at least one.

Run in the source tree.
"""
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/reference/promises.md")


def existing_tests():
    """Names as the page has them: Suite.Test of GoogleTest, and the names of ctest."""
    lists = [path.read_text(encoding="utf-8")
             for path in pathlib.Path("tests").rglob("CMakeLists.txt")]
    built = {name for text in lists for name in re.findall(r"[\w.]+\.(?:cpp|cu)\b", text)}
    tests = set()
    for text in lists:
        tests.update(re.findall(r"add_test\(NAME\s+([\w.]+)", text))
        tests.update(f"gate.{name}" for name in re.findall(r"add_gate\((\w+)", text))
        tests.update(re.findall(r"add_emulator_program\((\w+)", text))
    for path in pathlib.Path("tests").rglob("*.c*"):
        if path.name in built:
            tests.update(f"{suite}.{name}" for suite, name in re.findall(
                r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", path.read_text(encoding="utf-8"), re.M))
    return tests


def main():
    tests = existing_tests()
    rows = [line.strip("| ").split(" | ")
            for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")][2:]
    failed = not rows
    for promise, *_, held_by in rows:
        names = re.findall(r"`([^`]+)`", held_by)
        if not names:
            print(f"{PAGE}: no test holds '{promise}'; name one in the last column")
            failed = True
        for name in names:
            if name not in tests:
                print(f"{PAGE}: there is no test {name} ('{promise}'); correct the name")
                failed = True
    print(f"{len(rows)} promises, {len(tests)} tests")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
