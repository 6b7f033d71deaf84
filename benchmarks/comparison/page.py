# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the page of figures with its charts, and the table for a terminal, from the results of a run."""

import html
import posixpath

import chart
import noise
import plan
import summary

UNITS = {
    "ns/op": "ns for each operation",
    "ns/task": "ns for each task",
    "ns/req": "ns for each request",
    "ns/MiB": "ns for each MiB",
    "ns/accept": "ns for each connection",
    "bytes": "bytes",
    "s": "seconds",
    "us": "µs",
    "req/s": "requests a second",
    "MiB/s": "MiB a second",
    "accept/s": "connections a second",
}

METRICS = {
    "rate": "Rate",
    "server_cpu": "CPU time of the server",
    "memory": "Resident memory of each",
    "rss_per_task": "Resident memory of a task",
    "overhead_over_2s": "Time beyond two seconds",
    "p50": "Median",
    "p99": "99th percentile",
}

INTRODUCTION = """\
# Rouse compared with Tokio, Asio, libuv and Go

This page compares Rouse with Tokio, Asio, libuv, Go, nginx and bare loops, which do the same work without a runtime. One
command measures everything and writes this page: see [benchmarks](../benchmarks/README.md), which also says how the
programs are built. Changes by hand are lost.
"""

READING = f"""\
## How to read the figures

- All figures of a group are from one run. The programs ran in turn, in rounds, and another program began in each round,
  so that a disturbance affects all programs alike. Figures of different runs or machines cannot be compared; the
  conditions below say which run measured a group.
- A figure is the median of the rounds. The range in parentheses, and the line on each bar, reach from the lower to the
  upper quartile.
- The ratio is the program's median divided by Rouse's median. Above 1, the other program needs more time or memory than
  Rouse; in a row of rates, the other program is faster.
- If the ranges of a program and of Rouse overlap, the table says "{summary.NO_DIFFERENCE}" in place of the ratio.
- A bare loop has no wakers, no cancellation and no other threads. It shows the limit, and is no competitor.
- Each row of a chart has its own scale, which begins at 0. Charts show the most important figures, tables all figures.
"""


def scale(unit):
    """Returns the unit in words, and whether more is better."""
    direction = plan.direction(unit)
    return UNITS.get(unit, unit) + (f"; {direction} is better" if direction else "")


def summaries(row):
    """Returns {program: Summary} for a row of the results, Rouse first."""
    order = sorted(row["values"], key=lambda name: name != "rouse")
    return {name: summary.Summary.of(row["values"][name]) for name in order if row["values"][name]}


def compared(row, figures, name):
    """Returns how a program compares with Rouse, as text; "" for Rouse, and if there is nothing to compare."""
    if not _is_comparable(row, figures, name):
        return ""
    return summary.write_ratio(summary.ratio(figures[name], figures["rouse"]))


def _is_comparable(row, figures, name):
    return (name != "rouse" and "rouse" in figures and name in figures and plan.direction(row["unit"]) != ""
            and min(figures["rouse"].median, figures[name].median) > 0)


def label(name):
    return plan.LABELS.get(name, name)


def _workload(group, row_name):
    return group.find(row_name.partition(":")[0]) if group else None


def _is_charted(group, row):
    return group is None or plan.metric(row["name"]) in group.charted


def _heading(metric, unit):
    words = METRICS.get(metric, metric)
    return f"{words}: {scale(unit)}" if words else scale(unit)


def _bars(row, failed):
    figures = summaries(row)
    bars = []
    for name, of_name in figures.items():
        note = compared(row, figures, name)
        bars.append(chart.Bar(label(name), of_name, f"{note} Rouse" if note.endswith("×") else note, name == "rouse"))
    bars += [chart.Bar(label(name), None, "no figure", name == "rouse") for name in failed if name not in figures]
    return tuple(bars)


def charts(results):
    """Returns {name of the group: SVG}."""
    drawn = {}
    for measured in results["groups"]:
        group = plan.group(measured["name"])
        sections = {}  # {heading: rows}
        for row in measured["rows"]:
            name, metric = row["name"].partition(":")[0], plan.metric(row["name"])
            if not _is_charted(group, row):
                continue
            workload = _workload(group, row["name"])
            failed = [failure["program"] for failure in measured["failures"] if failure["workload"] == name]
            sections.setdefault(_heading(metric, row["unit"]), []).append(
                chart.Row(name, workload.about if workload else "", _bars(row, failed)))
        if sections:
            drawn[measured["name"]] = chart.draw(
                group.title if group else measured["name"],
                [chart.Section(heading, tuple(rows)) for heading, rows in sections.items()])
    return drawn


def _cell(row, figures, name):
    if name not in figures:
        return ""
    of_name = figures[name]
    text = summary.write(of_name.median)
    if of_name.q1 != of_name.q3:
        text += f" ({summary.write(of_name.q1)} to {summary.write(of_name.q3)})"
    note = compared(row, figures, name)
    return f"{text}, {note}" if note else text


