#!/usr/bin/env python3
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""comparison_test.py: tests the comparison with the peers, without measuring anything."""

import contextlib
import copy
import http.client
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

import chart
import compare
import noise
import page
import plan
import results as results_file
import run
import summary
from summary import Summary

SVG = "{http://www.w3.org/2000/svg}"

CONDITIONS = {
    "date": "2026-01-31",
    "command": "tools/bazel run //benchmarks:compare",
    "machine": {"cpu": "Abacus 9", "cores": 2, "kernel": "Linux 6.1"},
    "versions": {"Rouse": "0123456789", "clang": "19.1.7", "Tokio": "1.24.2"},
    "settings": {"rounds": 3, "seconds": 0.6, "server_seconds": 1.5},
    "noise": {"median_cores": 0.01, "max_cores": 0.3, "disturbed_runs": 1, "runs": 50},
}
RESULTS = results_file.of_run(
    CONDITIONS,
    [
        {
            "name": "fork_join",
            "rows": [
                {"name": "skynet", "unit": "ns/op", "values": {"rouse": [100, 101, 102], "tokio": [200, 202, 204],
                                                               "asio": [90, 100, 110]}},
                {"name": "fib30", "unit": "ns/op", "values": {"rouse": [1000, 1010, 1020]}},
            ],
            "failures": [{"workload": "fib30", "program": "tokio", "reason": "tokio_bench did not end within 60 s"}],
        },
        {
            "name": "echo",
            "rows": [
                {"name": "echo_64:rate", "unit": "req/s", "values": {"rouse": [50000, 50001, 50002],
                                                                     "tokio": [40000, 40001, 40002],
                                                                     "mine": [60000, 60001, 60002]}},
                {"name": "echo_64:server_cores", "unit": "cores", "values": {"rouse": [1, 1, 1], "tokio": [2, 2, 2]}},
            ],
            "failures": [],
        },
    ],
)


class ParseTest(unittest.TestCase):

    def test_reads_each_line(self):
        self.assertEqual([("skynet", 12.5, "ns/op"), ("timer:p50", -3.0, "us"), ("a", 1e-7, "s")],
                         summary.parse("skynet 12.5 ns/op\n\ntimer:p50 -3 us\na 1e-7 s\n"))

    def test_rejects_other_lines(self):
        for text in ("skynet 12.5\n", "skynet ns/op 12.5\n", "skynet 12.5 ns/op more\n", "skynet 1.2.3 ns\n"):
            with self.assertRaisesRegex(ValueError, "is not a line `name value unit`"):
                summary.parse(text)

    def test_rejects_an_empty_output(self):
        with self.assertRaisesRegex(ValueError, "printed no line"):
            summary.parse("\n")


class SummaryTest(unittest.TestCase):

    def test_quartiles(self):
        self.assertEqual(Summary(2, 3, 4), Summary.of([5, 1, 3, 2, 4]))
        self.assertEqual(Summary(1.75, 2.5, 3.25), Summary.of([4, 1, 3, 2]))
        self.assertEqual(Summary(7, 7, 7), Summary.of([7]))

    def test_ranges_with_a_common_point_overlap(self):
        low, high = Summary(1, 2, 3), Summary(3, 4, 5)
        self.assertTrue(low.overlaps(high) and high.overlaps(low))
        higher = Summary(3.001, 4, 5)
        self.assertFalse(low.overlaps(higher) or higher.overlaps(low))
        self.assertTrue(Summary(0, 2, 9).overlaps(low) and low.overlaps(Summary(0, 2, 9)))

    def test_ratio(self):
        self.assertEqual(2, summary.ratio(Summary(3, 4, 5), Summary(1, 2, 2.5)))
        self.assertEqual(0.5, summary.ratio(Summary(1, 2, 2.5), Summary(3, 4, 5)))

    def test_no_ratio_if_quartiles_overlap_or_a_median_is_zero(self):
        self.assertIsNone(summary.ratio(Summary(3, 4, 5), Summary(1, 2, 3)))
        self.assertIsNone(summary.ratio(Summary(3, 4, 5), Summary(0, 0, 0)))
        self.assertIsNone(summary.ratio(Summary(0, 0, 0), Summary(3, 4, 5)))

    def test_writes_three_digits(self):
        for value, text in ((0, "0"), (0.01234, "0.0123"), (1, "1.00"), (9.996, "10.0"), (99.96, "100"), (312.4, "312"),
                            (1234.5, "1,234"), (1_234_567, "1,234,567"), (-0.5, "-0.500")):
            self.assertEqual(text, summary.write(value))

    def test_writes_ratios(self):
        for value, text in ((None, "no difference shown"), (1.234, "1.23×"), (0.1, "0.10×"), (0.0123, "0.0123×"),
                            (12.34, "12.3×")):
            self.assertEqual(text, summary.write_ratio(value))


class PlanTest(unittest.TestCase):

    def test_names_are_unique(self):
        names = [group.name for group in plan.GROUPS]
        self.assertEqual(len(names), len(set(names)))
        for group in plan.GROUPS:
            workloads = [workload.name for workload in group.workloads]
            self.assertEqual(len(workloads), len(set(workloads)), group.name)

    def test_headings_fit_into_the_chart(self):
        # The widths of the widest usual font.
        for group in plan.GROUPS:
            for workload in group.workloads:
                width = 8.5 * len(workload.name) + 9 + 7.6 * len(workload.about)
                self.assertLess(width, chart.WIDTH - 2 * chart.MARGIN, workload.name)

    def test_rouse_has_each_workload(self):
        """Compares with the sources of rouse_bench, which this test finds through the links of Bazel."""
        sources = pathlib.Path(__file__).resolve().parent.parent.glob("*_workloads.cc")
        known = set(re.findall(r'Is\("(\w+)"\)', " ".join(file.read_text(encoding="utf-8") for file in sources)))
        planned = {workload.name for group in plan.GROUPS for workload in group.workloads if workload.kind == "bench"}
        self.assertEqual(set(), planned - known)
        # The heap's timer and the finer wheel have no counterpart in the peers.
        self.assertEqual({"timer_heap_lateness", "timer_lateness_64us", "timer_lateness_64us_ct"}, known - planned)

    def test_the_peers_have_each_planned_workload(self):
        """Compares with the sources of the peers' programs, which name a workload in quotes."""
        peers = pathlib.Path(__file__).resolve().parent.parent / "peers"
        sources = {"tokio": "tokio/src/bench/*.rs", "asio": "asio_bench.cc", "libuv": "uv_bench.cc",
                   "go": "go/go_bench/*.go", "bare": "bare_bench.cc"}
        self.assertEqual(plan.PEER_BENCHES.keys(), sources.keys())
        for library, pattern in sources.items():
            text = " ".join(file.read_text(encoding="utf-8") for file in peers.glob(pattern))
            planned = {workload.name for group in plan.GROUPS for workload in group.workloads
                       if workload.kind == "bench" and library in workload.peers.split()}
            self.assertTrue(planned)
            self.assertEqual(set(), {name for name in planned if f'"{name}"' not in text}, library)

    def test_each_library_has_a_label(self):
        libraries = {library for group in plan.GROUPS for workload in group.workloads
                     for library in getattr(workload, "peers", "").split()}
        self.assertEqual(set(), libraries - plan.LABELS.keys())
        self.assertEqual(set(), set(plan.COUNTED) - plan.LABELS.keys())

    def test_directions(self):
        self.assertEqual(["lower", "higher", ""], [plan.direction(unit) for unit in ("ns/op", "req/s", "cores")])


