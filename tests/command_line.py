"""Runs a program as a user would, and says what was expected of it."""
import subprocess

FAILURES = []


def run(program, *words, **changes):
    """Standard output and error are captured, unless `changes` say otherwise."""
    return subprocess.run([program, *words], **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                                "text": True, **changes})


def expect(what, condition, result):
    print(f"{'ok    ' if condition else 'FAILED'} {what}")
    if not condition:
        print(f"  exit {result.returncode}\n  stdout: {result.stdout}\n  stderr: {result.stderr}")
        FAILURES.append(what)
