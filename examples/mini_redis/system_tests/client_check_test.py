#!/usr/bin/env -S python3 -B
"""Tests the C++ client with the server: the first argument is the server, the second client_check."""

import subprocess
import sys
import unittest

import server_under_test
from server_under_test import DEADLINE, LOCALHOST, Server

_client_check = None


class ClientTest(unittest.TestCase):
    def test_the_client_works_with_the_server(self):
        server = Server(self)
        done = subprocess.run(
            [_client_check, f"{LOCALHOST}:{server.port}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=4 * DEADLINE,
            check=False,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok\n", ""))
        server.stop()


if __name__ == "__main__":
    _client_check = sys.argv.pop(2)
    server_under_test.main()
