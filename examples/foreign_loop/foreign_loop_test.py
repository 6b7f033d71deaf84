#!/usr/bin/env -S python3 -B
"""Sends lines to the program, and checks the answers."""

import subprocess
import sys
import unittest

# How long the program can take before a test fails, in seconds. The time is long, for a busy machine
# and for sanitizers.
DEADLINE = 60.0

_binary = None


class ForeignLoopTest(unittest.TestCase):
    def _run(self, text):
        ran = subprocess.run(
            [_binary], input=text, capture_output=True, text=True, timeout=DEADLINE, check=True
        )
        self.assertEqual(ran.stderr, "")
        return ran.stdout

    def test_each_line_has_an_answer(self):
        self.assertEqual(
            self._run("one\ntwo words\n\nlast"),
            "one: 1 words\ntwo words: 2 words\n: 0 words\nlast: 1 words\n" "in all: 4 words\n",
        )

    def test_no_input(self):
        self.assertEqual(self._run(""), "in all: 0 words\n")

    def test_many_lines(self):
        count = 20000
        out = self._run("a b c\n" * count)
        self.assertEqual(out, "a b c: 3 words\n" * count + f"in all: {3 * count} words\n")

    def test_answers_before_the_next_line(self):
        pipe = subprocess.PIPE
        with subprocess.Popen([_binary], stdin=pipe, stdout=pipe, text=True) as process:
            for number in range(100):
                # A line that comes in two parts.
                process.stdin.write(f"line {number}")
                process.stdin.flush()
                process.stdin.write("\n")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), f"line {number}: 2 words\n")
            out, _ = process.communicate(timeout=DEADLINE)
        self.assertEqual(out, "in all: 200 words\n")
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
