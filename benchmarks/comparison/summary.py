# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures: how they are read, summarized, compared and written."""

import dataclasses
import math
import re
import statistics

NO_DIFFERENCE = "no difference shown"

_LINE = re.compile(r"(\S.*\S|\S) (-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?) (\S+)")


def parse(text):
    """Returns (name, value, unit) for each line `name value unit` of a program's output.

    Raises ValueError if a line has another form, or if no line exists.
    """
    figures = []
    for line in text.splitlines():
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.strip())
        if not found:
            raise ValueError(f"printed {line!r}, which is not a line `name value unit`")
        figures.append((found[1], float(found[2]), found[3]))
    if not figures:
        raise ValueError("printed no line `name value unit`")
    return figures


@dataclasses.dataclass(frozen=True)
class Summary:
    """The quartiles of the figures of some rounds."""

    q1: float
    median: float
    q3: float

    @staticmethod
    def of(values):
        if len(values) == 1:
            return Summary(values[0], values[0], values[0])
        return Summary(*statistics.quantiles(values, n=4, method="inclusive"))

    def overlaps(self, other):
        """Returns whether the ranges between the quartiles have a common point."""
        return self.q1 <= other.q3 and other.q1 <= self.q3


def ratio(summary, base):
    """Returns the ratio of two medians, or None if the rounds do not show that the medians differ."""
    if summary.overlaps(base) or base.median <= 0 or summary.median <= 0:
        return None
    return summary.median / base.median


def write(value):
    """Returns a figure as text, with three significant digits but no fewer than the integral digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    rounded = round(value, digits)
    # 9.996 is 10.0, not 10.00.
    digits = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{digits}f}"


def write_ratio(value):
    """Returns a ratio as text. None means that no difference was shown."""
    if value is None:
        return NO_DIFFERENCE
    return f"{value:.2f}×" if 0.1 <= value < 10 else f"{write(value)}×"
