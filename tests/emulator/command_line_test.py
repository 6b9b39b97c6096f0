"""compare and a driver in the emulator, as a user without a GPU meets them.

usage: command_line_test.py COMPARE DRIVER
"""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402


def main(compare, driver):
    begin = time.monotonic()
    result = run(compare)
    seconds = time.monotonic() - begin
    rows = [line for line in result.stdout.splitlines() if line.startswith("  v")]
    rows = [line.split() for line in rows if not line.startswith("  version")]
    expect("compare checks every version and finds no hazard", result.returncode == 0 and rows
           and all(row[1] == "yes" and row[2] == "0" for row in rows), result)
    expect("compare speaks of no times", "TFLOP" not in result.stdout and " ms" not in result.stdout,
           result)
    expect(f"compare is quick ({seconds:.1f} s)", seconds < 20, result)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        result = run(driver, "--m", "200", "--n", "300", "--k", "136", "--seed", "5", "--trace", trace)
        line = result.stdout.strip()
        expect("a driver's line", result.returncode == 0 and line.endswith("checked")
               and "0 hazards" in line and "\n" not in line and result.stderr == "", result)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        expect("a trace", len(events) > 100, result)
    again = run(driver, "--m", "200", "--n", "300", "--k", "136", "--seed", "5")
    expect("the same seed, the same run", again.stdout == result.stdout, again)
    for what, words, part in (
            ("a pitch that TMA cannot address", ["--k", "65"], "pad lda to 72"),
            ("an unknown option", ["--speed", "9"], "--speed")):
        result = run(driver, *words)
        expect(what, result.returncode == 2 and part in result.stderr and result.stdout == "", result)
    # Where the programs are built with AddressSanitizer: its allocator fails as malloc does, and warns.
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
    result = run(driver, "--m", "200", "--n", "8", "--k", "8", "--ldc", str(2**39 - 1))
    expect("a problem beyond the memory", result.returncode == 4 and result.stdout == ""
           and result.stderr.splitlines()[-1].startswith("out of memory: "), result)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