def _table(measured):
    names = list(dict.fromkeys(name for row in measured["rows"] for name in row["values"]))
    names.sort(key=lambda name: (list(plan.LABELS).index(name) if name in plan.LABELS else len(plan.LABELS)))
    lines = ["| Figure | Unit | " + " | ".join(label(name) for name in names) + " |",
             "|---|---|" + "---|" * len(names)]
    for row in measured["rows"]:
        figures = summaries(row)
        cells = [f"`{row['name']}`", row["unit"], *(_cell(row, figures, name) for name in names)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _section(measured, chart_path):
    group = plan.group(measured["name"])
    parts = [f"## {group.title if group else measured['name']}"]
    if group:
        parts.append(_wrapped(group.about))
    if chart_path:
        parts.append(f"![Bar chart of the group {measured['name']}]({chart_path})")
    if measured["rows"]:
        parts.append(_table(measured))
    for failure in measured["failures"]:
        parts.append(_wrapped(f"{label(failure['program'])} has no figure for `{failure['workload']}`: "
                              f"{html.escape(failure['reason'], quote=False)}."))
    return "\n\n".join(parts)


def _wrapped(text, width=120):
    """Returns a paragraph with lines of at most `width` characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{word}"
    return "\n".join(lines)


def counts(results, peer):
    """Returns in how many charted figures Rouse is better than a peer, worse, or without a shown difference."""
    better = worse = equal = 0
    for measured in results["groups"]:
        for row in measured["rows"]:
            figures = summaries(row)
            if not _is_charted(plan.group(measured["name"]), row) or not _is_comparable(row, figures, peer):
                continue
            ratio = summary.ratio(figures[peer], figures["rouse"])
            if ratio is None:
                equal += 1
            elif (ratio > 1) == (plan.direction(row["unit"]) == "lower"):
                better += 1
            else:
                worse += 1
    return better, worse, equal


def _overview(results):
    lines = ["| Compared with | Rouse is better | Rouse is worse | No difference shown |", "|---|---|---|---|"]
    for peer in plan.COUNTED:
        if any(numbers := counts(results, peer)):
            lines.append(f"| {label(peer)} | " + " | ".join(map(str, numbers)) + " |")
    return "## Overview\n\nThe number of figures in the charts below:\n\n" + "\n".join(lines)


def _table_of_run(run):
    machine, settings = run["machine"], run["settings"]
    rows = [
        ("Date", run["date"]),
        ("Rouse", run["versions"]["Rouse"]),
        ("Versions", ", ".join(f"{name} {version}" for name, version in run["versions"].items() if name != "Rouse")),
        ("CPU", f"{machine['cpu']}; {machine['cores']} cores"),
        ("Kernel", machine["kernel"]),
        ("Rounds", f"{settings['rounds']}, each of {settings['seconds']} s for a workload and "
                   f"{settings['server_seconds']} s for a server"),
        ("Command", f"`{run['command']}`"),
    ]
    table = "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    return f"{table}\n\n{_wrapped(noise.describe(run['noise']))}"


def _conditions(results):
    runs = results["runs"]
    parts = ["## Conditions"]
    for run in runs:
        if len(runs) > 1:
            parts.append(_wrapped(f"The run that measured {', '.join(f'`{name}`' for name in run['groups'])}:"))
        parts.append(_table_of_run(run))
    return "\n\n".join(parts)


def markdown(results, folder):
    """Returns the page. `folder` is the folder of the charts, relative to the page."""
    drawn = charts(results)
    sections = [INTRODUCTION.strip(), _overview(results), READING.strip(), _conditions(results)]
    sections += [
        _section(measured, posixpath.join(folder, f"{measured['name']}.svg") if measured["name"] in drawn else None)
        for measured in results["groups"]
    ]
    return "\n\n".join(sections) + "\n"


def terminal(results):
    """Returns the figures as a table for a terminal."""
    lines = []
    for measured in results["groups"]:
        group = plan.group(measured["name"])
        lines += ["", group.title if group else measured["name"]]
        for row in measured["rows"]:
            lines.append(f"  {row['name']}, {scale(row['unit'])}")
            figures = summaries(row)
            for name, of_name in figures.items():
                cells = [summary.write(value) for value in (of_name.median, of_name.q1, of_name.q3)]
                line = f"    {label(name):12}" + "".join(f"{cell:>12}" for cell in cells)
                lines.append(f"{line}  {compared(row, figures, name)}".rstrip())
        lines += [f"  {label(failure['program'])}, {failure['workload']}: {failure['reason']}"
                  for failure in measured["failures"]]
    lines += ["", "The columns are the median, the lower and the upper quartile, and the ratio to Rouse's median.",
              *(noise.describe(run["noise"]) for run in results["runs"])]
    return "\n".join(lines)
