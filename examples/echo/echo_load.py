#!/usr/bin/env -S python3 -B
"""Loads an echo server with many concurrent connections, and checks every byte that comes back.

The tests in this folder use this module. To load a running server by hand:

    examples/echo/echo_load.py --port=7777 --connections=1000 --messages=100 --rounds=20
"""

import argparse
import random
import resource
import selectors
import socket
import time

# A prime above the size of any message, so that messages and the server's buffer begin at every
# place in the pattern.
_PATTERN = 4099
_MAX_MESSAGE = 4096


class EchoError(Exception):
    """The server did not behave like an echo server."""


class _Connection:
    """Sends messages from a repeated pattern of its own, and expects the same bytes back.

    At most `_window` messages are in flight at once. No connection sends its second message before
    every connection has its first message back. This shows that the server serves all connections
    concurrently.
    """

    def __init__(self, load, port, number, messages):
        rand = random.Random(number)
        # The pattern twice, so that any message that begins in the first copy is contiguous.
        self._pattern = memoryview(rand.randbytes(_PATTERN) * 2)
        self._load = load
        self._name = f"connection {number}"
        self._window = (1, 2, 16)[number % 3]
        self._ends = []
        end = 0
        for _ in range(messages):
            # Most messages are short, because each power of two is equally likely.
            end += int(2 ** rand.uniform(0, _MAX_MESSAGE.bit_length() - 1))
            self._ends.append(end)
        self._sent = 0
        self._received = 0
        self._echoed = 0  # messages
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=load.timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        self._events = selectors.EVENT_READ
        load.selector.register(self._socket, self._events, self)

    def close(self):
        self._load.selector.unregister(self._socket)
        self._socket.close()

    def send(self):
        """Sends the messages that can be sent now, or waits for room in the socket."""
        most = len(self._ends) if self._load.all_connected else 1
        most = min(most, self._echoed + self._window)
        events = selectors.EVENT_READ
        try:
            while self._sent < self._ends[most - 1]:
                # At most to the end of the message, so that each message is a separate write.
                message = next(end for end in self._ends[self._echoed :] if end > self._sent)
                self._sent += self._socket.send(self._bytes(self._sent, message - self._sent))
        except BlockingIOError:
            events |= selectors.EVENT_WRITE
        if events != self._events:
            self._events = events
            self._load.selector.modify(self._socket, events, self)

    def receive(self):
        """Checks the bytes that come back. Returns whether the connection has ended, with all back."""
        try:
            data = self._socket.recv(_PATTERN)
        except BlockingIOError:
            return False
        total = self._ends[-1]
        if not data:
            if self._received != total:
                raise EchoError(f"{self._name} ended after {self._received} of {total} bytes")
            return True
        if self._received + len(data) > self._sent:
            raise EchoError(f"{self._name} got back more than the {self._sent} bytes it sent")
        if data != self._bytes(self._received, len(data)):
            raise EchoError(f"{self._name} got back different bytes after {self._received} bytes")
        self._received += len(data)
        self._load.bytes += len(data)
        echoed = self._echoed
        while self._echoed < len(self._ends) and self._ends[self._echoed] <= self._received:
            self._echoed += 1
        self._load.count(self._echoed - echoed, is_first=echoed == 0 and self._echoed > 0)
        if self._received == total:
            self._socket.shutdown(socket.SHUT_WR)
        else:
            self.send()
        return False

    def _bytes(self, start, size):
        start %= _PATTERN
        return self._pattern[start : start + size]


class Load:
    """A load of `connections` concurrent connections, each of which sends `messages` messages."""

    def __init__(self, port, connections, messages, timeout):
        self.timeout = timeout
        self.selector = selectors.DefaultSelector()
        self.bytes = 0  # that came back
        self.all_connected = False
        self._port = port
        self._connections = connections
        self._messages = messages
        self._firsts = 0  # connections whose first message is back
        self._echoed = 0  # messages that are back
        self._open = []

    def run(self, halfway=lambda: None):
        """Raises EchoError unless every byte comes back, in order, in time.

        Calls `halfway` when half of the messages are back.
        """
        deadline = time.monotonic() + self.timeout
        self._halfway = halfway
        try:
            for number in range(self._connections):
                connection = _Connection(self, self._port, number, self._messages)
                self._open.append(connection)
                connection.send()
            left = self._connections
            while left > 0:
                ready = self.selector.select(deadline - time.monotonic())
                if time.monotonic() > deadline:
                    raise EchoError(f"{left} connections did not end within {self.timeout} s")
                for key, events in ready:
                    if events & selectors.EVENT_WRITE:
                        key.data.send()
                    if events & selectors.EVENT_READ and key.data.receive():
                        key.data.close()
                        self._open.remove(key.data)
                        left -= 1
        finally:
            for connection in self._open:
                connection.close()
            self.selector.close()

    def count(self, messages, is_first):
        """Counts messages of a connection. `is_first` says whether the first is among them."""
        self._firsts += is_first
        if not self.all_connected and self._firsts == self._connections:
            self.all_connected = True
            for connection in self._open:
                connection.send()
        half = self._connections * self._messages // 2
        was_halfway = self._echoed >= half
        self._echoed += messages
        if self._echoed >= half and not was_halfway:
            self._halfway()


def _main():
    parser = argparse.ArgumentParser(description="Loads an echo server on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=7777)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120, help="time limit of a round, in seconds")
    flags = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for _ in range(flags.rounds):
        started = time.monotonic()
        load = Load(flags.port, flags.connections, flags.messages, flags.timeout)
        load.run()
        seconds = time.monotonic() - started
        print(
            f"{flags.connections} connections, {load.bytes} bytes in {seconds:.2f} s", flush=True
        )


if __name__ == "__main__":
    _main()
