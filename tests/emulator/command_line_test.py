"""compare and a driver in the emulator, as a user without a GPU meets them.

usage: command_line_test.py COMPARE DRIVER PERSISTENT_DRIVER
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402


def rows_of(result):
    """The cells of each version's row in compare's tables."""
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  v")]
    return [row for row in rows if row[0] != "version"]


def table(compare):
    begin = time.monotonic()
    result = run(compare)
    seconds = time.monotonic() - begin
    rows = rows_of(result)
    expect("compare checks every version and finds no hazard", result.returncode == 0 and rows
           and all(row[1] == "yes" and row[2] == "0" for row in rows), result)
    expect("compare speaks of no times", "TFLOP" not in result.stdout and " ms" not in result.stdout,
           result)
    expect(f"compare is quick ({seconds:.1f} s)", seconds < 20, result)
    tiles = {row[0]: int(row[3]) for row in reversed(rows)}
    expect("blocks that stay compute several tiles, the others one",
           all((count > 1) == (name[:2] not in ("v1", "v2", "v3", "v4", "v5"))
               for name, count in tiles.items()), result)

    result = run(compare, "--versions", "v2", "v3_warp_specialized", "--problem", "8x8x8")
    expect("--versions", result.returncode == 0
           and [row[0] for row in rows_of(result)] == ["v2_pipelined", "v3_warp_specialized"]
           and "All 2 versions are right at all 1 sizes" in result.stdout, result)
    for name in ("v", "", "v99", "v2_"):
        result = run(compare, "--versions", name, "--problem", "8x8x8")
        expect(f"no version '{name}'", result.returncode == 2 and f"'{name}'" in result.stderr
               and result.stderr.count("\n") == 1 and result.stdout == "", result)

    result = run(compare, "--versions", "v1", "v6", "--problem", "300x600x64", "--max-blocks", "1")
    expect("compare --max-blocks", result.returncode == 0
           and [row[3] for row in rows_of(result)] == ["1", "9"]
           and result.stderr == "--max-blocks 1 has no effect on v1_simple: each tile has a block of "
           "its own\n", result)


def driver_lines(driver, persistent):
    small = ["--m", "200", "--n", "300", "--k", "136", "--seed", "5"]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        result = run(driver, *small, "--trace", trace)
        line = result.stdout.strip()
        expect("a driver's line", result.returncode == 0 and line.endswith("checked")
               and "0 hazards" in line and "\n" not in line and result.stderr == "", result)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        expect("a trace", len(events) > 100, result)
    again = run(driver, *small)
    expect("the same seed, the same run", again.stdout == result.stdout, again)
    result = run(persistent, *small)
    expect("a few blocks unless told otherwise", ": 2 blocks of up to 2 tiles, 0 hazards"
           in result.stdout and result.returncode == 0, result)
    result = run(persistent, *small, "--max-blocks", "0")
    expect("no limit", ": 4 blocks of 1 tile, 0 hazards" in result.stdout
           and result.stderr == "", result)


def mistakes(driver):
    for what, words, part in (
            ("a pitch that TMA cannot address", ["--k", "65"], "pad lda to 72"),
            ("an unknown option", ["--speed", "9"], "--speed"),
            ("a size that is not set", ["--m", ""], "--m: ''"),
            ("a seed below 0", ["--seed", "-1"], "--seed: '-1'"),
            ("a trace nowhere", ["--trace", "/nonexistent/a"], "--trace: cannot write"),
            ("a page nowhere", ["--watch", "/nonexistent/a"], "--watch: cannot write"),
            ("delays that there are not", ["--delays", "slow"], "--delays"),
            ("a result nowhere", ["--json", "/nonexistent/a"], "--json: cannot write")):
        result = run(driver, *words)
        expect(what, result.returncode == 2 and part in result.stderr and result.stdout == ""
               and result.stderr.count("\n") == 1, result)
    result = run(driver, "--m", "1000000", "--n", "8", "--k", "8", "--ldc", str(2**39 - 1))
    expect("more than there is memory", result.returncode == 4 and result.stdout == "" and
           result.stderr.endswith(f"{os.path.basename(driver)}: 1000000x8x8 does not fit into the "
                                  "host's memory; choose a smaller problem\n"), result)


def lost_output(compare, driver):
    """Nobody must take a run for good whose output went nowhere."""
    small = ["--problem", "8x8x8"]
    for program, words in ((compare, small), (driver, []), (compare, ["--help"]),
                           (driver, ["--help"])):
        what = " ".join([os.path.basename(program), *words])
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = run(program, *words, stdout=full)
        expect(f"{what}, full disk", result.returncode == 2 and "to its end" in result.stderr
               and result.stderr.count("\n") == 1, result)
        result = run(program, *words, stdout=None, preexec_fn=lambda: os.close(1))
        expect(f"{what}, closed output", result.returncode == 2 and "is closed" in result.stderr
               and result.stderr.count("\n") == 1, result)


def kept_results(compare):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        too_large = "500000000x500000000x0"
        result = run(compare, "--problem", "8x8x8", "--problem", too_large, "--json", path)
        expect("a failure keeps the table before it", result.returncode == 4
               and len(rows_of(result)) > 0 and too_large in result.stderr, result)
        with open(path, encoding="utf-8") as file:
            expect("and the file", len(json.load(file)["problems"]) == 1, result)

        words = ["--problem", "8x8x8", "--problem", "512x1024x1024", "--json", path]
        process = subprocess.Popen([compare, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        lines = []
        while not lines or "v7_" not in lines[-1]:
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        result = subprocess.CompletedProcess(words, process.returncode, "".join(lines) + out, err)
        expect("Ctrl-C ends with what was found", result.returncode == 130
               and "interrupted" in err and [row[1] for row in rows_of(result)].count("yes") > 0
               and "All" not in result.stdout, result)
        with open(path, encoding="utf-8") as file:
            expect("and keeps the file", len(json.load(file)["problems"]) == 1, result)


def main(compare, driver, persistent):
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")  # as without ASan
    table(compare)
    driver_lines(driver, persistent)
    mistakes(driver)
    lost_output(compare, driver)
    kept_results(compare)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
