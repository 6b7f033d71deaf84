#!/usr/bin/env -S python3 -B
"""Tests the work queue with workers in processes of their own, which are killed and stopped."""

import collections
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "testing"))
import server
from server import DEADLINE


class Worker:
    """A worker in a process of its own."""

    def __init__(self, test, port, *flags):
        command = [server._binary, f"--port={port}", *flags, "work"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self.stdout = server.Lines(self.process.stdout)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.kill)

    def kill(self):
        self.process.kill()

    def items(self):
        """Returns the items that the worker has begun to work on, after its end."""
        self.process.wait(DEADLINE)
        return [int(re.fullmatch(r"working on (\d+)\n", line)[1]) for line in self.stdout.wait_for_end()]


class WorkQueueTest(unittest.TestCase):
    def start(self, *flags):
        self.server = server.Server(self, *flags, "serve")
        self.port = self.server.port

    def run_client(self, command, *flags):
        return subprocess.check_output(
            [server._binary, f"--port={self.port}", *flags, command], text=True, timeout=DEADLINE
        )

    def add(self, count):
        self.run_client("add", f"--items={count}")

    def wait_for_acknowledged(self, count):
        # The first line names the port.
        lines = self.server.stdout.wait(1 + count)
        self.assertEqual(len(lines), 1 + count, "the queue does not get on")

    def finish(self, count):
        """Ends the server. Asserts that each item was acknowledged once. Returns the totals."""
        self.server.signal()
        status, errors = self.server.wait_for_exit()
        self.assertEqual(status, 0, errors)
        _, *lines, totals = self.server.stdout.wait_for_end()
        items = [int(re.fullmatch(r"acknowledged (\d+)\n", line)[1]) for line in lines]
        self.assertEqual(sorted(items), list(range(1, count + 1)))
        numbers = re.fullmatch(
            r"grpc_work_queue: (\d+) acknowledged, 0 waiting, (\d+) returned, (\d+) refused\n", totals
        )
        self.assertIsNotNone(numbers, totals)
        acknowledged, returned, refused = map(int, numbers.groups())
        self.assertEqual(acknowledged, count)
        return returned, refused

    def test_workers_that_are_killed_lose_nothing(self):
        seed = int.from_bytes(os.urandom(4), "little")
        print("seed:", seed, flush=True)
        chance = random.Random(seed)
        count = 300
        self.start("--lease=60s")
        workers = [Worker(self, self.port, "--work=5ms") for _ in range(3)]
        begun = collections.Counter()
        self.add(count)
        # Each time that some items more are done, a worker is killed, and another takes its place.
        for done in range(20, count - 20, 20):
            lines = self.server.stdout.wait(1 + done)
            self.assertGreaterEqual(len(lines), 1 + done, "the queue does not get on")
            victim = chance.randrange(len(workers))
            workers[victim].kill()
            begun.update(workers[victim].items())
            workers[victim] = Worker(self, self.port, "--work=5ms")
        self.wait_for_acknowledged(count)
        for worker in workers:
            worker.process.send_signal(signal.SIGTERM)
            self.assertEqual(worker.process.wait(DEADLINE), 0)
            begun.update(worker.items())
        returned, _ = self.finish(count)
        # At least once, and again only if a lease went back.
        self.assertEqual(set(begun), set(range(1, count + 1)))
        self.assertLessEqual(sum(begun.values()), count + returned)

    def test_a_worker_that_hangs_loses_its_lease(self):
        self.start("--lease=1s")
        slow = Worker(self, self.port, "--work=10ms")
        self.add(1000)
        self.server.stdout.wait(1 + 5)
        slow.process.send_signal(signal.SIGSTOP)
        others = [Worker(self, self.port, "--work=0ms") for _ in range(2)]
        # The others do everything, also the item of the worker that was stopped.
        self.wait_for_acknowledged(1000)
        slow.process.send_signal(signal.SIGCONT)
        # The acknowledgement comes too late, and does not count.
        while ", 0 refused" in self.run_client("count"):
            pass
        for worker in [slow, *others]:
            worker.process.send_signal(signal.SIGTERM)
            self.assertEqual(worker.process.wait(DEADLINE), 0)
        # On a busy machine, the others can be too slow, too.
        returned, refused = self.finish(1000)
        self.assertGreaterEqual(returned, 1)
        self.assertGreaterEqual(refused, 1)

    def test_a_server_that_is_killed_is_found_again(self):
        self.start()
        port = self.port
        worker = Worker(self, port, "--work=1ms")
        self.add(10)
        self.wait_for_acknowledged(10)
        self.server.process.kill()
        self.server.wait_for_exit()
        # The queue is in memory, so the new server is empty.
        self.server = server.Server(self, f"--port={port}", "serve")
        self.assertEqual(self.server.port, port)
        self.add(10)
        self.wait_for_acknowledged(10)
        worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(worker.process.wait(DEADLINE), 0)
        self.finish(10)

    def test_watch_follows_the_queue_to_its_end(self):
        self.start()
        self.add(50)
        watch = subprocess.Popen(
            [server._binary, f"--port={self.port}", "watch"], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        lines = server.Lines(watch.stdout)
        self.assertEqual(lines.wait(1), ["0 acknowledged, 50 waiting, 0 leased\n"])
        worker = Worker(self, self.port, "--work=0ms")
        self.assertEqual(lines.wait_for_end()[-1], "50 acknowledged, 0 waiting, 0 leased\n")
        self.assertEqual(watch.wait(DEADLINE), 0)
        worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(worker.process.wait(DEADLINE), 0)
        self.finish(50)

    def test_commands_are_checked(self):
        for command in ([], ["serve", "work"], ["dance"]):
            done = subprocess.run(
                [server._binary, *command], stderr=subprocess.PIPE, text=True, check=False
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected one argument: serve, work, add, watch or count", done.stderr)


if __name__ == "__main__":
    server.main()
