"""Weavers that turn result files into tables. Each takes the tree, the folder of the page, and the
words of its marker."""
import re
import statistics

from weaving import results
from weaving.results import Fault, contenders_of, is_timed, rounds_ratio, size_of, versions_of
from weaving.tree import NOT_MEASURED, NOT_YET, link, table_and_text

LARGE = 4096**3  # multiply-adds
APIS = {"cublas_gemm_ex": "cublasGemmEx", "cublas_lt": "cublasLt"}
COUNTERS = {
    "time_ms": ("ms", ".3f"),
    "tensor_pipe_pct": ("tensor pipe busy, %", ".1f"),
    "sm_clock_ghz": ("SM clock, GHz", ".3f"),
    "dram_read_gb": ("read from DRAM, GB", ".2f"),
    "dram_pct": ("DRAM busy, %", ".0f"),
    "l2_gb": ("through L2, GB", ".1f"),
    "l2_hit_pct": ("L2 hits, %", ".0f"),
}


def describe_run(root):
    """Where, with what and how often a result was measured."""
    device = root["device"]
    wrong = any(contender.get("checked") is False
                for problem in root["problems"] for contender in problem["contenders"])
    return (f"median of {root['rounds']} rounds. {device['name']}, {device['power_limit_w']:.0f} W, "
            f"driver {device['driver']}, CUDA {device['cuda']}, cuBLAS {device['cublas']}, "
            f"{root['data']} data, {root['date']}, commit {root['commit']}; "
            + ("NOT every result was right" if wrong else "every result checked"))


def formatted(entry, field, form):
    """A number of a contender; a dash where it has none."""
    value = entry.get(field) if is_timed(entry) else None
    return "–" if value is None else format(value, form)


def status_or(entry, text):
    """`text` for a contender that was timed, else why it was not."""
    if is_timed(entry):
        return text
    return "wrong" if entry and entry.get("checked") is False else "–"


def ratio_cell(entry):
    ratio, tflops = formatted(entry, "ratio_to_cublas", ".3f"), formatted(entry, "tflops", ".0f")
    return status_or(entry, f"{ratio} ({tflops})")


def median_and_range(slow, fast):
    ratios = rounds_ratio(slow, fast) if is_timed(slow) and is_timed(fast) else []
    if not ratios:
        return "–"
    return f"{statistics.median(ratios):.3f} [{min(ratios):.3f} – {max(ratios):.3f}]"


def of_same_problems(tree, names):
    """The result files of several processes, which must have measured the same; None if one is
    still to be made."""
    roots = [tree.measured(name) for name in names]
    if None in roots:
        return None
    for name, root in zip(names, roots):
        if list(map(size_of, root["problems"])) != list(map(size_of, roots[0]["problems"])):
            raise Fault(f"docs/results/{name} has not the problems of docs/results/{names[0]}")
    return roots


def results_table(tree, folder, name):
    """One row a version, one column a problem: the ratio to cuBLAS, and TFLOP/s. Which of the two
    ways of asking cuBLAS is `cublas`, and which the other contender, differs between problems."""
    root = tree.measured(name)
    if root is None:
        return NOT_MEASURED
    problems = [contenders_of(problem) for problem in root["problems"]]
    rows = [[version] + [ratio_cell(entries.get(version)) for entries in problems]
            for version in versions_of(root)]
    rows += [[version] + [NOT_YET] * len(problems)
             for version in tree.ladder() if version not in versions_of(root)]
    best, other = ["**cuBLAS**"], ["cuBLAS, asked the other way"]
    for entries in problems:
        cublas = entries.get("cublas")
        best.append(f"**1** ({cublas['tflops']:.0f}) {APIS[cublas['api']]}" if is_timed(cublas)
                    else "–")
        rest = [api for api in APIS if is_timed(entries.get(api))]
        other.append(f"{ratio_cell(entries[rest[0]])} {APIS[rest[0]]}" if rest else "–")
    rows += [best, other]
    rows.append(["WGMMA alone"] + [ratio_cell(entries.get("wgmma_ceiling"))
                                   for entries in problems])
    head = ["version"] + [size_of(problem) for problem in root["problems"]]
    text = (f"Ratio to cuBLAS in the same round (above 1: faster than cuBLAS), in brackets TFLOP/s; "
            f"{describe_run(root)}; raw times in {link(tree.results / name, folder)}. 1 is the "
            f"better of `cublasGemmEx` and the best of cublasLt's heuristics, size by size. \"WGMMA "
            f"alone\": as many WGMMAs on operands that are already in shared memory; no matmul, a "
            f"ceiling.")
    return table_and_text(head, rows, text)


