#!/usr/bin/env -S python3 -B
"""Tests the program with a name server of its own, on Python's sockets."""

import ipaddress
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import unittest

# How long the tests wait for an event before they fail, in seconds.
DEADLINE = 60.0

ADDRESSES = {
    "db.test": ["192.0.2.1", "2001:db8::1"],
    "six.test": ["2001:db8::6"],
    "many.test": [f"192.0.2.{i}" for i in range(100)],
}
TYPES = {1: 4, 28: 6}
NAME_ERROR = 3

_binary = None


def answer(query, by_tcp):
    """Returns the answer to a query, or None for the name of which the server says nothing."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    name = ".".join(labels)
    question = query[12 : at + 5]
    (kind,) = struct.unpack_from("!H", query, at + 1)
    if name == "silent.test":
        return None
    records = []
    for text in ADDRESSES.get(name, []):
        address = ipaddress.ip_address(text)
        if address.version == TYPES.get(kind):
            packed = address.packed
            records.append(struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(packed)) + packed)
    flags = 0x8180 | (0 if name in ADDRESSES else NAME_ERROR)
    if sum(map(len, records)) > 400 and not by_tcp:
        flags |= 0x200  # truncated
        records = []
    return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)


class Udp(socketserver.BaseRequestHandler):
    def handle(self):
        query, client = self.request
        reply = answer(query, by_tcp=False)
        if reply:
            client.sendto(reply, self.client_address)


class Tcp(socketserver.StreamRequestHandler):
    def handle(self):
        while size := self.rfile.read(2):
            reply = answer(self.rfile.read(int.from_bytes(size, "big")), by_tcp=True)
            self.wfile.write(len(reply).to_bytes(2, "big") + reply)


class TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class ResolveTest(unittest.TestCase):
    def setUp(self):
        udp = socketserver.UDPServer(("127.0.0.1", 0), Udp)
        self.server = f"127.0.0.1:{udp.server_address[1]}"
        tcp = TcpServer(udp.server_address, Tcp)
        for server in (udp, tcp):
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)

    def run_resolve(self, *args):
        return subprocess.run(
            [_binary, *args], capture_output=True, text=True, timeout=DEADLINE, check=False
        )

    def resolve(self, *args):
        return self.run_resolve(f"--server={self.server}", *args)

    def test_prints_all_addresses(self):
        result = self.resolve("db.test", "six.test")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            sorted(result.stdout.splitlines()),
            [
                "db.test has address 192.0.2.1",
                "db.test has address [2001:db8::1]",
                "six.test has address [2001:db8::6]",
            ],
        )

    def test_a_long_answer_comes_by_tcp(self):
        result = self.resolve("many.test")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 100)

    def test_a_missing_name_does_not_hide_others(self):
        result = self.resolve("missing.test", "six.test")
        self.assertEqual(result.returncode, 1)
        self.assertIn('"missing.test"', result.stderr)
        self.assertIn("does not exist", result.stderr)
        self.assertEqual(result.stdout, "six.test has address [2001:db8::6]\n")

    def test_a_silent_server_ends_in_time(self):
        result = self.resolve("--timeout=100ms", "silent.test")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"no name server answered ({self.server})", result.stderr)

    def test_asks_the_next_server(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            servers = f"127.0.0.1:{silent.getsockname()[1]},{self.server}"
            result = self.run_resolve(f"--server={servers}", "--timeout=100ms", "six.test")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_system_knows_this_machine(self):
        for args in (["--system"], []):
            result = self.run_resolve(*args, "localhost")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"localhost has address (127\.0\.0\.1|\[::1\])")

    def test_flags_are_checked(self):
        self.assertIn("no name is given", self.run_resolve().stderr)
        self.assertIn("--server=x: write", self.run_resolve("--server=x", "db.test").stderr)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
