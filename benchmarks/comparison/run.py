# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs in turn, and collects their figures."""

import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile

import noise
import plan
import summary

TIMEOUT = 60  # seconds of one run
UNKNOWN_WORKLOAD = 2  # the exit status of a program that does not have the workload


class Failed(Exception):
    """A run gave no figures. `status` is the program's exit status, if it exited."""

    def __init__(self, message, status=None):
        super().__init__(message)
        self.status = status


class Programs:
    """Where the programs are. `rouse` is Bazel's folder bazel-bin, and `peers` the folder of the peers' programs.

    `includes` are folders with headers, in addition to the compiler's own.

    `added` has the user's programs: {name: path}. The end of a program's name says what the program is, such as
    "_echo".
    """

    def __init__(self, rouse, peers, added, includes=()):
        self.includes = includes
        self.rouse = pathlib.Path(rouse)
        self.peers = pathlib.Path(peers)
        self.added = added

    def all_of(self, workload):
        """Returns {library: path} for the programs that have the workload. Rouse's program is first.

        For a compilation, returns {library: headers}.
        """
        if workload.kind == "compilation":
            return workload.headers
        if workload.kind == "size":
            return {name: self._target(program) if program.startswith("//") else self.peers / program
                    for name, program in workload.programs.items()}
        peers = plan.PEER_BENCHES if workload.kind == "bench" else plan.PEER_SERVERS[workload.kind]
        found = {"rouse": self._target(plan.ROUSE_PROGRAMS[workload.kind])}
        found |= {name: self.peers / peers[name] for name in workload.peers.split()}
        found |= {name: path for name, path in self.added.items() if path.name.endswith(f"_{workload.kind}")}
        return found

    def missing(self, groups):
        """Returns the programs that do not exist, and the file of versions if that does not exist."""
        workloads = [workload for group in groups for workload in group.workloads if workload.kind != "compilation"]
        needed = {path for workload in workloads for path in self.all_of(workload).values()}
        needed |= {self.load(workload.command[0]) for workload in workloads if isinstance(workload, plan.Load)}
        needed.add(self.peers / "versions")
        return sorted(str(path) for path in needed if not path.is_file())

    def load(self, name):
        return self.peers / name

    def _target(self, label):
        return self.rouse / label.removeprefix("//").replace(":", "/")


def not_installed(groups):
    """Returns {program: package of Debian} for the programs that the groups need and the system does not have."""
    kinds = dict.fromkeys(workload.kind for group in groups for workload in group.workloads)
    path = os.environ.get("PATH", "") + ":/usr/sbin"  # where Debian has nginx
    return {program: package for kind in kinds for program, package in plan.NEEDED.get(kind, {}).items()
            if not shutil.which(program, path=path)}


def _unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _output(command, env=None):
    """Runs a command and returns its output."""
    name = pathlib.Path(command[0] if command[0] != "taskset" else command[3]).name
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} did not end within {TIMEOUT} s") from None
    if done.returncode != 0:
        raise Failed(f"{name} exited with status {done.returncode}: {done.stderr.strip()[-300:] or 'no message'}",
                     done.returncode)
    return done.stdout


def _figures(text, workload, name):
    try:
        figures = summary.parse(text)
        if workload.kind == "bench" and any(row.partition(":")[0] != workload.name for row, _, _ in figures):
            raise ValueError(f"printed figures of another workload than {workload.name}")
    except ValueError as error:
        raise Failed(f"{name} {error}") from None
    return figures


def _run_bench(workload, path, seconds):
    env = dict(os.environ, BENCH_SECS=str(seconds))
    text = _output([str(path), workload.name, str(workload.workers)], env)
    return _figures(text, workload, path.name)


def _run_server(workload, path, programs, seconds):
    cpus = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
    port = str(_unused_port())
    arguments = plan.ARGUMENTS.get(path.name, ("PORT", *workload.runtime))
    # The server's files, if it has any, are deleted with the folder.
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile(mode="w+") as messages:
        command = ["taskset", "-c", cpus[0], str(path), *(word.replace("PORT", port) for word in arguments)]
        env = dict(os.environ, TMPDIR=folder)
        with subprocess.Popen(command, stdout=messages, stderr=messages, env=env) as server:
            try:
                values = {"PORT": port, "SECONDS": str(seconds), "PID": str(server.pid)}
                words = [values.get(word, word) for word in workload.command]
                words[0] = str(programs.load(words[0]))
                text = _output(["taskset", "-c", cpus[1], *words])
            except Failed as failure:
                messages.seek(0)
                if server.poll() is not None:
                    raise Failed(f"{path.name} exited: {messages.read().strip()[-300:] or 'no message'}") from None
                raise failure
            finally:
                server.kill()
    return [(f"{workload.name}:{row}", value, unit) for row, value, unit in _figures(text, workload, words[0])]


