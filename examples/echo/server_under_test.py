"""Runs the echo server, for the tests here."""

import re
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

# When something that should happen soon counts as not happening, in seconds. Long, for a busy machine
# and a sanitizer: no test gets there that passes.
DEADLINE = 60.0

LOCALHOST = "127.0.0.1"

_LISTENING = re.compile(r"echo: listening on 127\.0\.0\.1:(\d+)\n")
_TOTALS = re.compile(r"echo: served (\d+) connections, echoed (\d+) bytes\n")

_binary = None


def main():
    """Runs the tests of the script: its first argument is the server's binary."""
    global _binary
    _binary = sys.argv.pop(1)
    # A thousand connections are more than the 1,024 descriptors that many a system begins with.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    unittest.main(verbosity=2)


class Lines:
    """The lines that a process writes to a pipe, as they come."""

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
        """Waits for `count` lines, the end, or the deadline; returns the lines there are."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._lines) >= count, DEADLINE)
            return list(self._lines)

    def wait_for_end(self):
        self._reader.join(DEADLINE)
        return self.so_far()


class Server:
    """An echo server that runs, on a port of the system's choice unless the flags say otherwise."""

    def __init__(self, test, *flags, max_descriptors=None):
        self._test = test
        self._has_ended = False
        command = [_binary, "--port=0", *flags]
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
        """After a test that failed, perhaps for what the server wrote last."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self._has_ended:
            print("the server wrote:", "".join(self.stderr.wait_for_end()), flush=True)

    @property
    def port(self):
        lines = self.stdout.wait(1)
        listening = _LISTENING.fullmatch(lines[0]) if lines else None
        if listening is None:
            self._test.fail(f"it does not listen; it printed {lines}, {self.stderr.so_far()}")
        return int(listening[1])

    def connect(self):
        connection = socket.create_connection((LOCALHOST, self.port), timeout=DEADLINE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._test.addCleanup(connection.close)
        return connection

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait_for_exit(self):
        """Returns the exit status and what it wrote to stderr."""
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._test.fail(f"it does not end; it wrote {self.stderr.so_far()}")
        self._has_ended = True
        return status, "".join(self.stderr.wait_for_end())

    def finish(self, stderr=""):
        """Waits for a good end; returns how many connections it served and bytes it echoed."""
        status, errors = self.wait_for_exit()
        self._test.assertEqual(status, 0, errors)
        self._test.assertRegex(errors, f"^{stderr}$")
        lines = self.stdout.wait_for_end()
        self._test.assertEqual(len(lines), 2, lines)
        totals = _TOTALS.fullmatch(lines[1])
        self._test.assertIsNotNone(totals, lines)
        return int(totals[1]), int(totals[2])

    def stop(self, stderr=""):
        """Sends SIGTERM, and `finish()`."""
        self.signal()
        return self.finish(stderr)


def echo(connection, message):
    """Sends a message and returns as many bytes as come back, fewer if the connection ends."""
    connection.sendall(message)
    return receive(connection, len(message))


def receive(connection, size):
    received = bytearray()
    while len(received) < size:
        data = connection.recv(size - len(received))
        if not data:
            break
        received += data
    return bytes(received)


def is_readable(connection):
    return bool(select.select([connection], [], [], 0)[0])


def wait_for_close(connection):
    """Waits until the peer has closed or reset the connection; returns when that was."""
    connection.settimeout(DEADLINE)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic()
