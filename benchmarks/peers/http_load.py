#!/usr/bin/env -S python3 -B
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""http_load PORT CONNECTIONS SECONDS SERVER_PID: loads a server that answers like //examples/http_hello.

Runs wrk for a second to warm up, and then for SECONDS, rounded up, because wrk knows only whole seconds. Each
connection sends `GET /`, waits for the answer, and sends again. Prints lines `name value unit`, like echo_load. The
latencies are those that wrk measures. CPU time is that of the server.

Fails if the server answers otherwise than with status 200 and "hello", or if a connection breaks.
"""

import http.client
import math
import os
import pathlib
import re
import subprocess
import sys
import time

CONNECT_SECONDS = 5  # how long the server may take until it listens
MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6}


def fail(message):
    sys.exit(f"http_load: {message}")


def check_answer(port):
    """Waits until the server listens, and checks its answer."""
    give_up = time.monotonic() + CONNECT_SECONDS
    while True:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=CONNECT_SECONDS)
        try:
            client.request("GET", "/")
            answer = client.getresponse()
            status, body = answer.status, answer.read()
        except ConnectionRefusedError as error:
            if time.monotonic() > give_up:
                fail(f"connect: {error.strerror}")
            time.sleep(0.02)
            continue
        except (OSError, http.client.HTTPException) as error:
            fail(f"GET /: {error!r}")
        finally:
            client.close()
        if (status, body) != (200, b"hello\n"):
            fail(f"GET /: status {status} and {body!r}, instead of 200 and b'hello\\n'")
        return


def cpu_seconds(pid):
    """Returns the user and system time of a process."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError as error:
        fail(f"the server has exited: {error.strerror}")
    # The name of the program, in brackets, can contain spaces.
    fields = stat.rpartition(")")[2].split()
    return tuple(int(ticks) / os.sysconf("SC_CLK_TCK") for ticks in fields[11:13])


def wrk(port, connections, seconds):
    """Returns what wrk reports."""
    command = ["wrk", "--threads=1", f"--connections={connections}", f"--duration={seconds}s", "--latency",
               f"http://127.0.0.1:{port}/"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        fail("wrk is not installed; on Debian, run apt-get install wrk")
    if done.returncode != 0:
        fail(f"wrk exited with status {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def parse(report):
    """Returns (requests, seconds, {percentile: microseconds}) from wrk's report.

    Raises ValueError if the report has errors or another form.
    """
    for pattern in (r"Socket errors: .*", r"Non-2xx or 3xx responses: .*"):
        if found := re.search(pattern, report):
            raise ValueError(found[0])
    total = re.search(r"^ +(\d+) requests in ([\d.]+)(us|ms|s|m),", report, re.M)
    latencies = {int(percent): float(value) * MICROSECONDS[unit]
                 for percent, value, unit in re.findall(r"^ +(\d+)% +([\d.]+)(us|ms|s|m)$", report, re.M)}
    if not total or not {50, 99} <= latencies.keys():
        raise ValueError(f"unknown report: {report!r}")
    if total[1] == "0":
        raise ValueError("the server answered nothing")
    return int(total[1]), float(total[2]) * MICROSECONDS[total[3]] / 1e6, latencies


def main():
    if len(sys.argv) != 5:
        print("usage: http_load PORT CONNECTIONS SECONDS SERVER_PID", file=sys.stderr)
        sys.exit(2)
    port, connections, seconds, server = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    check_answer(port)
    wrk(port, connections, 1)
    before = cpu_seconds(server)
    report = wrk(port, connections, max(1, math.ceil(seconds)))
    user, system = (now - then for now, then in zip(cpu_seconds(server), before))
    try:
        requests, elapsed, latencies = parse(report)
    except ValueError as error:
        fail(f"wrk: {error}")
    print(f"rate {requests / elapsed:.1f} req/s")
    print(f"server_cpu {(user + system) * 1e9 / requests:.0f} ns/req")
    print(f"server_user {user * 1e9 / requests:.0f} ns/req")
    print(f"server_cores {(user + system) / elapsed:.2f} cores")
    print(f"p50 {latencies[50]:.1f} us")
    print(f"p99 {latencies[99]:.1f} us")


if __name__ == "__main__":
    main()
