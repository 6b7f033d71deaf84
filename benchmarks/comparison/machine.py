# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Names the machine, and the versions of everything that is compared."""

import os
import pathlib
import platform
import re
import subprocess


def _output(command, folder=None):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def describe():
    """Returns the CPU's model, the number of cores and the kernel."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return {
        "cpu": model[1].strip() if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": f"{platform.system()} {platform.release()}",
    }


def _rouse(workspace):
    commit = _output(["git", "rev-parse", "--short=10", "HEAD"], workspace) or "unknown commit"
    changed = _output(["git", "status", "--porcelain", "--untracked-files=no"], workspace)
    return f"{commit}{', with changes that are not committed' if changed else ''}"


def _compiler():
    """Returns the name and version of the compiler that tools/bazel chooses."""
    compiler = os.environ.get("CC", "clang-19")
    version = re.search(r"\d+\.\d+\.\d+", _output([compiler, "--version"]))
    return pathlib.Path(compiler).name.partition("-")[0], version[0] if version else "of unknown version"


def versions(workspace, peers):
    """Returns {name: version}. `peers` is the folder of the peers' programs."""
    compiler, version = _compiler()
    found = {"Rouse": _rouse(workspace), compiler: version}
    for line in (peers / "versions").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition(" ")
        found[name] = version
    return found
