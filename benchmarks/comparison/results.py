# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""The file of results: the figures of each group, and the conditions of the runs that measured the groups.

    {"format": 2,
     "runs": [{"date": ..., "command": ..., "machine": ..., "versions": ..., "settings": ..., "noise": ...,
               "groups": [names of the groups that this run measured]}],
     "groups": [{"name": ..., "rows": [...], "failures": [...]}]}

Each group is from one run.
"""

import json

import plan

FORMAT = 2


class Unreadable(Exception):
    """The file has no results. The message says what to do."""


def of_run(conditions, groups):
    """Returns the results of a single run."""
    return {
        "format": FORMAT,
        "runs": [dict(conditions, groups=[group["name"] for group in groups])],
        "groups": groups,
    }


def updated(before, after):
    """Returns the results `before`, with the groups of `after` in place of the groups of these names."""
    new = {group["name"] for group in after["groups"]}
    runs = [dict(run, groups=[name for name in run["groups"] if name not in new]) for run in before["runs"]]
    groups = [group for group in before["groups"] if group["name"] not in new] + after["groups"]
    order = [group.name for group in plan.GROUPS]
    # Groups that are no longer planned come last.
    groups.sort(key=lambda group: order.index(group["name"]) if group["name"] in order else len(order))
    return {
        "format": FORMAT,
        "runs": [run for run in runs if run["groups"]] + after["runs"],
        "groups": groups,
    }


def read(path):
    """Returns the results in a file, or raises `Unreadable`."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(error) from error
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise Unreadable("this file has no results of this version of compare; measure again")
    return results


def write(results, path):
    """Writes a file of results, and makes its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
