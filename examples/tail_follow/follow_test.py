#!/usr/bin/env -S python3 -B
"""Appends to a file, cuts it off, renames it and removes it, and checks what the program prints."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

# How long the program can take before a test fails, in seconds. The time is long, for a busy machine
# and for sanitizers.
DEADLINE = 60.0

_binary = None


class FollowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "app.log"

    def _start(self, *words):
        """Starts the program, and waits until it follows the file."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([_binary, *words], stdout=pipe, stderr=pipe)
        timer = threading.Timer(DEADLINE, self.process.kill)
        timer.start()
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        self.addCleanup(timer.cancel)
        self.assertEqual(self._message(), f"following {self.log}")

    def _message(self):
        return self.process.stderr.readline().decode().strip().removeprefix("tail_follow: ")

    def _append(self, text):
        with self.log.open("a") as file:
            file.write(text)

    def _expect(self, text):
        self.assertEqual(self.process.stdout.read(len(text)).decode(), text)

    def test_prints_what_is_appended(self):
        self._append("before\n")
        self._start(str(self.log))
        for i in range(100):
            self._append(f"line {i}\n")
        self._expect("".join(f"line {i}\n" for i in range(100)))
        self._append("x" * 1_000_000)
        self._expect("x" * 1_000_000)

    def test_prints_the_whole_file(self):
        self._append("before\n")
        self._start("--from_start", str(self.log))
        self._append("after\n")
        self._expect("before\nafter\n")

    def test_waits_for_the_file(self):
        self._start(str(self.log))
        self._append("first\n")
        self._expect("first\n")

    def test_follows_a_rotated_log(self):
        self._append("before\n")
        self._start(str(self.log))
        for i in range(20):
            self._append(f"old {i}\n")
            self.log.rename(self.folder / f"app.log.{i}")
            self._append(f"new {i}\n")
            self._expect(f"old {i}\nnew {i}\n")

    def test_follows_a_file_that_is_replaced(self):
        self._append("before\n")
        self._start(str(self.log))
        (self.folder / "next").write_text("replaced\n")
        (self.folder / "next").rename(self.log)
        self._expect("replaced\n")
        self.log.unlink()
        self._append("again\n")
        self._expect("again\n")

    def test_starts_again_after_the_file_was_cut_off(self):
        self._append("a long line before\n")
        self._start(str(self.log))
        os.truncate(self.log, 0)
        self.assertEqual(self._message(), "the file was cut off")
        self._append("after\n")
        self._expect("after\n")

    def test_ends_with_a_signal(self):
        self._append("before\n")
        self._start(str(self.log))
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(DEADLINE), 0)

    def test_reports_a_directory_that_is_missing(self):
        words = [_binary, str(self.folder / "no" / "file")]
        result = subprocess.run(words, capture_output=True, timeout=DEADLINE, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(b"no/", result.stderr)

    def test_ends_when_the_directory_is_removed(self):
        sub = self.folder / "sub"
        sub.mkdir()
        self.log = sub / "app.log"
        self._start(str(self.log))
        sub.rmdir()
        self.assertIn("was removed", self.process.stderr.read().decode())
        self.assertNotEqual(self.process.wait(DEADLINE), 0)


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
