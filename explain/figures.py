"""Draws the figures of docs/figures that explain something, from what `explain` says (and the plane
from the hardware counters of docs/results). Light and dark, text that can be selected, and a title
that says the fact: pages that show a figure have it as their alternative text.

usage: figures.py EXPLAIN [--check]
Exit codes: 0 good, 1 with --check: a figure or an alternative text is not fresh, 2 usage.
"""
import sys

sys.dont_write_bytecode = True

import html
import json
import math
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"

STYLE = """
  text { font: 12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1d2025; }
  .soft { fill: #5b616b; } .head { font-weight: 600; font-size: 13px; } .middle { text-anchor: middle; } .end { text-anchor: end; }
  .cell { stroke: #fff; stroke-width: 1.5; } .faded { opacity: 0.4; } .line { fill: none; stroke: #c9c5bd; }
  .strong { fill: none; stroke: #1d2025; stroke-width: 2; } .track { fill: #f1efea; stroke: #d9d5cd; }
  .ink { fill: #1d2025; } .way { fill: none; stroke: #1d2025; stroke-width: 2; opacity: 0.4; }
  .accent { fill: #1f5fae; } .pale { fill: #b5cde9; } .good { fill: #2f8a55; } .wait { fill: #c2591b; } .on { fill: #fff; }
  .h0 { fill: #f3bcbc; } .h1 { fill: #f6cfa6; } .h2 { fill: #ece28f; } .h3 { fill: #b4e2be; }
  .h4 { fill: #aee0e0; } .h5 { fill: #b0d2f4; } .h6 { fill: #c8c5f5; } .h7 { fill: #eec0de; }
  .from0, .from1 { fill: none; stroke-width: 1.6; } .from0 { stroke: #1f5fae; } .from1 { stroke: #c2591b; }
  @media (prefers-color-scheme: dark) {
    .from0 { stroke: #6aa7ee; } .from1 { stroke: #dd8347; }
    text { fill: #e4e6ea; } .soft { fill: #9ba3af; } .cell { stroke: #0d1117; } .line { stroke: #434b57; }
    .strong { stroke: #e4e6ea; } .track { fill: #1c2129; stroke: #343a44; }
    .ink { fill: #e4e6ea; } .way { stroke: #e4e6ea; } .accent { fill: #6aa7ee; } .pale { fill: #2c4a6e; } .good { fill: #4fa876; } .wait { fill: #dd8347; } .on { fill: #10141b; }
    .h0 { fill: #7d3d3d; } .h1 { fill: #77522c; } .h2 { fill: #655f22; } .h3 { fill: #31643b; }
    .h4 { fill: #286362; } .h5 { fill: #2d5883; } .h6 { fill: #4f498f; } .h7 { fill: #783f67; }
  }
"""


