#!/usr/bin/env -S python3 -B
"""Tests the chat server with a client of socat, if it is installed, and with Python's sockets."""

import os
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "testing"))
import server
from server import LineClient, Socat

TEXT = "x" * 1000


class Server(server.Server):
    """The total is the number of lines."""

    totals = r"local_chat: relayed (\d+) lines"


class Client(LineClient):
    """A client that is a connection of this process."""

    def __init__(self, test, chat, receive_buffer=None):
        super().__init__(test, chat.port, receive_buffer)
        self._test = test
        hello = self.read()
        self.name = hello.split()[-1]
        test.assertEqual(hello, f"* hello {self.name}\n")

    def expect(self, *lines):
        for line in lines:
            self._test.assertEqual(self.read(), line + "\n")

    def expect_end(self):
        self._test.assertEqual(self.read(), "")

    def ask(self, line, answer):
        self.write(line)
        self.expect(answer)


class LocalChatTest(unittest.TestCase):
    def test_a_client_of_socat(self):
        chat = Server(self)
        ann = Client(self, chat)
        bob = Socat(self, chat.port)
        self.assertEqual(bob.lines.wait(1), ["* hello guest2\n"])
        bob.type("hello")
        ann.expect("* guest2 has come", "guest2: hello")
        ann.write("hello guest2")
        self.assertEqual(bob.lines.wait(2)[1:], ["guest1: hello guest2\n"])
        bob.type("/quit")
        self.assertEqual(len(bob.lines.wait_for_end()), 2)
        ann.expect("* guest2 has left")
        bob.leave()
        self.assertEqual(chat.stop(), (2,))

    def test_names_and_rooms(self):
        chat = Server(self)
        ann = Client(self, chat)
        bob = Client(self, chat)
        self.assertEqual((ann.name, bob.name), ("guest1", "guest2"))
        ann.expect("* guest2 has come")
        ann.ask("/nick ann", "* you are ann")
        bob.expect("* guest1 is now ann")
        bob.ask("/nick ann", "* the name is taken")
        bob.ask("/nick", "* /nick NAME, /join ROOM, /who, /quit; any other line is for the room")
        for name in ("a b", "x" * 21, "x\a"):
            bob.ask(f"/nick {name}", "* a name has 1 to 20 letters or digits")
            bob.ask(f"/join {name}", "* a room has 1 to 20 letters or digits")
        bob.ask("/nick bob", "* you are bob")
        ann.expect("* guest2 is now bob")
        ann.ask("/who", "* ann bob")

        # A room of one's own.
        bob.ask("/join attic", "* you are in attic")
        ann.expect("* bob has left")
        bob.ask("/join attic", "* you are in attic")
        bob.write("is there anybody?")
        bob.ask("/who", "* bob")
        ann.write("bob?")
        ann.ask("/join attic", "* you are in attic")
        bob.expect("* ann has come")
        ann.write("here I am")
        bob.expect("ann: here I am")

        # A name is free again when its client has left.
        ann.leave()
        bob.expect("* ann has left")
        bob.ask("/nick ann", "* you are ann")
        bob.write("/quit")
        bob.expect_end()
        self.assertEqual(chat.stop(), (3,))

    def test_lines_that_others_must_not_get(self):
        chat = Server(self)
        ann = Client(self, chat)
        bob = Client(self, chat)
        ann.expect("* guest2 has come")
        for size in (1001, 1022, 1023, 100_000):
            bob.ask("y" * size, "* a line has at most 1000 bytes")
        bob.write("bell \a\r\r", TEXT, "")
        ann.expect("guest2: bell ??", f"guest2: {TEXT}", "guest2: ")
        self.assertEqual(chat.stop(), (3,))

    def test_a_slow_client_is_disconnected(self):
        chat = Server(self)
        slow = Client(self, chat, receive_buffer=4096)
        sender = Client(self, chat)
        reader = Client(self, chat)
        sender.expect("* guest3 has come")
        # More than the system keeps for a connection, and than the server keeps for a client. The
        # sender waits for the reader, so that the reader is never slow.
        with open("/proc/sys/net/ipv4/tcp_wmem", encoding="ascii") as limits:
            most = int(limits.read().split()[2])
        batch = 32
        batches = 2 * most // len(TEXT) // batch + 10
        dropped = 0
        for _ in range(batches):
            sender.write(*[TEXT] * batch)
            for _ in range(batch):
                line = reader.read()
                while line == "* guest1 has left\n":
                    dropped += 1
                    line = reader.read()
                self.assertEqual(line, f"guest2: {TEXT}\n")
        self.assertEqual(dropped, 1)
        sender.ask("/who", "* guest1 has left")
        sender.expect("* guest2 guest3")
        # The client gets the lines that were kept, and then the reason.
        slow.expect("* guest2 has come", "* guest3 has come")
        line = slow.read()
        while line == f"guest2: {TEXT}\n":
            line = slow.read()
        self.assertEqual(line, "* you read too slowly, and are disconnected\n")
        slow.expect_end()
        self.assertEqual(chat.stop(), (batches * batch,))

    def test_all_clients_are_on_one_thread(self):
        chat = Server(self)
        clients = [Client(self, chat) for _ in range(50)]
        threads = os.listdir(f"/proc/{chat.process.pid}/task")
        self.assertEqual(len(threads), 1, threads)
        clients[0].write("hello")
        clients[-1].expect("guest1: hello")
        self.assertEqual(chat.stop(), (1,))

    def test_a_signal_ends_the_chat(self):
        chat = Server(self)
        ann = Client(self, chat)
        bob = Client(self, chat)
        ann.expect("* guest2 has come")
        chat.signal()
        for client in (ann, bob):
            line = client.read()
            while line.endswith("has left\n"):
                line = client.read()
            self.assertEqual(line, "* the server ends\n")
            client.expect_end()
        self.assertEqual(chat.finish(), (0,))

    def test_flags_are_checked(self):
        chat = Server(self)
        second = Server(self, f"--port={chat.port}")
        second.assert_refused(f"127.0.0.1:{chat.port}", "in use")
        Server(self, "7778").assert_refused("unexpected argument", "--help")
        self.assertEqual(chat.stop(), (0,))


if __name__ == "__main__":
    server.main()
