#!/usr/bin/env -S python3 -B
"""Tests the command line with the server of examples/mini_redis and, if it is installed, with Redis.

The first argument is the server, the second redis_client.
"""

import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "mini_redis" / "system_tests"))
import server_under_test
from server_under_test import DEADLINE, LOCALHOST, Lines, Server

_client = None


class CommandLine(unittest.TestCase):
    """The tests, for either server."""

    redis = False

    def setUp(self):
        self.server = Server(self, redis=self.redis)

    def command(self, *arguments, server=None):
        return [_client, f"--server={server or f'{LOCALHOST}:{self.server.port}'}", *arguments]

    def run_client(self, *arguments, status=0, server=None):
        done = subprocess.run(
            self.command(*arguments, server=server),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
            text=True,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_strings(self):
        self.assertEqual(self.run_client("ping"), "PONG\n")
        self.assertEqual(self.run_client("ping", "hello"), "hello\n")
        self.assertEqual(self.run_client("get", "k"), "(nil)\n")
        self.assertEqual(self.run_client("set", "k", "a b"), "OK\n")
        self.assertEqual(self.run_client("get", "k"), "a b\n")
        self.assertEqual(self.run_client("set", "k", "v", "1h30m"), "OK\n")
        self.assertEqual(self.run_client("get", "k"), "v\n")
        reply = self.server.connect().call("PTTL", "k")
        self.assertTrue(0 < int(reply[1:]) <= 90 * 60 * 1000, reply)

    def test_messages(self):
        subscriber = subprocess.Popen(
            self.command("subscribe", "news", "weather"), stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(subscriber.wait)
        self.addCleanup(subscriber.kill)
        lines = Lines(subscriber.stdout)
        self.assertIsNotNone(lines.wait_for("subscribed"))
        self.assertEqual(self.run_client("publish", "weather", "rain today"), "1\n")
        self.assertEqual(self.run_client("publish", "sport", "1:0"), "0\n")
        self.assertEqual(self.run_client("publish", "news", "more"), "1\n")
        self.assertIsNotNone(lines.wait_for("more"))
        subscriber.send_signal(signal.SIGINT)
        self.assertEqual(subscriber.wait(DEADLINE), 0)
        self.assertEqual(
            lines.wait_for_end(), ["subscribed\n", "weather: rain today\n", "news: more\n"]
        )

    def test_the_server_ends_while_a_client_waits(self):
        subscriber = subprocess.Popen(
            self.command("subscribe", "news"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(subscriber.wait)
        self.addCleanup(subscriber.kill)
        lines, errors = Lines(subscriber.stdout), Lines(subscriber.stderr)
        self.assertIsNotNone(lines.wait_for("subscribed"))
        self.server.stop()
        self.assertEqual(subscriber.wait(DEADLINE), 1)
        self.assertIn("the server closed the connection", "".join(errors.wait_for_end()))

    def test_errors_have_one_line(self):
        port = self.server.port
        self.assertEqual(self.server.connect().call("RPUSH", "list", "x"), b":1\r\n")
        for arguments, words in (
            (("get", "list"), "WRONGTYPE"),
            (("set", "k", "v", "soon"), "'soon' is not a time"),
            (("set", "k", "v", "0s"), "cannot expire after 0"),
            (("get",), "see --help"),
            (("unknown", "k"), "see --help"),
            ((), "see --help"),
        ):
            with self.subTest(arguments):
                errors = self.run_client(*arguments, status=1)
                self.assertIn(words, errors)
                self.assertEqual(errors.count("\n"), 1, errors)
        self.server.stop()
        errors = self.run_client("ping", status=1, server=f"{LOCALHOST}:{port}")
        self.assertIn(f"{LOCALHOST}:{port}", errors)


class RedisTest(CommandLine):
    """The same against Redis itself."""

    redis = True


if __name__ == "__main__":
    _client = sys.argv.pop(2)
    server_under_test.main()
