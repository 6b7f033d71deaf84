#!/usr/bin/env python3
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares Rouse with Tokio, Asio, libuv, Go, nginx and bare loops.

    tools/bazel run //benchmarks:compare                    measures all groups, and writes the page of figures in docs/
    tools/bazel run //benchmarks:compare -- echo channels   measures two groups, and prints the figures
    tools/bazel run //benchmarks:compare -- --groups        lists the groups
    tools/bazel run //benchmarks:compare -- --update echo   measures a group again, and puts its figures into the page

Builds Rouse's programs with --config=lto, and the peers' programs with peers/build.sh. Runs the programs in turn, in
rounds, and prints medians, quartiles and ratios to Rouse's median. Prints no ratio if quartiles overlap.

All figures go to the file results.json: in the folder of the page's charts or, without a page, in the folder of the
peers' programs. --from makes the page from this file again.
"""

import argparse
import datetime
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time

import machine
import noise
import page
import plan
import results as results_file
import run

HERE = pathlib.Path(__file__).resolve().parent
WORKSPACE = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", HERE.parent.parent))
# Bazel runs the script in another folder than the user's.
USER_FOLDER = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
PEERS = pathlib.Path(os.environ.get("PEERS_OUT", pathlib.Path.home() / ".cache" / "rouse-peers")) / "bin"
# The page, without its name in one piece: //tools:links_test checks that a page which is named exists.
PAGE = WORKSPACE / "docs" / "benchmarks.md"
# Of the programs that BENCH_SECS and SECONDS mean: (rounds, seconds of a workload, seconds of a server).
THOROUGH = (7, 0.6, 1.5)
QUICK = (3, 0.1, 0.4)


def _user_path(text):
    return USER_FOLDER / text


def _added(text):
    name, _, path = text.partition("=")
    if not re.fullmatch(r"\w{1,10}", name) or not path:
        raise argparse.ArgumentTypeError(f"{text}: write NAME=BINARY; NAME has at most 10 letters, digits and _")
    if name in plan.LABELS:
        raise argparse.ArgumentTypeError(f"{text}: {name} is the name of a program that is compared; choose another")
    path = _user_path(path)
    if not re.search(r"_(bench|echo|stream|http)$", path.name):
        raise argparse.ArgumentTypeError(f"{text}: the name of the binary must end in _bench, _echo, _stream or _http, "
                                         "which says what the binary does")
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text}: {path} does not exist")
    return name, path


def _rounds(text):
    if not text.isdigit() or int(text) < 3:
        raise argparse.ArgumentTypeError(f"{text}: quartiles need at least 3 rounds")
    return int(text)


def _group(text):
    group = plan.group(text)
    if group is None:
        raise argparse.ArgumentTypeError(f"{text} is no group; --groups lists the groups")
    return group


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="compare", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", nargs="*", type=_group, metavar="GROUP", help="measure only these groups")
    parser.add_argument("--groups", action="store_true", help="list the groups, and measure nothing")
    parser.add_argument("--rounds", type=_rounds, metavar="N", help=f"number of rounds ({THOROUGH[0]})")
    parser.add_argument("--quick", action="store_true",
                        help=f"short runs and {QUICK[0]} rounds, to see that everything works; no page without --output")
    parser.add_argument("--no-build", action="store_true", help="use the programs that were built before")
    parser.add_argument("--add", action="append", default=[], type=_added, metavar="NAME=BINARY",
                        help="also run a program of yours, such as another version of rouse_bench; can be repeated")
    parser.add_argument("--output", type=_user_path, metavar="PAGE",
                        help="the page to write; by default the page in docs/ if all groups are measured, else none")
    parser.add_argument("--update", action="store_true",
                        help="put the figures of these groups into the page, which keeps the figures of other groups")
    parser.add_argument("--from", dest="results", type=_user_path, metavar="RESULTS",
                        help="measure nothing, and write the page from a file of results")
    return parser.parse_args(arguments)


def estimated_seconds(groups, programs, rounds, seconds, server_seconds):
    """Returns about how long a measurement takes."""
    quick = seconds / THOROUGH[1]
    total = 0
    for group in groups:
        for workload in group.workloads:
            cost = workload.cost
            if workload.kind == "bench":
                cost = max(cost - 0.9, 0) + 0.9 * quick
            elif isinstance(workload, plan.Load):
                cost += server_seconds - THOROUGH[2]
            total += rounds * cost * len(programs.all_of(workload))
    return total


def _call(command):
    done = subprocess.run(command, cwd=WORKSPACE, check=False)
    if done.returncode != 0:
        sys.exit(f"compare: {shlex.join(map(str, command))} failed; nothing was measured")


def _bazel_info(*arguments):
    command = ["tools/bazel", "info", *arguments]
    done = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare: {shlex.join(command)} failed:\n{done.stderr}")
    return pathlib.Path(done.stdout.strip())


def _includes():
    """Returns the folders that contain Rouse's headers, as rouse/FILE.h, and Abseil's."""
    folder = PEERS.parent / "include"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "rouse"
    link.unlink(missing_ok=True)
    link.symlink_to(WORKSPACE)
    external = _bazel_info("output_base") / "external"
    abseil = next(iter(sorted(external.glob("abseil-cpp*"))), None)
    if abseil is None:
        sys.exit(f"compare: {external} does not contain Abseil's headers; omit --no-build")
    return (folder, abseil)


def _build():
    # First, because the script installs a library that one of the targets needs.
    _call(["benchmarks/peers/build.sh"])
    _call(["tools/bazel", "build", "--config=lto", *plan.TARGETS])


def _raise_limit_of_files():
    """Lets the servers and loads have 10,000 connections."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Progress:
    """Prints what is run, on one line of a terminal, or else a line for each round."""

    def __init__(self, rounds):
        self._rounds = rounds
        self._start = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def round(self, number):
        self._number = number
        if not self._is_terminal:
            minutes = (time.monotonic() - self._start) / 60
            print(f"round {number + 1} of {self._rounds}, after {minutes:.0f} minutes", file=sys.stderr, flush=True)

    def run(self, text):
        if self._is_terminal:
            print(f"\r\033[Kround {self._number + 1} of {self._rounds}, {text}", end="", file=sys.stderr, flush=True)

    def finish(self):
        if self._is_terminal:
            print("\r\033[K", end="", file=sys.stderr)


