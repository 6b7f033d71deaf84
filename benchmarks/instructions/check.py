#!/usr/bin/env python3
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of core paths.

Builds //benchmarks/instructions:core_paths with `-c opt`, runs every path (or the given paths) under
callgrind with two counts, and divides the difference by the difference of the counts. The result does not
depend on the machine's load or clock. Fails if a path needs over 3 % more instructions than expected.txt
says, or over 3 % fewer: an improvement must be recorded.

Other options, such as --disk_cache, go to Bazel. Needs valgrind. The figures hold for clang 19 and the
Abseil of this repository. They can differ by some instructions on a processor for which the C library
chooses another memcpy().
"""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPECTED = HERE / "expected.txt"
TARGET = "//benchmarks/instructions:core_paths"
# Both counts are past the warm-up, such as the first growth of a queue.
COUNTS = (2_000, 12_000)
LIMIT = 0.03


def build(flags):
    """Builds the program, with further flags of Bazel, and returns its path."""
    subprocess.run([ROOT / "tools/bazel", "build", "--config=opt", *flags, TARGET], cwd=ROOT, check=True)
    # Only the configuration's own output folder is certain to hold this build.
    info = subprocess.run([ROOT / "tools/bazel", "info", "--config=opt", "bazel-bin"], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    return pathlib.Path(info.stdout.strip()) / "benchmarks/instructions/core_paths"


def run(program, path, count):
    """Returns the number of instructions of one run."""
    process = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, path, str(count)],
        capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", process.stderr)
    if process.returncode != 0 or found is None:
        sys.exit(f"check.py: core_paths {path} {count} failed under valgrind:\n{process.stderr}")
    return int(found[1])


def instructions(program, path):
    """Returns the instructions of one operation of a path."""
    few, many = (run(program, path, count) for count in COUNTS)
    return (many - few) / (COUNTS[1] - COUNTS[0])


def main():
    parser = argparse.ArgumentParser(prog="check.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the measured figures to expected.txt")
    parser.add_argument("--program", metavar="FILE", help="count the paths of a program that is already built")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="the paths to count; all by default")
    arguments, flags = parser.parse_known_args()
    if flags and arguments.program:
        sys.exit(f"check.py: {flags[0]} is no option of check.py, and with --program nothing is built")
    if shutil.which("valgrind") is None:
        sys.exit("check.py: valgrind is not installed; on Debian: tools/debian/setup.sh install valgrind")
    if not EXPECTED.exists() and not arguments.write:
        sys.exit("check.py: there is no expected.txt to compare with; run check.py --write first")
    program = pathlib.Path(arguments.program).resolve() if arguments.program else build(flags)
    if not program.is_file():
        sys.exit(f"check.py: there is no program {program}; build it, or leave --program out")
    known = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    unknown = [path for path in arguments.paths if path not in known]
    if unknown:
        sys.exit(f"check.py: no path is named {unknown[0]}; the paths are {', '.join(sorted(known))}")
    paths = sorted(arguments.paths or known)

    expected = {}
    if EXPECTED.exists():
        expected = {name: float(count) for name, count in (line.split() for line in
                    EXPECTED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        measured = dict(zip(paths, pool.map(lambda path: instructions(program, path), paths)))

    wrong, new = [], []
    print(f"{'path':<24}{'expected':>10}{'measured':>10}{'change':>9}")
    for path in paths:
        before, now = expected.get(path), measured[path]
        if before is None:
            print(f"{path:<24}{'new':>10}{now:>10.1f}")
            new.append(path)
            continue
        change = now / max(before, 0.1) - 1
        # Less than one instruction is the rounding of expected.txt, or a page more or less.
        if abs(change) > LIMIT and abs(now - before) > 1:
            wrong.append(path)
        print(f"{path:<24}{before:>10.1f}{now:>10.1f}{change:>+9.1%}")
    if arguments.write:
        expected = {path: expected[path] for path in expected if path in known} | measured
        EXPECTED.write_text(
            "# Instructions of one operation, with clang 19 and -c opt, as check.py counts them.\n" +
            "".join(f"{path} {expected[path]:.1f}\n" for path in sorted(expected)), encoding="utf-8")
        return
    if new:
        sys.exit(f"check.py: expected.txt does not have {', '.join(new)}; run check.py --write {' '.join(new)}")
    if wrong:
        sys.exit(f"check.py: {', '.join(wrong)}: not within 3 % of expected.txt. Find the cause with "
                 "`valgrind --tool=callgrind`; if the change is intended, run "
                 "`benchmarks/instructions/check.py --write` and say why in the commit.")


if __name__ == "__main__":
    main()
