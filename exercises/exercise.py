"""The exercises, made from the versions: NN_name.txt says which lines of a kernel.cu are missing.

usage: exercise.py list BUILD                the exercises, and how far you are; BUILD is the build
                                             folder, where verdicts are kept
       exercise.py begin N BUILD             copies the blank to the reader's folder, if it is not
                                             there, and names it in BUILD/exercises/answer.cpp
       exercise.py grade N BUILD             runs BUILD/bin/exercise_answer, and prints its verdict
       exercise.py hint N | solution N       to standard output
       exercise.py variants FILE OUTPUT      blank, solution and tries of one exercise, as a C++ source

The reader's folder is exercises/mine, which git ignores, or the one that EXERCISE_DIR names.
"""
import collections
import difflib
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT_S = 300  # of one grading, which takes seconds
SINGLE = ("title", "version", "asks", "needs", "hint", "why")
NEEDS = ("stages", "stores by TMA")


class Fault(Exception):
    """One sentence, and the exit code that belongs to it."""

    def __init__(self, sentence, code=2):
        super().__init__(sentence)
        self.code = code


class Exercise:
    """One NN_name.txt: lines of `key: value`, which may go on in indented lines, and behind a key
    lines of code, each behind a bar.

    title, version, asks (what to do), needs (what a right result does not show), hint, why.
    hole: lines of the version's kernel.cu, once each; blank: what stands there instead for the
    reader; solution: likewise, if it is not the version's own.
    change, to: the same for lines that blank and solution have in common.
    check: C++ that is put behind the kernel: std::string fault(), what else is wrong.
    try: a wrong way (or another right one); replace, with: parts of lines of the solution, all that
    are equal in their order; expect: verdict: what its text has, or one of several | ...
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        self.number = int(self.name.partition("_")[0])
        self.texts = {}
        self.parts = []  # {"hole" or "change": lines, "blank": …, "solution": …}
        self.check = []
        self.tries = []
        self._read()

    def _read(self):
        code = None  # the lines that | adds to
        text = None  # the key that indented lines add to
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            place = f"{self.path}:{number}"
            if line.startswith("|") and code is not None:
                code.append(line[1:])
            elif line.startswith("    ") and text:
                self.texts[text] += " " + line.strip()
            elif line:
                key, colon, value = line.partition(":")
                if not colon:
                    raise Fault(f"{place}: '{line}' is no 'key: value'")
                code, text = self._add(place, key, value.strip())
        for key in SINGLE:
            if key not in self.texts and key != "needs":
                raise Fault(f"{self.path}: '{key}' is missing")
        if self.need("version") == "" or not any("hole" in part for part in self.parts):
            raise Fault(f"{self.path}: there is no hole in it")

    def _add(self, place, key, value):
        """Takes a line; returns where code behind it goes, and which text may go on."""
        if key in SINGLE and key not in self.texts:
            self.texts[key] = value
            return None, key
        if key in ("hole", "change"):
            self.parts.append({key: []})
            return self.parts[-1][key], None
        if key == "check":
            return self.check, None
        if key in ("blank", "solution", "to") and self.parts:
            return self.parts[-1].setdefault(key, []), None
        if key == "try":
            self.tries.append({"name": value, "replace": [], "with": [], "expect": None})
            return None, None
        if key in ("replace", "with", "expect") and self.tries:
            if key == "expect":
                self.tries[-1][key] = value
            else:
                self.tries[-1][key].append(value)
            return None, None
        raise Fault(f"{place}: '{key}' is unknown, or does not belong here")

    def need(self, key):
        return self.texts.get(key, "")

    @property
    def title(self):
        return self.texts["title"]

    @property
    def version(self):
        return self.texts["version"]

    def kernel(self):
        return HERE.parent / self.version / "kernel.cu"

    def _find(self, lines, wanted):
        """Where the version has these lines, which it has once."""
        found = [i for i in range(len(lines)) if lines[i:i + len(wanted)] == wanted]
        if len(found) != 1:
            raise Fault(f"{self.path}: {self.version}/kernel.cu has these lines {len(found)} times, "
                        f"not once; renew the exercise:\n" + "\n".join(wanted), 1)
        return found[0]

    def _filled(self, kind, head):
        """The kernel with every part as a variant has it, and these two lines on top."""
        lines = self.kernel().read_text(encoding="utf-8").splitlines()
        places = []
        for part in self.parts:
            old = part.get("hole") or part["change"]
            new = part["to"] if "to" in part else part.get(kind, old)
            places.append((self._find(lines, old), old, new))
        for place, old, new in sorted(places, reverse=True):
            lines[place:place + len(old)] = new
        return "\n".join([*head, *lines[2:]]) + "\n"

    def blank(self):
        return self._filled("blank", [
            f"// Exercise {self.number}, {self.title}, from {self.version}: look for "
            f"TODO(exercise {self.number})",
            f"// To grade it: ./run exercise {self.number}    A hint: ./run exercise {self.number} --hint"])

    def solution(self):
        return self._filled("solution", [f"// Exercise {self.number}, {self.title}: a solution.", "//"])

    def tried(self, number):
        """The solution with the parts replaced that a try replaces."""
        chosen = self.tries[number]
        text = self.solution()
        spots = []
        if len(chosen["replace"]) != len(chosen["with"]) or not chosen["expect"]:
            raise Fault(f"{self.path}: the try '{chosen['name']}' lacks a replace, with or expect", 1)
        for old, new in zip(chosen["replace"], chosen["with"]):
            earlier = sum(spot[1] == old for spot in spots)
            total = chosen["replace"].count(old)
            if text.count(old) != total:
                raise Fault(f"{self.path}: the try '{chosen['name']}': the solution has '{old}' "
                            f"{text.count(old)} times, not {total}; renew the try", 1)
            place = -1
            for _ in range(earlier + 1):
                place = text.index(old, place + 1)
            spots.append((place, old, new))
        for place, old, new in sorted(spots, reverse=True):
            text = text[:place] + new + text[place + len(old):]
        return text

    def given(self):
        """The version's lines that the blank has, too, without those of holes."""
        lines = self.kernel().read_text(encoding="utf-8").splitlines()
        for part in self.parts:
            old = part.get("hole") or part["change"]
            place = self._find(lines, old)
            lines[place:place + len(old)] = part.get("to", [])
        return "\n".join(lines)

    def registration(self, name, namespace):
        """The line of C++ that lets a program grade what stands in the namespace."""
        key, _, value = self.need("needs").partition(" ") if self.need("needs") else ("", "", "")
        stages = int(value) if key == "stages" else 0
        by_tma = "true" if self.need("needs") == "stores by TMA" else "false"
        fault = f"{namespace}::fault" if self.check else "nullptr"
        return (f'static const exercises::Registered registered_{namespace}({{"{name}", '
                f'"{self.version}", {namespace}::matmul, {stages}, {by_tma}, {fault}}});\n')

    def checks(self, namespace):
        if not self.check:
            return ""
        return "\n".join([f"namespace {namespace} {{", *self.check, f"}}  // namespace {namespace}"]) + "\n"


