#!/usr/bin/env -S python3 -B
"""Drives the server with curl, nghttp and h2load, if they are installed, in clear text and over TLS."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, needs, receive_to_end

HTTP2 = "--http2-prior-knowledge"


class Server(server.Server):
    """The total is the number of requests."""

    totals = r"http2_server: answered (\d+) requests"


class Http2ServerTest(unittest.TestCase):
    def curl(self, running, path, *arguments, stdin=b"", scheme="http", host=LOCALHOST):
        url = f"{scheme}://{host}:{running.port}{path}"
        command = ["curl", "--silent", "--show-error", "--max-time", str(DEADLINE), *arguments, url]
        return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True).stdout

    def facts(self, running, path, *arguments, **more):
        """Returns the status and the version of HTTP."""
        written = ("--output", "/dev/null", "--write-out", "%{http_code} %{http_version}")
        return self.curl(running, path, *written, *arguments, **more)

    def test_one_listener_answers_both_versions(self):
        needs(self, "curl")
        both = Server(self)
        self.assertEqual(self.curl(both, "/", HTTP2), b"hello\n")
        self.assertEqual(self.facts(both, "/", HTTP2), b"200 2")
        self.assertEqual(self.facts(both, "/", "--http1.1"), b"200 1.1")
        self.assertEqual(self.facts(both, "/", "--http1.0"), b"200 1.1")
        # An offer to upgrade is not taken.
        self.assertEqual(self.facts(both, "/", "--http2"), b"200 1.1")
        self.assertEqual(self.facts(both, "/nowhere", HTTP2), b"404 2")
        head = self.curl(both, "/", HTTP2, "--head")
        self.assertTrue(head.startswith(b"HTTP/2 200"), head)
        self.assertIn(b"\r\ncontent-length: 6\r\n", head)
        self.assertIn(b"\r\ndate: ", head)
        self.assertEqual(both.stop(), (7,))

    def test_streams(self):
        needs(self, "curl")
        streams = Server(self)
        body = bytes(range(256)) * 20_000
        sent = ("--data-binary", "@-")
        expected = f"{len(body)} bytes\n".encode()
        self.assertEqual(self.curl(streams, "/upload", HTTP2, *sent, stdin=body), expected)
        self.assertTrue(self.curl(streams, "/echo", HTTP2, *sent, stdin=body) == body)
        asked = ("--header", "Expect: 100-continue")
        self.assertEqual(self.curl(streams, "/upload", HTTP2, *sent, *asked, stdin=body), expected)
        self.assertTrue(self.curl(streams, "/download?bytes=3000000", HTTP2) == b"7" * 3_000_000)
        self.assertEqual(self.curl(streams, "/download?bytes=0", HTTP2), b"")
        # The body is left unread.
        self.assertEqual(self.facts(streams, "/nowhere", HTTP2, *sent, stdin=body[:200_000]), b"404 2")
        streams.stop()

    def test_limits_and_failures(self):
        needs(self, "curl")
        limited = Server(self, "--max_body=1000")
        sent = ("--data-binary", "@-")
        self.assertEqual(self.facts(limited, "/upload", HTTP2, *sent, stdin=bytes(1000)), b"200 2")
        self.assertEqual(self.facts(limited, "/upload", HTTP2, *sent, stdin=bytes(1001)), b"413 2")
        large = ("--header", "X: " + "x" * 20000)
        self.assertEqual(self.facts(limited, "/", HTTP2, *large), b"431 2")
        self.assertEqual(self.facts(limited, "/fail?a", HTTP2), b"500 2")
        limited.signal()
        # The operator learns what failed, the client does not.
        limited.finish(stderr=r"[^\n]*GET /fail\?a from 127\.0\.0\.1:\d+: DATA_LOSS: the disk is broken\n")

    def test_tls_chooses_the_version_by_alpn(self):
        needs(self, "curl")
        needs(self, "openssl")
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = (str(pathlib.Path(folder) / name) for name in ("key.pem", "chain.pem"))
            subprocess.run(
                [
                    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
                    *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
                    *("-addext", f"subjectAltName=IP:{LOCALHOST}", "-keyout", key, "-out", certificate),
                ],
                check=True,
                stderr=subprocess.DEVNULL,
            )
            secured = Server(self, f"--certificate={certificate}", f"--key={key}")
            trust = ("--cacert", certificate)
            for version, expected in (
                ("--http2", b"200 2"),
                ("--http1.1", b"200 1.1"),
                # Without ALPN.
                ("--no-alpn", b"200 1.1"),
            ):
                self.assertEqual(self.facts(secured, "/", version, *trust, scheme="https"), expected)
            body = bytes(range(256)) * 20_000
            sent = ("--data-binary", "@-")
            echoed = self.curl(secured, "/echo", "--http2", *sent, *trust, stdin=body, scheme="https")
            self.assertTrue(echoed == body)
            self.assertEqual(secured.stop(), (4,))

    def h2load(self, running, *arguments, path="/"):
        url = f"http://{LOCALHOST}:{running.port}{path}"
        report = subprocess.check_output(["h2load", *arguments, url], text=True, timeout=2 * DEADLINE)
        print(report, flush=True)
        return report

    def test_h2load(self):
        needs(self, "h2load")
        busy = Server(self)
        for connections, streams in ((1, 100), (16, 10)):
            report = self.h2load(
                busy, "--requests=4000", f"--clients={connections}", f"--max-concurrent-streams={streams}"
            )
            self.assertIn("4000 total, 4000 started, 4000 done, 4000 succeeded, 0 failed, 0 errored", report)
        report = self.h2load(
            busy, "--requests=200", "--clients=2", "--max-concurrent-streams=10", path="/download?bytes=200000"
        )
        self.assertIn("200 done, 200 succeeded, 0 failed, 0 errored", report)
        self.assertEqual(busy.stop(), (8200,))

    def test_requests_of_one_connection_do_not_wait_for_each_other(self):
        needs(self, "nghttp")
        both = Server(self)
        urls = [f"http://{LOCALHOST}:{both.port}{path}" for path in ("/slow?1s", "/", "/nowhere")]
        report = subprocess.check_output(["nghttp", "--stat", "--null-out", *urls], text=True, timeout=DEADLINE)
        # The lines are in the order of the responses' ends.
        order = re.findall(r" (\d+) +\d+ (/\S*)$", report, re.MULTILINE)
        # The two quick requests can end in either order.
        self.assertEqual(sorted(order[:2]), [("200", "/"), ("404", "/nowhere")], report)
        self.assertEqual(order[2:], [("200", "/slow?1s")], report)
        self.assertEqual(both.stop(), (3,))

    def test_a_signal_finishes_requests(self):
        needs(self, "curl")
        draining = Server(self, f"--grace={DEADLINE:.0f}s")
        # A client that never reads or writes again does not delay the end.
        idle = draining.connect()
        idle.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        url = f"http://{LOCALHOST}:{draining.port}/slow?1s"
        slow = subprocess.Popen(["curl", "--silent", "--verbose", HTTP2, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # curl has sent the request.
        for line in slow.stderr:
            if b"> GET /slow" in line:
                break
        # The request has arrived when a later one was answered.
        self.assertEqual(self.curl(draining, "/", HTTP2), b"hello\n")
        draining.signal()
        self.assertEqual(slow.communicate(timeout=DEADLINE)[0], b"done\n")
        frames = receive_to_end(idle)
        # Two GOAWAY frames (type 7): the first with the greatest id, the second with 0.
        self.assertIn(bytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]), frames)
        self.assertIn(bytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), frames)
        self.assertEqual(draining.finish(), (2,))

    def test_connections_that_break(self):
        broken = Server(self)
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
        for sent in (b"P", b"PRI * HTTP/2.0\r\n", preface, preface + settings, preface + b"x" * 100):
            connection = broken.connect()
            connection.sendall(sent)
            connection.close()
        connection = broken.connect()
        connection.sendall(preface + b"\xff" * 100)
        # A frame that is too large: GOAWAY with an error.
        self.assertIn(bytes([7, 0, 0, 0, 0, 0]), receive_to_end(connection))
        connection = broken.connect()
        connection.sendall(b"PRI / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.assertTrue(receive_to_end(connection).startswith(b"HTTP/1.1 "))
        broken.stop()

    def test_flags_are_checked(self):
        first = Server(self)
        second = Server(self, f"--port={first.port}")
        second.assert_refused(f"127.0.0.1:{first.port}", "in use")
        Server(self, "8080").assert_refused("unexpected argument", "--help")


if __name__ == "__main__":
    server.main()