class ChartTest(unittest.TestCase):

    def drawing(self, name):
        return ElementTree.fromstring(page.charts(RESULTS)[name])

    @staticmethod
    def texts(drawing):
        return ["".join(text.itertext()) for text in drawing.iter(f"{SVG}text")]

    @staticmethod
    def bars(drawing):
        return [bar for bar in drawing.iter(f"{SVG}rect") if bar.get("class").startswith("bar")]

    def test_has_every_bar_with_label_value_and_ratio(self):
        drawing = self.drawing("fork_join")
        self.assertEqual(["bar own", "bar", "bar", "bar own"], [bar.get("class") for bar in self.bars(drawing)])
        self.assertEqual([
            "Fork and join", "ns for each operation; lower is better",
            "skynet1,111,111 tasks, ten children each; two workers",
            "Rouse", "101", "Tokio", "2022.00× Rouse", "Asio", "100no difference shown",
            "fib301,346,268 tasks, one of two calls is spawned; two workers",
            "Rouse", "1,010", "Tokio", "no figure"], self.texts(drawing))

    def test_lengths_are_proportional_within_a_row(self):
        rouse, tokio, asio, _ = (float(bar.get("width")) for bar in self.bars(self.drawing("fork_join")))
        self.assertAlmostEqual(2, tokio / rouse, places=2)
        self.assertAlmostEqual(100 / 101, asio / rouse, places=2)

    def test_everything_is_inside(self):
        for text in page.charts(RESULTS).values():
            drawing = ElementTree.fromstring(text)
            height = float(drawing.get("height"))
            for bar in self.bars(drawing):
                self.assertGreaterEqual(float(bar.get("x")), chart.MARGIN + chart.LABEL)
                self.assertLessEqual(float(bar.get("x")) + float(bar.get("width")),
                                     chart.WIDTH - chart.MARGIN - chart.NOTE)
                self.assertLessEqual(float(bar.get("y")) + chart.BAR, height - 8)
            for line in drawing.iter(f"{SVG}path"):
                self.assertTrue(all(0 < float(number) for number in re.findall(r"[-\d.]+", line.get("d"))))

    def test_sections_name_the_metric_and_the_direction(self):
        texts = self.texts(self.drawing("echo"))
        self.assertIn("Rate: requests a second; higher is better", texts)
        self.assertIn("mine", texts)
        self.assertNotIn("server_cores", " ".join(texts))

    def test_has_a_dark_scheme_and_a_description(self):
        drawing = self.drawing("echo")
        self.assertIn("prefers-color-scheme: dark", drawing.find(f"{SVG}style").text)
        self.assertEqual("Echo server", drawing.find(f"{SVG}title").text)
        self.assertEqual("Rate: requests a second; higher is better. echo_64: Rouse 50,001, Tokio 40,001, mine 60,001.",
                         drawing.find(f"{SVG}desc").text)

    def test_escapes_names(self):
        rows = (chart.Row("a<b", "x & y", (chart.Bar("<c>", Summary(0, 0, 0)),)),)
        drawing = ElementTree.fromstring(chart.draw("d & e", [chart.Section("f < g", rows)]))
        self.assertEqual(["d & e", "f < g", "a<bx & y", "<c>", "0"], self.texts(drawing))


