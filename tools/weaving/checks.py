"""The emulator's checks: what the sources name, the emulator's page must explain."""
import re

from weaving.results import Fault

HEADER = "emulator/emulator.h"
PAGE = "docs/emulator.md"


def check_names(tree):
    """The names of all checks, read from the enumeration and the function that names them."""
    enumeration = re.search(r"enum class Check \{(.*?)\};", tree.read(HEADER), re.S)
    enumerators = re.findall(r"\bk\w+", re.sub(r"//.*", "", enumeration[1])) if enumeration else []
    if not enumerators:
        raise Fault(f"{HEADER} has no 'enum class Check {{ … }};' with enumerators in it")
    definition = re.compile(r"const char\* check_name\(Check \w+\) \{(.*?)\n\}", re.S)
    found = {path: definition.search(path.read_text(encoding="utf-8"))
             for path in sorted((tree.root / "emulator" / "src").glob("*.cpp"))}
    bodies = [match[1] for match in found.values() if match]
    if len(bodies) != 1:
        raise Fault(f"check_name is defined {len(bodies)} times in emulator/src/*.cpp, not once")
    cases = re.findall(r"case\s+Check::(k\w+)\s*:\s*return\s+((?:\"(?:[^\"\\]|\\.)*\"\s*)+);",
                       bodies[0])
    names = {enumerator: "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", literals))
             for enumerator, literals in cases}
    unnamed = set(enumerators) ^ set(names)
    if unnamed or len(cases) != len(enumerators):
        raise Fault(f"the {len(enumerators)} checks of {HEADER} and the {len(cases)} names in "
                    f"check_name do not match: {', '.join(sorted(unnamed)) or 'one comes twice'}")
    return [names[enumerator] for enumerator in enumerators]


def unexplained(tree):
    """Names of checks that the emulator's page does not hold."""
    page = tree.read(PAGE)
    return [name for name in check_names(tree) if f"| {name} |" not in page]
