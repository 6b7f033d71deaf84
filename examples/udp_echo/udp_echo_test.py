#!/usr/bin/env -S python3 -B
"""Tests the UDP echo server with Python's sockets: it answers each datagram, and counts them."""

import os
import pathlib
import socket
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE, LOCALHOST

# The largest datagram of IPv4.
LARGEST = 65507


class Server(server.Server):
    """The totals are the numbers of datagrams, of bytes, and of datagrams without an answer."""

    totals = r"udp_echo: echoed (\d+) datagrams, (\d+) bytes; (\d+) not answered"


class UdpEchoTest(unittest.TestCase):
    def client(self, port):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(client.close)
        client.settimeout(DEADLINE)
        client.connect((LOCALHOST, port))
        return client

    def assert_echoed(self, client, datagram):
        client.send(datagram)
        self.assertTrue(client.recv(65536) == datagram, len(datagram))

    def test_datagrams_of_all_sizes(self):
        echo = Server(self)
        client = self.client(echo.port)
        sizes = (0, 1, 1500, LARGEST, 0, 17)
        for size in sizes:
            self.assert_echoed(client, os.urandom(size))
        self.assertEqual(echo.stop(), (len(sizes), sum(sizes), 0))

    def test_each_client_gets_its_own_datagrams(self):
        echo = Server(self)
        clients = [self.client(echo.port) for _ in range(100)]
        for number, client in enumerate(clients):
            client.send(b"%d" % number)
        for number, client in enumerate(clients):
            self.assertEqual(client.recv(100), b"%d" % number)
        self.assertEqual(echo.stop(), (100, 10 + 90 * 2, 0))

    def test_a_client_that_has_ended_does_not_disturb_others(self):
        echo = Server(self)
        client = self.client(echo.port)
        for _ in range(100):
            with self.client(echo.port) as ended:
                ended.send(b"nobody reads the answer")
            self.assert_echoed(client, b"hello")
        self.assertEqual(echo.stop()[0], 200)

    def test_a_client_that_cannot_be_answered_does_not_disturb_others(self):
        echo = Server(self)
        client = self.client(echo.port)
        try:
            raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
        except PermissionError:
            self.skipTest("only root can send a datagram from port 0")
        with raw:
            # A header of UDP: the ports, the length, and no checksum. No answer can reach port 0.
            header = b"".join(n.to_bytes(2, "big") for n in (0, echo.port, 8 + 5, 0))
            raw.sendto(header + b"hello", (LOCALHOST, 0))
        self.assertRegex(echo.stderr.wait(1)[0], "cannot answer: .*sendto 127.0.0.1:0")
        self.assert_echoed(client, b"still there")
        self.assertEqual(echo.stop(stderr=".*\n"), (1, len(b"still there"), 1))

    def test_flags_are_checked(self):
        echo = Server(self)
        second = Server(self, f"--port={echo.port}")
        second.assert_refused(f"127.0.0.1:{echo.port}", "in use", "choose another --port")
        Server(self, "7777").assert_refused("unexpected argument", "--help")
        self.assertEqual(echo.stop(), (0, 0, 0))


if __name__ == "__main__":
    server.main()
