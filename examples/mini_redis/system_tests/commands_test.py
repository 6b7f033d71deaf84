#!/usr/bin/env -S python3 -B
"""Compares the server's replies with those of Redis, byte for byte.

commands.txt contains requests and the replies of Redis 7.0. Where redis-server is installed, the test
also sends the requests to that. To record the replies anew, from the folder of this file:

    RECORD=commands.txt ./commands_test.py /usr/bin/redis-server

A line of commands.txt is a step. The first word is the name of a connection, and a sign:

    a> SET k v     sends a request, and receives the reply
    a! BLPOP k 0   sends a request, and receives nothing
    a+             receives another reply
    a. HELLO 3     sends a request, and ignores the reply
    a~ KEYS *      like ">", but the elements of the reply can be in any order
    a# PTTL k      like ">", but the numbers in the reply can differ
    < +OK\\r\\n      the reply to the step before
"""

import os
import re
import unittest

import server_under_test
from server_under_test import Server, is_redis, parse, split_words

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "commands.txt")


def escape(reply):
    return reply.decode("latin-1").encode("unicode_escape").decode()


def unescape(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def read_script():
    """Returns sections: names, with their steps and the recorded replies."""
    sections = []
    with open(SCRIPT, encoding="utf-8") as script:
        for line in script:
            line = line.rstrip("\n")
            if line.startswith("# "):
                sections.append((line[2:], []))
            elif line.startswith("< "):
                sections[-1][1][-1][1] = unescape(line[2:])
            elif line and not line.startswith("//"):
                sections[-1][1].append([line, None])
    return sections


def normalize(sign, reply):
    """Removes from the reply what can differ."""
    if sign == "~":
        return repr(sorted(parse(reply)))
    if sign == "#":
        return re.sub(rb"\d+", b"N", reply)
    return reply


def run_steps(server, steps):
    """Yields each step with the sign and the reply."""
    connections = {}
    try:
        for step, _ in steps:
            name, _, request = step.partition(" ")
            name, sign = name[:-1], name[-1]
            if name not in connections:
                connections[name] = server.connect()
            connection = connections[name]
            if sign != "+":
                connection.send(*split_words(request))
            yield step, sign, None if sign == "!" else connection.reply()
    finally:
        for connection in connections.values():
            connection.close()


class CommandsTest(unittest.TestCase):
    maxDiff = None

    def test_replies_are_those_of_redis_7_0(self):
        server = Server(self)
        for name, steps in read_script():
            with self.subTest(name):
                for (step, sign, reply), (_, expected) in zip(run_steps(server, steps), steps):
                    if sign in "!.":
                        continue
                    self.assertIsNotNone(expected, f"{step} has no recorded reply")
                    self.assertEqual(normalize(sign, reply), normalize(sign, expected), step)
            server.connect().call("FLUSHALL")
        server.stop()

    def test_replies_are_those_of_the_installed_redis(self):
        if is_redis():
            self.skipTest("the server is Redis itself")
        redis = Server(self, redis=True)
        server = Server(self)
        for name, steps in read_script():
            with self.subTest(name):
                for (step, sign, ours), (_, _, theirs) in zip(
                    run_steps(server, steps), run_steps(redis, steps)
                ):
                    if sign not in "!.":
                        self.assertEqual(normalize(sign, ours), normalize(sign, theirs), step)
            for each in (server, redis):
                each.connect().call("FLUSHALL")
        server.stop()

    def test_record(self):
        if "RECORD" not in os.environ:
            self.skipTest("only to record the replies anew")
        server = Server(self)
        lines = []
        with open(SCRIPT, encoding="utf-8") as script:
            lines += [line.rstrip("\n") for line in script if line.startswith("//")]
        for name, steps in read_script():
            lines += ["", f"# {name}"]
            for step, sign, reply in run_steps(server, steps):
                lines.append(step)
                if sign not in "!.":
                    lines.append(f"< {escape(reply)}")
            server.connect().call("FLUSHALL")
        with open(os.environ["RECORD"], "w", encoding="utf-8") as script:
            script.write("\n".join(lines) + "\n")


class ServerCommandsTest(unittest.TestCase):
    """Commands whose replies depend on the server, so that only their form is comparable."""

    def setUp(self):
        self.server = Server(self)
        self.a = self.server.connect()

    def test_hello(self):
        for version in (2, 3):
            reply = parse(self.a.call("HELLO", version))
            if version == 2:
                reply = dict(zip(reply[::2], reply[1::2]))
            self.assertEqual(reply[b"proto"], version)
            self.assertEqual(reply[b"server"], b"redis")
            self.assertEqual(reply[b"role"], b"master")
            self.assertEqual(reply[b"mode"], b"standalone")
            self.assertIn(b"version", reply)
            self.assertEqual(reply[b"id"], parse(self.a.call("CLIENT", "ID")))
        self.assertEqual(self.a.call("GET", "missing"), b"_\r\n")

    def test_info(self):
        info = parse(self.a.call("INFO")).decode()
        self.assertIn("# Server\r\n", info)
        self.assertRegex(info, r"\r\nredis_version:\d+\.\d+")
        self.assertIn(f"\r\ntcp_port:{self.server.port}\r\n", info)
        self.assertIn("\r\nconnected_clients:1\r\n", info)
        self.a.call("SET", "k", "v")
        self.assertRegex(parse(self.a.call("INFO", "keyspace")).decode(), r"db0:keys=1,expires=0")

    def test_command(self):
        commands = parse(self.a.call("COMMAND"))
        self.assertEqual(len(commands), parse(self.a.call("COMMAND", "COUNT")))
        names = {command[0].lower() for command in commands}
        self.assertLessEqual({b"get", b"set", b"blpop", b"multi", b"subscribe"}, names)

    def test_config_get(self):
        reply = parse(self.a.call("CONFIG", "GET", "appendonly"))
        self.assertEqual(reply, [b"appendonly", b"no"])
        # redis-benchmark asks for these two.
        for name in (b"save", b"appendonly"):
            self.assertEqual(parse(self.a.call("CONFIG", "GET", name))[0], name)

    def test_clients_are_listed_and_killed(self):
        b = self.server.connect()
        self.assertEqual(b.call("CLIENT", "SETNAME", "bob"), b"+OK\r\n")
        self.assertEqual(parse(b.call("CLIENT", "GETNAME")), b"bob")
        number = parse(b.call("CLIENT", "ID"))
        lines = parse(self.a.call("CLIENT", "LIST")).decode().splitlines()
        self.assertEqual(len(lines), 2)
        clients = [dict(field.split("=", 1) for field in line.split()) for line in lines]
        fields = next(each for each in clients if each["id"] == str(number))
        self.assertEqual(fields["name"], "bob")
        self.assertEqual(fields["addr"], "127.0.0.1:%d" % b.socket.getsockname()[1])
        self.assertEqual(self.a.call("CLIENT", "KILL", "ID", number), b":1\r\n")
        self.assertEqual(b.read_to_end(), b"")
        self.assertEqual(self.a.call("CLIENT", "KILL", "ID", number), b":0\r\n")
        c = self.server.connect()
        c.call("PING")
        address = "127.0.0.1:%d" % c.socket.getsockname()[1]
        self.assertEqual(self.a.call("CLIENT", "KILL", address), b"+OK\r\n")
        self.assertEqual(c.read_to_end(), b"")

    def test_a_client_of_version_3_receives_its_own_message(self):
        self.a.call("HELLO", 3)
        self.a.call("SUBSCRIBE", "news")
        # Version 3 leaves open whether the message or the reply comes first.
        replies = {self.a.call("PUBLISH", "news", "self"), self.a.reply()}
        message = b">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\nself\r\n"
        self.assertEqual(replies, {b":1\r\n", message})

    def test_quit_ends_the_connection_after_the_replies(self):
        self.a.send_bytes(b"PING\r\nQUIT\r\nPING\r\n")
        self.assertEqual(self.a.read_to_end(), b"+PONG\r\n+OK\r\n")

    def test_shutdown_ends_the_server(self):
        self.a.send("SHUTDOWN", "NOSAVE")
        self.assertEqual(self.a.read_to_end(), b"")
        self.server.finish()

    def test_scan_finds_every_key(self):
        for i in range(1000):
            self.a.send("SET", f"key{i}", i)
        for i in range(1000):
            self.assertEqual(self.a.reply(), b"+OK\r\n")
        found = set()
        cursor = b"0"
        while True:
            cursor, keys = parse(self.a.call("SCAN", cursor, "COUNT", 50))
            found.update(keys)
            if cursor == b"0":
                break
        self.assertEqual(found, {b"key%d" % i for i in range(1000)})

    def test_a_key_expires(self):
        self.a.call("SET", "k", "v", "PX", 50)
        b = self.server.connect()
        server_under_test.wait_until(
            self, lambda: b.call("EXISTS", "k") == b":0\r\n", "the key does not expire"
        )
        self.assertEqual(self.a.call("GET", "k"), b"$-1\r\n")
        self.assertEqual(self.a.call("TTL", "k"), b":-2\r\n")
        self.assertEqual(self.a.call("DBSIZE"), b":0\r\n")

    def test_a_blocked_pop_times_out(self):
        self.assertEqual(self.a.call("BLPOP", "k", "0.05"), b"*-1\r\n")
        self.assertEqual(self.a.call("PING"), b"+PONG\r\n")


if __name__ == "__main__":
    server_under_test.main()
