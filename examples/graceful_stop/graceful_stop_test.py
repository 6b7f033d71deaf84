#!/usr/bin/env -S python3 -B
"""Tests the server's ends: without requests, with requests, too late, and at once."""

import pathlib
import signal
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import receive

# Longer than any test takes.
LONG = b"1h"


class GracefulStopTest(unittest.TestCase):
    def start(self, *flags):
        return server.Server(self, *flags)

    def stop(self, running, number=signal.SIGINT):
        """Sends the first signal. Returns how many connections the server ends."""
        running.signal(number)
        lines = running.stdout.wait(2)
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[1], r"^graceful_stop: ending \d+ connections; again to end now\n$")
        return int(lines[1].split()[2])

    def request(self, running, duration):
        """Sends a request, and waits until the server works on it."""
        connection = running.connect()
        connection.sendall(duration + b"\n")
        self.assertEqual(receive(connection, 8), b"working\n")
        return connection

    def test_ends_without_connections(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            running = self.start()
            self.assertNotEqual(running.port, 0)
            self.assertEqual(self.stop(running, number), 0)
            self.assertEqual(running.wait_for_exit(), (0, ""))

    def test_ends_idle_connections(self):
        running = self.start("--grace=1h")
        connection = self.request(running, b"0s")
        self.assertEqual(receive(connection, 5), b"done\n")
        self.assertEqual(self.stop(running), 1)
        self.assertEqual(receive(connection, 1), b"")
        self.assertEqual(running.wait_for_exit(), (0, ""))

    def test_answers_a_request_that_has_been_received(self):
        running = self.start("--grace=1h")
        connection = self.request(running, b"500ms")
        self.assertEqual(self.stop(running), 1)
        # The answer, and then the end.
        self.assertEqual(receive(connection, 6), b"done\n")
        self.assertEqual(running.wait_for_exit(), (0, ""))

    def test_a_line_that_is_no_duration(self):
        running = self.start()
        connection = running.connect()
        connection.sendall(b"soon\n")
        self.assertEqual(receive(connection, 15), b"not a duration\n")
        self.stop(running)
        self.assertEqual(running.wait_for_exit(), (0, ""))

    def test_a_grace_that_is_too_short_is_an_error(self):
        running = self.start("--grace=10ms")
        self.request(running, LONG)
        self.stop(running)
        status, errors = running.wait_for_exit()
        self.assertEqual(status, 1)
        self.assertIn("DEADLINE_EXCEEDED", errors)

    def test_the_second_signal_means_now(self):
        for second in (signal.SIGINT, signal.SIGTERM):
            running = self.start("--grace=1h")
            connection = self.request(running, LONG)
            self.assertEqual(self.stop(running), 1)
            running.signal(second)
            status, errors = running.wait_for_exit()
            self.assertEqual(status, 1)
            self.assertIn("a second signal", errors)
            self.assertEqual(receive(connection, 1), b"")

    def test_refuses_bad_flags(self):
        self.start("--grace=-1s").assert_refused("--grace must not be negative")
        self.start("extra").assert_refused("unexpected argument")


if __name__ == "__main__":
    server.main()