class PageTest(unittest.TestCase):

    def setUp(self):
        self.text = page.markdown(RESULTS, "charts")

    def test_has_a_table_for_each_group(self):
        self.assertIn(
            "| Figure | Unit | Rouse | Tokio | Asio |\n"
            "|---|---|---|---|---|\n"
            "| `skynet` | ns/op | 101 (100 to 102) | 202 (201 to 203), 2.00× | 100 (95.0 to 105), no difference shown |\n"
            "| `fib30` | ns/op | 1,010 (1,005 to 1,015) |  |  |\n", self.text)
        self.assertIn(
            "| `echo_64:rate` | req/s | 50,001 (50,000 to 50,002) | 40,001 (40,000 to 40,002), 0.80× | "
            "60,001 (60,000 to 60,002), 1.20× |\n"
            "| `echo_64:server_cores` | cores | 1.00 | 2.00 |  |\n", self.text)

    def test_links_to_each_chart(self):
        self.assertEqual(["charts/fork_join.svg", "charts/echo.svg"], re.findall(r"!\[.*\]\((.*)\)", self.text))

    def test_says_what_failed(self):
        self.assertIn("\nTokio has no figure for `fib30`: tokio_bench did not end within 60 s.\n", self.text)

    def test_states_the_conditions(self):
        for line in ("| Rouse | 0123456789 |", "| Versions | clang 19.1.7, Tokio 1.24.2 |", "| CPU | Abacus 9; 2 cores |",
                     "| Date | 2026-01-31 |", "| Command | `tools/bazel run //benchmarks:compare` |"):
            self.assertIn(f"\n{line}\n", self.text)
        self.assertIn("\nOther processes used 0.01 cores during the runs (median; at most 0.30).\n", self.text)

    def test_counts_figures(self):
        self.assertEqual([(2, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)],
                         [page.counts(RESULTS, peer) for peer in plan.COUNTED])
        self.assertIn("| Tokio | 2 | 0 | 0 |\n| Asio | 0 | 0 | 1 |\n\n", self.text)

    def test_lines_of_paragraphs_are_short(self):
        for line in self.text.splitlines():
            if not line.startswith(("|", "!")):
                self.assertLessEqual(len(line), 132, line)

    def test_prints_the_same_figures_to_a_terminal(self):
        text = page.terminal(RESULTS)
        self.assertIn("  skynet, ns for each operation; lower is better\n"
                      "    Rouse                101         100         102\n"
                      "    Tokio                202         201         203  2.00×\n"
                      "    Asio                 100        95.0         105  no difference shown\n", text)
        self.assertTrue(text.endswith(noise.describe(CONDITIONS["noise"])))

    def test_a_group_that_is_no_longer_planned_is_shown(self):
        results = copy.deepcopy(RESULTS)
        results["groups"][0]["name"] = "past"
        self.assertIn("## past\n\n![Bar chart of the group past](charts/past.svg)\n", page.markdown(results, "charts"))


