"""Reads the hardware counters of each version with Nsight Compute and files them as JSON.

usage: counters.py BIN_FOLDER OUT.json VERSION... [--size MxNxK]
       counters.py BIN_FOLDER OUT.json --ablation vN [--size MxNxK]
Needs ncu and the permission to read counters. The clocks are left alone, so that the kernel runs as it
does when it is timed. One launch of each version is counted, on the timing data.
"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

METRICS = {
    "time_ms": ("gpu__time_duration.sum", 1e-6),
    "tensor_pipe_pct": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 1),
    "sm_clock_ghz": ("smsp__cycles_elapsed.avg.per_second", 1e-9),
    "dram_read_gb": ("dram__bytes_read.sum", 1e-9),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "l2_gb": ("lts__t_bytes.sum", 1e-9),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct", 1),
}
LAUNCHES_BEFORE = 2  # a driver's check launches the kernel on two other kinds of data first


def profile(command, skip, launches):
    """Runs a program under ncu; its output, and the counters of each launch that was counted."""
    ncu = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--kernel-name",
           "regex:matmul_kernel", "--launch-skip", str(skip), "--metrics",
           ",".join(name for name, _ in METRICS.values())]
    if launches:
        ncu += ["--launch-count", str(launches)]
    output = subprocess.run(ncu + command, capture_output=True, text=True, check=True,
                            timeout=240).stdout
    lines = output.splitlines()
    table = "\n".join(line for line in lines if line.startswith('"'))
    found = {}
    for row in csv.DictReader(io.StringIO(table)):
        found.setdefault(int(row["ID"]), {})[row["Metric Name"]] = float(
            row["Metric Value"].replace(",", ""))
    counters = [{key: round(values[name] * scale, 4) for key, (name, scale) in METRICS.items()}
                for _, values in sorted(found.items())]
    return lines, counters


def count_version(program, size):
    m, n, k = size.split("x")
    command = [program, "--m", m, "--n", n, "--k", k, "--check-only"]
    return profile(command, LAUNCHES_BEFORE, 1)[1][0]


def count_ablation(program, version, size):
    """Every row of an ablation's table: the last launch of each, which is on the timing data."""
    lines, counters = profile([program, version, "--problem", size, "--check-only"], 0, 0)
    names = [line.split()[0] for line in lines if re.match(r"  v\d\w+ ", line)]
    return dict(zip(names, counters[-len(names):]))


def take_option(arguments, name, default):
    if name not in arguments:
        return default
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def main(arguments):
    size = take_option(arguments, "--size", "8192x8192x8192")
    ablation = take_option(arguments, "--ablation", None)
    folder, out, *versions = arguments
    folder = pathlib.Path(folder)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.strip()
    results = {"schema": 1, "device": device, "size": size,
               "metrics": {key: name for key, (name, _) in METRICS.items()}, "versions": {}}
    if ablation:
        results["versions"] = count_ablation(str(folder / "ablate"), ablation, size)
    for version in versions:
        results["versions"][version] = count_version(str(folder / version), size)
    for name, counters in results["versions"].items():
        print(name, counters)
    pathlib.Path(out).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
