# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how much other processes use the machine."""

import os
import resource
import statistics
import time

# If other processes use more than this many cores, figures cannot be trusted.
QUIET = 0.2


def _cpu_seconds():
    """Returns the CPU times of the whole machine, and of this program with its ended children."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    # All columns except idle and iowait. Interrupts count in the system time of some process, too.
    busy = sum(ticks[:3]) + sum(ticks[5:8])
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return busy / os.sysconf("SC_CLK_TCK"), sum(usage.ru_utime + usage.ru_stime for usage in own)


class Watch:
    """Measures the cores that other processes use in each block of `with watch:`."""

    def __init__(self):
        self.cores = []
        self._before = None

    def __enter__(self):
        self._before = (*_cpu_seconds(), time.monotonic())

    def __exit__(self, *_):
        machine, own, now = self._before
        machine_now, own_now = _cpu_seconds()
        elapsed = max(time.monotonic() - now, 1e-9)
        self.cores.append(max(0.0, (machine_now - machine - own_now + own) / elapsed))

    def report(self):
        """Returns the figures for the results. All are about other processes."""
        return {
            "median_cores": round(statistics.median(self.cores), 3),
            "max_cores": round(max(self.cores), 3),
            "disturbed_runs": sum(cores > QUIET for cores in self.cores),
            "runs": len(self.cores),
        }


def describe(report):
    """Returns one sentence or two about the report of a run."""
    text = (f"Other processes used {report['median_cores']:.2f} cores during the runs (median; at most "
            f"{report['max_cores']:.2f}).")
    if is_quiet(report):
        return text
    return (f"The machine was not quiet: in {report['disturbed_runs']} of {report['runs']} runs, other processes used "
            f"more than {QUIET} cores. Do not trust small differences. {text}")


def is_quiet(report):
    """Returns whether at most a tenth of the runs was disturbed."""
    return report["disturbed_runs"] <= report["runs"] / 10
