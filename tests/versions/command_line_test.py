"""A version's driver as a user meets it: result lines, sentences and exit codes. Needs the GPU.

usage: command_line_test.py DRIVER
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from command_line import FAILURES, expect, run  # noqa: E402


def main(driver):
    small = ["--m", "300", "--n", "200", "--k", "128", "--rounds", "3", "--rest-ms", "1"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        result = run(driver, *small, "--json", path)
        line = result.stdout.strip()
        expect("a result line", result.returncode == 0 and "TFLOP/s" in line and "x cuBLAS" in line
               and line.endswith("checked") and "\n" not in line, result)
        with open(path, encoding="utf-8") as file:
            root = json.load(file)
        contender = root["problems"][0]["contenders"][0]
        expect("a result file", contender["checked"] is True and len(contender["rounds_ms"]) == 3
               and contender["late"] <= 3 and contender["blocks"] > 0, result)
        expect("which names the run", root["command"][1:3] == ["--m", "300"] and root["seed"] == 1
               and isinstance(root["device"]["uuid"], str), result)
    for kind in ("uniform", "normal", "ints", "iota", "identity", "zeros"):
        result = run(driver, *small, "--check-only", "--data", kind)
        expect(f"--data {kind}", result.returncode == 0 and "ms" not in result.stdout.split()
               and result.stdout.strip().endswith("checked"), result)
    result = run(driver, *small, "--check-only", "--lda", "136", "--ldb", "256", "--ldc", "201")
    expect("strides", result.returncode == 0, result)
    result = run(driver, "--m", "100", "--n", "100", "--k", "0")
    expect("K = 0", result.returncode == 0 and result.stdout.strip().endswith("checked"), result)

    mistakes = {
        "a pitch that TMA cannot address": (["--k", "65"], "pad lda to 72"),
        "a leading dimension below K": (["--k", "64", "--lda", "32"], "lda = 32"),
        "a size beyond 2^31": (["--m", "2147483648"], "2147483647"),
        "a negative size": (["--n", "-1"], "n = -1"),
        "no number": (["--m", "many"], "--m"),
        "an unknown option": (["--speed", "9"], "--speed"),
        "an unknown kind of data": (["--data", "random"], "random"),
        "a device that is not there": (["--device", "99"], "no device 99"),
    }
    for what, (words, part) in mistakes.items():
        result = run(driver, *words)
        expect(what, result.returncode == 2 and part in result.stderr
               and result.stderr.strip().count("\n") == 0 and result.stdout == "", result)
    result = run(driver, "--help")
    expect("--help", result.returncode == 0 and "--check-only" in result.stdout, result)
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