def _measure_size(workload, path):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(shutil.copy(path, folder))
        copy.chmod(0o755)
        _output(["strip", str(copy)])
        return [(workload.name, copy.stat().st_size / 1024, "KiB")]


def _measure_compilation(workload, headers, programs):
    source = "".join(f'#include "{header}"\n' for header in headers)
    flags = [flag for folder in programs.includes for flag in ("-isystem", str(folder))]
    command = ["clang++-19", "-std=c++20", "-fsyntax-only", *flags, "-xc++", "-"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"clang++-19 did not compile {headers[0]} within {TIMEOUT} s") from None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed(f"clang++-19 does not compile {headers[0]}: {done.stderr.strip()[:300]}")
    return [(workload.name, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, "s")]


def run(workload, program, programs, seconds):
    """Runs a value of `programs.all_of(workload)` once. Returns [(row, value, unit)]."""
    if workload.kind == "compilation":
        return _measure_compilation(workload, program, programs)
    if workload.kind == "size":
        return _measure_size(workload, program)
    if workload.kind == "bench":
        return _run_bench(workload, program, seconds)
    return _run_server(workload, program, programs, seconds)


def rotated(names, by):
    """Returns the names, beginning with another name in each round."""
    by %= max(len(names), 1)
    return names[by:] + names[:by]


class Measurement:
    """The figures of all rounds so far."""

    def __init__(self, groups, programs, seconds, server_seconds):
        self.groups = groups
        self.watch = noise.Watch()
        self._programs = programs
        self._seconds = {"bench": seconds, "size": 0, "compilation": 0}
        self._server_seconds = server_seconds
        self._rows = {group.name: {} for group in groups}  # {(row, unit): {library: [values]}}
        self._left_out = {group.name: {} for group in groups}  # {(workload, library): reason}

    def run_round(self, number, progress):
        """Runs everything once. Calls `progress(text)` before each run."""
        for group in self.groups:
            for workload in group.workloads:
                programs = self._programs.all_of(workload)
                for name in rotated(list(programs), number):
                    if (workload.name, name) in self._left_out[group.name]:
                        continue
                    if workload.kind == "size" and number > 0:
                        continue  # does not vary
                    progress(f"{group.name}: {workload.name}, {name}")
                    self._run(group, workload, name, programs[name])

    def _run(self, group, workload, name, path):
        seconds = self._seconds.get(workload.kind, self._server_seconds)
        try:
            with self.watch:
                figures = run(workload, path, self._programs, seconds)
        except (Failed, OSError) as failure:
            is_unknown = getattr(failure, "status", None) == UNKNOWN_WORKLOAD
            if is_unknown and name in self._programs.added:
                self._left_out[group.name][workload.name, name] = None  # an added program can have few workloads
                return
            print(f"{name}, {workload.name}: {failure}; left out from now on", file=sys.stderr)
            self._left_out[group.name][workload.name, name] = str(failure)
            return
        for row, value, unit in figures:
            self._rows[group.name].setdefault((row, unit), {}).setdefault(name, []).append(value)

    def results(self):
        """Returns the groups for the results file."""
        result = []
        for group in self.groups:
            # A program is the first to run in some rounds, but the order of the programs is always the same.
            order = [name for workload in group.workloads for name in self._programs.all_of(workload)]
            rows = [
                {"name": row, "unit": unit, "values": {name: values[name] for name in dict.fromkeys(order)
                                                       if name in values}}
                for (row, unit), values in self._rows[group.name].items()
            ]
            failures = [{"workload": workload, "program": name, "reason": reason}
                        for (workload, name), reason in self._left_out[group.name].items() if reason]
            result.append({"name": group.name, "rows": rows, "failures": failures})
        return result
