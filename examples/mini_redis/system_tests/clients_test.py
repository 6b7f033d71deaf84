#!/usr/bin/env -S python3 -B
"""Tests the server with other clients: redis-cli, redis-benchmark and python3-redis."""

import os
import re
import subprocess
import sys
import threading
import unittest

import server_under_test
from server_under_test import DEADLINE, LOCALHOST, Server, find_program, wait_until


def import_redis():
    """Returns the module of Debian's package python3-redis, or skips the test with a message."""
    # A python3 that is not Debian's does not search here.
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import redis  # pylint: disable=import-outside-toplevel
    except ImportError:
        message = "the module redis is not installed; on Debian, install the package python3-redis"
        print(f"SKIPPED: {message}", flush=True)
        raise unittest.SkipTest(message) from None
    return redis


class RedisCliTest(unittest.TestCase):
    def setUp(self):
        self.program = find_program("redis-cli")
        self.server = Server(self)

    def cli(self, *arguments, text=""):
        command = [self.program, "-h", LOCALHOST, "-p", str(self.server.port), *arguments]
        # redis-cli reads a file in the home directory.
        return subprocess.run(
            command,
            input=text,
            env={**os.environ, "HOME": self.server.dir},
            capture_output=True,
            timeout=DEADLINE,
            check=True,
            text=True,
        ).stdout

    def test_commands_on_the_command_line(self):
        self.assertEqual(self.cli("PING"), "PONG\n")
        self.assertEqual(self.cli("SET", "k", "a b"), "OK\n")
        self.assertEqual(self.cli("GET", "k"), "a b\n")
        self.assertEqual(self.cli("-3", "GET", "missing"), "\n")
        self.assertEqual(self.cli("--no-raw", "RPUSH", "l", "x"), "(integer) 1\n")

    def test_a_script(self):
        script = "SET n 1\nINCR n\nMULTI\nINCR n\nEXEC\nLRANGE none 0 -1\nNOSUCH\n"
        self.assertEqual(
            self.cli("--no-raw", text=script).strip(),
            "OK\n(integer) 2\nOK\nQUEUED\n1) (integer) 3\n(empty array)\n"
            "(error) ERR unknown command 'NOSUCH', with args beginning with:",
        )

    def test_mass_insertion_in_a_pipe(self):
        requests = b"".join(server_under_test.encode("SET", f"k{i}", i) for i in range(10000))
        output = self.cli("--pipe", text=requests.decode())
        self.assertIn("errors: 0, replies: 10000", output)
        self.assertEqual(self.cli("DBSIZE"), "10000\n")

    def test_scan(self):
        for i in range(25):
            self.server.connect().call("SET", f"k{i}", i)
        found = self.cli("--scan", "--pattern", "k*").split()
        self.assertEqual(sorted(found), sorted(f"k{i}" for i in range(25)))


class RedisBenchmarkTest(unittest.TestCase):
    def test_completes_with_pipelining(self):
        program = find_program("redis-benchmark")
        server = Server(self)
        for flags in (["-P", "16"], ["-P", "1", "--threads", "2"], ["-P", "16", "-3"]):
            with self.subTest(flags):
                command = [program, "-h", LOCALHOST, "-p", str(server.port), "-q", "--csv"]
                command += ["-n", "20000", "-c", "50", "-r", "1000", "-t", "get,set,incr,lpush,lpop"]
                done = subprocess.run(
                    command + flags,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=4 * DEADLINE,
                    check=False,
                    text=True,
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                tests = re.findall(r'^"([A-Z]+)"', done.stdout, re.MULTILINE)
                self.assertEqual(tests, ["SET", "GET", "INCR", "LPUSH", "LPOP"], done.stdout)
        self.assertEqual(server.connect().call("PING"), b"+PONG\r\n")
        server.stop()


class PythonRedisTest(unittest.TestCase):
    def setUp(self):
        redis = import_redis()
        self.errors = redis.exceptions
        self.server = Server(self)
        self.client = redis.Redis(host=LOCALHOST, port=self.server.port, socket_timeout=DEADLINE)
        self.addCleanup(self.client.close)

    def test_strings_and_lists(self):
        client = self.client
        self.assertTrue(client.ping())
        self.assertTrue(client.set("k", "v", ex=100))
        self.assertEqual(client.get("k"), b"v")
        self.assertLessEqual(client.ttl("k"), 100)
        self.assertIsNone(client.set("k", "w", nx=True))
        self.assertEqual(client.incr("n", 5), 5)
        self.assertEqual(client.mget("k", "none"), [b"v", None])
        self.assertEqual(client.rpush("l", 1, 2, 3), 3)
        self.assertEqual(client.lrange("l", 0, -1), [b"1", b"2", b"3"])
        self.assertEqual(client.blpop("l", timeout=5), (b"l", b"1"))
        self.assertEqual(sorted(client.scan_iter()), [b"k", b"l", b"n"])
        self.assertEqual(client.dbsize(), 3)
        with self.assertRaisesRegex(self.errors.ResponseError, "WRONGTYPE"):
            client.incr("l")
        self.assertTrue(client.flushall())

    def test_what_the_server_says_of_itself(self):
        self.assertIn("redis_version", self.client.info())
        self.assertEqual(self.client.config_get("appendonly"), {"appendonly": "no"})
        self.assertTrue(self.client.client_setname("py"))
        self.assertIn("py", [each["name"] for each in self.client.client_list()])

    def test_a_pipeline_and_a_transaction(self):
        with self.client.pipeline(transaction=False) as pipe:
            for i in range(1000):
                pipe.set(f"k{i}", i)
            self.assertEqual(pipe.execute(), [True] * 1000)
        with self.client.pipeline(transaction=True) as pipe:
            pipe.incr("n").incr("n").get("k7")
            self.assertEqual(pipe.execute(), [1, 2, b"7"])

    def test_publish_and_subscribe(self):
        subscriber = self.client.pubsub(ignore_subscribe_messages=True)
        self.addCleanup(subscriber.close)
        subscriber.subscribe("news")
        subscriber.psubscribe("wea*")
        wait_until(
            self,
            lambda: subscriber.get_message() or self.client.publish("weather", "rain") == 1,
            "no subscription arrives at the server",
        )
        self.assertEqual(self.client.publish("news", "hello"), 1)
        messages = []
        while len(messages) < 2:
            message = subscriber.get_message(timeout=DEADLINE)
            if message is not None:
                messages.append(message)
        self.assertEqual(messages[0]["type"], "pmessage")
        self.assertEqual(messages[0]["data"], b"rain")
        self.assertEqual(messages[1]["type"], "message")
        self.assertEqual(messages[1]["data"], b"hello")

    def test_threads_count_together(self):
        def count():
            for _ in range(200):
                self.client.incr("n")

        threads = [threading.Thread(target=count, daemon=True) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        self.assertEqual(self.client.get("n"), b"1600")


if __name__ == "__main__":
    server_under_test.main()