def measure(options, groups, save):
    """Measures, and returns the results. Calls `save(results)` after each round."""
    rounds, seconds, server_seconds = QUICK if options.quick else THOROUGH
    rounds = options.rounds or rounds
    compiles = any(workload.kind == "compilation" for group in groups for workload in group.workloads)
    programs = run.Programs(_bazel_info("--config=lto", "bazel-bin"), PEERS, dict(options.add),
                            _includes() if compiles else ())
    if missing := programs.missing(groups):
        sys.exit(f"compare: {missing[0]} and {len(missing) - 1} more do not exist; omit --no-build" if missing[1:]
                 else f"compare: {missing[0]} does not exist; omit --no-build")
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit("compare: the machine has one CPU, and the comparison needs two")
    _raise_limit_of_files()
    minutes = estimated_seconds(groups, programs, rounds, seconds, server_seconds) / 60
    print(f"{rounds} rounds of {len(groups)} groups take about {minutes:.0f} minutes; leave the machine alone",
          file=sys.stderr, flush=True)
    measurement = run.Measurement(groups, programs, seconds, server_seconds)
    conditions = {
        "date": datetime.date.today().isoformat(),
        "command": shlex.join(["tools/bazel", "run", "//benchmarks:compare",
                               *(["--"] if sys.argv[1:] else []), *sys.argv[1:]]),
        "machine": machine.describe(),
        "versions": machine.versions(WORKSPACE, PEERS),
        "settings": {"rounds": rounds, "seconds": seconds, "server_seconds": server_seconds},
    }
    progress = Progress(rounds)
    for number in range(rounds):
        progress.round(number)
        measurement.run_round(number, progress.run)
        results = results_file.of_run(dict(conditions, noise=measurement.watch.report()), measurement.results())
        save(results)
    progress.finish()
    return results


def _read(path, option):
    try:
        return results_file.read(path)
    except results_file.Unreadable as error:
        sys.exit(f"compare: {option} {path}: {error}")


def write_page(results, path):
    """Writes a page, and its charts and results into the folder of the same name."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for chart in folder.glob("*.svg"):
        chart.unlink()
    for name, chart in page.charts(results).items():
        (folder / f"{name}.svg").write_text(chart, encoding="utf-8")
    results_file.write(results, folder / "results.json")
    path.write_text(page.markdown(results, folder.name), encoding="utf-8")
    print(f"wrote {path}, and the charts and results.json in {folder}")


def main():
    options = parse_arguments(sys.argv[1:])
    if options.groups:
        width = max(len(group.name) for group in plan.GROUPS)
        print("\n".join(f"{group.name:{width}}  {group.title}" for group in plan.GROUPS))
        return
    if options.results:
        write_page(_read(options.results, "--from"), options.output or PAGE)
        return
    if options.update and not options.group:
        sys.exit("compare: --update: name the groups to measure again; without groups and --update, all are measured")
    groups = options.group or list(plan.GROUPS)
    output = options.output
    if output is None and (options.update or not options.group) and not options.quick:
        output = PAGE
    if output is not None and output.suffix != ".md":
        sys.exit(f"compare: --output {output}: the name of a page ends in .md")
    before = None
    if options.update:
        if output is None:
            sys.exit("compare: --update needs --output with --quick, because coarse figures do not belong on the page")
        before = _read(output.with_suffix("") / "results.json", "--update")
    if absent := run.not_installed(groups):
        sys.exit(f"compare: {' and '.join(absent)} not found, which some of the groups need; on Debian, run apt-get "
                 f"install {' '.join(absent.values())}, or name other groups")
    if not options.no_build:
        _build()
    saved = output.with_suffix("") / "results.json" if output and not before else PEERS.parent / "results.json"
    results = measure(options, groups, lambda so_far: results_file.write(so_far, saved))
    print(page.terminal(results))
    if not noise.is_quiet(results["runs"][0]["noise"]):
        print("compare: the machine was not quiet, as the last lines say; measure again", file=sys.stderr)
    if output:
        write_page(results_file.updated(before, results) if before else results, output)
    else:
        print(f"the results are in {saved}")
    missing = [failure["workload"] for group in results["groups"] for failure in group["failures"]
               if failure["program"] == "rouse"]
    if missing:
        sys.exit(f"compare: Rouse has no figure for {', '.join(missing)}; the reasons are printed above")


if __name__ == "__main__":
    main()
