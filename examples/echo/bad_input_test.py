#!/usr/bin/env -S python3 -B
"""Tests that the echo server refuses bad input with a line that says what to do, and status 1."""

import unittest

import server_under_test
from server_under_test import Server, echo


class BadInputTest(unittest.TestCase):
    def assert_refused(self, flag, *expected):
        server = Server(self, flag)
        status, errors = server.wait_for_exit()
        self.assertEqual(status, 1, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertTrue(errors.endswith("\n"), errors)
        for words in expected:
            self.assertIn(words, errors)
        self.assertEqual(server.stdout.wait_for_end(), [])

    def test_a_port_in_use(self):
        first = Server(self)
        port = first.port
        self.assert_refused(
            f"--port={port}", f"127.0.0.1:{port}", "in use", "choose another --port"
        )
        with first.connect() as connection:
            self.assertEqual(echo(connection, b"still there"), b"still there")
        self.assertEqual(first.stop()[0], 1)

    def test_flags(self):
        number = "choose a number from 0 to "
        duration = "choose a duration that is not negative, such as 200ms"
        for flag, *expected in (
            ("--port=70000", "'port'", "'70000'", number + "65535"),
            ("--port=65536", "'port'", "'65536'", number + "65535"),
            ("--port=-1", "'port'", "'-1'", number + "65535"),
            ("--port=abc", "'port'", "'abc'", number + "65535"),
            ("--port=", "'port'", "''", number + "65535"),
            ("--port=99999999999999999999", "'port'", number + "65535"),
            ("--port", "--port needs a value"),
            ("--workers=1025", "'workers'", number + "1024"),
            ("--workers=two", "'workers'", "'two'", number + "1024"),
            ("--idle_timeout=-1s", "'idle_timeout'", "'-1s'", duration),
            ("--idle_timeout=5", "'idle_timeout'", "'5'", duration),
            ("--grace=-200ms", "'grace'", "'-200ms'", duration),
            ("--grace=-inf", "'grace'", "'-inf'", duration),
            ("--grace=soon", "'grace'", "'soon'", duration),
            ("--colour=red", "unknown flag --colour", "--help"),
            ("--prot=7777", "unknown flag --prot", "--help"),
            ("7777", 'unexpected argument "7777"', "--help"),
        ):
            with self.subTest(flag):
                self.assert_refused(flag, *expected)


if __name__ == "__main__":
    server_under_test.main()
