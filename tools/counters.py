"""Reads the hardware counters of each version with Nsight Compute and files them as JSON.

Needs ncu and the permission to read counters. The clocks are left alone, so that the kernel runs as it
does when it is timed. A program that only checks launches each kernel on several kinds of data, the
data that are timed last (a test holds it to that): the last launch of each kernel is counted.

Exit codes: 0 good, 1 a wrong result, 2 usage or a file that cannot be read or written, 3 no ncu or no
permission, 4 anything else that ncu or the program stumbled over.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile

from weaving.results import Fault, parse_size, read_results, version_number

METRICS = {
    "time_ms": ("gpu__time_duration.sum", 1e-6),
    "tensor_pipe_pct": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 1),
    "sm_clock_ghz": ("smsp__cycles_elapsed.avg.per_second", 1e-9),
    "dram_read_gb": ("dram__bytes_read.sum", 1e-9),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "l2_gb": ("lts__t_bytes.sum", 1e-9),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct", 1),
}


class Failure(Fault):
    """A fault with the exit code that it ends the program with."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def run_ncu(arguments):
    try:
        return subprocess.run(["ncu", *arguments], capture_output=True, text=True, errors="replace",
                              timeout=600)
    except OSError as error:
        raise Failure(3, f"ncu (Nsight Compute), which reads the counters, cannot be run: "
                         f"{error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise Failure(4, f"ncu took more than 600 s over {' '.join(arguments[-8:])}") from None


def ncu_version():
    found = re.search(r"^Version (\S+)", run_ncu(["--version"]).stdout, re.M)
    return found[1] if found else "unknown"


def check_ncu(result, program):
    """Failure with ncu's or the program's own words, unless both went well."""
    lines = (result.stdout + "\n" + result.stderr).splitlines()
    errors = [line.replace("==ERROR==", "").strip() for line in lines if "==ERROR==" in line]
    if any("ERR_NVGPUCTRPERM" in line for line in lines):
        raise Failure(3, "this user may not read the GPU's counters (ncu says ERR_NVGPUCTRPERM); run "
                         "as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0, as "
                         "https://developer.nvidia.com/ERR_NVGPUCTRPERM describes")
    if errors:
        raise Failure(4, f"ncu says of {program}: {' '.join(errors)}")
    if result.returncode != 0:
        words = [line.strip() for line in result.stderr.splitlines() if line.strip()]
        code = result.returncode if result.returncode in (1, 2, 3, 4) else 4
        raise Failure(code, f"{program} under ncu ended with exit code {result.returncode}: "
                            f"{words[-1] if words else 'it said nothing'}")


def counted_launches(output):
    """The counters of each launch in ncu's table, in order."""
    table = "\n".join(line for line in output.splitlines() if line.startswith('"'))
    launches = {}
    for row in csv.DictReader(io.StringIO(table)):
        launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = row["Metric Value"]
    counters = []
    for _, values in sorted(launches.items()):
        try:
            counters.append({key: round(float(values[name].replace(",", "")) * scale, 4)
                             for key, (name, scale) in METRICS.items()})
        except (KeyError, ValueError) as error:
            raise Failure(4, f"ncu did not count every metric of a launch: {error}") from None
    return counters


def profile(program, options):
    """The result file of a program run under ncu, and the counters of each contender in it."""
    if not program.is_file():
        raise Failure(2, f"{program} is not built")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "result.json")
        result = run_ncu(["--clock-control", "none", "--csv", "--print-units", "base",
                          "--kernel-name", "regex:matmul_kernel",
                          "--metrics", ",".join(name for name, _ in METRICS.values()),
                          str(program), *options, "--check-only", "--json", str(path)])
        check_ncu(result, program)
        root = read_results(path)
    contenders = root["problems"][0]["contenders"]
    wrong = [entry["name"] for entry in contenders if entry.get("checked") is False]
    if wrong:
        raise Failure(1, f"what {', '.join(wrong)} computed is wrong; its counters are of no use")
    launched = [entry["name"] for entry in contenders if entry.get("checked")]  # the rest refused
    counters = counted_launches(result.stdout)
    if not launched or not counters or len(counters) % len(launched) != 0:
        raise Failure(4, f"ncu counted {len(counters)} launches of {program}'s {len(launched)} "
                         f"kernels, which should be as many of each")
    return root, dict(zip(launched, counters[-len(launched):]))


def measure(options):
    """The root of the file that is to be written."""
    size = parse_size(options.size)
    if options.ablation:
        runs = [(options.folder / "ablate", [options.ablation, "--problem", options.size])]
    else:
        runs = [(options.folder / version, [f"--{letter}={size[letter]}" for letter in "mnk"])
                for version in sorted(options.versions, key=version_number)]
    ncu = ncu_version()
    versions = {}
    commits = set()
    for program, arguments in runs:
        root, counters = profile(program, arguments)
        versions.update(counters)
        commits.add(root["commit"])
        if len(commits) > 1:
            raise Failure(2, f"{options.folder} holds programs of different commits, "
                             f"{' and '.join(sorted(commits))}; build them anew")
        for name, values in counters.items():
            print(name, values, flush=True)
    device = root["device"]
    return {"schema": 1, "commit": root["commit"], "date": root["date"], "device": device["name"],
            "driver": device["driver"], "cuda": device["cuda"], "ncu": ncu, "data": root["data"],
            "size": options.size, "metrics": {key: name for key, (name, _) in METRICS.items()},
            "versions": versions}


def main(arguments):
    parser = argparse.ArgumentParser(prog="counters.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="BIN_FOLDER",
                        help="where the programs are")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.json")
    parser.add_argument("versions", nargs="*", metavar="VERSION")
    parser.add_argument("--size", default="8192x8192x8192", metavar="MxNxK",
                        help="the problem (default: %(default)s)")
    parser.add_argument("--ablation", metavar="vN", help="the variants of `ablate vN` instead")
    options = parser.parse_intermixed_args(arguments)
    if bool(options.versions) == bool(options.ablation):
        parser.error("say which versions, or --ablation vN")
    try:
        # Before the minutes that it takes, too.
        if not os.access(options.out if options.out.exists() else options.out.parent, os.W_OK):
            raise Failure(2, f"{options.out} cannot be written; choose another file")
        text = json.dumps(measure(options), indent=1) + "\n"
    except Fault as fault:
        print(f"counters: {fault}", file=sys.stderr)
        return getattr(fault, "code", 2)
    try:
        options.out.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"counters: {options.out} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
