"""exercises/exercise.py as ./run exercise calls it, with programs that stand in for the grading.

Run in the source tree.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, "exercises")
import exercise as exercises  # noqa: E402
from command_line import FAILURES, expect  # noqa: E402

TOOL = os.path.abspath("exercises/exercise.py")
RIGHT = "#!/bin/sh\necho right\necho '  no hazard'\n"
HAZARD = "#!/bin/sh\necho hazard\necho 'emulator: deadlock'\nexit 1\n"


class Reader:
    """A folder to stand in, with a build folder and one for answers."""

    def __init__(self, folder):
        self.home = pathlib.Path(folder)
        self.mine = self.home / "my answers"
        self.build = self.home / "my build"
        self.environment = {**os.environ, "EXERCISE_DIR": str(self.mine)}

    def start(self, *words, **changes):
        return subprocess.Popen([sys.executable, "-B", TOOL, *words], text=True, cwd=self.home,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**self.environment, **changes}, start_new_session=True)

    def run(self, *words, **changes):
        process = self.start(*words, **changes)
        output, errors = process.communicate(timeout=50)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def put_grader(self, text):
        program = self.build / "bin" / "exercise_answer"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def answer(self, name, text=None):
        path = self.mine / f"{name}.cu"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        return path.read_text(encoding="utf-8")

    def states(self):
        """How far the list says one is, by number."""
        rows = self.run("list", str(self.build)).stdout.partition("\n\n")[0].splitlines()
        words = ("not begun", "not graded", "hazard", "wrong", "right")
        return {int(row.split()[0]): next(word for word in words if f"  {word} " in row)
                for row in rows}


def a_blank_becomes_an_answer(reader):
    build = str(reader.build)
    expect("list: nothing is begun", set(reader.states().values()) == {"not begun"}
           and len(reader.states()) >= 12, reader.run("list", build))
    result = reader.run("begin", "6", build)
    expect("begin: the blank is there, and said so", result.returncode == 0
           and os.path.join("my answers", "06_refill.cu") in result.stderr and not result.stdout
           and "TODO(exercise 6)" in reader.answer("06_refill"), result)
    source = (reader.build / "exercises" / "answer.cpp").read_text(encoding="utf-8")
    expect("begin: what is built includes it", f'#include "{reader.mine}/06_refill.cu"' in source
           and "v2_pipelined::matmul" in source, result)
    reader.put_grader(HAZARD)
    result = reader.run("grade", "6", build)
    expect("grade: a blank", result.returncode == 1 and "the refill: hazard\nemulator: deadlock\n"
           in result.stdout and "TODO left at my answers/06_refill.cu:" in result.stdout
           and "./run exercise 6 --hint" in result.stdout and not result.stderr, result)
    mine = exercises.chosen("6").solution()
    reader.answer("06_refill", mine)
    result = reader.run("begin", "6", build)
    expect("begin: an answer is kept", result.returncode == 0 and not result.stderr
           and reader.answer("06_refill") == mine, result)
    expect("list: not graded", reader.states()[6] == "not graded", result)
    reader.put_grader(HAZARD)
    result = reader.run("grade", "06_refill", build)
    expect("list: a hazard", reader.states()[6] == "hazard" and "TODO" not in result.stdout, result)
    reader.put_grader(RIGHT)
    result = reader.run("grade", "6", build)
    expect("grade: right", result.returncode == 0 and "the refill: right\n  no hazard\n"
           in result.stdout and "--solution" in result.stdout and "--hint" not in result.stdout, result)
    expect("list: right", reader.states()[6] == "right", result)
    reader.answer("06_refill", mine + "// more\n")
    expect("list: changed since", reader.states()[6] == "not graded", result)


def what_was_given_stays(reader):
    reader.mine.mkdir(exist_ok=True)
    reader.put_grader(RIGHT)
    text = exercises.chosen("11").solution()
    reader.answer("11_late_release", text.replace("wait_group<1>()", "wait_group<0>(acc)"))
    result = reader.run("grade", "11", str(reader.build))
    expect("grade: an answer to another question", result.returncode == 1 and "wrong" in result.stdout
           and "not in your file: ptx::wgmma_wait_group<1>();" in result.stdout, result)
    for exercise in exercises.all_exercises():
        right = [exercise.solution()] + [exercise.tried(i) for i, attempt
                                         in enumerate(exercise.tries) if attempt["expect"] == "right"]
        for answer in right:
            changed = exercises.changed_elsewhere(exercise, answer)
            expect(f"{exercise.name}: a right answer fills in no more than is missing", not changed,
                   subprocess.CompletedProcess([], 0, changed, ""))
        wrapped = "// mine\n"
        for line in exercise.solution().splitlines():
            code, slashes, comment = line.partition("//")
            wrapped += code.replace(", ", ",\n      ").replace("{", "\n{\n") + slashes + comment + "\n"
        changed = exercises.changed_elsewhere(exercise, wrapped)
        expect(f"{exercise.name}: it may be formatted anew", not changed,
               subprocess.CompletedProcess([], 0, changed, ""))


def solutions_and_hints(reader):
    for exercise in exercises.all_exercises():
        number = str(exercise.number)
        blank = exercise.blank()
        result = reader.run("solution", number)
        own = not any("solution" in part or "change" in part for part in exercise.parts)
        kernel = exercise.kernel().read_text(encoding="utf-8")
        expect(f"{exercise.name}: the solution is the version, or said to be another",
               (exercise.solution().splitlines()[2:] == kernel.splitlines()[2:]) == own
               and (f"That is {exercise.version}/kernel.cu" in result.stdout) == own
               and "\n+" in result.stdout and result.returncode == 0, result)
        expect(f"{exercise.name}: the blank has a TODO, and not the solution's lines",
               blank.count(f"TODO(exercise {number})") >= 2 and blank != exercise.solution()
               and all(len(line) <= 100 for line in blank.splitlines()), result)
        result = reader.run("hint", number)
        expect(f"{exercise.name}: a hint", result.returncode == 0 and exercise.title in result.stdout,
               result)
        shared = [name for name in ("blank", "solution") if "\t" in getattr(exercise, name)()]
        expect(f"{exercise.name}: no tabs", not shared, result)


def what_stands_in_the_way(reader):
    build = str(reader.build)
    for number in ("0", "99", "x", "", "../06_refill"):
        for command in (("begin", number, build), ("grade", number, build), ("hint", number)):
            result = reader.run(*command)
            expect(f"{command[0]} '{number}'", result.returncode == 2 and not result.stdout
                   and f"no exercise '{number}'" in result.stderr
                   and result.stderr.count("\n") == 1, result)
    blocked = reader.home / "blocked"
    blocked.write_text("", encoding="utf-8")
    result = reader.run("begin", "1", build, EXERCISE_DIR=str(blocked / "mine"))
    expect("begin: a place that cannot be written", result.returncode == 2
           and "set EXERCISE_DIR" in result.stderr and result.stderr.count("\n") == 1, result)
    result = reader.run("begin", "1", str(blocked))
    expect("begin: a build folder that cannot be written", result.returncode == 2
           and "set BUILD_DIR" in result.stderr.splitlines()[-1], result)
    result = reader.run("begin", "1", build, EXERCISE_DIR=str(reader.home / 'a "b"'))
    expect("begin: a path that no compiler can include", result.returncode == 2
           and "set EXERCISE_DIR" in result.stderr.splitlines()[-1], result)
    reader.put_grader("#!/bin/sh\nkill -SEGV $$\n")
    result = reader.run("grade", "1", build)
    expect("grade: a crash", result.returncode == 1 and "wrong" in result.stdout
           and "SIGSEGV" in result.stdout, result)
    reader.put_grader("#!/bin/sh\necho exercise: out of memory >&2\nexit 4\n")
    result = reader.run("grade", "1", build)
    expect("grade: no verdict", result.returncode == 4 and "out of memory" in result.stderr
           and not result.stdout, result)
    (reader.build / "bin" / "exercise_answer").unlink()
    result = reader.run("grade", "1", build)
    expect("grade: nothing is built", result.returncode == 5 and "./run exercise" in result.stderr,
           result)
    (reader.build / "exercises" / "verdicts.json").write_text("{", encoding="utf-8")
    expect("list: verdicts that cannot be read", reader.states()[1] == "not begun", result)


def an_end(reader):
    """Ctrl-C, and an answer that never ends."""
    build = str(reader.build)
    reader.run("begin", "1", build)
    reader.put_grader(f"#!/bin/sh\necho $$ >'{reader.home}/started'\nexec sleep 60\n")
    process = reader.start("grade", "1", build)
    while not (reader.home / "started").exists():
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    result = subprocess.CompletedProcess([], process.returncode, output, errors)
    expect("Ctrl-C", result.returncode == 130 and not output and not errors
           and not (reader.build / "exercises" / "verdicts.json").exists(), result)
    limit, exercises.TIME_LIMIT_S = exercises.TIME_LIMIT_S, 0.2
    word, text = exercises.run_grader(reader.build / "bin" / "exercise_answer")
    exercises.TIME_LIMIT_S = limit
    expect("an answer that never ends", word == "wrong" and "has not ended" in text,
           subprocess.CompletedProcess([], 0, word, text))


def faulty_lists(reader):
    """What is wrong with a NN_name.txt is said."""
    text = pathlib.Path("exercises/06_refill.txt").read_text(encoding="utf-8")
    path = reader.home / "06_refill.txt"
    for old, new, part in (("hint:", "hnit:", "'hnit' is unknown"),
                           ("title: ", "", ":1: 'the refill' is no"),
                           ("asks:", "title:", "'title' is unknown, or does not belong here"),
                           ("why: ", "hole:\n|no such line\nwhy: ", "0 times"),
                           ("with: if (threadIdx.x == 0)\n", "", "lacks a replace"),
                           ("replace: load_tile(", "replace: laod_tile(", "0 times, not 1")):
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        result = reader.run("variants", str(path), str(reader.home / "out.cpp"))
        expect(f"a list with '{new.strip() or 'less'}'", result.returncode in (1, 2)
               and part in result.stderr and "Traceback" not in result.stderr, result)


def main():
    for group in (a_blank_becomes_an_answer, what_was_given_stays, solutions_and_hints,
                  what_stands_in_the_way, an_end, faulty_lists):
        with tempfile.TemporaryDirectory() as folder:
            group(Reader(os.path.realpath(folder)))
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
