"""`run` as users meet it on all sorts of machines. CMake, CTest, apt-get, nvidia-smi and the
programs are stand-ins that say how they were called, so that nothing is built or installed.

usage: run_test.py (in the source tree)
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect  # noqa: E402

SYSTEM = ("bash sh env cat sed grep awk sort tr tail mkdir rm dirname readlink nproc git cp chmod "
          "touch sleep").split()
VERSIONS = ["v1_simple", "v2_pipelined", "v10_last"]

# Every stand-in says its name, folder and words in $CALLS; what else it does is in its own lines.
STAND_IN = """#!/bin/bash
printf '%s: ' "${0##*/} in $PWD" >>"$CALLS"
printf '<%s> ' "$@" >>"$CALLS"
echo >>"$CALLS"
[[ -z ${STOP_AT:-} || " $(printf '<%s> ' "$@")" != *" $STOP_AT "* ]] || exec sleep 60
"""
CMAKE = """
if [[ $1 == --version ]]; then echo "cmake version ${CMAKE_IS:-3.25.1}"; exit; fi
if [[ $1 == --preset ]]; then
  mkdir -p "$4"
  if [[ -n ${LACKS:-} && ! -e $INSTALLED ]]; then
    echo -n "$LACKS" >"$4/missing_packages.txt"
    exit 1
  fi
  echo -n "${NO_GPU_PART:-}" >"$4/no_gpu_part.txt"
  case $* in *BUILD_TESTING=ON*) mkdir -p "$4/tests"; touch "$4/tests/CTestTestfile.cmake" ;; esac
elif [[ -n ${BROKEN:-} ]]; then
  for i in {1..99}; do echo "kernel.cu:$i: error: no such thing"; done
  echo "the end of the log"
  exit 2
else
  mkdir -p "$2/bin/emulated"
  cp "$PROGRAM" "$2/bin/compare"
  cp "$PROGRAM" "$2/bin/emulated/compare"
  cp "$PROGRAM" "$2/bin/emulated/v1_simple"
  cp "$PROGRAM" "$2/bin/ablate"
  cp "$PROGRAM" "$2/bin/explain"
  cp "$PROGRAM" "$2/bin/emulator_zoo"
  cp "$PROGRAM" "$2/bin/emulator_mutations"
fi
"""
PROGRAM = """
while (($# > 0)); do
  if [[ $1 == --json || $1 == --trace || $1 == --watch ]]; then echo result >"$2"; fi
  shift
done
exit "${CODE:-0}"
"""
PYTHON = """
case $2 in
  begin) exit "${BEGIN:-0}" ;;
  grade) exit "${GRADE:-0}" ;;
esac
"""
CTEST = """
for word in "$@"; do
  [[ ${before:-} != --output-junit ]] || echo "$JUNIT" >"$word"
  before=$word
done
exit "${CODE:-0}"
"""
APT_GET = """
[[ -z ${APT_FAILS:-} ]] || { echo "E: Unable to locate package"; exit 100; }
[[ $1 != install ]] || touch "$INSTALLED"
"""
JUNIT = """<testsuite>
	<testcase name="A.B" classname="A.B" time="0.01" status="run">
		<system-out>as it should be
</system-out>
	</testcase>
	<testcase name="gate.format" classname="gate.format" time="0.05" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<properties/>
		<system-out>clang-format 14 was not found
</system-out>
	</testcase>
	<testcase name="Suite.Test" classname="Suite.Test" time="0.05" status="notrun">
		<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
		<properties/>
		<system-out>Running main() from gtest_main.cc
</system-out>
	</testcase>
