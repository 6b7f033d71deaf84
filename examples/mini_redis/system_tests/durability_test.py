#!/usr/bin/env -S python3 -B
"""Tests that the log keeps what was acknowledged, whatever happens to the server."""

import os
import random
import tempfile
import threading
import unittest

import server_under_test
from server_under_test import Server, encode, is_redis, parse

ROUNDS = 8
WRITERS = 8

# Number of keys that are checked with one request.
BATCH = 500


class Writer(threading.Thread):
    """Sets keys to growing numbers, in a pipeline, until the connection ends."""

    def __init__(self, server, name, first):
        super().__init__(daemon=True)
        self.name = name
        self.first = first
        self.acknowledged = first - 1
        self.sent = first - 1
        self._connection = server.connect()

    def run(self):
        depth = 1 + hash(self.name) % 8
        try:
            while True:
                numbers = range(self.sent + 1, self.sent + 1 + depth)
                self.sent = numbers[-1]
                self._connection.send_bytes(
                    b"".join(encode("SET", f"{self.name}:{i}", i) for i in numbers)
                )
                for i in numbers:
                    if self._connection.reply() != b"+OK\r\n":
                        return
                    self.acknowledged = i
        except (OSError, EOFError):
            pass


class DurabilityTest(unittest.TestCase):
    def start(self, folder, *flags):
        return Server(self, "--appendonly", f"--dir={folder}", *flags)

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_nothing_acknowledged_is_lost_when_the_server_is_killed(self):
        folder = self.folder()
        choices = random.Random(1)
        numbers = {f"w{i}": 0 for i in range(WRITERS)}
        for _ in range(ROUNDS):
            server = self.start(folder, "--appendfsync=always")
            writers = [Writer(server, name, number + 1) for name, number in numbers.items()]
            for writer in writers:
                writer.start()
            enough = choices.randrange(20, 200)
            server_under_test.wait_until(
                self,
                lambda: sum(w.acknowledged - w.first + 1 for w in writers) >= enough,
                "the server acknowledges nothing",
            )
            server.kill()
            for writer in writers:
                writer.join(server_under_test.DEADLINE)

            server = self.start(folder, "--appendfsync=always")
            connection = server.connect()
            for writer in writers:
                for first in range(1, writer.acknowledged + 1, BATCH):
                    batch = range(first, min(first + BATCH, writer.acknowledged + 1))
                    reply = connection.call("MGET", *(f"{writer.name}:{i}" for i in batch))
                    self.assertEqual(parse(reply), [b"%d" % i for i in batch], writer.name)
                # What was sent and not acknowledged can be there or not. The next round sets it again.
                numbers[writer.name] = writer.acknowledged
            connection.close()
            server.stop()

    def test_the_log_restores_every_kind_of_change(self):
        folder = self.folder()
        server = self.start(folder)
        connection = server.connect()
        for request in (
            "SET s v",
            "SET gone v",
            "DEL gone",
            "INCRBY n 5",
            "DECR n",
            "APPEND s w",
            "MSET a 1 b 2",
            "RPUSH l 1 2 3 4",
            "LPOP l",
            "RPOP l",
            "BLPOP l 1",
            "SET ex v EX 1000",
            "EXPIRE a 1000",
            "SET pers v EX 1000",
            "PERSIST pers",
            "SET soon v PX 1",
            "SELECT 3",
            "SET in3 v",
            "SELECT 0",
            "MULTI",
            "SET t1 1",
            "INCR t1",
            "EXEC",
            "SET bin \x00\r\n",
        ):
            reply = connection.call(*request.split(" "))
            self.assertFalse(reply.startswith(b"-"), (request, reply))
        server.stop()

        server = self.start(folder)
        connection = server.connect()
        for request, expected in (
            ("GET s", b"vw"),
            ("GET gone", None),
            ("GET n", b"4"),
            ("MGET a b", [b"1", b"2"]),
            ("LRANGE l 0 -1", [b"3"]),
            ("TTL pers", -1),
            ("GET soon", None),
            ("GET t1", b"2"),
            ("GET bin", b"\x00\r\n"),
            ("GET in3", None),
        ):
            self.assertEqual(parse(connection.call(*request.split(" "))), expected, request)
        for key in ("ex", "a"):
            self.assertIn(parse(connection.call("TTL", key)), range(1, 1001))
        connection.call("SELECT", 3)
        self.assertEqual(parse(connection.call("GET", "in3")), b"v")
        self.assertEqual(connection.call("FLUSHALL"), b"+OK\r\n")
        server.stop()

        server = self.start(folder)
        self.assertEqual(server.connect().call("DBSIZE"), b":0\r\n")
        server.stop()

    def test_the_cut_off_end_of_the_log_is_removed_with_a_warning(self):
        folder = self.folder()
        server = self.start(folder, "--appendfsync=always")
        connection = server.connect()
        connection.call("SET", "first", "1")
        path = server.log_file()
        whole = os.path.getsize(path)
        connection.call("SET", "last", "2")
        server.stop()
        with open(path, "rb") as log:
            content = log.read()
        for size in range(whole + 1, len(content)):
            with open(path, "wb") as log:
                log.write(content[:size])
            server = self.start(folder)
            connection = server.connect()
            self.assertEqual(parse(connection.call("MGET", "first", "last")), [b"1", None], size)
            # The log goes on where it was cut.
            self.assertEqual(connection.call("SET", "next", "3"), b"+OK\r\n")
            errors = server.stop()
            if not server.is_redis:
                self.assertIn(os.path.basename(path), errors, size)
                self.assertRegex(errors, r"(?i)cut|truncated", size)
            server = self.start(folder)
            connection = server.connect()
            self.assertEqual(parse(connection.call("MGET", "first", "next")), [b"1", b"3"], size)
            server.stop()

    def test_a_log_that_is_not_a_log_is_refused(self):
        if is_redis():
            self.skipTest("Redis prints its errors elsewhere")
        folder = self.folder()
        server = self.start(folder)
        server.connect().call("SET", "k", "v")
        path = server.log_file()
        server.stop()
        with open(path, "r+b") as log:
            log.write(b"garbage\r\n")
        server = self.start(folder)
        self.assertNotEqual(server.process.wait(server_under_test.DEADLINE), 0)
        errors = "".join(server.stderr.wait_for_end())
        self.assertIn(os.path.basename(path), errors)
        with open(path, "rb") as log:
            self.assertTrue(log.read().startswith(b"garbage"))

    def test_every_way_to_flush_keeps_everything_at_an_orderly_end(self):
        for fsync in ("always", "everysec", "no"):
            with self.subTest(fsync):
                folder = self.folder()
                server = self.start(folder, f"--appendfsync={fsync}")
                connection = server.connect()
                requests = b"".join(encode("SET", f"k{i}", i) for i in range(1000))
                connection.send_bytes(requests)
                for _ in range(1000):
                    self.assertEqual(connection.reply(), b"+OK\r\n")
                server.stop()
                server = self.start(folder)
                self.assertEqual(server.connect().call("DBSIZE"), b":1000\r\n")
                server.stop()


if __name__ == "__main__":
    server_under_test.main()
