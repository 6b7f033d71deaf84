#!/usr/bin/env -S python3 -B
"""Tests the TCP proxy between Python's sockets and a small server of Python."""

import os
import pathlib
import socket
import sys
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, receive


class Proxy(server.Server):
    """The totals are the numbers of connections that were forwarded, and that failed; and of bytes."""

    any_port = "--listen=127.0.0.1:0"
    totals = (
        r"tcp_proxy: forwarded (\d+) connections, (\d+) failed; "
        r"(\d+) bytes to the target, (\d+) bytes to clients"
    )


class Target:
    """A server that reads to the end of the stream, and answers with everything backwards."""

    def __init__(self, test):
        self._listener = socket.create_server((LOCALHOST, 0))
        self.flag = "--target=%s:%d" % self._listener.getsockname()
        self.accepted = 0
        test.addCleanup(self._listener.close)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # The test has ended.
                return
            self.accepted += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    @staticmethod
    def _answer(connection):
        with connection:
            connection.settimeout(DEADLINE)
            connection.sendall(b"hello\n")
            connection.sendall(read_to_end(connection)[::-1])


def read_to_end(connection):
    with connection.makefile("rb") as file:
        return file.read()


def ask(connection, question):
    """Sends a question, ends this direction, and returns the whole answer."""
    sender = threading.Thread(target=send_and_end, args=(connection, question), daemon=True)
    sender.start()
    answer = read_to_end(connection)
    sender.join(DEADLINE)
    return answer


def send_and_end(connection, data):
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


class TcpProxyTest(unittest.TestCase):
    def greeted(self, connection):
        self.assertEqual(receive(connection, 6), b"hello\n")
        return connection

    def test_each_direction_ends_by_itself(self):
        proxy = Proxy(self, Target(self).flag)
        question = os.urandom(8 << 20)
        answer = ask(self.greeted(proxy.connect()), question)
        self.assertTrue(answer == question[::-1])
        self.assertEqual(proxy.stop(), (1, 0, len(question), 6 + len(question)))

    def test_a_target_by_name(self):
        target = Target(self)
        proxy = Proxy(self, target.flag.replace(LOCALHOST, "localhost"))
        self.assertEqual(ask(self.greeted(proxy.connect()), b"abc"), b"cba")
        self.assertEqual(proxy.stop(), (1, 0, 3, 9))

    def test_many_connections_at_once(self):
        proxy = Proxy(self, Target(self).flag)
        connections = [self.greeted(proxy.connect()) for _ in range(200)]
        for number, connection in enumerate(connections):
            self.assertEqual(ask(connection, b"%03d" % number), (b"%03d" % number)[::-1])
        self.assertEqual(proxy.stop(), (200, 0, 600, 200 * 9))

    def test_the_limit_of_connections(self):
        target = Target(self)
        proxy = Proxy(self, target.flag, "--max_connections=2")
        first, second = (self.greeted(proxy.connect()) for _ in range(2))
        third = proxy.connect()
        third.sendall(b"xyz")
        # Meanwhile, a proxy without a limit would accept the third connection.
        data = os.urandom(32 << 20)
        first.sendall(data)
        self.assertEqual(target.accepted, 2)
        self.assertEqual(ask(second, b"abc"), b"cba")
        self.assertEqual(ask(self.greeted(third), b""), b"zyx")
        self.assertTrue(ask(first, b"") == data[::-1])
        size = len(data) + 2 * 3
        self.assertEqual(proxy.stop(), (3, 0, size, size + 3 * 6))

    def test_a_target_that_refuses(self):
        with socket.socket() as bound:
            bound.bind((LOCALHOST, 0))  # Nothing listens there.
            flag = "--target=%s:%d" % bound.getsockname()
            proxy = Proxy(self, flag)
            with self.assertRaises(ConnectionResetError):
                receive(proxy.connect(), 1)
        self.assertEqual(
            proxy.stop(stderr=f".* cannot connect to {flag}: .*Connection refused.*\n"),
            (0, 1, 0, 0),
        )

    def test_a_target_that_does_not_answer(self):
        with socket.create_server((LOCALHOST, 0), backlog=0) as listener:
            # When the queue is full, the system ignores further attempts to connect.
            address = listener.getsockname()
            with self.assertRaises(TimeoutError):
                while True:
                    self.addCleanup(socket.create_connection(address, timeout=1).close)
            flag = "--target=%s:%d" % address
            proxy = Proxy(self, flag, "--connect_timeout=200ms")
            with self.assertRaises(ConnectionResetError):
                receive(proxy.connect(), 1)
            self.assertEqual(
                proxy.stop(stderr=f".* cannot connect to {flag}: .*--connect_timeout\n"),
                (0, 1, 0, 0),
            )

    def test_a_signal_lets_connections_end(self):
        proxy = Proxy(self, Target(self).flag, f"--grace={2 * DEADLINE:.0f}s")
        connection = self.greeted(proxy.connect())
        proxy.signal()
        self.assertEqual(ask(connection, b"abc"), b"cba")
        self.assertEqual(proxy.finish(), (1, 0, 3, 9))

    def test_bytes_count_even_if_a_connection_is_cut(self):
        proxy = Proxy(self, Target(self).flag, "--grace=0")
        self.greeted(proxy.connect())
        self.assertEqual(proxy.stop(), (1, 0, 0, 6))

    def test_flags_are_checked(self):
        for flag, *expected in (
            ("--target=", "--target must be given"),
            ("--target=example.com", "INVALID_ARGUMENT", "example.com"),
            ("--target=192.0.2.1:port", "INVALID_ARGUMENT", "192.0.2.1:port"),
            ("--max_connections=0", "--max_connections must not be 0"),
            ("--listen=nowhere", "INVALID_ARGUMENT", "nowhere"),
            ("example.com:80", "unexpected argument", "--help"),
        ):
            with self.subTest(flag):
                proxy = Proxy(self, "--target=127.0.0.1:1", flag)
                proxy.assert_refused(*expected)


if __name__ == "__main__":
    server.main()
