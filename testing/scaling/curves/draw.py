#!/usr/bin/env python3
#
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the curves of docs/internals/scaling.md, and writes the page's tables.

    testing/scaling/curves/draw.py [--check]

Reads results/*.txt beside this file: the outputs of `simulate server` before and after a change, of `simulate vm`,
and of several runs of `measure`. Writes docs/internals/scaling.svg, and the parts of docs/internals/scaling.md
between the comments "begin NAME" and "end NAME". With --check, writes nothing, and fails if a file would change.
"""

import argparse
import collections
import html
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
RESULTS = pathlib.Path(__file__).resolve().parent / "results"
PAGE = ROOT / "docs/internals/scaling.md"
CHART = ROOT / "docs/internals/scaling.svg"

COLUMNS = 3
PANEL = (252, 176)  # the size of a panel, with its title and labels
PLOT = (40, 30, 196, 112)  # left, top, width and height of the axes in a panel
MARGIN = 16
HEAD = 58

STYLE = """
    :root { color-scheme: light dark; }
    .back { fill: #ffffff; stroke: #d1d9e0; }
    text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-size: 17px; font-weight: 600; }
    .name { font-weight: 600; font-size: 13px; }
    .muted { fill: #59636e; font-size: 11px; }
    .grid { stroke: #e3e8ed; fill: none; }
    .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
    .ideal { stroke: #9aa4af; stroke-width: 1; stroke-dasharray: 2 3; }
    .before { stroke: #8792a0; }
    .after { stroke: #e8590c; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; stroke: #3d444d; }
      text { fill: #f0f6fc; }
      .muted { fill: #9198a1; }
      .grid { stroke: #21262d; }
      .before { stroke: #818b98; }
      .after { stroke: #f76707; }
    }
"""


def simulated(name):
    """Returns the rates of an output of `simulate`, by workload and number of workers, and the hottest accesses."""
    rates = collections.defaultdict(dict)
    hottest = collections.defaultdict(list)
    key = None
    for line in (RESULTS / name).read_text().splitlines():
        if line.startswith(" "):
            part, transfers, place = line.split(maxsplit=2)
            hottest[key].append((float(part), float(transfers), place))
        elif line:
            workload, workers, rate, _ = line.split()
            key = workload, int(workers)
            rates[workload][int(workers)] = float(rate)
    return rates, hottest


def measured(name):
    """Returns the median rates of several outputs of `measure`, by workload and number of workers."""
    rates = collections.defaultdict(list)
    for line in (RESULTS / name).read_text().splitlines():
        workload, workers, rate = line.split()
        rates[workload, int(workers)].append(float(rate))
    return {key: statistics.median(values) for key, values in rates.items()}


def short(value):
    """Returns a number with three digits and a unit."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            scaled = value / size
            return f"{scaled:.{max(0, 2 - int(math.log10(scaled)))}f} {unit}"
    return f"{value:.0f}"


class Panel:
    """The curves of a workload. Both axes are logarithmic."""

    def __init__(self, left, top, rates):
        self.left = left + PLOT[0]
        self.top = top + PLOT[1]
        positive = [rate for curve in rates for rate in curve.values() if rate > 0]
        self.low = math.floor(math.log10(min(positive)))
        self.high = max(math.ceil(math.log10(max(positive))), self.low + 1)
        self.last = math.log2(max(max(curve) for curve in rates))

    def x(self, workers):
        return self.left + PLOT[2] * math.log2(workers) / self.last

    def y(self, rate):
        part = (math.log10(rate) - self.low) / (self.high - self.low)
        return self.top + PLOT[3] * (1 - min(max(part, 0), 1))

    def line(self, style, points):
        path = " ".join(f"{self.x(n):.1f},{self.y(rate):.1f}" for n, rate in points)
        return f'<polyline class="line {style}" points="{path}"/>'

    def grid(self):
        for power in range(self.low, self.high + 1):
            y = self.y(10.0**power)
            yield f'<path class="grid" d="M{self.left} {y:.1f}h{PLOT[2]}"/>'
            yield (f'<text class="muted" x="{self.left - 5}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{short(10.0**power).replace(".00", "").replace(".0", "").replace(" ", "")}</text>')
        for workers in (1, 4, 16, 64, 192):
            x = self.x(workers)
            yield f'<path class="grid" d="M{x:.1f} {self.top}v{PLOT[3]}"/>'
            yield f'<text class="muted" x="{x:.1f}" y="{self.top + PLOT[3] + 14}" text-anchor="middle">{workers}</text>'


def chart(before, after):
    """Returns the SVG."""
    rows = -(-len(after) // COLUMNS)
    width = 2 * MARGIN + COLUMNS * PANEL[0]
    height = HEAD + rows * PANEL[1] + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-labelledby="title">',
        '<title id="title">Operations per second by number of workers, simulated, before and after</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="back" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>',
        f'<text class="title" x="{MARGIN}" y="28">Operations per second by number of workers (simulated)</text>',
        f'<path class="line after" d="M{MARGIN} 44h24"/><text x="{MARGIN + 30}" y="48">now</text>',
        f'<path class="line before" d="M{MARGIN + 84} 44h24"/><text x="{MARGIN + 114}" y="48">before</text>',
        f'<path class="line ideal" d="M{MARGIN + 186} 44h24"/>'
        f'<text x="{MARGIN + 216}" y="48">one worker\'s rate times the workers</text>',
    ]
    for i, (name, rates) in enumerate(after.items()):
        left = MARGIN + i % COLUMNS * PANEL[0]
        top = HEAD + i // COLUMNS * PANEL[1]
        panel = Panel(left, top, (rates, before[name]))
        parts += panel.grid()
        parts.append(f'<text class="name" x="{left + PLOT[0]}" y="{top + 20}">{html.escape(name)}</text>')
        ideal = [(n, rates[1] * n) for n in rates if math.log10(rates[1] * n) <= panel.high]
        parts.append(panel.line("ideal", ideal))
        # A workload that did nothing is at the lower edge.
        for style, curve in (("before", before[name]), ("after", rates)):
            parts.append(panel.line(style, [(n, max(rate, 10.0**panel.low)) for n, rate in curve.items()]))
    parts.append("</svg>\n")
    return "\n".join(parts)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def curves_table(before, after):
    """Returns a table with both rates at several numbers of workers."""
    counts = (1, 8, 64, 192)
    rows = []
    for name, rates in after.items():
        cells = [f"{short(before[name][n])} → {short(rates[n])}" for n in counts]
        rows.append([f"`{name}`", *cells])
    return table(["Workload", "1 worker", *(f"{n} workers" for n in counts[1:])], rows)


def hottest_table(rates, hottest, workers):
    rows = []
    for name in rates:
        found = hottest[name, workers]
        if not found or found[0][0] < 0.0005:
            rows.append([f"`{name}`", "less than 0.1 %", "", ""])
            continue
        part, transfers, place = found[0]
        rows.append([f"`{name}`", f"{100 * part:.1f} %", f"{transfers:.2f}", f"`{place}`"])
    return table(["Workload", "Waiting there", "Transfers per operation", "Hottest access"], rows)


def check_table(real, virtual):
    """Returns a table of the measured and the simulated rates, and their ratios."""
    rows = []
    for name, rates in virtual.items():
        cells = []
        for n in (1, 2):
            cells += [short(real[name, n]), short(rates[n]), f"{rates[n] / real[name, n]:.2f}"]
        rows.append([f"`{name}`", *cells])
    head = ["Workload"]
    for n in ("1 worker", "2 workers"):
        head += [f"{n}: measured", "simulated", "ratio"]
    return table(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file would change")
    check = parser.parse_args().check
    before, hottest_before = simulated("before.txt")
    after, hottest = simulated("after.txt")
    virtual, _ = simulated("vm.txt")
    tables = {
        "curves": curves_table(before, after),
        "hottest before": hottest_table(before, hottest_before, 64),
        "hottest": hottest_table(after, hottest, 64),
        "check": check_table(measured("measured.txt"), virtual),
    }
    page = PAGE.read_text()
    for name, text in tables.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        if begin not in page or end not in page:
            sys.exit(f"{PAGE}: write the lines {begin} and {end} where the table belongs")
        page = re.sub(f"(?s){begin}.*?{end}", lambda _, text=text, b=begin, e=end: f"{b}\n\n{text}\n\n{e}", page)
    for path, text in ((PAGE, page), (CHART, chart(before, after))):
        if check and (not path.exists() or path.read_text() != text):
            sys.exit(f"{path} differs from the results; run testing/scaling/curves/draw.py")
        if not check:
            path.write_text(text)


if __name__ == "__main__":
    main()
