#!/usr/bin/env -S python3 -B
"""Tests the HTTP server with curl and wrk, if they are installed, and with Python's clients."""

import http.client
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, needs, receive

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def answer(status, body, connection):
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\nConnection: {connection}\r\n\r\n"
    )
    return head.encode() + body


HELLO = answer("200 OK", b"hello\n", "keep-alive")
LAST_HELLO = answer("200 OK", b"hello\n", "close")


class Server(server.Server):
    """The totals are the numbers of answers and of connections."""

    totals = r"http_hello: answered (\d+) requests on (\d+) connections"


class HttpHelloTest(unittest.TestCase):
    def exchange(self, connection, request, expected):
        connection.sendall(request)
        self.assertEqual(receive(connection, len(expected)), expected)

    def assert_ended(self, connection):
        """Asserts that the server ends the connection, and that nothing comes before the end."""
        self.assertEqual(connection.recv(100), b"")

    def test_curl(self):
        needs(self, "curl")
        hello = Server(self)
        url = f"http://{LOCALHOST}:{hello.port}"
        command = ["curl", "--silent", "--show-error", "--max-time", str(DEADLINE)]

        def curl(*arguments, stdin=b""):
            done = subprocess.run(
                [*command, *arguments], input=stdin, stdout=subprocess.PIPE, check=True
            )
            return done.stdout

        self.assertEqual(curl(url), b"hello\n")
        self.assertTrue(curl("--head", url).startswith(b"HTTP/1.1 200 OK\r\n"))
        # Two requests on one connection, which curl reuses.
        self.assertEqual(curl(url, url), b"hello\nhello\n")
        body = bytes(range(256)) * 100
        self.assertEqual(curl("--data-binary", "@-", url, stdin=body), body)
        chunked = ("--header", "Transfer-Encoding: chunked")
        self.assertEqual(curl(*chunked, "--data-binary", "@-", url, stdin=body), body)
        self.assertEqual(curl("--http1.0", url), b"hello\n")
        code = ("--output", "/dev/null", "--write-out", "%{http_code}")
        self.assertEqual(curl(*code, f"{url}/other"), b"404")
        self.assertEqual(curl(*code, "--request", "DELETE", url), b"501")
        large = bytes(3 << 20)
        self.assertEqual(curl(*code, "--data-binary", "@-", url, stdin=large), b"413")
        self.assertEqual(curl(*code, "--header", "X: " + "x" * 20000, url), b"431")
        self.assertEqual(hello.stop(), (11, 10))

    def test_wrk(self):
        needs(self, "wrk")
        hello = Server(self)
        url = f"http://{LOCALHOST}:{hello.port}/"
        command = ["wrk", "--threads=1", "--connections=32", "--duration=1s", url]
        report = subprocess.check_output(command, text=True, timeout=DEADLINE)
        print(report, flush=True)
        self.assertNotIn("Non-2xx", report)
        self.assertNotIn("Socket errors", report)
        requests, connections = hello.stop()
        self.assertGreater(requests, 0)
        # wrk has one more connection to see whether the server answers.
        self.assertIn(connections, (32, 33))

    def test_python_reuses_its_connection(self):
        hello = Server(self)
        client = http.client.HTTPConnection(LOCALHOST, hello.port, timeout=DEADLINE)
        self.addCleanup(client.close)
        for body in (b"", b"x" * 100_000, b"y"):
            client.request("POST", "/", body)
            self.assertEqual(client.getresponse().read(), body)
        client.close()
        self.assertEqual(hello.stop(), (3, 1))

    def test_requests_in_pieces_and_in_one_piece(self):
        hello = Server(self)
        connection = hello.connect()
        for byte in GET[:-1]:
            connection.sendall(bytes([byte]))
        self.exchange(connection, GET[-1:], HELLO)
        self.exchange(connection, GET * 100, HELLO * 100)
        self.exchange(connection, GET + CLOSE + GET, HELLO + LAST_HELLO)
        self.assert_ended(connection)
        connection.close()
        self.assertEqual(hello.stop(), (103, 1))

    def test_http_1_0(self):
        hello = Server(self)
        connection = hello.connect()
        request = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
        self.exchange(connection, request, HELLO)
        self.exchange(connection, b"GET / HTTP/1.0\r\n\r\n", LAST_HELLO)
        self.assert_ended(connection)

    def test_requests_that_are_refused(self):
        hello = Server(self, "--max_header=1000", "--max_body=10")
        post = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
        self.exchange(
            hello.connect(),
            post + b"Content-Length: 10\r\n\r\n0123456789",
            answer("200 OK", b"0123456789", "keep-alive"),
        )
        too_large = "413 Payload Too Large"
        for request, status in (
            (b"\r\nHELO example.org\r\n", "400 Bad Request"),
            (b"GET / HTTP/1.1\r\n: empty name\r\n\r\n", "400 Bad Request"),
            (GET[:-2] + b"X: " + b"x" * 1000, "431 Request Header Fields Too Large"),
            (b"GET /" + b"x" * 1000, "431 Request Header Fields Too Large"),
            (post + b"Content-Length: 11\r\n\r\n0123456789X", too_large),
            (post + b"Content-Length: 999999999999999999\r\n\r\n", too_large),
            (post + b"Transfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n5\r\n6789X\r\n", too_large),
            # The client still sends while the server refuses. The answer arrives even so.
            (post + b"Content-Length: 9999999\r\n\r\n" + bytes(9_999_999), too_large),
        ):
            with self.subTest(request[:60]):
                connection = hello.connect()
                self.exchange(connection, request, answer(status, b"", "close"))
                self.assert_ended(connection)

    def test_timeouts(self):
        hello = Server(self, "--request_timeout=300ms", "--idle_timeout=300ms")
        started = time.monotonic()
        idle = hello.connect()
        self.assert_ended(idle)
        self.assertGreaterEqual(time.monotonic() - started, 0.3)
        # The time of a request is limited as a whole, even if bytes keep arriving.
        started = time.monotonic()
        slow = hello.connect()
        slow.sendall(b"GET / HTTP/1.1\r\n")
        slow.settimeout(0.05)
        received = b""
        while not received:
            try:
                slow.sendall(b"X: x\r\n")
                received = slow.recv(1)
            except TimeoutError:
                self.assertLess(time.monotonic() - started, DEADLINE)
        self.assertGreaterEqual(time.monotonic() - started, 0.3)
        slow.settimeout(DEADLINE)
        expected = answer("408 Request Timeout", b"", "close")
        self.assertEqual(received + receive(slow, len(expected) - 1), expected)

    def test_a_signal_ends_idle_connections_and_finishes_requests(self):
        # The body is larger than what the system keeps for a connection. When almost all is sent, the
        # server has therefore begun to read the request.
        body = bytes(32 << 20)
        hello = Server(
            self,
            f"--grace={2 * DEADLINE:.0f}s",
            f"--request_timeout={DEADLINE:.0f}s",
            f"--max_body={len(body)}",
        )
        idle, busy = hello.connect(), hello.connect()
        self.exchange(idle, GET, HELLO)
        head = f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        busy.sendall(head.encode() + body[:-3])
        hello.signal()
        self.assert_ended(idle)
        idle.close()
        busy.sendall(body[-3:])
        expected = answer("200 OK", body, "close")
        self.assertTrue(receive(busy, len(expected)) == expected)
        busy.close()
        self.assertEqual(hello.finish(), (2, 2))

    def test_flags_are_checked(self):
        hello = Server(self)
        second = Server(self, f"--port={hello.port}")
        second.assert_refused(f"127.0.0.1:{hello.port}", "in use")
        Server(self, "8080").assert_refused("unexpected argument", "--help")


if __name__ == "__main__":
    server.main()
