#!/usr/bin/env -S python3 -B
"""Drives the HTTP server with curl, wrk and ab, if they are installed, and with plain sockets."""

import pathlib
import socket
import subprocess
import sys
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, needs, receive_to_end

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Server(server.Server):
    """The total is the number of requests."""

    totals = r"http_server: answered (\d+) requests"


def checksum(body):
    result = 0
    for byte in body:
        result = (result * 31 + byte) & 0xFFFFFFFF
    return result


class HttpServerTest(unittest.TestCase):
    def curl(self, running, path, *arguments, stdin=b"", fails=False):
        url = f"http://{LOCALHOST}:{running.port}{path}"
        command = ["curl", "--silent", "--show-error", "--max-time", str(DEADLINE), *arguments, url]
        done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=not fails)
        return done.stdout

    def status(self, running, path, *arguments, stdin=b""):
        code = ("--output", "/dev/null", "--write-out", "%{http_code}")
        return self.curl(running, path, *code, *arguments, stdin=stdin)

    def test_notes(self):
        needs(self, "curl")
        notes = Server(self)
        self.assertEqual(self.curl(notes, "/notes"), b"[]\n")
        added = self.curl(notes, "/notes", "--include", "--data-binary", 'buy "milk"\n')
        self.assertTrue(added.startswith(b"HTTP/1.1 201 Created\r\n"))
        self.assertIn(b"\r\nLocation: /notes/1\r\n", added)
        self.assertIn(b"\r\nDate: ", added)
        self.assertTrue(added.endswith(b'\r\n\r\n{"id": 1}\n'))
        self.assertEqual(
            self.curl(notes, "/notes/1"), b'{"id": 1, "text": "buy \\"milk\\"\\u000a"}\n'
        )
        self.assertEqual(self.status(notes, "/notes/1", "--request", "DELETE"), b"204")
        self.assertEqual(self.status(notes, "/notes/1"), b"404")
        self.assertEqual(self.status(notes, "/notes", "--request", "PATCH"), b"405")
        head = self.curl(notes, "/", "--head")
        self.assertIn(b"\r\nContent-Length: 6\r\n", head)
        self.assertTrue(head.endswith(b"\r\n\r\n"))
        self.assertEqual(self.curl(notes, "/", "--http1.0"), b"hello\n")
        sent = ("--data-binary", "@-")
        self.assertEqual(self.status(notes, "/notes", *sent, stdin=bytes(4097)), b"413")
        self.assertEqual(notes.stop(), (9,))

    def test_streams(self):
        needs(self, "curl")
        streams = Server(self)
        body = bytes(range(256)) * 20_000
        expected = f'{{"bytes": {len(body)}, "sum": {checksum(body)}}}\n'.encode()
        sent = ("--data-binary", "@-")
        chunked = ("--header", "Transfer-Encoding: chunked")
        unasked = ("--header", "Expect:")
        self.assertEqual(self.curl(streams, "/upload", *sent, stdin=body), expected)
        self.assertEqual(self.curl(streams, "/upload", *sent, *chunked, stdin=body), expected)
        self.assertEqual(self.curl(streams, "/upload", *sent, *unasked, stdin=body), expected)
        for arguments in (sent, sent + chunked, sent + unasked):
            self.assertTrue(self.curl(streams, "/echo", *arguments, stdin=body) == body)
        self.assertTrue(self.curl(streams, "/download?bytes=3000000") == b"7" * 3_000_000)
        self.assertEqual(self.curl(streams, "/download?bytes=0"), b"")
        self.assertEqual(self.status(streams, "/download"), b"400")
        # The body is left unread.
        self.assertEqual(self.status(streams, "/nowhere", *sent, *unasked, stdin=body), b"404")

    def test_limits_and_failures(self):
        needs(self, "curl")
        limited = Server(self, "--max_body=1000")
        sent = ("--data-binary", "@-")
        self.assertEqual(self.status(limited, "/upload", *sent, stdin=bytes(1000)), b"200")
        self.assertEqual(self.status(limited, "/upload", *sent, stdin=bytes(1001)), b"413")
        self.assertEqual(self.status(limited, "/", "--header", "X: " + "x" * 20000), b"431")
        self.assertEqual(self.curl(limited, "/fail?a%0d", fails=True), b"the server has failed\n")
        limited.signal()
        # The operator learns what failed, the client does not.
        limited.finish(stderr=r"[^\n]*GET /fail\?a%0d from 127\.0\.0\.1:\d+: DATA_LOSS: the disk is broken\n")

    def test_wrk(self):
        needs(self, "wrk")
        busy = Server(self)
        url = f"http://{LOCALHOST}:{busy.port}/"
        report = subprocess.check_output(
            ["wrk", "--threads=1", "--connections=64", "--duration=1s", url], text=True, timeout=DEADLINE
        )
        print(report, flush=True)
        self.assertNotIn("Non-2xx", report)
        self.assertNotIn("Socket errors", report)
        self.assertGreater(busy.stop()[0], 0)

    def test_ab(self):
        needs(self, "ab")
        busy = Server(self)
        url = f"http://{LOCALHOST}:{busy.port}/"
        for keep_alive in ([], ["-k"]):
            report = subprocess.check_output(
                ["ab", "-q", "-n", "2000", "-c", "20", *keep_alive, url], text=True, timeout=DEADLINE
            )
            self.assertIn("Failed requests:        0", report)
            self.assertIn("Complete requests:      2000", report)
        self.assertGreaterEqual(busy.stop()[0], 4000)

    def test_pipelined_requests(self):
        pipelined = Server(self)
        connection = pipelined.connect()
        requests = GET * 500 + GET[:-2] + b"Connection: close\r\n\r\n"
        sending = threading.Thread(target=connection.sendall, args=(requests,))
        sending.start()
        received = receive_to_end(connection)
        sending.join()
        self.assertEqual(received.count(b"HTTP/1.1 200 OK\r\n"), 501)
        self.assertEqual(received.count(b"\r\n\r\nhello\n"), 501)

    def test_connections_that_break(self):
        broken = Server(self)
        upload = b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + bytes(50000)
        download = b"GET /download?bytes=100000000 HTTP/1.1\r\nHost: x\r\n\r\n"
        slow = b"GET /slow?1h HTTP/1.1\r\nHost: x\r\n\r\n"
        for request in (b"", b"GET", GET, upload, download, slow, GET + slow):
            for reset in (False, True):
                connection = broken.connect()
                connection.sendall(request)
                if request in (GET, download):
                    connection.recv(1)
                if reset:
                    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.close()
        # The server still works, and nothing holds its end.
        connection = broken.connect()
        connection.sendall(GET)
        self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200 OK\r\n"))
        connection.close()
        broken.stop()

    def test_a_signal_finishes_requests(self):
        draining = Server(self, f"--grace={DEADLINE:.0f}s")
        idle, busy, fresh = draining.connect(), draining.connect(), draining.connect()
        idle.sendall(GET)
        self.assertTrue(idle.recv(1000).endswith(b"hello\n"))
        # The server has begun to read the second request when it takes more than its buffers hold.
        size = 32 << 20
        busy.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
        busy.sendall(bytes(size - 1))
        draining.signal()
        self.assertEqual(idle.recv(1), b"")
        self.assertEqual(fresh.recv(1), b"")
        busy.sendall(b"\0" + GET)
        answer = receive_to_end(busy)
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\n"), answer)
        self.assertIn(b"\r\nConnection: close\r\n", answer)
        self.assertTrue(answer.endswith(b'{"bytes": %d, "sum": 0}\n' % size), answer)
        for connection in (idle, busy, fresh):
            connection.close()
        self.assertEqual(draining.finish(), (2,))

    def test_the_deadline_of_a_signal(self):
        stuck = Server(self, "--grace=100ms")
        connection = stuck.connect()
        size = 32 << 20
        connection.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
        connection.sendall(bytes(size - 1))
        stuck.signal()
        status, errors = stuck.wait_for_exit()
        self.assertEqual(status, 1, errors)
        self.assertIn("1 connections had not ended within drain_timeout, 100ms", errors)

    def test_flags_are_checked(self):
        first = Server(self)
        second = Server(self, f"--port={first.port}")
        second.assert_refused(f"127.0.0.1:{first.port}", "in use")
        Server(self, "8080").assert_refused("unexpected argument", "--help")


if __name__ == "__main__":
    server.main()
