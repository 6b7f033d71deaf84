#!/usr/bin/env -S python3 -B
"""Tests that clients that break the protocol, are slow, or want too much, harm no other client."""

import socket
import time
import unittest

import server_under_test
from server_under_test import Server, encode, parse, wait_until


class BadInputTest(unittest.TestCase):
    def assert_serves(self, server):
        connection = server.connect()
        self.assertEqual(connection.call("PING"), b"+PONG\r\n")
        connection.close()

    def wait_for_clients(self, watcher, count):
        wait_until(
            self,
            lambda: b"connected_clients:%d\r\n" % count in watcher.call("INFO", "clients"),
            f"the server does not count {count} clients",
        )

    def test_protocol_errors(self):
        server = Server(self)
        for request, error in (
            (b"*x\r\n", b"invalid multibulk length"),
            (b"*1048577000000000000\r\n", b"invalid multibulk length"),
            (b"*1\r\n$x\r\n", b"invalid bulk length"),
            (b"*1\r\n$-1\r\n", b"invalid bulk length"),
            (b"*1\r\n$99999999999999\r\n", b"invalid bulk length"),
            (b"*1\r\n:1\r\n", b"expected '$', got ':'"),
            (b'GET "a\r\n', b"unbalanced quotes in request"),
            (b"*" + b"1" * 70000, b"too big mbulk count string"),
            (b"x" * 70000, b"too big inline request"),
            (b"*1\r\n$" + b"1" * 70000, b"too big bulk count string"),
        ):
            with self.subTest(error.decode(), request=request[:30]):
                connection = server.connect()
                # The requests before the error are answered.
                connection.send_bytes(b"PING\r\n" + request)
                self.assertEqual(
                    connection.read_to_end(), b"+PONG\r\n-ERR Protocol error: " + error + b"\r\n"
                )
                self.assert_serves(server)
        server.stop()

    def test_inline_requests(self):
        server = Server(self)
        connection = server.connect()
        connection.send_bytes(b"\r\n  SET k 'a b'\r\n\r\nGET k\n")
        self.assertEqual(connection.reply(), b"+OK\r\n")
        self.assertEqual(connection.reply(), b"$3\r\na b\r\n")
        server.stop()

    def test_a_claimed_length_takes_no_memory(self):
        server = Server(self, "--request_limit=1073741824")
        watcher = server.connect()
        self.wait_for_clients(watcher, 1)
        before = server.memory()
        connections = [server.connect() for _ in range(50)]
        for connection in connections:
            connection.send_bytes(b"*1048576\r\n$536870912\r\nabc")
        self.wait_for_clients(watcher, 51)
        if not server.is_redis:
            self.assertLess(server.memory() - before, 64 << 20)
        for connection in connections:
            connection.close()
        server.stop()

    def test_a_request_over_the_limit_is_refused_at_once(self):
        server = Server(self, "--request_limit=1048576")
        connection = server.connect()
        connection.send_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n")
        self.assertEqual(
            connection.read_to_end(), b"-ERR Protocol error: invalid bulk length\r\n"
        )
        value = b"v" * 1000000
        connection = server.connect()
        self.assertEqual(connection.call("SET", "k", value), b"+OK\r\n")
        self.assertEqual(parse(connection.call("GET", "k")), value)
        server.stop()

    def test_requests_that_arrive_byte_by_byte(self):
        server = Server(self)
        connection = server.connect()
        other = server.connect()
        for i, byte in enumerate(encode("SET", "k", "v") + b"GET k\r\n"):
            connection.send_bytes(bytes([byte]))
            if i % 5 == 0:
                self.assertEqual(other.call("PING"), b"+PONG\r\n")
        self.assertEqual(connection.reply(), b"+OK\r\n")
        self.assertEqual(connection.reply(), b"$1\r\nv\r\n")
        server.stop()

    def test_a_client_that_sends_a_byte_now_and_then_is_disconnected(self):
        server = Server(self, "--idle_timeout=1s")
        idle = server.connect()
        started = time.monotonic()
        self.assertEqual(idle.read_to_end(), b"")
        self.assertGreaterEqual(time.monotonic() - started, 0.9)
        active = server.connect()
        started = time.monotonic()
        while time.monotonic() - started < 3:
            self.assertEqual(active.call("PING"), b"+PONG\r\n")
            time.sleep(0.05)
        server.stop()

    def test_a_half_open_client_gets_its_replies(self):
        server = Server(self)
        connection = server.connect()
        connection.send_bytes(encode("SET", "k", "v") + encode("GET", "k"))
        self.assertEqual(connection.reply(), b"+OK\r\n")
        self.assertEqual(connection.reply(), b"$1\r\nv\r\n")
        connection.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.read_to_end(), b"")
        # The end within a request is the end of the connection.
        connection = server.connect()
        connection.send_bytes(b"*2\r\n$3\r\nGET\r\n")
        connection.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(connection.read_to_end(), b"")
        self.assert_serves(server)
        server.stop()

    def test_clients_that_vanish_are_forgotten(self):
        server = Server(self)
        watcher = server.connect()
        for how in ("close", "reset", "blocked", "subscribed"):
            with self.subTest(how):
                connection = server.connect()
                if how == "blocked":
                    connection.send("BLPOP", "none", 0)
                elif how == "subscribed":
                    connection.call("SUBSCRIBE", "news")
                else:
                    connection.call("PING")
                if how == "reset":
                    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.close()
                self.wait_for_clients(watcher, 1)
        # No element is lost to a client that has vanished.
        self.assertEqual(watcher.call("RPUSH", "none", "x"), b":1\r\n")
        self.assertEqual(watcher.call("LRANGE", "none", 0, -1), b"*1\r\n$1\r\nx\r\n")
        server.stop()

    def test_a_reader_that_is_too_slow_is_disconnected(self):
        server = Server(self, "--output_limit=2000000")
        setter = server.connect()
        self.assertEqual(setter.call("SET", "k", b"v" * 1000000), b"+OK\r\n")
        slow = server.connect(receive_buffer=4096)
        slow.socket.setblocking(False)
        request = encode("GET", "k")
        # Sends until the server closes the connection, or has no more room for requests.
        try:
            for _ in range(1000):
                slow.socket.send(request)
                self.assertEqual(setter.call("PING"), b"+PONG\r\n")
        except (ConnectionResetError, BrokenPipeError, BlockingIOError):
            pass
        self.assert_serves(server)
        if not server.is_redis:
            self.assertLess(server.memory(), 300 << 20)
        slow.close()
        self.wait_for_clients(setter, 1)
        server.stop()

    def test_a_client_too_many_is_told_so(self):
        server = Server(self, "--max_clients=2")
        first, second = server.connect(), server.connect()
        for connection in (first, second):
            self.assertEqual(connection.call("PING"), b"+PONG\r\n")
        third = server.connect()
        self.assertEqual(third.read_to_end(), b"-ERR max number of clients reached\r\n")
        first.close()

        def is_served():
            connection = server.connect()
            try:
                connection.send("PING")
                return connection.reply() == b"+PONG\r\n"
            except (OSError, EOFError):
                return False

        wait_until(self, is_served, "no further client is served after another has left")
        self.assertEqual(second.call("PING"), b"+PONG\r\n")
        server.stop()

    def test_a_thousand_requests_without_reading(self):
        server = Server(self)
        connection = server.connect()
        connection.send_bytes(encode("INCR", "n") * 1000)
        for i in range(1, 1001):
            self.assertEqual(connection.reply(), b":%d\r\n" % i)
        server.stop()


if __name__ == "__main__":
    server_under_test.main()
