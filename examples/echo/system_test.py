#!/usr/bin/env -S python3 -B
"""Tests the echo server with other clients: the server echoes, and closes idle connections."""

import itertools
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import echo_load
import server_under_test
from server_under_test import DEADLINE, Server, echo, receive, wait_for_close


class EchoTest(unittest.TestCase):
    def test_socat_gets_a_file_back(self):
        server = Server(self)
        data = os.urandom(8 << 20)
        if shutil.which("socat"):
            self.assertTrue(self._through_socat(server.port, data) == data)
        else:
            print("socat is not installed: the test uses python instead", flush=True)
            self.assertTrue(self._through_python(server, data) == data)
        self.assertEqual(server.stop(), (1, len(data)))

    def _through_socat(self, port, data):
        with tempfile.TemporaryFile() as sent, tempfile.TemporaryFile() as received:
            sent.write(data)
            sent.seek(0)
            # -t is how long the direction back can take after the other direction has ended.
            command = ["socat", "-t", str(DEADLINE), "STDIO", f"TCP4:127.0.0.1:{port}"]
            subprocess.run(command, stdin=sent, stdout=received, timeout=DEADLINE, check=True)
            received.seek(0)
            return received.read()

    def _through_python(self, server, data):
        connection = server.connect()

        def send():
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        received = receive(connection, len(data) + 1)
        sender.join(DEADLINE)
        return received

    def test_a_thousand_concurrent_connections(self):
        server = Server(self)
        load = echo_load.Load(server.port, connections=1000, messages=100, timeout=2 * DEADLINE)
        load.run()
        self.assertEqual(server.stop(), (1000, load.bytes))

    def test_a_client_that_reads_late_misses_nothing(self):
        server = Server(self)
        connection = server.connect()
        data = os.urandom(32 << 20)
        # Sends until the client has no room for the echo. Then the server waits for room, too.
        connection.setblocking(False)
        sent = 0
        while sent < len(data) and select.select([], [connection], [], 0.2)[1]:
            sent += connection.send(data[sent : sent + 65536])
        connection.settimeout(DEADLINE)
        self.assertTrue(receive(connection, sent) == data[:sent])
        connection.close()
        self.assertEqual(server.stop(), (1, sent))

    def test_port_zero_prints_the_chosen_port(self):
        first = Server(self, "--port=0")
        second = Server(self, "--port=0")
        self.assertNotEqual(first.port, second.port)
        for server, message in ((first, b"first"), (second, b"second")):
            with server.connect() as connection:
                self.assertEqual(echo(connection, message), message)
            self.assertEqual(server.stop(), (1, len(message)))

    def test_closing_the_client_closes_the_connection(self):
        server = Server(self)
        connection = server.connect()
        connection.sendall(b"last words")
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(receive(connection, 100), b"last words")
        self.assertEqual(server.stop(), (1, len(b"last words")))


class IdleTest(unittest.TestCase):
    def test_an_idle_connection_is_closed(self):
        server = Server(self, "--idle_timeout=200ms")
        silent_since = time.monotonic()
        silent = server.connect()
        self.assertGreaterEqual(wait_for_close(silent) - silent_since, 0.2)

        tries, fallen_silent, since = self._active_connection(server, 0.1, idle=0.2)
        self.assertGreaterEqual(wait_for_close(fallen_silent) - since, 0.2)
        self.assertEqual(server.stop()[0], 1 + tries)

    def test_an_active_connection_stays_open(self):
        server = Server(self, "--idle_timeout=1s")
        tries, active, _ = self._active_connection(server, 3, idle=1)
        active.close()
        self.assertEqual(server.stop()[0], tries)

    def _active_connection(self, server, seconds, idle):
        """Opens a connection that echoes for `seconds`.

        Returns the number of tries, the connection, and a time at or before the server's last echo.
        Tries again if the server closes the connection, which is allowed only if the machine has
        kept this test from sending for `idle` seconds.
        """
        for tries in itertools.count(1):
            started = last = time.monotonic()
            connection = server.connect()
            while True:
                before_last, last = last, time.monotonic()
                if last - started >= seconds:
                    return tries, connection, before_last
                try:
                    echoed = echo(connection, b"hello")
                except ConnectionError:
                    echoed = b""
                if echoed != b"hello":
                    silent = time.monotonic() - before_last
                    self.assertGreaterEqual(silent, idle, "an active connection was closed")
                    break

    def test_a_client_that_reads_nothing_is_idle(self):
        server = Server(self, "--idle_timeout=200ms")
        connection = server.connect()
        # Sends until no side has room, no byte moves, and the server closes the connection.
        with self.assertRaises((ConnectionResetError, BrokenPipeError)):
            while True:
                connection.sendall(bytes(65536))
        self.assertEqual(server.stop()[0], 1)

    def test_a_timeout_of_zero_never_closes(self):
        server = Server(self, "--idle_timeout=0", "--grace=0")
        connection = server.connect()
        self.assertEqual(echo(connection, b"hello"), b"hello")
        connection.settimeout(0.5)
        with self.assertRaises(TimeoutError):
            connection.recv(1)
        self.assertEqual(server.stop(), (1, 5))


if __name__ == "__main__":
    server_under_test.main()
