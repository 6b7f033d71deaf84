#!/usr/bin/env -S python3 -B
"""Tests that the echo server refuses bad input with a line that says what to do, and status 1."""

import unittest

import server_under_test
from server_under_test import Server, echo


class BadInputTest(unittest.TestCase):
    def test_a_port_in_use(self):
        first = Server(self)
        port = first.port
        second = Server(self, f"--port={port}")
        second.assert_refused(f"127.0.0.1:{port}", "in use", "choose another --port")
        with first.connect() as connection:
            self.assertEqual(echo(connection, b"still there"), b"still there")
        self.assertEqual(first.stop()[0], 1)

    def test_invalid_flags(self):
        for flag, *expected in (
            ("--port=70000", "'port'", "'70000'"),
            ("--port=-1", "'port'", "'-1'"),
            ("--port=", "'port'", "''"),
            ("--port", "Missing the value", "'port'"),
            ("--idle_timeout=5", "'idle_timeout'", "'5'"),
            ("--idle_timeout=-1s", "INVALID_ARGUMENT", "--idle_timeout", "must not be negative"),
            ("--grace=soon", "'grace'", "'soon'"),
            ("--grace=-inf", "INVALID_ARGUMENT", "--grace", "must not be negative"),
            ("--prot=7777", "Unknown command line flag 'prot'", "Did you mean: port"),
            ("7777", "unexpected argument", "--help"),
        ):
            with self.subTest(flag):
                Server(self, flag).assert_refused(*expected)


if __name__ == "__main__":
    server_under_test.main()
