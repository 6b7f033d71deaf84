#!/usr/bin/env -S python3 -B
"""Tests the HTTPS server with curl, with `openssl s_client`, and with Python's client."""

import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, needs, receive_to_end

HELLO = b"hello\n"


class Server(server.Server):
    """The totals are the numbers of answers and of connections."""

    totals = r"https_hello: answered (\d+) requests on (\d+) connections"


def run(*command, stdin=b""):
    return subprocess.run(
        command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE
    )


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class HttpsHelloTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.make("server", "localhost")
        cls.make("client", "alice")

    @classmethod
    def make(cls, name, host):
        """Makes a self-signed certificate NAME.pem, and its key NAME.key."""
        made = run(
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"),
            *("ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={host}"),
            *("-addext", f"subjectAltName=DNS:{host},IP:{LOCALHOST}"),
            *("-keyout", cls.folder / f"{name}.key", "-out", cls.folder / f"{name}.pem"),
        )
        assert made.returncode == 0, made.stderr

    def path(self, name):
        return str(self.folder / name)

    def start(self, *flags):
        return Server(
            self,
            f"--certificate={self.path('server.pem')}",
            f"--key={self.path('server.key')}",
            *flags,
        )

    def curl(self, hello, *arguments):
        needs(self, "curl")
        return run(
            *("curl", "--silent", "--show-error", "--noproxy", "*"),
            *("--max-time", str(DEADLINE), "--resolve", f"localhost:{hello.port}:{LOCALHOST}"),
            *arguments,
        )

    def test_curl(self):
        hello = self.start()
        url = f"https://localhost:{hello.port}/"
        trust = ("--cacert", self.path("server.pem"))
        for version in ("1.2", "1.3"):
            limits = (f"--tlsv{version}", "--tls-max", version)
            # Two requests on one connection, which curl reuses.
            done = self.curl(hello, *trust, *limits, url, url)
            self.assertEqual((done.returncode, done.stdout), (0, HELLO * 2), done.stderr)
        code = self.curl(
            hello, *trust, "--output", "/dev/null", "--write-out", "%{http_code}", url + "other"
        )
        self.assertEqual(code.stdout, b"404")
        # Without the certificate, curl does not trust the server, and the server logs why.
        self.assertEqual(self.curl(hello, url).returncode, 60)
        answers, connections = hello.stop(stderr=r"(?s:.*the client 127\.0\.0\.1:.*)")
        self.assertEqual((answers, connections), (5, 4))

    def test_openssl(self):
        hello = self.start()
        done = run(
            *("openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile"),
            *(self.path("server.pem"), "-verify_hostname", "localhost"),
            *("-servername", "localhost", "-connect", f"{LOCALHOST}:{hello.port}"),
            stdin=b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )
        self.assertIn(HELLO, done.stdout, done.stderr)
        self.assertEqual(hello.stop(), (1, 1))

    def test_client_certificates(self):
        hello = self.start(f"--client_roots={self.path('client.pem')}")
        url = f"https://localhost:{hello.port}/"
        trust = ("--cacert", self.path("server.pem"))
        own = ("--cert", self.path("client.pem"), "--key", self.path("client.key"))
        self.assertEqual(self.curl(hello, *trust, *own, url).stdout, b"hello CN=alice\n")
        self.assertNotEqual(self.curl(hello, *trust, url).returncode, 0)
        answers, connections = hello.stop(stderr=r"(?s:.*RequireClientCertificate.*)")
        self.assertEqual((answers, connections), (1, 2))

    def test_python_resumes_its_session(self):
        hello = self.start()
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        session = None
        for i in range(2):
            with socket.create_connection((LOCALHOST, hello.port), DEADLINE) as connection:
                with context.wrap_socket(
                    connection, server_hostname="localhost", session=session
                ) as client:
                    self.assertEqual(client.session_reused, i > 0)
                    client.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
                    received = receive_to_end(client)
                    self.assertTrue(received.endswith(HELLO), received)
                    session = client.session
        self.assertEqual(hello.stop(), (2, 2))

    def test_a_client_that_says_nothing(self):
        hello = self.start("--handshake_timeout=200ms")
        self.assertEqual(hello.connect().recv(1), b"")
        hello.stop(stderr=r"(?s:.*DEADLINE_EXCEEDED.*)")

    def test_an_idle_connection_is_closed(self):
        hello = self.start("--idle_timeout=200ms")
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        with context.wrap_socket(hello.connect(), server_hostname="localhost") as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            received = receive_to_end(client)
            self.assertTrue(received.endswith(HELLO), received)
        self.assertEqual(hello.stop(), (1, 1))

    def test_a_connection_lasts_longer_than_its_idle_time(self):
        hello = self.start("--idle_timeout=3s")
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        count = 0
        with context.wrap_socket(hello.connect(), server_hostname="localhost") as client:
            end = time.monotonic() + 4
            while time.monotonic() < end:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                received = b""
                while not received.endswith(HELLO):
                    part = client.recv(1000)
                    self.assertNotEqual(part, b"", "the server has closed the connection")
                    received += part
                count += 1
            client.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
            receive_to_end(client)
            count += 1
        self.assertEqual(hello.stop(), (count, 1))

    def test_a_request_that_does_not_end(self):
        hello = self.start("--request_timeout=200ms")
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        with context.wrap_socket(hello.connect(), server_hostname="localhost") as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            self.assertEqual(client.recv(1), b"")
        hello.stop(stderr=r"(?s:.*DEADLINE_EXCEEDED.*)")

    def test_an_idle_connection_ends_with_the_server(self):
        hello = self.start()
        context = ssl.create_default_context(cafile=self.path("server.pem"))
        with context.wrap_socket(hello.connect(), server_hostname="localhost"):
            self.assertEqual(hello.stop(), (0, 1))

    def test_flags_are_checked(self):
        Server(self, "8443").assert_refused("unexpected argument", "--help")
        Server(self, "--certificate=no/such.pem", "--key=k").assert_refused(
            "no/such.pem", "No such file"
        )


if __name__ == "__main__":
    server.main()
