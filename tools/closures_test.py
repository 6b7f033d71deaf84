#!/usr/bin/env python3
"""closures_test.py CLOSURES_BZL GRAPH KINDS: compares CLOSURES with the graph (see closures.bzl)."""

import collections
import re
import sys


# Only speeds up the compilation in this repository. A consumer's libraries do not depend on it.
PRECOMPILED = "//tools:library_headers"


def label(text):
    """Returns the same form for the labels of all versions of Bazel: //waker:waker for //waker."""
    text = text.lstrip("@")
    if "//" in text and ":" not in text:
        text += ":" + text.rpartition("/")[2]
    return text


def closure(graph, target):
    """Returns all targets that `target` depends on, including `target`."""
    found = {target}
    stack = [target]
    while stack:
        for dependency in graph[stack.pop()]:
            if dependency not in found and dependency != PRECOMPILED:
                found.add(dependency)
                stack.append(dependency)
    return found


def summary(targets):
    """Counts targets by folder, like CLOSURES."""
    folders = collections.Counter()
    for target in targets:
        repository, _, rest = target.partition("//")
        if not repository:
            folders[re.split("[/:]", rest)[0] or "."] += 1
        elif "abseil" in repository or "absl" in repository:
            folders["absl"] += 1
        elif "bazel_tools" not in repository:
            folders[repository] += 1
    return folders


def main():
    bzl, graph_file, kinds_file = sys.argv[1:]
    with open(bzl, encoding="utf-8") as file:
        table = re.search(r"^CLOSURES = (\{.*?^\})", file.read(), re.M | re.S)[1]
    expected = dict(re.findall(r'"([^"]+)": "([^"]+)"', table))
    graph = collections.defaultdict(set)
    with open(graph_file, encoding="utf-8") as file:
        for source, target in re.findall(r'"([^"]+)" -> "([^"]+)"', file.read()):
            graph[label(source)].add(label(target))
    with open(kinds_file, encoding="utf-8") as file:
        libraries = {label(line.split()[-1]) for line in file if line.startswith("cc_library rule")}
    # Every library depends on this one, which contains no code.
    libraries.discard("//base:cxx20")
    wrong = 0
    for target, says in expected.items():
        found = summary(closure(graph, label(target)) & libraries)
        wanted = dict((name, int(count)) for name, count in (part.split() for part in says.split(", ")))
        # CLOSURES also has the number of Abseil's targets if it is 0.
        if {name: count for name, count in wanted.items() if count} == dict(found):
            continue
        wrong += 1
        order = [name for name in wanted if name != "absl" and name in found]
        order += sorted(set(found) - set(order) - {"absl"})
        line = ", ".join([f"{name} {found[name]}" for name in order] + [f"absl {found['absl']}"])
        print(f'{target}: the dependencies differ from tools/closures.bzl, which has "{says}"; if the change '
              f'is intended, write there:\n    "{target}": "{line}",')
    print(f"{len(expected)} libraries, {wrong} wrong")
    sys.exit(wrong != 0 or not expected)


if __name__ == "__main__":
    main()