class ResultsTest(unittest.TestCase):

    def setUp(self):
        later = dict(CONDITIONS, date="2026-02-28")
        self.echo = {"name": "echo", "rows": [{"name": "echo_64:rate", "unit": "req/s", "values": {"rouse": [70000]}}],
                     "failures": []}
        self.results = results_file.updated(RESULTS, results_file.of_run(later, [self.echo]))

    def test_an_update_replaces_the_measured_groups(self):
        self.assertEqual([RESULTS["groups"][0], self.echo], self.results["groups"])
        self.assertEqual([("2026-01-31", ["fork_join"]), ("2026-02-28", ["echo"])],
                         [(run["date"], run["groups"]) for run in self.results["runs"]])

    def test_an_update_of_every_group_leaves_one_run(self):
        self.assertEqual(RESULTS, results_file.updated(self.results, RESULTS))

    def test_an_update_can_add_a_group(self):
        scheduler = dict(self.echo, name="scheduler")
        results = results_file.updated(RESULTS, results_file.of_run(CONDITIONS, [scheduler]))
        self.assertEqual(["scheduler", "fork_join", "echo"], [group["name"] for group in results["groups"]])

    def test_an_update_leaves_its_arguments_alone(self):
        before = copy.deepcopy(RESULTS)
        results_file.updated(RESULTS, results_file.of_run(CONDITIONS, [self.echo]))
        self.assertEqual(before, RESULTS)

    def test_the_page_says_which_run_measured_a_group(self):
        text = page.markdown(self.results, "charts")
        for name, date in (("fork_join", "2026-01-31"), ("echo", "2026-02-28")):
            self.assertIn(f"\nThe run that measured `{name}`:\n\n| | |\n|---|---|\n| Date | {date} |\n", text)
        self.assertNotIn("The run that measured", page.markdown(RESULTS, "charts"))


