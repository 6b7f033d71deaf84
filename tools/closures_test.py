#!/usr/bin/env python3
"""closures_test.py CLOSURES_BZL GRAPH KINDS LINKED FILE...: checks the dependencies of public libraries.

Compares CLOSURES with the graph (see closures.bzl). Checks that only the bridges need foreign libraries, and that
the files that declare repositories declare only REPOSITORIES.
"""

import collections
import re
import sys


# Only speeds up the compilation in this repository. A consumer's libraries do not depend on it.
PRECOMPILED = "//tools:library_headers"

# What WORKSPACE, deps.bzl and MODULE.bazel declare. A bridge names its library by a flag, and declares nothing,
# so that a consumer without the bridge does not get the library.
REPOSITORIES = {
    "abseil-cpp", "bazel_skylib", "google_benchmark", "googletest", "platforms", "rouse", "rules_cc"
}


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


def package(target):
    return target.partition(":")[0]


def check_foreign(graph, targets, flags):
    """Returns how many of the targets depend on a flag of a foreign library, but are not in the flag's folder."""
    wrong = 0
    for target in targets:
        own = package(label(target)) + "/"
        for flag in sorted(closure(graph, label(target)) & flags):
            if not own.startswith(package(flag) + "/"):
                wrong += 1
                print(f"{target}: depends on {flag}, a foreign library, which a consumer must have only if the "
                      f"consumer names a target in {package(flag)}; remove the dependency")
    return wrong


def check_repositories(paths):
    """Returns how many repositories the files declare that are not in REPOSITORIES."""
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        declared = set(re.findall(r'^[^#\n]*\bname = "([^"]+)"', text, re.M))
        if not declared:
            sys.exit(f"{path}: declares nothing, so that closures_test.py does not know how to read it")
        # Repositories of an extension have no such name.
        declared.update(re.findall(r"^\w* *=? *(use_extension|use_repo_rule)\(", text, re.M))
        for name in sorted(declared - REPOSITORIES):
            wrong += 1
            print(f"{path}: declares {name}, which every consumer would get; name a foreign library with "
                  f"rouse_foreign_library(), or add the name to REPOSITORIES in tools/closures_test.py")
    return wrong


def main():
    bzl, graph_file, kinds_file, linked_file, *repository_files = sys.argv[1:]
    with open(bzl, encoding="utf-8") as file:
        table = re.search(r"^CLOSURES = (\{.*?^\})", file.read(), re.M | re.S)[1]
    expected = dict(re.findall(r'"([^"]+)": "([^"]+)"', table))
    graph = collections.defaultdict(set)
    with open(graph_file, encoding="utf-8") as file:
        for source, target in re.findall(r'"([^"]+)" -> "([^"]+)"', file.read()):
            graph[label(source)].add(label(target))
    with open(kinds_file, encoding="utf-8") as file:
        kinds = file.read().splitlines()
    libraries = {label(line.split()[-1]) for line in kinds if line.startswith("cc_library rule")}
    # Every library depends on this one, which contains no code.
    libraries.discard("//base:cxx20")
    flags = {label(line.split()[-1]) for line in kinds if line.startswith("label_flag rule")}
    # Abseil links libraries of other systems.
    with open(linked_file, encoding="utf-8") as file:
        linked = [line.strip() for line in file if line.lstrip("@").startswith("//")]
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
    wrong += check_foreign(graph, expected, flags)
    for target in linked:
        wrong += 1
        print(f"{target}: links a library of the system; name the library with rouse_foreign_library()")
    wrong += check_repositories(repository_files)
    print(f"{len(expected)} libraries, {wrong} wrong")
    sys.exit(wrong != 0 or not expected)


if __name__ == "__main__":
    main()
