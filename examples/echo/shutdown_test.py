#!/usr/bin/env -S python3 -B
"""Tests that SIGTERM and SIGINT end the echo server when all is served or the grace is over."""

import selectors
import signal
import socket
import time
import unittest

import echo_load
import server_under_test
from server_under_test import DEADLINE, LOCALHOST, Server, echo, wait_for_close

# The allowed delay after the grace, in seconds. It is less than the default grace.
SLACK = 8.0

# One of this many attempts must meet the limit, because the machine may be busy.
ATTEMPTS = 5


def is_refused(port):
    try:
        # Connects from another address. If no socket listens, a socket can connect to itself from
        # the same address.
        with socket.create_connection((LOCALHOST, port), DEADLINE, ("127.0.0.2", 0)):
            return False
    except (ConnectionRefusedError, ConnectionResetError):
        return True


class ShutdownTest(unittest.TestCase):
    def test_serves_connections_to_completion_under_load(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                server = Server(self, f"--grace={3 * DEADLINE:.0f}s")
                load = echo_load.Load(server.port, 300, 100, timeout=2 * DEADLINE)
                load.run(halfway=lambda: server.signal(number))
                self.assertEqual(server.finish(), (300, load.bytes))

    def test_refuses_new_connections(self):
        server = Server(self, f"--grace={3 * DEADLINE:.0f}s")
        old = server.connect()
        self.assertEqual(echo(old, b"before"), b"before")
        server.signal()
        deadline = time.monotonic() + DEADLINE
        while not is_refused(server.port):
            self.assertLess(time.monotonic(), deadline, "the server still accepts connections")
        # The server keeps refusing, and still serves the open connections.
        for _ in range(10):
            self.assertTrue(is_refused(server.port))
        self.assertEqual(echo(old, b"after"), b"after")
        self.assertIsNone(server.process.poll())
        old.close()
        self.assertGreaterEqual(server.finish()[1], len(b"before" + b"after"))

    def test_ends_at_once_without_connections(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                server = Server(self, "--grace=1h")
                connection = server.connect()
                self.assertEqual(echo(connection, b"hello"), b"hello")
                connection.close()
                server.signal(number)
                self.assertEqual(server.finish(), (1, 5))

    def test_cuts_connections_after_the_grace_period(self):
        self._assert_one_takes_less(0.5 + SLACK, self._cut_connections)

    def _assert_one_takes_less(self, limit, attempt):
        took = [attempt()]
        while took[-1] >= limit and len(took) < ATTEMPTS:
            took.append(attempt())
        self.assertLess(took[-1], limit)

    def _cut_connections(self):
        server = Server(self, "--grace=500ms")
        idle = [server.connect() for _ in range(10)]
        busy = [server.connect() for _ in range(10)]
        for connection in idle + busy:
            self.assertEqual(echo(connection, b"hello"), b"hello")
        signalled = time.monotonic()
        server.signal()
        sent, received = self._send_until_closed(busy)
        for connection in idle:
            closed = wait_for_close(connection)
            self.assertGreaterEqual(closed - signalled, 0.5)
        served, echoed = server.finish()
        took = time.monotonic() - signalled
        self.assertEqual(served, 20)
        # Bytes in flight are lost when the server cuts the connections.
        greetings = 20 * len(b"hello")
        self.assertGreaterEqual(echoed, greetings + received)
        self.assertLessEqual(echoed, greetings + sent)
        return took

    def _send_until_closed(self, connections):
        """Keeps the connections busy until they close. Returns the bytes sent and received."""
        sent = received = 0
        left = len(connections)
        deadline = time.monotonic() + DEADLINE
        with selectors.DefaultSelector() as selector:
            for connection in connections:
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
            while left > 0:
                self.assertLess(time.monotonic(), deadline, "the server cuts no connection")
                for key, events in selector.select(DEADLINE):
                    size = 0
                    try:
                        if events & selectors.EVENT_WRITE:
                            sent += key.fileobj.send(bytes(1024))
                        if not events & selectors.EVENT_READ:
                            continue
                        size = len(key.fileobj.recv(65536))
                    except (ConnectionResetError, BrokenPipeError):
                        pass
                    received += size
                    if size == 0:
                        selector.unregister(key.fileobj)
                        left -= 1
        return sent, received

    def test_a_grace_period_of_zero_cuts_connections_at_once(self):
        self._assert_one_takes_less(SLACK, self._cut_at_once)

    def _cut_at_once(self):
        server = Server(self, "--grace=0")
        connection = server.connect()
        self.assertEqual(echo(connection, b"hello"), b"hello")
        started = time.monotonic()
        server.signal()
        self.assertEqual(server.finish(), (1, 5))
        return time.monotonic() - started


if __name__ == "__main__":
    server_under_test.main()
