# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the bar chart of a group of workloads as SVG, for a light and a dark background.

The rows of a chart are in sections, each of which has a unit. A row has a bar for each program, and its own linear
scale, which begins at zero. A line on the bar reaches from the lower to the upper quartile.
"""

import dataclasses
import html

import summary

WIDTH = 800
MARGIN = 24
LABEL = 84  # the width of the column with the names of programs
NOTE = 236  # the width to the right of the longest bar, for the value and the ratio
BAR = 16
STEP = 22  # from bar to bar
HEADING = 28  # from the top of a row to its first bar
GAP = 20  # between rows

STYLE = """
    :root { color-scheme: light dark; }
    .back { fill: #ffffff; stroke: #d1d9e0; }
    text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-size: 18px; font-weight: 600; }
    .name { font-weight: 600; }
    .muted { fill: #59636e; }
    .own { font-weight: 700; }
    .bar { fill: #b6bfc9; }
    .bar.own { fill: #e8590c; }
    .axis { stroke: #d1d9e0; fill: none; }
    .range { stroke: #1f2328; stroke-opacity: 0.65; stroke-width: 1.5; fill: none; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; stroke: #3d444d; }
      text { fill: #f0f6fc; }
      .muted { fill: #9198a1; }
      .bar { fill: #59626d; }
      .bar.own { fill: #f76707; }
      .axis { stroke: #3d444d; }
      .range { stroke: #f0f6fc; }
    }
"""


@dataclasses.dataclass(frozen=True)
class Bar:
    """The figures of one program, or None. `note` compares the program with Rouse, or says why figures are missing."""

    label: str
    figures: summary.Summary
    note: str = ""
    is_own: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure of all programs."""

    name: str
    about: str
    bars: tuple


@dataclasses.dataclass(frozen=True)
class Section:
    """Rows with the same unit. The heading names the unit, and says whether more is better."""

    heading: str
    rows: tuple


def _style(style):
    return f' class="{style}"' if style else ""


class _Drawing:
    """The elements of an SVG."""

    def __init__(self):
        self._elements = []

    def text(self, x, y, *parts, end=False):
        """Adds a text of one or more (content, style)."""
        spans = ""
        for i, (content, style) in enumerate(parts):
            distance = ' dx="9"' if i else ""
            spans += f"<tspan{_style(style)}{distance}>{html.escape(content)}</tspan>"
        anchor = ' text-anchor="end"' if end else ""
        self._elements.append(f'<text x="{x:g}" y="{y:g}"{anchor}>{spans}</text>')

    def bar(self, x, y, width, style):
        self._elements.append(
            f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{BAR}" rx="2"/>')

    def line(self, style, *points):
        path = " ".join(f"{'L' if i else 'M'}{x:g} {y:g}" for i, (x, y) in enumerate(points))
        self._elements.append(f'<path class="{style}" d="{path}"/>')

    def finish(self, height, title, description):
        elements = "\n  ".join(self._elements)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
            f'height="{height:g}" role="img" aria-labelledby="title description">\n'
            f'  <title id="title">{html.escape(title)}</title>\n'
            f'  <desc id="description">{html.escape(description)}</desc>\n'
            f"  <style>{STYLE}  </style>\n"
            f'  <rect class="back" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1:g}" rx="8"/>\n'
            f"  {elements}\n"
            "</svg>\n"
        )


def _describe(sections):
    """Returns the chart in words, for readers who do not see it."""
    words = []
    for section in sections:
        words.append(f"{section.heading}.")
        for row in section.rows:
            bars = ", ".join(f"{bar.label} {summary.write(bar.figures.median)}" if bar.figures else
                             f"{bar.label} {bar.note}" for bar in row.bars)
            words.append(f"{row.name}: {bars}.")
    return " ".join(words)


def _draw_bar(drawing, bar, y, per_unit):
    left = MARGIN + LABEL
    own = "own" if bar.is_own else ""
    middle = y + BAR / 2
    note = [(bar.note, "muted")] if bar.note else []
    drawing.text(left - 10, middle + 4.5, (bar.label, own), end=True)
    if bar.figures is None:
        drawing.text(left + 8, middle + 4.5, *note)
        return

    def at(value):
        return round(left + max(value, 0) * per_unit, 1)

    median, low, high = at(bar.figures.median), at(bar.figures.q1), at(bar.figures.q3)
    drawing.bar(left, y, max(median - left, 1), f"bar {own}".strip())
    if bar.figures.q1 != bar.figures.q3:
        drawing.line("range", (low, middle), (high, middle))
        for x in (low, high):
            drawing.line("range", (x, middle - 3.5), (x, middle + 3.5))
    drawing.text(max(median, high) + 8, middle + 4.5, (summary.write(bar.figures.median), own), *note)


def _draw_row(drawing, row, y):
    """Draws a row below `y`. Returns where the row ends."""
    about = [(row.about, "muted")] if row.about else []
    drawing.text(MARGIN, y + 14, (row.name, "name"), *about)
    y += HEADING
    left = MARGIN + LABEL
    longest = max((max(bar.figures.q3, bar.figures.median) for bar in row.bars if bar.figures), default=0)
    per_unit = (WIDTH - MARGIN - NOTE - left) / longest if longest > 0 else 0
    bottom = y + (len(row.bars) - 1) * STEP + BAR
    drawing.line("axis", (left, y - 3), (left, bottom + 3))
    for bar in row.bars:
        _draw_bar(drawing, bar, y, per_unit)
        y += STEP
    return bottom


def draw(title, sections):
    """Returns the SVG of a chart."""
    drawing = _Drawing()
    drawing.text(MARGIN, 38, (title, "title"))
    y = 60
    for i, section in enumerate(sections):
        if i:
            y += 8
            drawing.line("axis", (MARGIN, y - 20), (WIDTH - MARGIN, y - 20))
            y += 6
        drawing.text(MARGIN, y, (section.heading, "muted"))
        y += 22
        for row in section.rows:
            y = _draw_row(drawing, row, y) + GAP
        y += 10
    return drawing.finish(y - 6, title, _describe(sections))