class NoiseTest(unittest.TestCase):

    def test_says_that_the_machine_was_not_quiet(self):
        report = {"median_cores": 0.25, "max_cores": 1.5, "disturbed_runs": 6, "runs": 50}
        self.assertFalse(noise.is_quiet(report))
        self.assertEqual("The machine was not quiet: in 6 of 50 runs, other processes used more than 0.2 cores. Do not "
                         "trust small differences. Other processes used 0.25 cores during the runs (median; at most "
                         "1.50).", noise.describe(report))
        self.assertTrue(noise.is_quiet(dict(report, disturbed_runs=5)))

    def test_the_own_work_is_not_noise(self):
        watch = noise.Watch()
        with watch:
            subprocess.run([sys.executable, "-c", "sum(range(1000000))"], check=True)
        self.assertEqual(1, watch.report()["runs"])
        self.assertLessEqual(watch.report()["max_cores"], os.cpu_count())


class RunTest(unittest.TestCase):
    """Runs small scripts in place of the programs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.group = plan.Group("g", "G", "", (plan.Workload("w", "tokio", ""),))
        self.programs = run.Programs(self.folder, self.folder, {})

    def script(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def measure(self, rounds):
        """Returns the results, the order of the runs, and the messages."""
        measurement = run.Measurement([self.group], self.programs, 0.5, 0)
        order, messages = [], io.StringIO()
        with contextlib.redirect_stderr(messages):
            for number in range(rounds):
                measurement.run_round(number, order.append)
        return measurement.results()[0], order, messages.getvalue()

    def test_runs_in_turn_and_collects_the_figures(self):
        self.script("benchmarks/rouse_bench", 'echo "$1:workers $2 n"; echo "$1:seconds $BENCH_SECS s"')
        self.script("tokio_bench", 'echo "$1:workers 1 n"')
        results, order, messages = self.measure(3)
        self.assertEqual(["g: w, rouse", "g: w, tokio", "g: w, tokio", "g: w, rouse", "g: w, rouse", "g: w, tokio"], order)
        self.assertEqual({
            "name": "g",
            "rows": [{"name": "w:workers", "unit": "n", "values": {"rouse": [2, 2, 2], "tokio": [1, 1, 1]}},
                     {"name": "w:seconds", "unit": "s", "values": {"rouse": [0.5, 0.5, 0.5]}}],
            "failures": []}, results)
        self.assertEqual("", messages)

    def test_leaves_out_what_fails(self):
        self.script("benchmarks/rouse_bench", "echo w 1 ns")
        self.script("tokio_bench", "echo out of tasks >&2; exit 3")
        results, order, messages = self.measure(2)
        self.assertEqual(["g: w, rouse", "g: w, tokio", "g: w, rouse"], order)
        reason = "tokio_bench exited with status 3: out of tasks"
        self.assertEqual([{"workload": "w", "program": "tokio", "reason": reason}], results["failures"])
        self.assertEqual(f"tokio, w: {reason}; left out from now on\n", messages)

    def test_rejects_figures_of_another_workload(self):
        self.script("benchmarks/rouse_bench", "echo v 1 ns")
        self.script("tokio_bench", "echo hello")
        results, _, _ = self.measure(1)
        self.assertEqual(["rouse_bench printed figures of another workload than w",
                          "tokio_bench printed 'hello', which is not a line `name value unit`"],
                         [failure["reason"] for failure in results["failures"]])

    def test_an_added_program_can_have_few_workloads(self):
        self.script("benchmarks/rouse_bench", "echo w 1 ns")
        self.script("tokio_bench", "echo w 2 ns")
        self.programs.added = {"mine": self.script("my_bench", "exit 2"), "server": self.script("my_echo", "exit 1")}
        results, _, messages = self.measure(2)
        self.assertEqual(([], ""), (results["failures"], messages))

    def test_names_missing_programs(self):
        self.script("tokio_bench", "")
        self.assertEqual([str(self.folder / name) for name in ("benchmarks/rouse_bench", "versions")],
                         self.programs.missing([self.group]))
        load = plan.Load("l", "", "", "echo", ("echo_load", "PORT"))
        self.assertEqual([str(self.folder / name) for name in ("benchmarks/rouse_echo", "echo_load", "versions")],
                         self.programs.missing([plan.Group("h", "H", "", (load,))]))

    def test_runs_a_server_and_the_load(self):
        # The server says what it was called with. The load prints the port, the time and whether the server runs.
        self.script("benchmarks/rouse_echo", 'echo "$@" >"$0.called"; exec sleep 60')
        self.script("echo_load", f'until [ -s {self.folder}/benchmarks/rouse_echo.called ]; do sleep 0.01; done\n'
                                 'kill -0 "$3" && echo "rate $2 req/s"')
        load = plan.Load("l", "", "", "echo", ("echo_load", "PORT", "SECONDS", "PID"), ("mt", "1"))
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two CPUs")
        self.assertEqual([("l:rate", 1.5, "req/s")],
                         run.run(load, self.folder / "benchmarks/rouse_echo", self.programs, 1.5))
        self.assertRegex((self.folder / "benchmarks/rouse_echo.called").read_text(), r"^\d+ mt 1\n$")

    def test_runs_an_example_as_a_server(self):
        # The server has arguments of its own, and a folder that is deleted.
        hello = self.script("examples/http_hello/http_hello",
                            f'touch "$TMPDIR/file"; echo "$@ $TMPDIR" >{self.folder}/called; exec sleep 60')
        self.script("http_load", f"until [ -s {self.folder}/called ]; do sleep 0.01; done; echo rate $1 req/s")
        load = plan.Load("l", "", "", "http", ("http_load", "PORT"))
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two CPUs")
        self.assertEqual({"rouse": hello}, self.programs.all_of(load))
        [(_, port, _)] = run.run(load, hello, self.programs, 1)
        arguments, folder = (self.folder / "called").read_text(encoding="utf-8").split()
        self.assertEqual(f"--port={port:.0f}", arguments)
        self.assertFalse(os.path.exists(folder))

    def test_names_programs_that_are_not_installed(self):
        echo = plan.Group("e", "E", "", (plan.Load("l", "", "", "echo", ("echo_load", "PORT")),))
        hello = plan.Group("h", "H", "", (plan.Load("l", "", "", "http", ("http_load", "PORT")),))
        needed = {"http": {"no-such-server": "its-package", "sh": "dash"}}
        with unittest.mock.patch.object(plan, "NEEDED", needed):
            self.assertEqual({}, run.not_installed([echo]))
            self.assertEqual({"no-such-server": "its-package"}, run.not_installed([echo, hello]))

    def test_says_why_a_server_exited(self):
        self.script("benchmarks/rouse_echo", "echo no sockets; exit 1")
        self.script("echo_load", 'while kill -0 "$2" && [ "$(cut -d" " -f3 /proc/$2/stat)" != Z ]; do sleep 0.01; done\n'
                                 "echo refused >&2; exit 1")
        load = plan.Load("l", "", "", "echo", ("echo_load", "PORT", "PID"))
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two CPUs")
        with self.assertRaisesRegex(run.Failed, "rouse_echo exited: no sockets"):
            run.run(load, self.folder / "benchmarks/rouse_echo", self.programs, 1)

    def test_measures_a_compilation(self):
        workload = plan.Compilation("c", "", {"rouse": ("rouse/rouse.h", "absl/time/time.h"), "asio": ("asio.hpp",)})
        self.assertEqual(workload.headers, self.programs.all_of(workload))
        self.script("versions", "")
        self.assertEqual([], self.programs.missing([plan.Group("h", "H", "", (workload,))]))
        self.programs.includes = ("/one", "/two")
        # Prints what the compiler was called with as an error.
        self.script("clang++-19", '{ echo "$@"; cat; } >&2; exit 1')
        path = f"{self.folder}:{os.environ['PATH']}"
        with unittest.mock.patch.dict(os.environ, PATH=path):
            with self.assertRaisesRegex(run.Failed, (
                    "(?s)does not compile rouse/rouse.h: -std=c\\+\\+20 -fsyntax-only -isystem /one -isystem /two .*"
                    '#include "rouse/rouse.h"\n#include "absl/time/time.h"')):
                run.run(workload, workload.headers["rouse"], self.programs, 1)
            self.script("clang++-19", 'i=0; while [ "$i" -lt 20000 ]; do i=$((i + 1)); done')
            [(row, value, unit)] = run.run(workload, workload.headers["asio"], self.programs, 1)
        self.assertEqual(("c", "s"), (row, unit))
        self.assertGreater(value, 0)

    def test_every_program_begins_a_round(self):
        self.assertEqual(["abc", "bca", "cab", "abc"],
                         ["".join(run.rotated(list("abc"), number)) for number in range(4)])


WRK = """\
Running 2s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  170.50us   8.61ms   93.50%
    Req/Sec    62.60k     2.15k   65.31k    85.00%
  Latency Distribution
     50%  998.00us
     75%    1.05ms
     90%    1.11ms
     99%    1.50ms
  124600 requests in 2.00s, 11.17MB read
