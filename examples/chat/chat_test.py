#!/usr/bin/env -S python3 -B
"""Tests the chat server with two clients of socat, if it is installed, and with Python's sockets."""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import LineClient, Socat

QUESTION = "* what is your name?\n"
TEXT = "x" * 1000


class Server(server.Server):
    """The total is the number of messages."""

    totals = r"chat: relayed (\d+) messages"


class Client(LineClient):
    """A client that is a connection of this process."""

    def __init__(self, test, chat, name=None, receive_buffer=None):
        super().__init__(test, chat.port, receive_buffer)
        test.assertEqual(self.read(), QUESTION)
        if name is not None:
            self.write(name)


class ChatTest(unittest.TestCase):
    def join(self, chat, name, **options):
        client = Client(self, chat, name, **options)
        self.assertEqual(client.read(), f"* hello {name}\n")
        return client

    def test_two_clients_of_socat(self):
        chat = Server(self)
        ann = Socat(self, chat.port)
        ann.type("ann")
        self.assertEqual(ann.lines.wait(2), [QUESTION, "* hello ann\n"])
        bob = Socat(self, chat.port)
        bob.type("bob")
        self.assertEqual(ann.lines.wait(3)[2:], ["* bob joined\n"])
        ann.type("hello bob")
        expected = [QUESTION, "* hello bob\n", "ann: hello bob\n"]
        self.assertEqual(bob.lines.wait(3), expected)
        bob.type("hello ann")
        self.assertEqual(ann.lines.wait(4)[3:], ["bob: hello ann\n"])
        bob.leave()
        self.assertEqual(ann.lines.wait(5)[4:], ["* bob left\n"])
        ann.leave()
        self.assertEqual(len(ann.lines.wait_for_end()), 5)
        self.assertEqual(bob.lines.wait_for_end(), expected)
        self.assertEqual(chat.stop(), (2,))

    def test_a_slow_client_gets_the_number_of_missed_messages(self):
        chat = Server(self)
        slow = self.join(chat, "slow", receive_buffer=4096)
        sender = self.join(chat, "sender")
        reader = self.join(chat, "reader")
        self.assertEqual(sender.read(), "* reader joined\n")
        # More than the system keeps for a connection, and than the server keeps for a client. The
        # sender waits for the reader, so that the reader misses nothing.
        with open("/proc/sys/net/ipv4/tcp_wmem", encoding="ascii") as limits:
            most = int(limits.read().split()[2])
        batch = 32
        batches = 2 * most // len(TEXT) // batch + 10
        for _ in range(batches):
            sender.write(*[TEXT] * batch)
            for _ in range(batch):
                self.assertEqual(reader.read(), f"sender: {TEXT}\n")

        # The slow client is a member like any other, and now reads on.
        total = batches * batch
        self.assertEqual(slow.read(), "* sender joined\n")
        self.assertEqual(slow.read(), "* reader joined\n")
        got = missed = 0
        while got + missed < total:
            line = slow.read()
            if line.startswith("* you missed "):
                missed += int(line.split()[3])
            else:
                self.assertEqual(line, f"sender: {TEXT}\n")
                got += 1
        self.assertGreater(missed, 0)
        self.assertGreater(got, 0)
        slow.write("sorry")
        self.assertEqual(reader.read(), "slow: sorry\n")
        self.assertEqual(chat.stop(), (total + 1,))

    def test_names(self):
        chat = Server(self)
        ann = self.join(chat, "ann")
        for name, answer in (
            ("ann", "* the name is taken\n"),
            ("", "* a name has 1 to 20 letters or digits\n"),
            ("a b", "* a name has 1 to 20 letters or digits\n"),
            ("a" * 21, "* a name has 1 to 20 letters or digits\n"),
        ):
            with self.subTest(name):
                client = Client(self, chat, name)
                self.assertEqual(client.read(), answer)
                self.assertEqual(client.read(), "")
        # The name is free as soon as its client has left, which the others hear.
        bob = self.join(chat, "bob")
        self.assertEqual(ann.read(), "* bob joined\n")
        ann.leave()
        self.assertEqual(bob.read(), "* ann left\n")
        self.join(chat, "ann")
        self.assertEqual(bob.read(), "* ann joined\n")
        self.assertEqual(chat.stop(), (0,))

    def test_lines_that_others_must_not_get(self):
        chat = Server(self)
        ann = self.join(chat, "ann")
        bob = self.join(chat, "b" * 20)
        self.assertEqual(ann.read(), f"* {'b' * 20} joined\n")
        for size in (1001, 1022, 1023, 100_000):
            bob.write("y" * size)
            self.assertEqual(bob.read(), "* a line has at most 1000 bytes\n")
        # The second "\r" is a part of the line. The codec would refuse to send the line on.
        bob.write("bell \a\r\r", TEXT, "")
        self.assertEqual(ann.read(), f"{'b' * 20}: bell ??\n")
        self.assertEqual(ann.read(), f"{'b' * 20}: {TEXT}\n")
        self.assertEqual(ann.read(), f"{'b' * 20}: \n")
        self.assertEqual(chat.stop(), (3,))

    def test_a_signal_ends_the_chat(self):
        chat = Server(self)
        ann = self.join(chat, "ann")
        unnamed = Client(self, chat)
        chat.signal()
        for client in (ann, unnamed):
            self.assertEqual(client.read(), "* the server ends\n")
            self.assertEqual(client.read(), "")
        self.assertEqual(chat.finish(), (0,))

    def test_flags_are_checked(self):
        chat = Server(self)
        second = Server(self, f"--port={chat.port}")
        second.assert_refused(f"127.0.0.1:{chat.port}", "in use")
        Server(self, "7777").assert_refused("unexpected argument", "--help")
        self.assertEqual(chat.stop(), (0,))


if __name__ == "__main__":
    server.main()
