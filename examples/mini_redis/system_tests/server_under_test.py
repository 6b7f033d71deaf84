"""Runs the server for the tests in this folder, and speaks its protocol without a client library.

The first argument of a test is the server's binary. If the binary is Debian's redis-server, the tests
run against that: what they expect of both servers must hold for Redis itself.
"""

import os
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

# How long the tests wait for an event before they fail, in seconds. The time is long, for a busy
# machine and for sanitizers. A test that passes never waits this long.
DEADLINE = 60.0

LOCALHOST = "127.0.0.1"

_LISTENING = re.compile(r"listening on 127\.0\.0\.1:(\d+)\n")

# The flags of Redis that mean the same as ours.
_REDIS_FLAGS = {
    "--appendonly": lambda _: ["--appendonly", "yes"],
    "--appendfsync": lambda value: ["--appendfsync", value],
    "--dir": lambda value: ["--dir", value],
    "--max_clients": lambda value: ["--maxclients", value],
    "--output_limit": lambda value: [
        "--client-output-buffer-limit",
        f"normal {value} 0 0 pubsub {value} 0 0",
    ],
    "--request_limit": lambda value: ["--proto-max-bulk-len", value],
    "--idle_timeout": lambda value: ["--timeout", value.rstrip("s")],
}

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


def is_redis():
    """Returns whether the tests run against Redis itself."""
    return os.path.basename(_binary) == "redis-server"