def order_table(tree, folder, name, *words):
    """One row a step, one column a problem: what each process says of the step."""
    names = [word for word in (name, *words) if word.endswith(".json")]
    only = [word for word in words if not word.endswith(".json")]
    roots = of_same_problems(tree, names)
    if roots is None:
        return NOT_MEASURED
    versions = versions_of(roots[0])
    tree.require_known(only, versions, name)
    versions += [version for version in tree.ladder() if version not in versions]
    rows = []
    for before, after in zip(versions, versions[1:]):
        if only and after not in only:
            continue
        row = [f"{before} → {after}"]
        for index in range(len(roots[0]["problems"])):
            entries = [contenders_of(root["problems"][index]) for root in roots]
            if any(before not in each or after not in each for each in entries):
                row.append(NOT_YET)
                continue
            ratios = [rounds_ratio(each[before], each[after])
                      if is_timed(each[before]) and is_timed(each[after]) else []
                      for each in entries]
            if not all(ratios):
                row.append("–")
                continue
            medians = [statistics.median(each) for each in ratios]
            verdict = ("faster" if min(medians) > 1 else
                       "slower" if max(medians) < 1 else "undecided")
            row.append(f"**{verdict}** " + ", ".join(f"{each:.3f}" for each in medians))
        rows.append(row)
    head = ["step"] + [size_of(problem) for problem in roots[0]["problems"]]
    files = ", ".join(link(tree.results / name, folder, name) for name in names)
    text = (f"Time before / time after, median over the rounds, in {len(names)} fresh processes "
            f"({files}); faster or slower: in all {len(names)}.")
    return table_and_text(head, rows, text)


def means_table(tree, folder, *names):
    """One row a version, one column a process: the geometric mean over the large problems."""
    roots = of_same_problems(tree, names)
    if roots is None:
        return NOT_MEASURED
    large = [[problem for problem in root["problems"]
              if problem["m"] * problem["n"] * problem["k"] >= LARGE] for root in roots]
    if not large[0]:
        raise Fault(f"docs/results/{names[0]} has no problem of 4096³ multiply-adds or more")
    rows = []
    for version in versions_of(roots[0]):
        row = [version]
        for problems in large:
            ratios = [contenders_of(problem).get(version, {}).get("ratio_to_cublas")
                      for problem in problems]
            row.append(f"{statistics.geometric_mean(ratios):.3f}" if all(ratios) else "–")
        rows.append(row)
    head = ["version"] + [link(tree.results / name, folder, name) for name in names]
    text = (f"Ratio to cuBLAS, geometric mean over {', '.join(map(size_of, large[0]))}: the "
            f"{len(large[0])} sizes of at least 4096³ multiply-adds.")
    return table_and_text(head, rows, text)


def steps_table(tree, _folder, name, before, after, *sizes):
    """One row a problem (of these sizes alone, if any are named): two contenders and cuBLAS, and what
    the step from one to the other buys."""
    root = tree.measured(name)
    if root is None:
        return NOT_MEASURED
    tree.require_known([before, after], versions_of(root), name)
    if not {before, after} <= set(versions_of(root)):
        return NOT_MEASURED
    wanted = [results.parse_size(size) for size in sizes]
    problems = [problem for problem in root["problems"]
                if not wanted or {key: problem[key] for key in "mnk"} in wanted]
    if wanted and len(problems) != len(wanted):
        raise Fault(f"{name} does not have all of {' '.join(sizes)}")
    rows = []
    for problem in problems:
        entries = contenders_of(problem)
        rows.append([size_of(problem)]
                    + [formatted(entries.get(each), "ms", ".4f")
                       for each in (before, after, "cublas")]
                    + [formatted(entries.get(each), "ratio_to_cublas", ".3f")
                       for each in (before, after)]
                    + [median_and_range(entries.get(before), entries.get(after))])
    head = ["size", f"{before} ms", f"{after} ms", "cuBLAS ms", f"{before} / cuBLAS",
            f"{after} / cuBLAS", "the step [min – max]"]
    if sizes:  # the whole table, which stands nearby, says how it was measured
        return table_and_text(head, rows, "")
    text = (f"Medians in ms; ratios of times in the same round (above 1: faster than cuBLAS, and for "
            f"the step: {after} faster than {before}); {describe_run(root)}.")
    return table_and_text(head, rows, text)