def short(value):
    """A coordinate in at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


class Drawing:
    def __init__(self, width, height, title):
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def put(self, name, kind, content="", **attributes):
        words = "".join(f' {key.replace("_", "-")}="{short(value)}"'
                        for key, value in attributes.items())
        self.parts.append(f'<{name} class="{kind}"{words}>{content}</{name}>' if content else
                          f'<{name} class="{kind}"{words}/>')

    def box(self, x, y, width, height, kind, rx=3):
        self.put("rect", kind, x=x, y=y, width=width, height=height, rx=rx)

    def text(self, x, y, what, kind="", **more):
        self.put("text", kind, html.escape(str(what)), x=x, y=y, **more)

    def line(self, x1, y1, x2, y2, kind="line", **more):
        self.put("line", kind, x1=x1, y1=y1, x2=x2, y2=y2, **more)

    def path(self, d, kind, **more):
        self.put("path", kind, d=d, **more)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">\n'
                f"<title>{html.escape(self.title)}</title>\n<style>{STYLE}</style>\n"
                + "\n".join(self.parts) + "\n</svg>\n")


def swizzle(data):
    layout, cell, chunk = data["swizzle"]["modes"], 34, 2
    plain, with_it = (layout[name]["conflicts"][chunk] for name in ("plain", "swizzled"))
    out = Drawing(720, 404, f"Eight rows of one chunk: without the swizzle they lie in the same four "
                  f"banks, asked {plain} times each; with it in all 32, asked "
                  f"{'once' if with_it == 1 else f'{with_it} times'} each.")
    for left, mode, head in ((52, "plain", "without the swizzle"),
                             (422, "swizzled", "with the 128-byte swizzle")):
        bytes_, top = layout[mode]["bytes"], 54
        out.text(left, 16, head, "head")
        asked = [0] * 32
        for c in range(8):
            out.text(left + c * cell + cell / 2, 44, f"{c * 4}-{c * 4 + 3}", "soft middle",
                     style="font-size:10px")
        out.text(left - 6, 44, "banks", "soft end", style="font-size:10px")
        for row in range(8):
            out.text(left - 6, top + row * cell + 21, f"row {row}", "soft end", style="font-size:11px")
            for c in range(8):
                place = bytes_[row][c * 8] % 128 // 16
                x, y = left + place * cell, top + row * cell
                out.box(x, y, cell, cell, f"cell h{c}{'' if c == chunk else ' faded'}", 4)
                out.text(x + cell / 2, y + 21, c, "middle")
                if c == chunk:
                    out.box(x + 1.5, y + 1.5, cell - 3, cell - 3, "strong", 4)
                    for word in range(4):
                        asked[(bytes_[row][c * 8] + word * 4) // 4 % 32] += 1
        base, most = top + 8 * cell + 38, max(asked)
        for bank, times in enumerate(asked):
            out.box(left + bank * cell / 4, base - times * 3.5, cell / 4 - 1.5, times * 3.5 or 1,
                    "wait" if most > 1 else "accent", 1)
        out.text(left, base + 18, f"chunk {chunk} of eight rows: the busiest bank", "soft")
        out.text(left, base + 34, f"is asked {most} times" if most > 1 else "is asked once: no conflict",
                 "soft")
    return out


def descriptor(data):
    operand = data["descriptor"]["operands"][0]
    first, second = operand["steps"][0], operand["steps"][1]
    differs = int(first["bits"], 16) ^ int(second["bits"], 16)
    out = Drawing(720, 216, f"The matrix descriptor of a tile at shared address "
                  f"0x{operand['address']:05x}, 0x{first['bits']}: start, leading and stride offsets in "
                  "units of 16 bytes, swizzle mode 1. The next 16 elements of K add 2 to it.")
    hues = {"start address / 16": "h5", "leading dimension offset / 16": "h2",
            "stride dimension offset / 16": "h3", "base offset": "h6", "swizzle mode": "h0"}
    names = {"start address / 16": "start address / 16", "base offset": "base",
             "leading dimension offset / 16": "leading offset / 16", "swizzle mode": "mode",
             "stride dimension offset / 16": "stride offset / 16"}
    bit, left = 22, 8
    for half in (1, 0):
        top = 24 if half else 112
        for field, value in zip(data["descriptor"]["fields"], first["values"]):
            if field["first"] // 32 != half:
                continue
            x = left + (31 - field["last"] % 32) * bit
            width = (field["last"] - field["first"] + 1) * bit
            out.box(x, top, width, 30, hues.get(field["name"], "track"), 4)
            if field["name"] not in names:
                continue
            out.text(x + 2, top - 6, field["last"], "soft", style="font-size:10px")
            if width > 50:
                out.text(x + width - 2, top - 6, field["first"], "soft end", style="font-size:10px")
            out.text(max(x + width / 2, 22), top + 48,
                     f"{names[field['name']]} = {value}" if width > 50 else names[field["name"]],
                     "middle")
        for i in range(32):
            which = half * 32 + 31 - i
            out.text(left + i * bit + bit / 2, top + 20, int(first["bits"], 16) >> which & 1, "middle")
            if differs >> which & 1:
                out.box(left + i * bit + 1, top + 1, bit - 2, 28, "strong", 3)
    out.text(left, 204, f"{operand['version']}, {operand['name']}: 0x{first['bits'][:8]}'"
             f"{first['bits'][8:]}.  Framed: the bit that kk = 16 adds.")
    return out


def fragment(data):
    table = data["fragment"]
    columns = table["columns"]
    thread = 21
    out = Drawing(720, 452, "The accumulator of m64n256: each warp has 16 rows; in them four lanes hold "
                  "eight columns of a row, two registers each, and every eight columns further are the "
                  "next four registers.")
    left, width, height = 52, 656, 136
    sx, sy = width / columns, height / 64
    for warp, hue in enumerate(("h5", "h3", "h2", "h0")):
        out.box(left, warp * 16 * sy, width, 16 * sy, f"cell {hue}", 2)
        out.text(left - 6, warp * 16 * sy + 21, f"warp {warp}", "soft end", style="font-size:11px")
    mine = [i for i, each in enumerate(table["threads"]) if each == thread]
    out.path("".join(f"M{short(left + i % columns * sx)} {short(i // columns * sy)}"
                     f"h{short(sx)}v{short(sy)}h-{short(sx)}z" for i in mine), "ink")
    out.box(left, 0, 16 * sx, 16 * sy, "strong", 2)
    out.text(left, 152, "column 0", "soft", style="font-size:11px")
    out.text(left + width, 152, columns - 1, "soft end", style="font-size:11px")
    out.text(left + width / 2, 152, f"64 x 256 results; marked: the {len(mine)} of thread {thread}",
             "middle", style="font-size:11px")
    cell, row_height, top = 41, 24, 190
    for c in range(16):
        out.text(left + c * cell + cell / 2, top - 6, c, "soft middle", style="font-size:11px")
    for place, row in enumerate((0, 1, 2, 3, 4, 5, 6, 7, 8)):
        y = top + place * row_height + (8 if row == 8 else 0)
        out.text(left - 6, y + 16, f"row {row}", "soft end", style="font-size:11px")
        for c in range(16):
            holder, register = table["threads"][row * columns + c], table["registers"][row * columns + c]
            kind = ("h5", "h2", "h3", "h0")[holder % 4]
            out.box(left + c * cell, y, cell, row_height, f"cell {kind}", 2)
            if holder == thread:
                out.box(left + c * cell + 1.5, y + 1.5, cell - 3, row_height - 3, "strong", 2)
            out.text(left + c * cell + cell / 2, y + 16, f"{holder % 32}:{register}", "middle",
                     style="font-size:11px")
    out.text(left, top + 9 * row_height + 30, "lane:register of warp 0. A colour is a lane of each quad; "
             "row 8 is row 0's registers + 2.", "soft")
    return out


def phases(data):
    barrier = data["phases"]["barriers"][0]
    path = [0, 1, 1, 0, 1, 1]
    moments, state, phase = [("init", 0, 0)], 0, 0
    for action in path:
        edge = barrier["states"][state]["edges"][action]
        state, phase = edge["to"], phase + edge["completes"]
        moments.append((barrier["actions"][action]["label"], state, phase))
    out = Drawing(720, 300, "full of v1 over two K tiles: a phase is complete when neither an arrival nor "
                  "a byte is pending; then the wait for its parity passes, and the other one waits.")
    left, step = 78, 91
    for label, y in (("phase", 62), ("arrivals", 104), ("bytes", 168), ("wait(0)", 226), ("wait(1)", 262)):
        out.text(left - 8, y, label, "end soft")
    for i, (label, state, phase) in enumerate(moments):
        at, x = barrier["states"][state], left + i * step
        short_label = {"arrive.expect_tx": "expect_tx", "16 KiB land": "16 KiB land"}.get(label, label)
        out.text(x + 2, 16, short_label, style="font-size:11px")
        out.line(x, 24, x, 276)
        out.box(x + 1, 44, step - 2, 28, "h5" if phase % 2 == 0 else "h1", 4)
        out.text(x + step / 2, 62, phase, "middle")
        for arrival in range(barrier["count"]):
            pending = arrival < at["arrivals"]
            out.put("circle", "accent" if pending else "line", cx=x + 14 + arrival * 22, cy=100, r=8)
        share = at["bytes"] / barrier["bytes"]
        out.box(x + 6, 128, step - 12, 60, "track", 3)
        if share > 0:
            out.box(x + 6, 128 + 60 * (1 - share), step - 12, 60 * share, "accent", 3)
        out.text(x + step / 2, 204, f"{at['bytes']:,}", "middle soft", style="font-size:11px")
        for parity in (0, 1):
            passes = at["passes"][parity]
            out.box(x + 1, 212 + parity * 36, step - 2, 24, "good" if passes else "wait", 4)
            out.text(x + step / 2, 228 + parity * 36, "passes" if passes else "waits", "middle on")
    return out


RING = [("the beginning", ["filling", "empty", "empty", "empty"], 1, 0,
         "the consumer waits on full[0]"),
        ("on the way", ["filling", "empty", "draining", "full"], 1, 2, "nobody waits"),
        ("the producer waits", ["draining", "full", "full", "full"], 0, 0,
         "for the arrivals on empty[0]"),
        ("the consumer waits", ["empty", "empty", "filling", "empty"], 3, 2,
         "for the bytes on full[2]")]


def ring(data):
    stages = next(each["stages"] for each in data["budget"]["versions"]
                  if each["version"] == "v6_persistent")
    out = Drawing(720, 262, f"A ring of {stages} stages: the producer fills ahead of the consumer. It waits "
                  "where its next stage is not yet released, the consumer where its stage is not yet full.")
    hues = {"empty": "track", "filling": "h1", "full": "h5", "draining": "h3"}
    for frame, (head, states, producer, consumer, said) in enumerate(RING):
        assert len(states) == stages
        cx, cy, outer, inner = 90 + frame * 180, 118, 66, 34
        out.text(cx, 16, head, "head middle")
        for stage, state in enumerate(states):
            a, b = (math.tau * (stage + end) / stages - math.pi / 2 for end in (0.02, 0.98))
            corners = [(outer, a), (outer, b), (inner, b), (inner, a)]
            (x1, y1), (x2, y2), (x3, y3), (x4, y4) = [(cx + r * math.cos(t), cy + r * math.sin(t))
                                                      for r, t in corners]
            out.path(f"M{short(x1)} {short(y1)}A{outer} {outer} 0 0 1 {short(x2)} {short(y2)}"
                     f"L{short(x3)} {short(y3)}A{inner} {inner} 0 0 0 {short(x4)} {short(y4)}z",
                     f"cell {hues[state]}")
            middle = math.tau * (stage + 0.5) / stages - math.pi / 2
            r = (outer + inner) / 2
            out.text(cx + r * math.cos(middle), cy + r * math.sin(middle) + 4, stage, "middle")
        for who, stage, r in (("P", producer, outer + 14), ("C", consumer, inner - 13)):
            t = math.tau * (stage + 0.5) / stages - math.pi / 2
            x, y = cx + r * math.cos(t), cy + r * math.sin(t)
            out.put("circle", "accent" if who == "P" else "good", cx=x, cy=y, r=10)
            out.text(x, y + 4, who, "middle on")
        out.text(cx, 218, said, "middle soft", style="font-size:10px")
    for i, (state, hue) in enumerate(hues.items()):
        out.box(130 + i * 100, 240, 14, 14, hue, 3)
        out.text(150 + i * 100, 251, state, "soft")
    out.text(540, 251, "P producer, C consumer", "soft", style="font-size:11px")
    return out


def raster(data):
    asked = {each["version"]: each for each in data["raster"]["asked"]}
    shown = [asked[name] for name in ("v1_simple", "v4_two_consumers", "v6_persistent",
                                      "v7_cluster_multicast")]

    def needed(walk):
        _, rows, columns = walk["waves"][0]
        return (rows * walk["block_m"] + columns * walk["block_n"]) * 128 // 1024

    numbers = ", ".join(f"{walk['version'].split('_')[0]} {needed(walk)} KiB" for walk in shown)
    out = Drawing(720, 262, "What the first wave of blocks needs of A and B for one K tile at 8192 x 8192, "
                  f"each strip once: {numbers}.")
    for place, walk in enumerate(shown):
        left, top, size = 26 + place * 178, 58, 146
        w, h = size / walk["tiles_n"], size / walk["tiles_m"]
        together = walk["together"]

        def cells(tiles):
            return "".join(f"M{short(left + c * w)} {short(top + r * h)}h{short(w * 0.86)}"
                           f"v{short(h * 0.8)}h-{short(w * 0.86)}z" for r, c in tiles)

        first, second = walk["first"][:together], walk["first"][together:]
        order = ("plain" if walk["group"] == 1 else f"groups of {walk['group']}"
                 if walk["version"].startswith(("v4", "v5")) else f"panels of {walk['group']}"
                 + (" pairs" if walk["cluster"] > 1 else ""))
        out.text(left, 14, walk["version"].split("_")[0], "head")
        out.text(left + 24, 14, order, "soft", style="font-size:11px")
        out.box(left, top, size, size, "track", 0)
        out.path(cells(second), "pale")
        out.path(cells(first), "accent")
        rows, columns = ({tile[i] for tile in first} for i in (0, 1))
        out.path("".join(f"M{left - 12} {short(top + r * h)}h8v{short(h * 0.8)}h-8z"
                         for r in sorted(rows)), "wait")
        out.path("".join(f"M{short(left + c * w)} {top - 12}h{short(w * 0.86)}v8h-{short(w * 0.86)}z"
                         for c in sorted(columns)), "good")
        out.text(left, 40, f"{walk['waves'][0][2]} strips of B", "soft", style="font-size:11px")
        out.text(left, top + size + 18, f"{walk['waves'][0][1]} strips of A", "soft",
                 style="font-size:11px")
        out.text(left, top + size + 36, f"{needed(walk)} KiB", "head")
        out.text(left + 78, top + size + 36, f"{walk['waves'][0][0]} tiles", "soft",
                 style="font-size:11px")
    return out


def first_tiles(data):
    """One row a version: the tile that it takes first."""
    seen = {}
    for each in data["budget"]["versions"]:
        seen.setdefault(each["version"], each)
    return list(seen.values())


def budget(data):
    rows = first_tiles(data)
    out = Drawing(720, 58 + 26 * len(rows) + 34, "Registers of a consumer's thread and shared memory of an "
                  "SM, by version: "
                  + ", ".join(f"{row['version'].split('_')[0]} {row['accumulators']} accumulators of "
                              f"{row['registers']} registers" for row in rows if row["version"][1] in "148")
                  + "; v6's ring of four stages and its buffers of C fill the shared memory.")
    left, width, second = 168, 190, 396
    out.text(left, 16, "registers of a thread, of 255", "soft")
    out.text(second, 16, "shared memory of an SM, of 228 KiB", "soft")
    for place, row in enumerate(rows):
        y = 32 + place * 26
        out.text(left - 8, y + 13, row["version"], "end")
        scale = width / 255
        out.box(left, y, width, 17, "track")
        out.box(left, y, row["accumulators"] * scale, 17, "accent")
        out.box(left + row["accumulators"] * scale, y, 32 * scale, 17, "pale")
        x = left + row["registers"] * scale
        out.line(x, y - 3, x, y + 20, "strong")
        out.text(left + 6, y + 13, row["accumulators"], "on")
        scale = width / 228
        out.box(second, y, width, 17, "track")
        for block in range(row["blocks_per_sm"]):
            size = row["shared_bytes"] / 1024
            ring_ = row["stages"] * row["stage_bytes"] / 1024
            x = second + block * (size + 1) * scale
            out.box(x, y, ring_ * scale, 17, "accent")
            if size - ring_ >= 32:
                out.box(x + ring_ * scale, y, (size - ring_) * scale, 17, "pale")
        out.text(second + width + 10, y + 13, f"{row['blocks_per_sm']} x {row['stages']} stage"
                 f"{'s' if row['stages'] > 1 else ''}", "soft")
    y = 32 + len(rows) * 26 + 14
    out.text(left, y, "accumulators, 32 more; line: the most", "soft", style="font-size:10.5px")
    out.text(second, y, "ring of K tiles, buffers of C", "soft", style="font-size:10.5px")
    return out


def tiles(data):
    rows = {row["version"]: row for row in first_tiles(data)}
    shown = [rows[name] for name in ("v1_simple", "v4_two_consumers", "v7_cluster_multicast",
                                     "v8_fitted_tiles")]

    def loads(row):
        return (row["block_m"] + row["block_n"] / row["cluster"]) * 128 / 1024

    out = Drawing(720, 330, "The tile of C of a block, and what it loads for each K tile: "
                  + "; ".join(f"{row['version'].split('_')[0]} {row['block_m']} x {row['block_n']}, "
                              f"{loads(row):g} KiB, {row['fma_per_byte']:.0f} FMA a byte" for row in shown)
                  + ".")
    scale, top = 0.42, 66
    for place, row in enumerate(shown):
        x = 30 + place * 178
        width, height = row["block_n"] * scale, row["block_m"] * scale
        name = row["version"].split("_")[0]
        out.text(x, 14, name, "head")
        out.text(x + 24, 14, f"{row['block_m']} x {row['block_n']}", "soft", style="font-size:11px")
        out.text(x, 34, f"{loads(row):g} KiB a K tile", "soft", style="font-size:11px")
        for block in range(row["cluster"]):
            y = top + block * (height + 6)
            out.box(x - 16, y, 10, height, "wait", 2)
            groups = row["block_m"] // 64
            for group in range(groups):
                consumer = group * row["consumers"] // groups
                out.box(x, y + group * 64 * scale, width, 64 * scale,
                        f"cell {'h5' if consumer == 0 else 'h3'}{' faded' if block else ''}", 2)
                if block == 0:
                    out.text(x + width / 2, y + group * 64 * scale + 17, f"m64n{row['block_n']}", "middle",
                             style="font-size:10.5px")
            if block:
                out.text(x + width / 2, y + height / 2 + 4, "block 1", "middle soft",
                         style="font-size:10.5px")
        for part in range(row["cluster"]):
            out.box(x + part * width / row["cluster"], top - 16, width / row["cluster"] - 1, 10,
                    "good", 2)
    out.text(14, 318, "Orange: rows of A; green: rows of B, where it is cut each block brings a part. "
             "Blue and green tiles: two consumers.", "soft", style="font-size:10.5px")
    return out


def pair(data):
    row = next(each for each in first_tiles(data) if each["version"] == "v7_cluster_multicast")
    empty = next(each for each in data["phases"]["barriers"] if each["name"] == "empty[s] of v7")
    a, b = row["block_m"] // 8, row["block_n"] // 8  # KiB of a K tile
    share, own = b // row["cluster"], row["consumers"]
    assert a + b == row["stage_bytes"] // 1024 and empty["count"] == own * row["cluster"]
    out = Drawing(720, 372, f"v7's two blocks: each full waits for {a + b} KiB, {a + share} from its own "
                  f"producer and {share} from the other block's; each empty for {empty['count']} arrivals, "
                  f"{own} from each block.")

    def arrow(x1, y1, x2, y2, block):
        middle = (y1 + y2) / 2
        out.path(f"M{x1} {y1}C{x1} {short(middle + 8)} {x2} {short(middle - 8)} {x2} {y2}", f"from{block}")
        out.put("circle", ("accent", "wait")[block], cx=x2, cy=y2, r=3.5)

    left = (20, 380)
    for block in range(2):
        x = left[block]
        out.text(x, 16, f"block {block}", "head")
        out.box(x + 110, 28, 100, 26, ("accent", "wait")[block], 13)
        out.text(x + 160, 45, "producer", "middle on")
        for part, (name, size, hue) in enumerate(((f"A, {a} KiB", a, "h5" if block == 0 else "h1"),
                                                  (f"B, {share} KiB", share, "h5"),
                                                  (f"B, {share} KiB", share, "h1"))):
            out.box(x + part * 106, 118, 104, 34, f"cell {hue}", 4)
            out.text(x + part * 106 + 52, 139, name, "middle")
        out.text(x, 174, f"full[s]: 1 arrival, {a} + {share} + {share} = {a + b} KiB", "soft")
        for consumer in range(own):
            out.box(x + 30 + consumer * 150, 218, 110, 26, ("accent", "wait")[block], 13)
            out.text(x + 85 + consumer * 150, 235, f"consumer {consumer}", "middle on")
        out.box(x + 60, 312, 200, 26, "track", 13)
        out.text(x + 160, 329, f"empty[s]: {own} + {own} = {empty['count']} arrivals", "middle",
                 style="font-size:11px")
    for block in range(2):
        start = left[block] + 160
        arrow(start - 16, 54, left[block] + 52, 116, block)
        for other in range(2):
            arrow(start + (16 if other == 1 else 0), 54, left[other] + 52 + 106 * (1 + block), 116, block)
            for consumer in range(own):
                end = left[other] + 100 + 34 * (2 * block + consumer)
                arrow(left[block] + 85 + consumer * 150, 244, end, 310, block)
    out.text(20, 364, "Blue: from block 0; orange: from block 1. What crosses: half of B, and the word that "
             "it has been read.", "soft", style="font-size:10.5px")
    return out


def plane(_):
    counters = json.loads((ROOT / "docs/results/counters-h200.json").read_text(encoding="utf-8"))
    versions = counters["versions"]
    per_ghz = 132 * 4096 / 1000  # TFLOP/s at 100 %
    out = Drawing(720, 440, "Clock times busy is speed, at 8192 x 8192 x 8192 on an H200: v2 keeps the tensor "
                  "cores busy and pays with its clock, v4 gets the clock back, and from v6 on both are high.")
    x0, x1, y0, y1, left, right, top, bottom = 1.25, 1.65, 65, 103, 60, 704, 24, 384

    def px(clock):
        return left + (clock - x0) / (x1 - x0) * (right - left)

    def py(busy):
        return bottom - (busy - y0) / (y1 - y0) * (bottom - top)

    for clock in (1.3, 1.4, 1.5, 1.6):
        out.text(px(clock), bottom + 18, f"{clock:.1f}", "soft middle")
    for busy in (70, 80, 90, 100):
        out.line(left, py(busy), right, py(busy), "line", stroke_dasharray="2 4")
        out.text(left - 8, py(busy) + 4, busy, "soft end")
    for tflops in range(500, 901, 50):
        points = [(c, tflops / (per_ghz * c) * 100) for c in
                  (x0 + i * (x1 - x0) / 80 for i in range(81))]
        points = [(px(c), py(b)) for c, b in points if y0 <= b <= y1]
        if len(points) > 1:
            out.path("M" + "L".join(f"{short(x)} {short(y)}" for x, y in points), "line")
            out.text(points[-1][0] - 4, points[-1][1] - 5, tflops, "soft end", style="font-size:11px")
    places = [(name.split("_")[0], px(each["sm_clock_ghz"]), py(each["tensor_pipe_pct"]),
               each["dram_read_gb"]) for name, each in versions.items() if re.match(r"v\d+_", name)]
    out.path("M" + "L".join(f"{short(x)} {short(y)}" for _, x, y, _ in places), "way")
    for _, x, y, read in places:
        out.put("circle", "accent", cx=x, cy=y, r=math.sqrt(read) * 7, opacity=0.85)
    above = {"v1": (16, 5), "v2": (20, 4), "v3": (17, 5), "v4": (14, 10), "v5": (-32, 12), "v6": (-4, -12),
             "v7": (-32, 2), "v8": (-10, 24), "v9": (12, 6)}
    for i, (name, x, y, _) in enumerate(places):
        dx, dy = above.get(name, (-4 + 14 * (i % 2), -14 - 12 * (i % 2)))
        out.text(x + dx, y + dy, name, "head")
    out.text((left + right) / 2, bottom + 38, "SM clock, GHz", "soft middle")
    out.text(0, 0, "tensor pipe busy, %", "soft middle",
             transform=f"translate(16 {(top + bottom) // 2}) rotate(-90)")
    out.text(left, 14, "curves: TFLOP/s = 132 SMs x 4096 FLOP x clock x busy; a dot's area: DRAM bytes read",
             "soft", style="font-size:11px")
    return out


DRAWN = (swizzle, descriptor, fragment, phases, ring, raster, budget, tiles, pair, plane)
TOPICS = ("phases", "swizzle", "descriptor", "fragment", "raster", "budget")


def pages_that_differ(titles):
    """Images of these figures in Markdown whose alternative text is not the figure's title."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for alt, name in re.findall(r"!\[([^\]]*)\]\([^)]*figures/explain-(\w+)\.svg\)",
                                    page.read_text(encoding="utf-8")):
            if alt != titles.get(name):
                yield f"{page.relative_to(ROOT)}: the text of explain-{name}.svg is: {titles.get(name)}"


def main(arguments):
    check = "--check" in arguments
    programs = [word for word in arguments if word != "--check"]
    if len(programs) != 1:
        print(__doc__)
        return 2
    data = {topic: json.loads(subprocess.run([programs[0], topic, "--json"], check=True,
                                             stdout=subprocess.PIPE).stdout) for topic in TOPICS}
    wrong, titles = [], {}
    for draw in DRAWN:
        drawing = draw(data)
        titles[draw.__name__] = drawing.title
        path, fresh = FIGURES / f"explain-{draw.__name__}.svg", drawing.svg()
        if path.exists() and path.read_text(encoding="utf-8") == fresh:
            continue
        if check:
            wrong.append(f"{path.relative_to(ROOT)} is not what explain says now: ./run docs renews it")
        else:
            path.write_text(fresh, encoding="utf-8")
    wrong += pages_that_differ(titles)
    print("\n".join(wrong) if wrong else f"{len(DRAWN)} figures are fresh")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