def all_exercises():
    return [Exercise(path) for path in sorted(HERE.glob("[0-9]*_*.txt"))]


def chosen(number):
    """The exercise that was asked for, "3" or "03_refill"."""
    exercises = all_exercises()
    for exercise in exercises:
        if number in (str(exercise.number), exercise.name):
            return exercise
    raise Fault(f"there is no exercise '{number}'; there are 1 to {exercises[-1].number}: ./run exercise")


# --- the reader's files ---

def folder():
    """Where the reader's files lie."""
    return pathlib.Path(os.environ.get("EXERCISE_DIR") or HERE / "mine").absolute()


def answer_path(exercise):
    return folder() / f"{exercise.name}.cu"


def shown(path):
    """A path as one says it from where the reader stands."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("../..") else relative


def write(path, text, way_out):
    """Writes a whole file or none, and nothing where it says this already."""
    try:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise Fault(f"cannot write {path} ({error.strerror}); {way_out}") from error


def read_answer(exercise):
    try:
        return answer_path(exercise).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Fault(f"cannot read {answer_path(exercise)} ({error.strerror}); "
                    "EXERCISE_DIR names another folder for your answers") from error


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def verdicts(build):
    try:
        return json.loads((build / "exercises" / "verdicts.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def state(exercise, known):
    text = read_answer(exercise)
    if text is None or text == exercise.blank():
        return "not begun"
    word, of = known.get(exercise.name, ("", ""))
    return word if of == digest(text) else "not graded"


# --- what one asks for ---

def list_all(build):
    known = verdicts(build)
    exercises = all_exercises()
    rows = [(str(exercise.number), exercise.title, exercise.version, state(exercise, known),
             exercise.need("asks")) for exercise in exercises]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join([row[0].rjust(widths[0]),
                         *(row[i].ljust(widths[i]) for i in range(1, 4)), row[4]]))
    right = sum(row[3] == "right" for row in rows)
    print(f"\n{right} of {len(rows)} are right. ./run exercise N gives you number N, and grades it.")


def begin(number, build):
    exercise = chosen(number)
    path = answer_path(exercise)
    if read_answer(exercise) is None:
        write(path, exercise.blank(), "set EXERCISE_DIR to a folder that can be written")
        print(f"exercise: {shown(path)} is yours now; it is {exercise.version}/kernel.cu with something "
              f"missing", file=sys.stderr)
    if '"' in str(path) or "\\" in str(path):
        raise Fault(f"no compiler can include {path}; set EXERCISE_DIR to a folder without \" and \\")
    source = (f'#include <exercises/grade.h>\n#include "{path}"\n' + exercise.checks(exercise.version)
              + exercise.registration("mine", exercise.version))
    write(build / "exercises" / "answer.cpp", source, "set BUILD_DIR to a folder that can be written")


def first_todo(exercise, text):
    """Where the blank's first TODO still stands, "mine/06_refill.cu:81"; None if it is gone."""
    for number, line in enumerate(text.splitlines(), 1):
        if number > 2 and f"TODO(exercise {exercise.number})" in line:
            return f"{shown(answer_path(exercise))}:{number}"
    return None


