"""Runs the server of an example for the example's tests.

A test begins with the following lines, and ends with `server.main()`:

    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
    import server

The server prints "NAME: listening on ADDRESS:PORT", and its totals when it ends. NAME is the name of
the binary.
"""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

# How long the tests wait for an event before they fail, in seconds. The time is long, for a busy
# machine and for sanitizers. A test that passes never waits this long.
DEADLINE = 60.0

LOCALHOST = "127.0.0.1"

_binary = None


def main():
    """Runs the tests of the script: its first argument is the server's binary."""
    global _binary
    _binary = sys.argv.pop(1)
    # A thousand connections and the other descriptors come near 1,024, the initial limit of many
    # systems.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    unittest.main(verbosity=2)


def needs(test, program):
    """Skips the test if the program is not installed."""
    if not shutil.which(program):
        print(f"{program} is not installed: this test is skipped", flush=True)
        test.skipTest(f"{program} is not installed")


class Lines:
    """Collects the lines that a process writes to a pipe."""

    def __init__(self, pipe):
        self._pipe = pipe
        self._lines = []
        self._ended = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with self._pipe:
            for line in self._pipe:
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def so_far(self):
        with self._changed:
            return list(self._lines)

    def wait(self, count):
        """Waits for `count` lines, the end, or the deadline. Returns the lines so far."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._lines) >= count, DEADLINE)
            return list(self._lines)

    def wait_for_end(self):
        self._reader.join(DEADLINE)
        return self.so_far()


class Server:
    """A running server. The system chooses the port unless the flags name a port."""

    # The flag that makes the system choose a port.
    any_port = "--port=0"

    # The line of totals, as a regular expression whose groups are numbers.
    totals = ""

    def __init__(self, test, *flags, max_descriptors=None):
        self._test = test
        self._has_ended = False
        command = [_binary, self.any_port, *flags]
        if max_descriptors is not None:
            command = ["sh", "-c", f'ulimit -n {max_descriptors} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stdout = Lines(self.process.stdout)
        self.stderr = Lines(self.process.stderr)
        test.addCleanup(self._clean_up)

    def _clean_up(self):
        """Ends the server, and prints its errors if the test has failed before the server ended."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self._has_ended:
            print("the server wrote:", "".join(self.stderr.wait_for_end()), flush=True)

    @property
    def port(self):
        lines = self.stdout.wait(1)
        name = re.escape(os.path.basename(_binary))
        line = rf"{name}: listening on 127\.0\.0\.1:(\d+)\n"
        listening = re.fullmatch(line, lines[0]) if lines else None
        if listening is None:
            self._test.fail(f"the server does not listen; it printed {lines}, {self.stderr.so_far()}")
        return int(listening[1])

    def connect(self):
        connection = socket.create_connection((LOCALHOST, self.port), timeout=DEADLINE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._test.addCleanup(connection.close)
        return connection

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait_for_exit(self):
        """Waits for the server to end. Returns the exit status and the text of stderr."""
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._test.fail(f"the server does not end; it wrote {self.stderr.so_far()}")
        self._has_ended = True
        return status, "".join(self.stderr.wait_for_end())

    def finish(self, stderr=""):
        """Waits for a successful end. Returns the numbers in the line of totals."""
        status, errors = self.wait_for_exit()
        self._test.assertEqual(status, 0, errors)
        self._test.assertRegex(errors, f"^{stderr}$")
        lines = self.stdout.wait_for_end()
        self._test.assertEqual(len(lines), 2, lines)
        totals = re.fullmatch(f"{self.totals}\n", lines[1])
        self._test.assertIsNotNone(totals, lines)
        return tuple(int(number) for number in totals.groups())

    def stop(self, stderr=""):
        """Sends SIGTERM, and calls `finish()`."""
        self.signal()
        return self.finish(stderr)

    def assert_refused(self, *expected):
        """Asserts that the server refuses its flags: with status 1, and an error with these words."""
        status, errors = self.wait_for_exit()
        self._test.assertEqual(status, 1, errors)
        self._test.assertTrue(errors.endswith("\n"), errors)
        self._test.assertLessEqual(errors.count("\n"), 2, errors)
        for words in expected:
            self._test.assertIn(words, errors)
        self._test.assertEqual(self.stdout.wait_for_end(), [])


class LineClient:
    """A connection of this process to a server of lines."""

    def __init__(self, test, port, receive_buffer=None):
        self._connection = socket.socket()
        test.addCleanup(self._connection.close)
        self._connection.settimeout(DEADLINE)
        if receive_buffer is not None:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._connection.connect((LOCALHOST, port))
        self._file = self._connection.makefile("r", encoding="ascii")

    def write(self, *lines):
        self._connection.sendall("".join(line + "\n" for line in lines).encode())

    def read(self):
        return self._file.readline()

    def leave(self):
        """Ends the sending, and can still read."""
        self._connection.shutdown(socket.SHUT_WR)


class Socat:
    """A connection to a server of lines that is a process of socat. Skips the test without socat."""

    def __init__(self, test, port):
        needs(test, "socat")
        self._process = subprocess.Popen(
            ["socat", "-t", str(DEADLINE), "STDIO", f"TCP4:{LOCALHOST}:{port}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        test.addCleanup(self._process.wait)
        test.addCleanup(self._process.kill)
        self.lines = Lines(self._process.stdout)

    def type(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def leave(self):
        self._process.stdin.close()


def receive(connection, size):
    """Receives as many bytes, or fewer if the connection ends."""
    received = bytearray()
    while len(received) < size:
        data = connection.recv(size - len(received))
        if not data:
            break
        received += data
    return bytes(received)


def receive_to_end(connection):
    """Receives until the connection ends."""
    received = bytearray()
    while data := connection.recv(65536):
        received += data
    return bytes(received)
