#!/usr/bin/env python3
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""bench_diff_test.py: tests tools/bench_diff."""

import importlib.machinery
import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH_DIFF = pathlib.Path("tools/bench_diff").resolve()

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("bench_diff", str(BENCH_DIFF))
bench_diff = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_diff", loader))
loader.exec_module(bench_diff)


def results(**benchmarks):
    """Returns the text of a file of results, with the repetitions of each benchmark and an aggregate."""
    entries = []
    for name, times in benchmarks.items():
        for i, time in enumerate(times):
            entries.append({"name": f"{name}/real_time", "run_name": name, "run_type": "iteration",
                            "repetition_index": i, "real_time": time, "cpu_time": 2 * time, "time_unit": "ns"})
        entries.append({"name": f"{name}_mean", "run_name": name, "run_type": "aggregate", "aggregate_name": "mean",
                        "real_time": 1e9, "cpu_time": 1e9, "time_unit": "ns"})
    return json.dumps({"context": {}, "benchmarks": entries})


class MannWhitneyTest(unittest.TestCase):

    def test_exact_values_of_separate_samples(self):
        # Two of the C(n + m, n) ways to choose are at least as extreme.
        self.assertEqual(2 / 20, bench_diff.mann_whitney([1, 2, 3], [4, 5, 6]))
        self.assertEqual(2 / 70, bench_diff.mann_whitney([5, 6, 7, 8], [1, 2, 3, 4]))
        self.assertEqual(2 / 252, bench_diff.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]))

    def test_exact_value_of_mixed_samples(self):
        # U is 2. Of the 20 ways, 1 has U 0, 1 has U 1, 2 have U 2, and the other side has as many.
        self.assertEqual(8 / 20, bench_diff.mann_whitney([1, 2, 5], [3, 4, 6]))

    def test_equal_samples_show_nothing(self):
        self.assertEqual(1, bench_diff.mann_whitney([7, 7, 7], [7, 7, 7, 7]))
        self.assertEqual(1, bench_diff.mann_whitney([7] * 30, [7] * 30))

    def test_both_directions_have_the_same_value(self):
        old, new = [1, 4, 2, 8, 5], [7, 1, 9, 9, 9, 3]
        self.assertEqual(bench_diff.mann_whitney(old, new), bench_diff.mann_whitney(new, old))

    def test_exact_values_with_ties_are_those_of_all_permutations(self):
        old, new = [1, 2, 2, 3], [2, 3, 3, 3, 4]
        values = old + new
        ranks = [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]
        mean = 4 * sum(ranks) / 9
        sums = [sum(chosen) for chosen in itertools.combinations(ranks, 4)]
        extreme = sum(abs(total - mean) >= abs(sum(ranks[:4]) - mean) - 1e-9 for total in sums)
        self.assertAlmostEqual(extreme / len(sums), bench_diff.mann_whitney(old, new), places=12)

    def test_the_approximation_is_near_the_exact_value(self):
        old, new = [2 * i for i in range(20)], [2 * i + 9 for i in range(20)]
        ranks = bench_diff._doubled_ranks(old + new)
        exact, approximate = bench_diff._exact(ranks, 20), bench_diff._approximate(ranks, 20)
        self.assertLess(exact, 0.05)
        self.assertAlmostEqual(exact, approximate, places=2)

    def test_the_approximation_corrects_for_ties(self):
        # Each value occurs 30 times, so its rank is 15.5 or 45.5.
        old, new = [1] * 20 + [2] * 10, [1] * 10 + [2] * 20
        ranks = bench_diff._doubled_ranks(old + new)
        variance = 30 * 30 / 12 * (61 - 2 * (30 ** 3 - 30) / (60 * 59))
        distance = 30 * 61 / 2 - (20 * 15.5 + 10 * 45.5) - 0.5
        self.assertAlmostEqual(bench_diff.math.erfc(distance / (2 * variance) ** 0.5),
                               bench_diff._approximate(ranks, 30), places=12)

    def test_ranks_of_equal_values_are_means(self):
        self.assertEqual([2, 5, 5, 8], bench_diff._doubled_ranks([10, 20, 20, 30]))

    def test_the_least_value(self):
        self.assertEqual(2 / 20, bench_diff.least_p([0] * 3, [0] * 3))


class WriteTimeTest(unittest.TestCase):

    def test_has_four_digits_and_a_unit(self):
        for nanoseconds, text in ((0, "0.000 ns"), (0.5, "0.5000 ns"), (12.345, "12.35 ns"), (999.94, "999.9 ns"),
                                  (1000, "1.000 us"), (12_345_678, "12.35 ms"), (2e9, "2.000 s")):
            self.assertEqual(text, bench_diff.write_time(nanoseconds))


class ProgramTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, old, new, *arguments):
        for name, text in (("old", old), ("new", new)):
            (self.folder / name).write_text(text, encoding="utf-8")
        return subprocess.run([BENCH_DIFF, "old", "new", *arguments], cwd=self.folder, check=False,
                              capture_output=True, text=True)

    OLD = results(A=[10, 11, 12, 13, 14], B=[10, 10, 11, 11, 12], C=[100, 100, 100, 100, 101])
    NEW = results(A=[20, 22, 24, 26, 28], B=[10, 11, 10, 12, 11], C=[50, 50, 51, 50, 50])

    def test_prints_medians_ratios_and_marks(self):
        result = self.run_on(self.OLD, self.NEW)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertEqual(
            "          old         new  new/old        p\n"
            "A    12.00 ns    24.00 ns    2.000   0.0079  slower\n"
            "B    11.00 ns    11.00 ns    1.000   1.0000\n"
            "C    100.0 ns    50.00 ns    0.500   0.0079  faster\n", result.stdout)

    def test_fails_above_a_limit(self):
        result = self.run_on(self.OLD, self.NEW, "--fail-above", "99")
        self.assertEqual(1, result.returncode)
        self.assertTrue(result.stdout.endswith("\nslower by more than 99 %: A\n"))
        self.assertEqual(0, self.run_on(self.OLD, self.NEW, "--fail-above", "100").returncode)

    def test_does_not_fail_if_the_difference_is_not_significant(self):
        result = self.run_on(self.OLD, self.NEW, "--fail-above", "5", "--alpha", "0.001")
        self.assertEqual(0, result.returncode)
        self.assertIn("too few repetitions to show a difference: A, B, C; use --benchmark_repetitions=20\n",
                      result.stdout)
        self.assertNotIn("slower", result.stdout)

    def test_compares_the_cpu_time(self):
        self.assertIn("A    24.00 ns    48.00 ns", self.run_on(self.OLD, self.NEW, "--metric", "cpu_time").stdout)

    def test_converts_units(self):
        new = self.NEW.replace('"ns"', '"us"')
        self.assertIn("A    12.00 ns    24.00 us  2000.000", self.run_on(self.OLD, new).stdout)

    def test_names_the_benchmarks_of_one_file(self):
        result = self.run_on(results(A=[1, 2], Old=[1, 2]), results(A=[1, 2], New=[1, 2]))
        self.assertIn("\nonly in OLD: Old\nonly in NEW: New\n", result.stdout)

    def assert_unusable(self, message, old, new):
        result = self.run_on(old, new)
        self.assertEqual((2, f"bench_diff: {message}\n", ""), (result.returncode, result.stderr, result.stdout))

    def test_rejects_files_that_cannot_be_compared(self):
        self.assert_unusable("old has no results of Google Benchmark; make the file with --benchmark_out and "
                             "--benchmark_out_format=json", "A 10 ns", self.NEW)
        self.assert_unusable("new has no single repetitions; omit --benchmark_report_aggregates_only", self.OLD,
                             results(A=[]))
        self.assert_unusable("old and new have no benchmark of the same name", self.OLD, results(D=[1]))
        failed = json.dumps({"benchmarks": [{"name": "A", "error_occurred": True, "error_message": "no port"}]})
        self.assert_unusable("new: A failed: no port", self.OLD, failed)

    def test_rejects_a_file_that_does_not_exist(self):
        result = subprocess.run([BENCH_DIFF, "none", "none"], cwd=self.folder, check=False, capture_output=True,
                                text=True)
        self.assertEqual((2, "bench_diff: none: No such file or directory\n"), (result.returncode, result.stderr))


if __name__ == "__main__":
    unittest.main()
