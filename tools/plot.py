"""Draws the ladder of a result file: TFLOP/s of each version on one problem, beside cuBLAS and the
ceiling. The same file drawn twice gives the same bytes.

usage: plot.py RESULT.json FIGURE.svg [--problem MxNxK]   (the first problem of the file, if not said)
"""
import importlib.util
import io
import json
import pathlib
import re
import sys

BLUE, GREY, RED = "#3b6ea5", "#555555", "#b5482f"


def available():
    return importlib.util.find_spec("matplotlib") is not None


def made_by_another(svg):
    """True if another version of matplotlib than this one drew the figure."""
    import matplotlib
    return f"Matplotlib v{matplotlib.__version__}," not in svg


def size_of(problem):
    m, n, k = problem["m"], problem["n"], problem["k"]
    return f"{m}³" if m == n == k else f"{m}×{n}×{k}"


def progress(root, upto=None, problem=None):
    """The figure as the text of an SVG file; versions after `upto` are drawn hollow."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot

    problem = problem or root["problems"][0]
    entries = {entry["name"]: entry for entry in problem["contenders"] if "ms" in entry}
    versions = [name for name in entries if re.match(r"v\d+_", name)]
    if not versions:
        raise ValueError("the file holds no times of a version")
    last = versions.index(upto) if upto in versions else len(versions) - 1
    settings = {"svg.hashsalt": "hopper_matmul_ladder", "font.size": 10, "font.family": "DejaVu Sans",
                "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY}
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(1.6 + 1.15 * len(versions), 3.6))
        for place, name in enumerate(versions):
            value = entries[name]["tflops"]
            later = place > last
            axes.bar(place, value, width=0.62, facecolor="white" if later else BLUE,
                     edgecolor=GREY if later else BLUE, linestyle="--" if later else "-", linewidth=1)
            axes.text(place, value - 14, f"{value:.0f}", ha="center", va="top",
                      color=GREY if later else "white")
        right = len(versions) - 0.5
        rules = [("cublas", "cuBLAS", RED, "-"), ("wgmma_ceiling", "WGMMA alone", GREY, ":")]
        for name, label, color, style in rules:
            if name in entries:
                value = entries[name]["tflops"]
                axes.plot([-0.5, right], [value, value], color=color, linestyle=style, linewidth=1.4,
                          zorder=0.5)  # behind the bars and the figures in them
                axes.text(right + 0.06, value, f"{label} {value:.0f}", color=color, va="center")
        axes.set_xlim(-0.5, right)
        axes.set_ylim(0, 1.04 * max(entry["tflops"] for entry in entries.values()))
        labels = [name.replace("_", "\n", 1).replace("_", " ") for name in versions]
        axes.set_xticks(range(len(versions)), [label.replace(" ", "\n") for label in labels])
        axes.tick_params(axis="x", length=0, labelsize=9)
        axes.tick_params(axis="y", color=GREY, labelcolor=GREY, labelsize=9)
        axes.set_ylabel("TFLOP/s", color=GREY)
        axes.set_title(f"C = A · Bᵀ, fp16, {size_of(problem)}, {root['device']['name']}", loc="left",
                       fontsize=10)
        figure.tight_layout()
        out = io.StringIO()
        figure.savefig(out, format="svg", facecolor="white", bbox_inches="tight",
                       metadata={"Date": None})
        pyplot.close(figure)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def main(arguments):
    wanted = None
    if "--problem" in arguments:
        at = arguments.index("--problem")
        wanted = arguments[at + 1]
        del arguments[at:at + 2]
    if len(arguments) != 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    result, figure = map(pathlib.Path, arguments)
    root = json.loads(result.read_text(encoding="utf-8"))
    problems = [problem for problem in root["problems"]
                if wanted in (None, "x".join(str(problem[size]) for size in "mnk"))]
    if not problems:
        print(f"plot: {result} holds no problem {wanted or ''}", file=sys.stderr)
        return 2
    try:
        figure.write_text(progress(root, problem=problems[0]), encoding="utf-8")
    except ValueError as error:
        print(f"plot: {error}: {result}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
