"""Reads the hardware counters of each version with Nsight Compute and files them as JSON.

usage: counters.py BIN_FOLDER OUT.json VERSION... [--size MxNxK]
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


def count(program, size):
    m, n, k = size
    command = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--kernel-name",
               "regex:matmul_kernel", "--launch-skip", str(LAUNCHES_BEFORE), "--launch-count", "1",
               "--metrics", ",".join(name for name, _ in METRICS.values()), program, "--m", m, "--n",
               n, "--k", k, "--check-only"]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    rows = csv.DictReader(io.StringIO(output[output.index('"ID"'):]))
    values = {row["Metric Name"]: float(row["Metric Value"].replace(",", "")) for row in rows}
    return {key: round(values[name] * scale, 4) for key, (name, scale) in METRICS.items()}


def main(arguments):
    size = "8192x8192x8192"
    if "--size" in arguments:
        at = arguments.index("--size")
        size = arguments[at + 1]
        del arguments[at:at + 2]
    folder, out, *versions = arguments
    parts = re.fullmatch(r"(\d+)x(\d+)x(\d+)", size).groups()
    device = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.strip()
    results = {"schema": 1, "device": device, "size": size,
               "metrics": {key: name for key, (name, _) in METRICS.items()}, "versions": {}}
    for version in versions:
        program = pathlib.Path(folder) / version
        results["versions"][version] = count(str(program), parts)
        print(version, results["versions"][version])
    pathlib.Path(out).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
