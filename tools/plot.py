"""Draws the ladder of a result file: TFLOP/s of each version on one problem, beside cuBLAS and the
ceiling. The same file drawn twice gives the same bytes; a comment in the figure says of which data
and by which code it was drawn, so that it can be checked where there is no matplotlib.

Exit codes: 0 good, 2 usage or a file that cannot be read or written.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import hashlib
import importlib.util
import inspect
import io
import json
import pathlib
import re

from weaving.results import (Fault, contenders_of, is_timed, parse_size, read_results, size_of,
                             versions_of)

STAMP = re.compile(r"<!-- data (\w+), code (\w+), drawing (\w+) -->\n")


def available():
    return importlib.util.find_spec("matplotlib") is not None


def progress(root, upto=None, problem=None):
    """What the figure shows: its title; versions as bars, those after `upto` hollow; levels."""
    problem = problem or root["problems"][0]
    entries = {name: entry for name, entry in contenders_of(problem).items() if is_timed(entry)}
    versions = [name for name in versions_of(root) if name in entries]
    if not versions:
        raise Fault("the file holds no times of a version")
    last = versions.index(upto) if upto in versions else len(versions) - 1
    return {"title": f"C = A · Bᵀ, fp16, {size_of(problem)}, {root['device']['name']}",
            "bars": [[name, entries[name]["tflops"], place > last]
                     for place, name in enumerate(versions)],
            "levels": [[label, entries[name]["tflops"]] for name, label in
                       [("cublas", "cuBLAS"), ("wgmma_ceiling", "WGMMA alone")]
                       if name in entries]}


def draw(shown):
    """The text of an SVG file. The digest of this function's source is the figure's "code"."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    blue, grey, red = "#3b6ea5", "#555555", "#b5482f"
    bars, levels = shown["bars"], shown["levels"]
    settings = {"svg.hashsalt": "hopper_matmul_ladder", "font.size": 10, "font.family": "DejaVu Sans",
                "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": grey}
    with pyplot.style.context(["default", settings]):
        figure, axes = pyplot.subplots(figsize=(1.6 + 1.15 * len(bars), 3.6))
        for place, (_, value, hollow) in enumerate(bars):
            axes.bar(place, value, width=0.62, facecolor="white" if hollow else blue,
                     edgecolor=grey if hollow else blue, linestyle="--" if hollow else "-",
                     linewidth=1)
            axes.text(place, value - 14, f"{value:.0f}", ha="center", va="top",
                      color=grey if hollow else "white")
        right = len(bars) - 0.5
        for label, value in levels:
            color, style = (red, "-") if label == "cuBLAS" else (grey, ":")
            axes.plot([-0.5, right], [value, value], color=color, linestyle=style, linewidth=1.4,
                      zorder=0.5)  # behind the bars and the figures in them
            axes.text(right + 0.06, value, f"{label} {value:.0f}", color=color, va="center")
        axes.set_xlim(-0.5, right)
        axes.set_ylim(0, 1.04 * max([value for _, value, _ in bars] + [value for _, value in levels]))
        axes.set_xticks(range(len(bars)), [name.replace("_", "\n") for name, _, _ in bars])
        axes.tick_params(axis="x", length=0, labelsize=9)
        axes.tick_params(axis="y", color=grey, labelcolor=grey, labelsize=9)
        axes.set_ylabel("TFLOP/s", color=grey)
        axes.set_title(shown["title"], loc="left", fontsize=10)
        figure.tight_layout()
        out = io.StringIO()
        figure.savefig(out, format="svg", facecolor="white", bbox_inches="tight",
                       metadata={"Date": None})
        pyplot.close(figure)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def digest(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def digests(shown, svg):
    return digest(json.dumps(shown, sort_keys=True)), digest(inspect.getsource(draw)), digest(svg)


def stamped(shown):
    """The figure, with the comment that stale_because reads."""
    svg = draw(shown)
    data, code, drawing = digests(shown, svg)
    return svg.replace("<svg ", f"<!-- data {data}, code {code}, drawing {drawing} -->\n<svg ", 1)


def stale_because(svg, shown):
    """Why this text is not the figure of these data; None if it is. Needs no matplotlib."""
    found = STAMP.search(svg)
    if not found:
        return "it does not say what it was drawn from"
    data, code, drawing = digests(shown, STAMP.sub("", svg, count=1))
    if found[1] != data:
        return "the data have changed"
    if found[2] != code:
        return "tools/plot.py has changed"
    if found[3] != drawing:
        return "it was changed after it was drawn"
    return None


def main(arguments):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=pathlib.Path, metavar="RESULT.json")
    parser.add_argument("figure", type=pathlib.Path, metavar="FIGURE.svg")
    parser.add_argument("--problem", metavar="MxNxK", help="the first of the file, if not said")
    options = parser.parse_args(arguments)
    try:
        if not available():
            raise Fault("matplotlib was not found; install python3-matplotlib")
        root = read_results(options.result)
        problem = root["problems"][0]
        if options.problem:
            wanted = parse_size(options.problem)
            problem = next((each for each in root["problems"] if wanted.items() <= each.items()),
                           None)
            if problem is None:
                raise Fault(f"{options.result} holds no problem {options.problem}; it holds: "
                            + ", ".join("x".join(str(each[size]) for size in "mnk")
                                        for each in root["problems"]))
        options.figure.write_text(stamped(progress(root, problem=problem)), encoding="utf-8")
    except Fault as fault:
        print(f"plot: {fault}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plot: {options.figure} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
