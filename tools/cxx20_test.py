#!/usr/bin/env python3
"""cxx20_test.py: checks the headers and the compilers' messages in the current folder (see cxx20_test.bzl)."""

import os
import re
import sys

CXX20 = "rouse/base/cxx20.h"
MESSAGE = "Rouse needs C++20: add build --cxxopt=-std=c++20 to .bazelrc"
# A header that reaches cxx20.h through many others has a line for each, with "from".
MOST_LINES = 12


def first_include(text):
    """Returns the first header of Rouse that a header always includes, and whether <coroutine> comes before."""
    before = False
    depth = 0
    for directive, include in re.findall(r'^# *(if|endif|include)\w*(?: ([<"][^>"]+)[>"])?', text, re.M):
        if directive == "if":
            depth += 1
        elif directive == "endif":
            depth -= 1
        # The guard is the first level.
        elif include.startswith('"rouse/') and depth <= 1:
            return include[1:], before
        before |= include == "<coroutine"
    return None, before


def check_headers(headers):
    """Yields an error for each header that does not reach cxx20.h before its own first line."""
    for header, text in headers.items():
        if header == CXX20:
            continue
        include, coroutine_before = first_include(text)
        if include is None:
            yield f"{header} includes no header of Rouse; let it include {CXX20} first"
        elif coroutine_before:
            yield f"{header} includes <coroutine> before {CXX20}"
        elif include not in headers:
            yield f"{header} includes {include}, which is not among the headers of this test"


def check_messages(name, text):
    """Yields an error if a compilation was not stopped by the first error, or not by ours."""
    lines = text.splitlines()
    errors = [line for line in lines if re.search(r"\b(fatal )?error: ", line)]
    if lines[-1] == "status 0":
        yield f"{name}: compiles for C++17, or is not given -std=c++17"
    elif len(errors) != 1 or MESSAGE not in errors[0]:
        yield f"{name}: the compiler must report only '{MESSAGE}', but reports:\n{text}"
    elif len(lines) > MOST_LINES:
        yield f"{name}: {len(lines)} lines of messages, of which a reader sees at most {MOST_LINES}:\n{text}"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    headers = {}
    messages = {}
    for folder, _, files in os.walk("."):
        for file in files:
            path = os.path.join(folder, file)
            match = re.search(r"/_virtual_includes/[^/]+/(rouse/.*\.h)$", path)
            if match:
                headers[match[1]] = read(path)
            elif file.endswith(".messages"):
                messages[file] = read(path)
    errors = list(check_headers(headers))
    for name, text in messages.items():
        errors += check_messages(name, text)
    print("\n".join(errors))
    print(f"{len(headers)} headers, {len(messages)} compilations, {len(errors)} errors")
    sys.exit(bool(errors) or len(headers) < 100 or not messages)


if __name__ == "__main__":
    main()