def run_grader(program):
    """The verdict in a word, and what there is to say."""
    try:
        result = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=TIME_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "wrong", (f"  it has not ended after {TIME_LIMIT_S} s: is there a loop that nothing ends? "
                         "(Waits that nobody ends are found at once.)\n")
    except OSError as error:
        raise Fault(f"{program} does not run ({error.strerror}); ./run exercise builds it", 5) from error
    if result.returncode < 0:
        name = signal.Signals(-result.returncode).name
        return "wrong", (f"  it crashed ({name}): an index or an address lies outside of its memory, "
                         "most often of C\n")
    word, _, text = result.stdout.partition("\n")
    if result.returncode not in (0, 1) or word not in ("right", "hazard", "wrong"):
        raise Fault(f"the grading itself failed: {result.stderr.strip() or result.stdout.strip()}", 4)
    return word, text


def statements(code):
    """What stands between ; { and }, without comments and whitespace, and how often."""
    code = re.sub(r"//.*|/\*[\s\S]*?\*/", "", code)
    return collections.Counter("".join(part.split()) for part in re.split(r"[;{}]", code))


def changed_elsewhere(exercise, answer):
    """A line of the blank outside of its holes that the answer no longer has; None if it has all."""
    gone = statements(exercise.given()) - statements(answer)
    for line in exercise.given().splitlines():
        if any("".join(part.split()) in gone for part in re.split(r"[;{}]", line) if part.strip()):
            return line.strip()
    return next(iter(gone), None)


