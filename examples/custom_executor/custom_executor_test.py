#!/usr/bin/env -S python3 -B
"""Runs the program, and checks its output."""

import subprocess
import sys
import unittest

_binary = None


class CustomExecutorTest(unittest.TestCase):
    def test_the_output(self):
        ran = subprocess.run([_binary], capture_output=True, text=True, timeout=60, check=True)
        lines = ran.stdout.splitlines()
        self.assertIn("the thread answers 42", lines)
        self.assertEqual(lines[-1], "the destructor cancels the ticks")
        ticks = [line for line in lines if line.startswith("tick ")]
        self.assertEqual(ticks, [f"tick {i}" for i in range(1, len(ticks) + 1)])
        self.assertEqual(len(lines), len(ticks) + 2)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