def ablation_table(tree, folder, name):
    """One row a variant, three columns a problem. The first contender is the default; a variant that
    is a patch is linked to it."""
    root = tree.measured(name)
    if root is None:
        return NOT_MEASURED
    versions = versions_of(root)
    rows = []
    for version in versions:
        patch = (tree.root / "tools" / "ablations"
                 / (re.sub(r"_stages_\d+$", "", version) + ".patch"))
        row = [link(patch, folder, version) if patch.exists() else version]
        for problem in root["problems"]:
            entries = contenders_of(problem)
            entry = entries.get(version)
            row += [status_or(entry, formatted(entry, "ms", ".4f")),
                    "1" if version == versions[0] and is_timed(entry) else
                    median_and_range(entries.get(versions[0]), entry),
                    formatted(entry, "ratio_to_cublas", ".3f")]
        rows.append(row)
    head = ["variant"]
    for problem in root["problems"]:
        head += [f"{size_of(problem)}: ms", f"× {versions[0]} [min – max]", "/ cuBLAS"]
    text = (f"× {versions[0]}: its time / the variant's in the same round, above 1: the variant is "
            f"faster; {describe_run(root)}; raw times in {link(tree.results / name, folder)}.")
    return table_and_text(head, rows, text)


SMS = 132  # of an H200
FLOP_PER_CYCLE = 4096  # fp16 operations a cycle of the tensor cores of an SM


def roofline_table(tree, folder, name):
    """Counters held against the peak: SMs × operations a cycle × clock × share of busy cycles."""
    root = tree.counted(name)
    if root is None:
        return NOT_MEASURED
    size = results.parse_size(root["size"])
    flop = 2 * size["m"] * size["n"] * size["k"]
    rows = []
    for version, values in root["versions"].items():
        needed = ["time_ms", "sm_clock_ghz", "tensor_pipe_pct", "l2_gb", "dram_read_gb"]
        if any(values.get(key) is None for key in needed):
            rows.append([version] + ["–"] * 7)
            continue
        clock, busy = values["sm_clock_ghz"], values["tensor_pipe_pct"]
        computed = SMS * FLOP_PER_CYCLE * clock * busy / 1e5  # TFLOP/s
        measured = flop / values["time_ms"] / 1e9
        rows.append([version, f"{clock:.3f}", f"{busy:.1f}", f"{computed:.0f}", f"{measured:.0f}",
                     f"{measured / computed:.3f}", f"{values['l2_gb'] / values['time_ms']:.1f}",
                     f"{values['dram_read_gb'] / values['time_ms']:.1f}"])
    head = [size_of(size), "clock, GHz", "pipe busy, %", "computed, TFLOP/s", "measured",
            "measured / computed", "L2, TB/s", "DRAM read, TB/s"]
    return table_and_text(head, rows, f"{root['device']}; computed = {SMS} × {FLOP_PER_CYCLE} × clock "
                          f"× busy; counters from {link(tree.results / name, folder)}.")


def counters_table(tree, folder, name, *only):
    """One row a version: what Nsight Compute counted in one launch."""
    root = tree.counted(name)
    if root is None:
        return NOT_MEASURED
    versions = root["versions"]
    tree.require_known(only, list(versions), name)
    rows = [[version] + [format(values[key], form) if values.get(key) is not None else "–"
                         for key, (_, form) in COUNTERS.items()]
            for version, values in versions.items() if not only or version in only]
    rows += [[version, NOT_YET] + ["–"] * (len(COUNTERS) - 1)
             for version in only if version not in versions]
    head = [size_of(results.parse_size(root["size"]))] + [title for title, _ in COUNTERS.values()]
    # Older files say neither when nor of which commit.
    when = f", {root['date']}, commit {root['commit']}" if "commit" in root else ""
    text = (f"One launch of each under Nsight Compute, clocks left alone, {root['device']}{when}; "
            f"metrics by name in {link(tree.results / name, folder)}.")
    return table_and_text(head, rows, text)