def grade(number, build):
    exercise = chosen(number)
    answer = read_answer(exercise)
    word, text = run_grader(build / "bin" / "exercise_answer")
    changed = changed_elsewhere(exercise, answer)
    if changed and word == "right":
        word, text = "wrong", "  the results are right, but not only what is missing was filled in\n"
    if changed:
        text += f"  This was in the blank, and is not in your file: {changed}\n"
    known = {**verdicts(build), exercise.name: (word, digest(answer))}
    write(build / "exercises" / "verdicts.json", json.dumps(known, indent=1) + "\n",
          "set BUILD_DIR to a folder that can be written")
    print(f"exercise {exercise.number}, {exercise.title}: {word}\n{text}", end="")
    if word == "right":
        print(f"  How {exercise.version} does it, and why: ./run exercise {exercise.number} --solution")
        return 0
    todo = first_todo(exercise, answer)
    if todo:
        print(f"  There is a TODO left at {todo}")
    print(f"  A hint: ./run exercise {exercise.number} --hint")
    return 1


def hint(number):
    exercise = chosen(number)
    print(f"exercise {exercise.number}, {exercise.title}: {exercise.need('asks')}\n{exercise.need('hint')}")


def solution(number):
    """Blank against solution, and why."""
    exercise = chosen(number)
    kernel = f"{exercise.version}/kernel.cu"
    print(f"exercise {exercise.number}, {exercise.title}: {exercise.need('why')}\n")
    lines = difflib.unified_diff(exercise.blank().splitlines()[2:], exercise.solution().splitlines()[2:],
                                 "blank", "solution", n=1, lineterm="")
    for line in list(lines)[3:]:
        print("" if line.startswith("@@") else line)
    if not any("solution" in part or "change" in part for part in exercise.parts):
        print(f"\nThat is {kernel}.")


# --- the test of the grading ---

def variants(path, output):
    """All variants of one exercise in one C++ source, each a file and a namespace of its own."""
    exercise = Exercise(path)
    output = pathlib.Path(output)
    texts = {"blank": exercise.blank(), "solution": exercise.solution()}
    texts.update({f"try_{i}": exercise.tried(i) for i in range(len(exercise.tries))})
    source = "#include <exercises/grade.h>\n"
    for name, text in texts.items():
        write(output.parent / exercise.name / f"{name}.cu", text, "")
        namespace = f"exercise_{exercise.name}_{name}"
        source += (f'#define {exercise.version} {namespace}\n#include "{exercise.name}/{name}.cu"\n'
                   f"#undef {exercise.version}\n" + exercise.checks(namespace)
                   + exercise.registration(f"{exercise.name}.{name}", namespace))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(source, encoding="utf-8")  # newer than what it is made from


def expectations(output):
    """What the test of the grading expects: lines of C++."""
    lines = []
    for exercise in all_exercises():
        for number, attempt in enumerate(exercise.tries):
            word, _, parts = attempt["expect"].partition(": ")
            parts = [part for part in parts.split(" | ") if part]
            lines.append("{" + ", ".join(json.dumps(text, ensure_ascii=False) for text in (
                f"{exercise.name}.try_{number}", attempt["name"], word))
                + ", {" + ", ".join(json.dumps(part) for part in parts) + "}},\n")
    pathlib.Path(output).write_text("".join(lines), encoding="utf-8")


COMMANDS = {"list": (list_all, 1), "begin": (begin, 2), "grade": (grade, 2), "hint": (hint, 1),
            "solution": (solution, 1), "variants": (variants, 2), "expectations": (expectations, 1)}


def main(words):
    command, count = COMMANDS.get(words[0] if words else "", (None, 0))
    if command is None or len(words) != count + 1:
        sys.exit(__doc__)
    arguments = words[1:]
    if command in (list_all, begin, grade):
        arguments[-1] = pathlib.Path(arguments[-1])
    try:
        code = command(*arguments) or 0
        sys.stdout.flush()
        return code
    except Fault as fault:
        print(f"exercise: {fault}", file=sys.stderr)
        return fault.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
