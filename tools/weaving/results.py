"""Reads the files of docs/results (schemas 1 and 2; docs/results/README.md says what is in them)."""
import json
import re

SCHEMAS = (1, 2)
NUMBER = (int, float)
ROOT = {"commit": str, "date": str, "device": dict, "data": str, "rounds": int, "problems": list}
DEVICE = {"name": str, "power_limit_w": NUMBER, "driver": str, "cuda": str, "cublas": str}
PROBLEM = {"m": int, "n": int, "k": int, "contenders": list}
CONTENDER = {"name": str}
TIMED = {"ms": NUMBER, "tflops": NUMBER, "rounds_ms": list}
COUNTERS = {"device": str, "size": str, "versions": dict}


class Fault(Exception):
    """What is wrong, in one sentence."""


class Unreadable(Fault):
    """A result file that is missing, damaged or of an unknown form."""


def load(path):
    """The JSON file of a known schema, or Unreadable."""
    try:
        root = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is no JSON: it is not text") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"{path} is no JSON, line {error.lineno}: {error.msg}; was it cut short? "
                         f"Measure it again") from None
    schema = root.get("schema") if isinstance(root, dict) else None
    if schema not in SCHEMAS:
        raise Unreadable(f"{path} is of schema {schema}; known are "
                         f"{' and '.join(map(str, SCHEMAS))}")
    return root


def require(entry, fields, where):
    """Unreadable unless `entry` has these fields, of these types."""
    for name, kind in fields.items():
        if not isinstance(entry, dict) or not isinstance(entry.get(name), kind):
            raise Unreadable(f"{where} lacks \"{name}\", or has it in a form that is not known")


def read_results(path):
    """What compare, ablate or a driver wrote with --json."""
    root = load(path)
    require(root, ROOT, path)
    require(root["device"], DEVICE, f"{path}: device")
    for i, problem in enumerate(root["problems"]):
        require(problem, PROBLEM, f"{path}: problem {i}")
        for j, entry in enumerate(problem["contenders"]):
            require(entry, CONTENDER, f"{path}: problem {i}, contender {j}")
            if is_timed(entry):
                require(entry, TIMED, f"{path}: problem {i}, {entry['name']}")
    if not root["problems"]:
        raise Unreadable(f"{path} holds no problem")
    return root


def read_counters(path):
    """What counters.py wrote."""
    root = load(path)
    require(root, COUNTERS, path)
    parse_size(root["size"])
    return root


def is_timed(entry):
    """False for what was wrong, was refused, or was only checked; and for what is not there."""
    return entry is not None and entry.get("ms") is not None


def version_number(name):
    """3 of v3 or v3_warp_specialized: what versions are sorted by, so that v10 comes after v9."""
    found = re.match(r"v(\d+)(_|$)", name)
    if not found:
        raise Fault(f"'{name}' is no version; a version is named like v3_warp_specialized")
    return int(found[1])


def contenders_of(problem):
    return {entry["name"]: entry for entry in problem["contenders"]}


def versions_of(root):
    """The contenders that are kernels of this repository, in the order measured."""
    return list(dict.fromkeys(entry["name"] for problem in root["problems"]
                              for entry in problem["contenders"]
                              if re.match(r"v\d+_", entry["name"])))


def rounds_ratio(slow, fast):
    """Times of `slow` over times of `fast`, round by round."""
    return [a / b for a, b in zip(slow["rounds_ms"], fast["rounds_ms"]) if a and b]


def parse_size(text):
    """The problem that a text like 8192x8192x8192 names."""
    if not re.fullmatch(r"\d+x\d+x\d+", text):
        raise Fault(f"'{text}' is no problem size; write MxNxK, for example 8192x8192x8192")
    return dict(zip("mnk", map(int, text.split("x"))))


def size_of(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    return f"{m}³" if m == n == k else f"{m}×{n}×{k}"
