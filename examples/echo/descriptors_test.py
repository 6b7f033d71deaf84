#!/usr/bin/env -S python3 -B
"""The echo server without file descriptors to accept connections with."""

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
        # The name of the program, in parentheses, may have spaces.
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# It looks at an object's vtable through a pipe, and takes the object for invalid without one.
@unittest.skipIf("UBSAN_OPTIONS" in os.environ, "UBSan itself needs descriptors")
class DescriptorsTest(unittest.TestCase):
    def test_out_of_descriptors(self):
        server = Server(self, max_descriptors=MAX_DESCRIPTORS)
        pid = server.process.pid
        self.assertGreater(server.port, 0)
        room = MAX_DESCRIPTORS - len(os.listdir(f"/proc/{pid}/fd"))
        self.assertIn(room, range(8, CONNECTIONS - 8))

        # They are accepted in the order in which they come; so the last ones wait.
        connections = [server.connect() for _ in range(CONNECTIONS)]
        served, waiting = connections[:room], connections[room:]
        for connection in waiting:
            connection.sendall(b"patience")
        self.assertGreaterEqual(len(server.stderr.wait(1)), 1)
        self._keeps_serving(served)

        # It says so again and again, but once a second at the most, and does not spin. From a line on
        # that is new, so that none is left that was written before.
        lines = len(server.stderr.wait(len(server.stderr.so_far()) + 1))
        start = time.monotonic()
        cpu = cpu_seconds(pid)
        server.stderr.wait(lines + 2)
        time.sleep(max(0, start + 2 - time.monotonic()))
        more = len(server.stderr.so_far()) - lines
        took = time.monotonic() - start
        self.assertGreaterEqual(more, 2)
        # The clocks of both begin and end at moments of their own.
        self.assertLess(more, took + 3)
        self.assertLess(cpu_seconds(pid) - cpu, 0.2 * took)

        self._keeps_serving(served)
        self.assertFalse(any(is_readable(connection) for connection in waiting))

        # Where one ends the next one comes in.
        while waiting:
            served.pop(0).close()
            accepted = waiting.pop(0)
            self.assertEqual(receive(accepted, len(b"patience")), b"patience")
            served.append(accepted)
        self._keeps_serving(served)

        # It was out of them to the last, and has enough now that nobody waits.
        served.pop(0).close()
        last = server.connect()
        self.assertEqual(echo(last, b"hello"), b"hello")
        for connection in served + [last]:
            connection.close()
        total, echoed = server.stop(stderr=f"(?:{LINE})+")
        self.assertEqual(total, CONNECTIONS + 1)
        self.assertEqual(
            echoed,
            3 * room * len(b"hello") + (CONNECTIONS - room) * len(b"patience") + len(b"hello"),
        )

    def _keeps_serving(self, connections):
        for connection in connections:
            self.assertEqual(echo(connection, b"hello"), b"hello")


if __name__ == "__main__":
    server_under_test.main()
