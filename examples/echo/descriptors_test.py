#!/usr/bin/env -S python3 -B
"""Tests the echo server when no file descriptors are left for new connections."""

import os
import time
import unittest

import server_under_test
from server_under_test import Server, echo, is_readable, receive

MAX_DESCRIPTORS = 32
CONNECTIONS = 60

LINE = r"\S+ .*cannot accept connections.*Too many open files.*\n"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        # The program's name is in parentheses, and can contain spaces.
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# UBSan reads an object's vtable through a pipe. Without a pipe, it takes the object for invalid.
@unittest.skipIf("UBSAN_OPTIONS" in os.environ, "UBSan itself needs descriptors")
class DescriptorsTest(unittest.TestCase):
    def test_out_of_descriptors(self):
        server = Server(self, max_descriptors=MAX_DESCRIPTORS)
        pid = server.process.pid
        # The server opens the last of its own descriptors after it has printed its port, but before it
        # serves a connection.
        first = server.connect()
        self.assertEqual(echo(first, b"hello"), b"hello")
        room = MAX_DESCRIPTORS - len(os.listdir(f"/proc/{pid}/fd")) + 1
        self.assertIn(room, range(8, CONNECTIONS - 8))

        # The server accepts connections in the order of arrival, so the last connections wait.
        connections = [first] + [server.connect() for _ in range(CONNECTIONS - 1)]
        served, waiting = connections[:room], connections[room:]
        for connection in waiting:
            connection.sendall(b"patience")
        self.assertGreaterEqual(len(server.stderr.wait(1)), 1)
        self._keeps_serving(served)

        # The server logs the error repeatedly, but at most once a second, and does not spin. The test
        # counts from the next new line, so that it counts no line that was written before.
        lines = len(server.stderr.wait(len(server.stderr.so_far()) + 1))
        start = time.monotonic()
        cpu = cpu_seconds(pid)
        server.stderr.wait(lines + 2)
        time.sleep(max(0, start + 2 - time.monotonic()))
        more = len(server.stderr.so_far()) - lines
        took = time.monotonic() - start
        self.assertGreaterEqual(more, 2)
        # The server's seconds and the test's time do not begin and end at the same moments.
        self.assertLess(more, took + 3)
        self.assertLess(cpu_seconds(pid) - cpu, 0.2 * took)

        self._keeps_serving(served)
        self.assertFalse(any(is_readable(connection) for connection in waiting))

        # When a connection ends, the server accepts the next connection.
        while waiting:
            served.pop(0).close()
            accepted = waiting.pop(0)
            self.assertEqual(receive(accepted, len(b"patience")), b"patience")
            served.append(accepted)
        self._keeps_serving(served)

        # The server had no free descriptor until here. Now one is free, and no connection waits.
        served.pop(0).close()
        last = server.connect()
        self.assertEqual(echo(last, b"hello"), b"hello")
        for connection in served + [last]:
            connection.close()
        total, echoed = server.stop(stderr=f"(?:{LINE})+")
        self.assertEqual(total, CONNECTIONS + 1)
        self.assertEqual(
            echoed,
            (3 * room + 2) * len(b"hello") + (CONNECTIONS - room) * len(b"patience"),
        )

    def _keeps_serving(self, connections):
        for connection in connections:
            self.assertEqual(echo(connection, b"hello"), b"hello")


if __name__ == "__main__":
    server_under_test.main()