</testsuite>"""


class Machine:
    """A folder with a copy of `run`, a home to call it from, and what programs are installed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tree = self.folder / "the ladder"
        self.home = self.folder / "home"
        self.bin = self.folder / "bin"
        self.temporary = self.folder / "tmp"
        for path in (self.tree / "tools", self.home, self.bin, self.temporary):
            path.mkdir(parents=True)
        shutil.copy("run", self.tree)
        shutil.copytree("cmake", self.tree / "cmake")
        for version in VERSIONS:
            (self.tree / version).mkdir()
            (self.tree / version / "kernel.cu").write_text(version + "\n", encoding="utf-8")
        for name in SYSTEM:
            (self.bin / name).symlink_to(shutil.which(name))
        self.calls_file = self.folder / "calls"
        self.put("program", PROGRAM, self.folder)
        os.chmod(self.folder, 0o777)

    def put(self, name, lines, folder=None):
        """Installs a stand-in."""
        path = (folder or self.bin) / name
        path.write_text(STAND_IN + lines, encoding="utf-8")
        path.chmod(0o755)

    def put_tools(self):
        for name, lines in (("cmake", CMAKE), ("make", ""), ("c++", ""), ("ctest", CTEST),
                            ("python3", "")):
            self.put(name, lines)
        return self

    def put_gpu(self, capability="9.0"):
        self.put("nvidia-smi", f"for i in {{1..20000}}; do echo {capability}; done")
        return self

    def prepare(self, **variables):
        """Forgets earlier calls; what ./run finds in its environment."""
        self.calls_file.write_text("", encoding="utf-8")
        self.calls_file.chmod(0o666)
        self.temporary.chmod(0o777)
        return {"PATH": str(self.bin), "CALLS": str(self.calls_file), "JUNIT": JUNIT,
                "TMPDIR": str(self.temporary), "PROGRAM": str(self.folder / "program"),
                "INSTALLED": str(self.folder / "installed"), "HOME": str(self.home), **variables}

    def interrupt(self, step, *words):
        """Runs ./run from the home until a stand-in is called with the word `step`; then Ctrl-C."""
        with subprocess.Popen([str(self.tree / "run"), *words], text=True, cwd=self.home,
                              env=self.prepare(STOP_AT=step), start_new_session=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while step not in self.calls_file.read_text(encoding="utf-8") and process.poll() is None:
                time.sleep(0.05)
            time.sleep(0.2)
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def run(self, *words, user=None, shell="bash", stdout=subprocess.PIPE, **variables):
        """Runs ./run from the home; the result has what the stand-ins said as `calls`."""
        environment = self.prepare(**variables)
        options = {"user": user, "group": user, "extra_groups": []} if user else {}
        result = subprocess.run([str(self.bin / shell), str(self.tree / "run"), *words], text=True,
                                stdout=stdout, stderr=subprocess.PIPE, env=environment,
                                cwd=self.home, **options)
        result.stdout = result.stdout or ""
        result.calls = self.calls_file.read_text(encoding="utf-8")
        return result


def one_sentence(result):
    return result.stderr.count("\n") == 1 and result.stderr.startswith("run: ")


def words_and_codes(machine):
    machine.put_tools()
    result = machine.run("help")
    expect("help", result.returncode == 0 and "usage: ./run" in result.stdout and not result.calls,
           result)
    again = machine.run("help", shell="sh")
    expect("sh run", again.returncode == 0 and again.stdout == result.stdout, again)
    for words, part in ((["campare"], "no command 'campare'"),
                        (["v3"], "v1_simple v2_pipelined v10_last"), (["v"], "no command"),
                        (["v1;touch x"], "no version"), (["docs", "x"], "no arguments"),
                        (["diff", "v1"], "which two"), (["compare", "--backend="], "needs a value"),
                        (["compare", "--backend"], "needs a value"),
                        (["compare", "--backend", "cpu"], "no backend 'cpu'"),
                        (["compare", "--plot="], "needs a value"),
                        (["v1", "--plot", "x.svg"], "--plot is of compare"),
                        (["explain", "--plot", "x.svg"], "--plot is of compare"),
                        (["watch", "v1", "--plot", "x.svg"], "--plot is of compare"),
                        (["watch"], "./run watch v3"),
                        (["watch", "zoo"], "which bug"),
                        (["watch", "v99"], "no version 'v99'"),
                        (["exercise", "3", "4"], "which exercise"),
                        (["exercise", "--hint"], "which exercise"),
                        (["exercise", "--hint", "3"], "which exercise"),
                        (["exercise", "3", "--backend", "gpu"], "in the emulator"),
                        (["exercise", "3", "--no-build"], "leave --no-build away"),
                        (["counters"], "which file")):
        result = machine.run(*words)
        expect(f"usage: {words}", result.returncode == 2 and part in result.stderr
               and one_sentence(result) and not result.calls, result)
    result = machine.run("compare", PRESET="fast")
    expect("an unknown preset", result.returncode == 2 and "no preset 'fast'" in result.stderr,
           result)
    result = machine.run("diff", "v1", "v10")
    expect("diff", result.returncode == 0 and "v10_last" in result.stdout, result)
    with open("/dev/full", "w", encoding="utf-8") as full:
        for command in ("help", "test"):
            result = machine.run(command, stdout=full)
            expect(f"{command} on a full disk", result.returncode != 0, result)


def paths(machine):
    machine.put_tools()
    result = machine.run("compare", "--json", "a file.json", "--data", "x y")
    expect("compare in the emulator, from where the user stands", result.returncode == 0
           and "no Hopper GPU" in result.stderr and (machine.home / "a file.json").exists()
           and f"compare in {machine.home}: <--json> <a file.json> <--data> <x y>" in result.calls,
           result)
    result = machine.run("v1", "--trace", "trace.json", CODE="1")
    expect("a version, and its exit code", result.returncode == 1
           and (machine.home / "trace.json").exists(), result)
    result = machine.run("compare", BUILD_DIR="my build")
    expect("a build folder of one's own", result.returncode == 0
           and (machine.home / "my build" / "bin" / "compare").exists(), result)
    result = machine.run("compare", "--no-build", BUILD_DIR="my build")
    expect("--no-build", result.returncode == 0 and "cmake" not in result.calls, result)
    result = machine.run("v2", "--no-build")
    expect("--no-build of what is not built", result.returncode == 2
           and "not built" in result.stderr, result)
    result = machine.run("test", "--no-build", BUILD_DIR="my build")
    expect("--no-build of tests", result.returncode == 2 and "no tests are built" in result.stderr,
           result)
    blocked = machine.home / "blocked"
    blocked.write_text("", encoding="utf-8")
    result = machine.run("compare", BUILD_DIR=str(blocked))
    expect("a build folder that cannot be", result.returncode == 5
           and "set BUILD_DIR" in result.stderr and "mkdir" not in result.stderr
           and "bash" not in result.stderr, result)
    result = machine.run("explain", "swizzle", "--row", "3")
    expect("explain", result.returncode == 0 and f"explain in {machine.home}: <swizzle> <--row> <3>"
           in result.calls and "<-DBUILD_TESTING=OFF>" in result.calls, result)
    machine.put("xdg-open", "")
    result = machine.run("explain", "--page", "swizzle")
    expect("explain --page, without a desktop", result.returncode == 0 and "xdg-open" not in
           result.calls and f"<--page={machine.tree}/build/release/pages> <swizzle>" in result.calls,
           result)
    result = machine.run("explain", "swizzle", "--page=here", DISPLAY=":0")
    expect("explain --page, with one", result.returncode == 0 and "xdg-open in" in result.calls
           and "<swizzle> <--page=here>" in result.calls, result)
    result = machine.run("explain", "swizzle", "--page", CODE="2", DISPLAY=":0")
    expect("a page that cannot be made is not opened", result.returncode == 2 and "xdg-open" not in
           result.calls, result)
    pages = f"{machine.tree}/build/release/watch"
    result = machine.run("watch", "v1", "--k", "64")
    expect("watch a version", result.returncode == 0 and "xdg-open" not in result.calls
           and f"<--k> <64> <--delays> <textbook> <--watch> <{pages}/v1_simple.html>"
           in result.calls and result.stdout.endswith(f"{pages}/v1_simple.html\n")
           and "<-DBUILD_TESTING=OFF>" in result.calls, result)
    result = machine.run("watch", "zoo", "7", "--delays=mixed", DISPLAY=":0")
    expect("watch a bug, on a desktop", result.returncode == 0
           and f"<--show> <7> <--delays=mixed> <--watch> <{pages}/zoo-7.html>" in result.calls
           and f"<{pages}/zoo-7.html>" in result.calls.split("xdg-open")[1], result)
    result = machine.run("watch", "mutate", "v1", "--line", "9", CODE="1")
    expect("watch without a line; the program's exit code", result.returncode == 1
           and f"<v1> <--line> <9> <--delays> <textbook> <--watch> <{pages}/mutate.html>"
           in result.calls, result)
    result = machine.run("docs")
    expect("docs: the pages, then the figures", result.returncode == 0
           and f"python3 in {machine.tree}: <tools/weave.py> \npython3 in {machine.tree}: "
           f"<explain/figures.py> <{machine.tree}/build/release/bin/explain>" in result.calls, result)
    machine.put_gpu()
    result = machine.run("counters", "c.json", "--ablation", "v4")
    expect("counters needs ncu", result.returncode == 3 and "ncu" in result.stderr, result)
    machine.put("ncu", "")
    result = machine.run("counters", "c.json", "--ablation", "v4")
    expect("counters' file is where the user stands", result.returncode == 0
           and f"python3 in {machine.home}: <{machine.tree}/tools/counters.py>" in result.calls
           and "<c.json> <--ablation> <v4>" in result.calls, result)
    result = machine.run("compare", "--plot", "p.svg")
    expect("--plot", result.returncode == 0 and "<p.svg>" in result.calls
           and f"python3 in {machine.home}: <{machine.tree}/tools/plot.py>" in result.calls
           and list(machine.home.glob("*.svg")) == [], result)
    result = machine.run("compare", "--plot=p.svg", "--json=kept.json")
    expect("--plot of a file that is kept", "plot.py> <kept.json> <p.svg>" in result.calls, result)


def back_ends(machine):
    machine.put_tools()
    result = machine.run("compare", "--backend", "gpu")
    expect("no GPU", result.returncode == 3 and one_sentence(result) and "--backend emulator"
           in result.stderr and not result.calls, result)
    machine.put_gpu("8.9")
    result = machine.run("compare")
    expect("a GPU before Hopper", result.returncode == 0 and "no Hopper GPU" in result.stderr
           and "--target> <emulated_compare>" in result.calls, result)
    machine.put_gpu()
    result = machine.run("compare")
    expect("many Hopper GPUs", result.returncode == 0 and "--target> <compare>" in result.calls
           and "no Hopper" not in result.stderr, result)
    result = machine.run("compare", "--backend=emulator")
    expect("the emulator beside a GPU", "--target> <emulated_compare>" in result.calls, result)
    for command in ("compare", "ablate"):
        result = machine.run(command, NO_GPU_PART="nvcc is too old")
        expect(f"{command}: a GPU, but nvcc will not do", result.returncode == 3
               and "run: nvcc is too old" in result.stderr and "--build" not in result.calls,
               result)


def installation(machine):
    lacks = {"LACKS": "libcli11-dev patch"}
    emulated = ("compare", "--backend", "emulator")
    programs = "cmake make g++ libboost-context-dev libcli11-dev nlohmann-json3-dev"
    result = machine.run(*emulated)
    expect("an empty machine without apt-get", result.returncode == 5 and one_sentence(result)
           and result.stderr.endswith(f": {programs}\n"), result)
    result = machine.run("zoo")
    expect("tests need more", result.returncode == 5 and one_sentence(result)
           and result.stderr.endswith(f": {programs} libgtest-dev python3\n"), result)
    result = machine.run("v1", "--help")
    expect("help on an empty machine", result.returncode == 0 and "usage: ./run" in result.stdout
           and one_sentence(result), result)
    machine.put_tools().put("apt-get", APT_GET)
    if os.geteuid() == 0:
        result = machine.run("v1", "--help", **lacks)
        expect("help installs nothing", result.returncode == 0 and "apt-get" not in result.calls
               and "libcli11-dev patch" in result.stderr, result)
        result = machine.run("compare", APT_FAILS="1", **lacks)
        expect("apt-get fails", result.returncode == 5 and "Unable to locate" in result.stderr,
               result)
        result = machine.run("compare", **lacks)
        expect("root installs, and says so", result.returncode == 0
               and "run: installing libcli11-dev patch (apt-get)" in result.stderr
               and "<install> <-y> <--no-install-recommends> <libcli11-dev> <patch>" in result.calls
               and result.calls.count("<--preset>") == 2, result)
        (machine.folder / "installed").unlink()
        shutil.rmtree(machine.tree / "build")
    user = 65534 if os.geteuid() == 0 else None  # nobody, who may not write to root's tree
    try:
        machine.run("help", user=user)
    except OSError as error:
        print(f"not tried without root's rights: {error}")
        return
    if user:
        result = machine.run(*emulated, user=user)
        expect("a read-only tree", result.returncode == 5 and one_sentence(result)
               and "set BUILD_DIR" in result.stderr, result)
    build = machine.folder / "build"
    build.mkdir(mode=0o777)
    build.chmod(0o777)
    lacks["BUILD_DIR"] = str(build)
    result = machine.run("compare", user=user, **lacks)
    command = "sudo apt-get install -y --no-install-recommends libcli11-dev patch\n"
    expect("no right to install", result.returncode == 5 and result.stderr.endswith(command)
           and "apt-get in" not in result.calls, result)
    machine.put("sudo", '[[ $1 != -n ]] || exit 0\n"$@"')
    result = machine.run("compare", user=user, **lacks)
    expect("sudo without a password", result.returncode == 0
           and "run: installing libcli11-dev patch (sudo apt-get)" in result.stderr, result)


def builds(machine):
    machine.put_tools()
    result = machine.run("v1", "--backend=emulator", CMAKE_IS="3.22.1")
    expect("an old CMake", result.returncode == 5 and one_sentence(result)
           and "3.22.1" in result.stderr, result)
    result = machine.run("compare")
    expect("programs alone come without tests", "<-DBUILD_TESTING=OFF>" in result.calls, result)
    result = machine.run("test")
    expect("tests", "<-DBUILD_TESTING=ON>" in result.calls, result)
    result = machine.run("compare")
    expect("tests stay", "<-DBUILD_TESTING=ON>" in result.calls, result)
    result = machine.run("compare", BROKEN="1")
    expect("a build that fails", result.returncode == 5 and "kernel.cu:1: error" in result.stderr
           and "the end of the log" not in result.stderr and result.stderr.count("\n") < 45
           and "run.log" in result.stderr, result)


def exercises(machine):
    result = machine.run("exercise")
    expect("exercises need python3", result.returncode == 5 and one_sentence(result)
           and "python3" in result.stderr, result)
    tool = f"<{machine.tree}/exercises/exercise.py>"
    build = machine.tree / "build" / "release"
    machine.put("python3", PYTHON)
    result = machine.run("exercise", "3")
    expect("an exercise without a compiler", result.returncode == 5
           and result.stderr.count("run: ") == 1 and "g++" in result.stderr
           and "<grade>" not in result.calls, result)
    machine.put_tools().put("python3", PYTHON)
    result = machine.run("exercise")
    expect("all exercises", result.returncode == 0 and "cmake" not in result.calls and result.calls ==
           f"python3 in {machine.home}: {tool} <list> <{build}> \n", result)
    result = machine.run("exercise", "3")
    steps = [f"python3 in {machine.home}: {tool} <begin> <3> <{build}>", "<-DBUILD_TESTING=OFF>",
             "--target> <exercise_answer>",
             f"python3 in {machine.home}: {tool} <grade> <3> <{build}>"]
    places = [result.calls.find(step) for step in steps]
    expect("an exercise: a blank, a build, a verdict", result.returncode == 0
           and places[0] >= 0 and places == sorted(places), result)
    result = machine.run("exercise", "3", BUILD_DIR="my build")
    expect("an exercise, and a build folder of one's own", result.returncode == 0
           and f"<grade> <3> <{machine.home}/my build>" in result.calls, result)
    result = machine.run("exercise", "3", GRADE="1")
    expect("an answer that is not right", result.returncode == 1, result)
    result = machine.run("exercise", "99", BEGIN="2")
    expect("an exercise that there is not, or a place that cannot be written",
           result.returncode == 2 and "cmake" not in result.calls, result)
    result = machine.run("exercise", "3", BROKEN="1")
    expect("an answer that does not compile", result.returncode == 5
           and "kernel.cu:1: error" in result.stderr and "<grade>" not in result.calls, result)
    for word in ("hint", "solution"):
        result = machine.run("exercise", "3", f"--{word}")
        expect(f"--{word}", result.returncode == 0 and result.calls ==
               f"python3 in {machine.home}: {tool} <{word}> <3> \n", result)
    result = machine.run("exercise", "--help")
    expect("help", result.returncode == 0 and "usage: ./run" in result.stdout
           and "  exercise " in result.stdout and not result.calls, result)
    for step in ("<--build>", "<grade>"):
        result = machine.interrupt(step, "exercise", "3")
        expect(f"Ctrl-C during {step}", result.returncode in (-signal.SIGINT, 130)
               and "failed" not in result.stderr and "Traceback" not in result.stderr, result)


def tests(machine):
    machine.put_tools().put("nvcc", "")
    result = machine.run("test", "-R", "x", JUNIT="<testsuite/>", NO_GPU_PART="nvcc does not work")
    expect("what is skipped: not built", result.returncode == 0 and "<-R> <x>" in result.calls
           and result.stdout == "Skipped: the gates on PTX and ptxas and all GPU tests: "
                                "nvcc does not work.\n", result)
    result = machine.run("test")
    expect("what is skipped: no GPU, and what CTest did not run", result.stdout ==
           "Skipped: the GPU tests: no Hopper GPU; gate.format: clang-format 14 was not found; "
           "Suite.Test.\n" and "<-LE> <^gpu$>" in result.calls, result)
    machine.put_gpu()
    result = machine.run("test", JUNIT="<testsuite/>", CODE="8")
    expect("tests that fail", result.returncode == 1 and result.stdout == "Skipped: nothing.\n"
           and "<-LE>" not in result.calls, result)


def main():
    for group in (words_and_codes, paths, back_ends, installation, builds, exercises, tests):
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(folder)
            group(machine)
            left = list(machine.temporary.iterdir())
            if left:
                print(f"FAILED {group.__name__} leaves {left}")
                FAILURES.append("temporary files")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
