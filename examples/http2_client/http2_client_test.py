#!/usr/bin/env -S python3 -B
"""Lets the client fetch from the example http2_server, and from nginx and nghttpd, if they are installed."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST, needs

CLIENT = sys.argv.pop(2)

PRIOR = "--prior_knowledge"


def which_server(name):
    """Returns the path of a server, or None. Debian puts servers into a folder that few users' PATH has."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")


class Server(server.Server):
    """The total is the number of requests."""

    totals = r"http2_server: answered (\d+) requests"


def free_port():
    """Returns a port that no program used a moment ago, for servers that cannot choose by themselves."""
    with socket.create_server((LOCALHOST, 0)) as listener:
        return listener.getsockname()[1]


class Http2ClientTest(unittest.TestCase):
    def fetch(self, *arguments):
        """Returns the lines of the client, of which the last has the totals."""
        command = [CLIENT, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def start(self, port, *command):
        """Starts a server, and waits until the server listens."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        end = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection((LOCALHOST, port), timeout=DEADLINE).close()
                return
            except ConnectionRefusedError:
                self.assertIsNone(process.poll(), "the server has ended")
                self.assertLess(time.monotonic(), end, "the server does not listen")
                time.sleep(0.01)

    def certificate(self):
        """Makes a certificate. Returns the folder, which has key.pem and chain.pem."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
                *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
                *("-addext", f"subjectAltName=IP:{LOCALHOST}"),
                *("-keyout", str(path / "key.pem"), "-out", str(path / "chain.pem")),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return path

    def test_requests_share_a_connection(self):
        both = Server(self)
        url = f"http://{LOCALHOST}:{both.port}"
        lines = self.fetch(PRIOR, "--repeat=50", f"{url}/", f"{url}/nowhere")
        self.assertEqual(lines[:50], [f"200 6 {url}/"] * 50)
        self.assertEqual(lines[50:100], [f"404 13 {url}/nowhere"] * 50)
        self.assertEqual(lines[100:], ["http2_client: 100 requests on 1 connections"])
        # Without prior knowledge, each request needs a connection.
        lines = self.fetch("--repeat=3", f"{url}/slow?200ms")
        self.assertEqual(lines[-1], "http2_client: 3 requests on 3 connections")
        self.assertEqual(both.stop(), (103,))

    def test_streams(self):
        both = Server(self)
        url = f"http://{LOCALHOST}:{both.port}"
        lines = self.fetch(PRIOR, "--repeat=4", f"{url}/download?bytes=3000000")
        self.assertEqual(lines[:4], [f"200 3000000 {url}/download?bytes=3000000"] * 4)
        lines = self.fetch(PRIOR, "--repeat=4", "--upload=3000000", f"{url}/echo")
        self.assertEqual(lines[:4], [f"200 3000000 {url}/echo"] * 4)
        both.stop()

    def test_tls_chooses_the_version_by_alpn(self):
        needs(self, "openssl")
        folder = self.certificate()
        secured = Server(self, f"--certificate={folder / 'chain.pem'}", f"--key={folder / 'key.pem'}")
        url = f"https://{LOCALHOST}:{secured.port}/slow?100ms"
        lines = self.fetch(f"--roots={folder / 'chain.pem'}", "--repeat=20", url)
        self.assertEqual(lines[-1], "http2_client: 20 requests on 1 connections")
        secured.stop()

    def test_nginx(self):
        nginx = which_server("nginx")
        if nginx is None:
            needs(self, "nginx")
        needs(self, "openssl")
        folder = self.certificate()
        clear, secured = free_port(), free_port()
        (folder / "large").write_bytes(b"7" * 3_000_000)
        (folder / "nginx.conf").write_text(
            f"""
            daemon off;
            {"user root;" if os.getuid() == 0 else ""}
            master_process off;
            pid {folder}/pid;
            error_log {folder}/errors;
            events {{ }}
            http {{
              access_log off;
              client_body_temp_path {folder}/bodies;
              proxy_temp_path {folder}/proxy;
              fastcgi_temp_path {folder}/fastcgi;
              uwsgi_temp_path {folder}/uwsgi;
              scgi_temp_path {folder}/scgi;
              keepalive_requests 30;
              server {{
                listen {LOCALHOST}:{clear} http2;
                listen {LOCALHOST}:{secured} ssl http2;
                ssl_certificate {folder}/chain.pem;
                ssl_certificate_key {folder}/key.pem;
                root {folder};
                location = /text {{ return 200 "hello"; }}
              }}
            }}
            """
        )
        errors = str(folder / "errors")
        self.start(clear, nginx, "-e", errors, "-p", str(folder), "-c", str(folder / "nginx.conf"))
        for url in (f"http://{LOCALHOST}:{clear}", f"https://{LOCALHOST}:{secured}"):
            flags = (PRIOR, f"--roots={folder / 'chain.pem'}")
            lines = self.fetch(*flags, "--repeat=20", f"{url}/text")
            self.assertEqual(lines[:20], [f"200 5 {url}/text"] * 20)
            self.assertEqual(lines[-1], "http2_client: 20 requests on 1 connections")
            lines = self.fetch(*flags, "--repeat=4", f"{url}/large", f"{url}/nowhere")
            self.assertEqual(lines[:4], [f"200 3000000 {url}/large"] * 4)
            # nginx ends a connection after 30 requests.
            lines = self.fetch(*flags, "--repeat=100", f"{url}/text")
            self.assertEqual(lines[:100], [f"200 5 {url}/text"] * 100)

    def test_nghttpd(self):
        nghttpd = which_server("nghttpd")
        if nghttpd is None:
            needs(self, "nghttpd")
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "large").write_bytes(b"7" * 3_000_000)
            self.start(port, nghttpd, "--no-tls", f"--htdocs={folder}", str(port))
            url = f"http://{LOCALHOST}:{port}/large"
            lines = self.fetch(PRIOR, "--repeat=4", url)
            self.assertEqual(lines[:4], [f"200 3000000 {url}"] * 4)

    def test_flags_are_checked(self):
        done = subprocess.run([CLIENT], stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no URL", done.stderr)


if __name__ == "__main__":
    server.main()