def find_program(name):
    """Returns the path of an installed program, or skips the test with a message."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/bin:/usr/bin:/bin")
    if path is None:
        message = f"{name} is not installed; on Debian, install the package redis-tools or redis-server"
        print(f"SKIPPED: {message}", flush=True)
        raise unittest.SkipTest(message)
    return path


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

    def wait_for(self, pattern):
        """Waits for a line that contains `pattern`, the end, or the deadline. Returns the match."""

        def find():
            matches = (re.search(pattern, line) for line in self._lines)
            return next((match for match in matches if match), None)

        with self._changed:
            self._changed.wait_for(lambda: self._ended or find(), DEADLINE)
            return find()

    def wait_for_end(self):
        self._reader.join(DEADLINE)
        return self.so_far()


class Server:
    """A running server, ours or Redis. The system chooses the port."""

    def __init__(self, test, *flags, redis=False):
        self._test = test
        self._has_ended = False
        self.is_redis = redis or is_redis()
        self._port = None
        self.dir = next((f.partition("=")[2] for f in flags if f.startswith("--dir=")), None)
        if self.dir is None:
            folder = tempfile.TemporaryDirectory()
            test.addCleanup(folder.cleanup)
            self.dir = folder.name
            flags = (*flags, f"--dir={self.dir}")
        if self.is_redis:
            command = self._redis_command(flags)
        else:
            command = [_binary, f"--address={LOCALHOST}:0", *flags]
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

    def _redis_command(self, flags):
        with socket.create_server((LOCALHOST, 0)) as free:
            self._port = free.getsockname()[1]
        program = find_program("redis-server")
        command = [program, "--port", str(self._port), "--bind", LOCALHOST, "--save", ""]
        for flag in flags:
            name, _, value = flag.partition("=")
            command += _REDIS_FLAGS[name](value)
        return command

    def _clean_up(self):
        """Ends the server, and prints its errors if the test has failed before the server ended."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self._has_ended and not self.is_redis:
            print("the server wrote:", "".join(self.stderr.wait_for_end()), flush=True)

    @property
    def port(self):
        if self.is_redis:
            if self.stdout.wait_for("Ready to accept connections") is None:
                self._test.fail(f"redis-server does not start; it printed {self.stdout.so_far()}")
        elif self._port is None:
            listening = self.stdout.wait_for(_LISTENING)
            if listening is None:
                self._test.fail(
                    f"the server does not listen; it printed {self.stdout.so_far()}, "
                    f"{self.stderr.so_far()}"
                )
            self._port = int(listening[1])
        return self._port

    def connect(self, **options):
        connection = Connection(self.port, **options)
        self._test.addCleanup(connection.close)
        return connection

    def log_file(self):
        """Returns the path of the file to which Redis' commands are appended."""
        if self.is_redis:
            folder = os.path.join(self.dir, "appendonlydir")
            return next(
                os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".incr.aof")
            )
        return os.path.join(self.dir, "appendonly.aof")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(DEADLINE)
        self._has_ended = True

    def stop(self):
        """Sends SIGTERM, and waits for a successful end. Returns the text of stderr."""
        self.process.send_signal(signal.SIGTERM)
        return self.finish()

    def finish(self):
        """Waits for a successful end. Returns the text of stderr."""
        try:
            status = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._test.fail(f"the server does not end; it wrote {self.stderr.so_far()}")
        self._has_ended = True
        errors = "".join(self.stderr.wait_for_end())
        self._test.assertEqual(status, 0, errors)
        return errors

    def memory(self):
        """Returns the bytes of memory that the server's process uses."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()


def encode(*arguments):
    """Returns the bytes of a request."""
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        if not isinstance(argument, bytes):
            argument = str(argument).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(argument), argument))
    return b"".join(parts)


def split_words(line):
    """Splits a line into words, with quotes and escapes such as \\r, as redis-cli does."""
    return [word.encode().decode("unicode_escape").encode("latin-1") for word in shlex.split(line)]


class Connection:
    """A connection that sends requests and returns replies as they are on the wire."""

    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(DEADLINE)
        self.socket.connect((LOCALHOST, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._taken = 0

    def close(self):
        self.socket.close()

    def send(self, *arguments):
        self.socket.sendall(encode(*arguments))

    def send_bytes(self, data):
        self.socket.sendall(data)

    def call(self, *arguments):
        """Sends a request, and returns the bytes of the reply."""
        self.send(*arguments)
        return self.reply()

    def reply(self):
        """Returns the bytes of a single reply. Raises EOFError if the connection ends before."""
        begin = self._taken
        self._skip_reply()
        data = bytes(self._received[begin : self._taken])
        del self._received[: self._taken]
        self._taken = 0
        return data

    def _skip_reply(self):
        line = self._line()
        kind, size = line[:1], line[1:]
        if kind in b"$=!" and int(size) >= 0:
            self._need(int(size) + 2)
            self._taken += int(size) + 2
        elif kind in b"*~>%" and int(size) > 0:
            for _ in range(int(size) * (2 if kind == b"%" else 1)):
                self._skip_reply()

    def _line(self):
        while (end := self._received.find(b"\r\n", self._taken)) < 0:
            self._receive()
        line = bytes(self._received[self._taken : end])
        self._taken = end + 2
        return line

    def _need(self, size):
        while len(self._received) < self._taken + size:
            self._receive()

    def _receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError(f"the server closed the connection after {bytes(self._received[:200])}")
        self._received += data

    def read_to_end(self):
        """Returns everything that the server sends until it closes or resets the connection."""
        data = bytearray(self._received)
        self._received.clear()
        try:
            while more := self.socket.recv(65536):
                data += more
        except ConnectionResetError:
            pass
        return bytes(data)


def parse(reply):
    """Returns the value of the bytes of a reply: int, bytes, None, list, dict, or an Exception."""
    value, rest = _parse(reply)
    if rest:
        raise ValueError(f"{rest} follows the reply")
    return value


def _parse(data):
    line, _, rest = data.partition(b"\r\n")
    kind, text = line[:1], line[1:]
    if kind == b"+":
        return text, rest
    if kind == b"-":
        return RuntimeError(text.decode()), rest
    if kind == b":":
        return int(text), rest
    if kind == b"_":
        return None, rest
    if kind == b"#":
        return text == b"t", rest
    if kind == b",":
        return float(text), rest
    size = int(text)
    if size < 0:
        return None, rest
    if kind == b"$":
        return rest[:size], rest[size + 2 :]
    if kind == b"=":
        return rest[4:size], rest[size + 2 :]
    values = []
    for _ in range(size * (2 if kind == b"%" else 1)):
        value, rest = _parse(rest)
        values.append(value)
    if kind == b"%":
        return dict(zip(values[::2], values[1::2])), rest
    return values, rest


def wait_until(test, condition, message):
    """Waits until `condition()` is true."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > deadline:
            test.fail(message)
        time.sleep(0.01)