Requests/sec:  62299.87
Transfer/sec:      5.58MB
"""


class HttpLoadTest(unittest.TestCase):
    """Runs http_load with a small script in place of wrk, against a server of Python."""

    def load(self, report, answer=b"hello\n"):
        class Handler(http.server.BaseHTTPRequestHandler):

            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            wrk = pathlib.Path(folder) / "wrk"
            wrk.write_text(f"#!/bin/sh\necho \"$@\" >>{folder}/called\ncat <<'END'\n{report}\nEND\n", encoding="utf-8")
            wrk.chmod(0o755)
            env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
            command = [sys.executable, "-B", compare.HERE.parent / "peers/http_load.py", str(server.server_port), "64",
                       "1.5", str(os.getpid())]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            called = pathlib.Path(folder) / "called"
            return done, called.read_text(encoding="utf-8") if called.exists() else "", server.server_port

    def test_prints_figures(self):
        done, called, port = self.load(WRK)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual([f"--threads=1 --connections=64 --duration={seconds}s --latency http://127.0.0.1:{port}/"
                          for seconds in (1, 2)], called.splitlines())
        figures = summary.parse(done.stdout)
        self.assertEqual(["rate", "server_cpu", "server_user", "server_cores", "p50", "p99"],
                         [name for name, _, _ in figures])
        self.assertEqual([("rate", 62300, "req/s"), ("p50", 998, "us"), ("p99", 1500, "us")],
                         [figures[0], *figures[4:]])

    def test_rejects_errors(self):
        for report, message in (
            (f"{WRK}  Socket errors: connect 0, read 3, write 0, timeout 0\n", "wrk: Socket errors: connect 0, read 3"),
            (f"{WRK}  Non-2xx or 3xx responses: 7\n", "wrk: Non-2xx or 3xx responses: 7"),
            (WRK.replace("124600 requests", "0 requests"), "wrk: the server answered nothing"),
            (WRK.replace("99%", "98%"), "wrk: unknown report: "),
        ):
            done, _, _ = self.load(report)
            self.assertEqual((1, ""), (done.returncode, done.stdout))
            self.assertIn(f"http_load: {message}", done.stderr)

    def test_rejects_another_answer(self):
        done, called, _ = self.load(WRK, b"hullo\n")
        self.assertEqual((1, ""), (done.returncode, called))
        self.assertIn("http_load: GET /: status 200 and b'hullo\\n', instead of 200 and b'hello\\n'", done.stderr)


class NginxTest(unittest.TestCase):

    PROGRAM = compare.HERE.parent / "peers/nginx_http.sh"

    def test_answers_like_the_example(self):
        if not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
            self.skipTest("nginx is not installed")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            with subprocess.Popen([self.PROGRAM, str(port), "ct"], env=dict(os.environ, TMPDIR=folder)) as nginx:
                try:
                    while nginx.poll() is None:
                        with socket.socket() as probe:
                            if probe.connect_ex(("127.0.0.1", port)) == 0:
                                break
                        time.sleep(0.02)
                    self.assertIsNone(nginx.poll())
                    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                    self.addCleanup(client.close)
                    for _ in range(2):  # on one connection
                        client.request("GET", "/")
                        answer = client.getresponse()
                        self.assertEqual((200, b"hello\n"), (answer.status, answer.read()))
                        self.assertEqual({"Content-Type": "text/plain", "Content-Length": "6",
                                          "Connection": "keep-alive", "Server": "nginx", "Date": answer.headers["Date"]},
                                         dict(answer.headers))
                finally:
                    nginx.kill()

    def test_rejects_mistakes(self):
        for arguments in ((), ("port",), ("80", "mt"), ("80", "ct", "1")):
            done = subprocess.run([self.PROGRAM, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((2, "usage: nginx_http PORT [ct]\n"), (done.returncode, done.stderr))


class CommandLineTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_compare(self, *arguments):
        # Without Bazel's variables, which this test has if "bazel run" runs the test.
        env = {name: value for name, value in os.environ.items() if not name.startswith("BUILD_W")}
        return subprocess.run([sys.executable, "-B", compare.HERE / "compare.py", *arguments], cwd=self.folder, env=env,
                              check=False, capture_output=True, text=True)

    def test_writes_the_page_again(self):
        (self.folder / "results.json").write_text(json.dumps(RESULTS), encoding="utf-8")
        result = self.run_compare("--from", "results.json", "--output", "figures.md")
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(["echo.svg", "fork_join.svg", "results.json"],
                         sorted(file.name for file in (self.folder / "figures").iterdir()))
        self.assertEqual(page.markdown(RESULTS, "figures"), (self.folder / "figures.md").read_text(encoding="utf-8"))
        self.assertEqual(RESULTS, json.loads((self.folder / "figures/results.json").read_text(encoding="utf-8")))
        before = (self.folder / "figures.md").read_bytes()
        self.run_compare("--from", "figures/results.json", "--output", "figures.md")
        self.assertEqual(before, (self.folder / "figures.md").read_bytes())

    def test_lists_the_groups(self):
        result = self.run_compare("--groups")
        self.assertEqual([group.name for group in plan.GROUPS], [line.split()[0] for line in result.stdout.splitlines()])

    def test_rejects_mistakes(self):
        (self.folder / "other.json").write_text("{}", encoding="utf-8")
        (self.folder / "tool").touch()
        for arguments, message in (
            (["speed"], "speed is no group; --groups lists the groups"),
            (["--rounds", "2"], "2: quartiles need at least 3 rounds"),
            (["--add", "mine"], "mine: write NAME=BINARY; NAME has at most 10 letters, digits and _"),
            (["--add", "tokio=x_bench"], "tokio is the name of a program that is compared; choose another"),
            (["--add", "mine=tool"], "the name of the binary must end in _bench, _echo, _stream or _http"),
            (["--add", "mine=my_bench"], "my_bench does not exist"),
            (["--update"], "--update: name the groups to measure again"),
            (["--update", "--quick", "echo"], "--update needs --output with --quick"),
            (["--update", "--output", "none.md", "echo"], "--update none/results.json: [Errno 2] No such file"),
            (["--from", "none.json"], "none.json: [Errno 2] No such file or directory"),
            (["--from", "other.json"], "this file has no results of this version of compare; measure again"),
            (["--output", "page.html", "--no-build"], "page.html: the name of a page ends in .md"),
        ):
            result = self.run_compare(*arguments)
            self.assertNotEqual(0, result.returncode)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
