#!/usr/bin/env -S python3 -B
"""Runs pipelines of real commands, and checks their output, their statuses and how they are ended."""

import os
import signal
import subprocess
import sys
import unittest

# How long a pipeline can take before a test fails, in seconds. The time is long, for a busy machine
# and for sanitizers.
DEADLINE = 60.0

_binary = None


def start(*words):
    """Starts the program. `words` are flags, "--" and the commands."""
    pipe = subprocess.PIPE
    return subprocess.Popen([_binary, *words], stdin=pipe, stdout=pipe, stderr=pipe)


class PipelineTest(unittest.TestCase):
    def _run(self, *words, data=b""):
        """Runs a pipeline to its end. Returns the exit status, the output and the lines of stderr."""
        with start(*words) as process:
            try:
                out, errors = process.communicate(data, DEADLINE)
            except subprocess.TimeoutExpired:
                process.kill()
                self.fail(f"{words} does not end")
        return process.returncode, out, errors.decode().splitlines()

    def test_sort_and_uniq(self):
        status, out, errors = self._run("--", "sort", "|", "uniq", "-c", data=b"b\na\nb\n")
        self.assertEqual(out.split(), [b"1", b"a", b"2", b"b"])
        self.assertEqual(
            errors, ["process_pipeline: sort: exit code 0", "process_pipeline: uniq: exit code 0"]
        )
        self.assertEqual(status, 0)

    def test_passes_every_byte_on(self):
        data = os.urandom(8 << 20)
        status, out, _ = self._run("--", "cat", "|", "cat", "|", "cat", data=data)
        self.assertEqual(status, 0)
        self.assertTrue(out == data)

    def test_a_reader_that_ends_early_ends_the_writer(self):
        status, out, errors = self._run("--", "yes", "|", "head", "-n", "3")
        self.assertEqual(out, b"y\ny\ny\n")
        self.assertIn("process_pipeline: head: exit code 0", errors)
        self.assertIn(f"process_pipeline: yes: signal {signal.SIGPIPE.value}", errors)
        self.assertEqual(status, 128 + signal.SIGPIPE)

    def test_the_last_failure_is_the_status(self):
        words = ("--", "sh", "-c", "exit 3", "|", "sh", "-c", "exit 4", "|", "cat")
        status, _, errors = self._run(*words)
        self.assertEqual(
            errors,
            [
                "process_pipeline: sh: exit code 3",
                "process_pipeline: sh: exit code 4",
                "process_pipeline: cat: exit code 0",
            ],
        )
        self.assertEqual(status, 4)

    def test_errors_have_the_name_of_the_command(self):
        script = "echo one >&2; printf two >&2"
        _, out, errors = self._run("--", "sh", "-c", script, "|", "cat")
        self.assertEqual(errors[:2], ["sh: one", "sh: two"])
        self.assertEqual(out, b"")

    def test_a_long_line_comes_in_parts(self):
        script = "head -c 100000 /dev/zero | tr '\\0' x >&2"
        _, _, errors = self._run("--", "sh", "-c", script)
        parts = [line.removeprefix("sh: ") for line in errors if line.startswith("sh: ")]
        self.assertEqual("".join(parts), "x" * 100000)
        self.assertEqual(len(parts), 2)

    def test_a_timeout_kills_every_command(self):
        status, _, errors = self._run("--timeout=100ms", "--", "sleep", "1000", "|", "cat")
        self.assertEqual(
            errors,
            [
                f"process_pipeline: sleep: signal {signal.SIGKILL.value}",
                f"process_pipeline: cat: signal {signal.SIGKILL.value}",
                "process_pipeline: killed after --timeout",
            ],
        )
        self.assertEqual(status, 124)

    def test_a_signal_kills_every_command(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                with start("--", "sh", "-c", "echo $$ >&2; exec sleep 1000", "|", "cat") as process:
                    child = int(process.stderr.readline().removeprefix(b"sh: "))
                    process.send_signal(number)
                    errors = process.communicate(timeout=DEADLINE)[1].decode()
                self.assertTrue(errors.endswith("killed by a signal\n"), errors)
                self.assertEqual(process.returncode, 130)
                with self.assertRaises(ProcessLookupError):
                    os.kill(child, 0)

    def test_a_command_that_does_not_exist(self):
        status, _, errors = self._run("--", "sleep", "1000", "|", "no-such-command")
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("no-such-command", errors[0])
        self.assertEqual(status, 1)

    def test_an_empty_command(self):
        for words in ((), ("--", "sort", "|"), ("--", "sort", "|", "|", "uniq")):
            with self.subTest(words):
                status, _, errors = self._run(*words)
                self.assertEqual(len(errors), 1, errors)
                self.assertIn("a command is empty", errors[0])
                self.assertEqual(status, 1)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
