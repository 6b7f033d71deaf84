#!/usr/bin/env -S python3 -B
"""Talks to a program as several clients at once."""

import contextlib
import re
import socket
import subprocess
import sys
import unittest

# How long the program can take before a test fails, in seconds. The time is long, for a busy machine
# and for sanitizers.
DEADLINE = 60.0

_binary = None


class LoopTest(unittest.TestCase):
    def test_tasks_and_loop_share_the_thread(self):
        pipe = subprocess.PIPE
        with subprocess.Popen([_binary], stdout=pipe, stderr=pipe, text=True) as process, \
                contextlib.ExitStack() as stack:
            # Without an effect on a program that has ended.
            stack.callback(process.kill)
            line = process.stdout.readline()
            port = int(re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", line).group(1))
            clients = [
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=DEADLINE))
                for _ in range(10)
            ]
            for round_ in range(20):
                for number, client in enumerate(clients):
                    client.sendall(bytes([65 + number, 97 + round_ % 10]))
                for number, client in enumerate(clients):
                    answer = client.recv(2, socket.MSG_WAITALL)
                    self.assertEqual(answer, bytes([65 + number, 97 + round_ % 10]))
            clients[0].sendall(b"q")
            out, err = process.communicate(timeout=DEADLINE)
        self.assertEqual(err, "")
        self.assertEqual(process.returncode, 0)
        report = r"the tasks have answered (\d+) bytes, and the loop has ticked (\d+) times\n"
        counts = re.fullmatch(report, out)
        self.assertIsNotNone(counts, out)
        self.assertEqual(int(counts.group(1)), 401)
        # 20 rounds of at least a millisecond.
        self.assertGreater(int(counts.group(2)), 0)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
