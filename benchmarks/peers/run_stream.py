#!/usr/bin/env python3
"""Measures streaming and accepting beside the peers: the server on CPU 0, the load on CPU 1.

  run_stream.py --reps 7 --add rouse=path/to/rouse_stream
  run_stream.py --only 'accept.* (rouse|tokio)' --add rouse=path/to/rouse_stream

--add adds a server, which is called as PROGRAM PORT ct and as PROGRAM PORT mt 1, and appears as
NAME_ct and NAME_mt1. Prints medians and quartiles, and ratios of medians to epoll and to tokio_ct.
"""

import argparse
import os
import re
import resource
import shlex
import socket
import statistics
import subprocess
import sys
import time

BIN = os.path.join(os.environ.get("PEERS_OUT", os.path.expanduser("~/.cache/rouse-peers")), "bin")
LOADS = [("source", 1), ("source", 16), ("sink", 1), ("sink", 16), ("accept", 1), ("accept", 64)]
SERVERS = {
    "epoll": ["epoll_stream", "PORT"],
    "libuv": ["uv_stream", "PORT"],
    "asio": ["asio_stream", "PORT"],
    "tokio_ct": ["tokio_stream", "PORT", "ct"],
    "tokio_mt1": ["tokio_stream", "PORT", "mt", "1"],
}


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def run(command, mode, connections, seconds):
    """Runs a server and the load once. Returns [(name, value, unit)]."""
    port = unused_port()
    command = [port if word == "PORT" else word for word in command]
    server = subprocess.Popen(["taskset", "-c", "0"] + command)
    try:
        load = [os.path.join(BIN, "stream_load"), port, mode, connections, seconds, server.pid]
        words = subprocess.run(
            ["taskset", "-c", "1"] + [str(word) for word in load],
            stdout=subprocess.PIPE,
            text=True,
            timeout=60 + seconds,
            check=True,
        ).stdout.split()
    finally:
        server.kill()
        server.wait()
    return [(words[i], float(words[i + 1]), words[i + 2]) for i in range(0, len(words), 3)]


def cpu_seconds():
    """Returns the CPU times of the whole machine and of this program's ended children."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    # All columns except idle and iowait. Interrupts count in the system time of some process, too.
    busy = sum(ticks[:3]) + sum(ticks[5:8])
    return busy / os.sysconf("SC_CLK_TCK"), children.ru_utime + children.ru_stime


def measure(jobs, reps, seconds):
    """Runs the jobs in turn, `reps` times. Returns {(row, unit): {server: [values]}}, and for each
    run the number of cores that other processes used."""
    rows, foreign = {}, []
    for rep in range(reps):
        for mode, connections, name, command in jobs:
            (all_before, own_before), start = cpu_seconds(), time.monotonic()
            try:
                values = run(command, mode, connections, seconds)
            except (OSError, subprocess.SubprocessError) as error:
                sys.exit(f"{name}, {mode}, round {rep + 1}: {error}")
            (all_after, own_after), elapsed = cpu_seconds(), time.monotonic() - start
            foreign.append((all_after - all_before - own_after + own_before) / elapsed)
            for metric, value, unit in values:
                row = rows.setdefault((f"{mode} {connections}: {metric}", unit), {})
                row.setdefault(name, []).append(value)
    return rows, foreign


def number(value):
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def ratio(values, name, median):
    base = statistics.median(values[name]) if name in values else 0
    return f"{median / base:.3f}" if base else "-"


def print_table(rows):
    heads = ["median", "q1", "q3", "/epoll", "/tokio_ct"]
    width = max(len(f"{row}, {unit}") for row, unit in rows)
    print(f"{'':{width}}  {'':10}" + "".join(f"{head:>15}" for head in heads))
    for (row, unit), values in rows.items():
        label = f"{row}, {unit}"
        for name, measured in values.items():
            q1 = median = q3 = measured[0]
            if len(measured) > 1:
                q1, median, q3 = statistics.quantiles(measured, n=4, method="inclusive")
            cells = [number(value) for value in (median, q1, q3)]
            cells += [ratio(values, base, median) for base in ("epoll", "tokio_ct")]
            print(f"{label:{width}}  {name:10}" + "".join(f"{cell:>15}" for cell in cells))
            label = ""


def added(text):
    name, _, command = text.partition("=")
    if not re.fullmatch(r"\w+", name) or not command:
        raise argparse.ArgumentTypeError("write NAME=COMMAND; NAME has letters, digits and _ only")
    words = shlex.split(command) + ["PORT"]
    return {f"{name}_ct": words + ["ct"], f"{name}_mt1": words + ["mt", "1"]}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reps", type=int, default=7, help="number of rounds (7)")
    parser.add_argument("--seconds", type=float, default=1.5, help="duration of each run (1.5)")
    parser.add_argument(
        "--only", default="", metavar="REGEX", help="selects from 'MODE CONNECTIONS SERVER'"
    )
    parser.add_argument(
        "--add",
        type=added,
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="adds a server",
    )
    args = parser.parse_args()

    version = os.path.join(BIN, "versions")
    if not os.path.exists(version):
        sys.exit(f"{BIN} has no peers: run benchmarks/peers/build.sh first")
    servers = {name: [os.path.join(BIN, words[0])] + words[1:] for name, words in SERVERS.items()}
    for more in args.add:
        servers |= more
    jobs = [
        (mode, connections, name, command)
        for mode, connections in LOADS
        for name, command in servers.items()
        if re.search(args.only, f"{mode} {connections} {name}")
    ]
    if not jobs:
        sys.exit(f"--only {args.only}: matches no 'MODE CONNECTIONS SERVER'; omit it to run all")
    rows, foreign = measure(jobs, args.reps, args.seconds)
    with open(version, encoding="ascii") as text:
        print(f"{text.readline().strip()}, {args.reps} rounds of {args.seconds} s")
    print(f"Other processes used {statistics.median(foreign):.2f} cores during the runs (median).")
    print_table(rows)


if __name__ == "__main__":
    main()
