"""Runs a program as a user would, and says what was expected of it."""
import subprocess

FAILURES = []


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True)


def expect(what, condition, result):
    print(f"{'ok    ' if condition else 'FAILED'} {what}")
    if not condition:
        print(f"  exit {result.returncode}\n  stdout: {result.stdout}\n  stderr: {result.stderr}")
        FAILURES.append(what)
