#!/usr/bin/env -S python3 -B
"""Hashes the files of temporary directories, and checks the hashes, their order, the limit and Ctrl-C."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

# How long the program can take before a test fails, in seconds. The time is long, for a busy machine
# and for sanitizers.
DEADLINE = 60.0

TOTALS = re.compile(r"hashing_pool: (stopped: )?(\d+) files, (\d+) errors, (\d+) at once\n")

_binary = None


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class HashingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._root = pathlib.Path(folder.name)

    def _write(self, name, data):
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return f"{crc32c(data):08x}  {path}\n"

    def _run(self, *flags):
        """Hashes the directory. Returns the exit status, the output and the errors."""
        ran = subprocess.run(
            [_binary, *flags, self._root], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        return ran.returncode, ran.stdout, ran.stderr

    def test_the_known_hash(self):
        line = self._write("digits", b"123456789")
        self.assertTrue(line.startswith("e3069283"))
        self.assertEqual(self._run()[:2], (0, line))

    def test_the_order_of_the_names(self):
        rand = random.Random(1)
        lines = []
        for number in range(300):
            # The first files are the largest, and are not ready first.
            size = rand.randrange(3000) if number < 30 else rand.randrange(30)
            lines.append(self._write(f"{number // 50}/{number:03}", rand.randbytes(size)))
        (self._root / "link").symlink_to(self._root / "0" / "000")
        for jobs in (1, 3, 1000):
            with self.subTest(jobs):
                status, out, errors = self._run(f"--jobs={jobs}")
                self.assertEqual(out, "".join(lines))
                self.assertEqual(status, 0)
                totals = TOTALS.fullmatch(errors)
                self.assertIsNotNone(totals, errors)
                self.assertEqual(totals[2], "300")
                self.assertLessEqual(int(totals[4]), jobs)

    def test_more_files_than_one_block(self):
        line = self._write("large", bytes(range(256)) * 1024)
        self.assertEqual(self._run()[:2], (0, line))

    def test_an_empty_directory(self):
        self.assertEqual(self._run(), (0, "", "hashing_pool: 0 files, 0 errors, 0 at once\n"))

    @unittest.skipIf(os.geteuid() == 0, "root can read every file")
    def test_a_file_that_cannot_be_read(self):
        self._write("a", b"a").strip()
        (self._root / "a").chmod(0)
        line = self._write("b", b"b")
        status, out, errors = self._run()
        self.assertEqual((status, out), (1, line))
        self.assertIn(f"{self._root}/a", errors)
        self.assertIn("1 files, 1 errors", errors)

    def test_ctrl_c_stops_between_two_blocks(self):
        first = self._write("a", b"hello")
        with open(self._root / "b", "wb") as endless:
            endless.truncate(1 << 40)
        last = self._write("c", b"world")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                with subprocess.Popen(
                    [_binary, "--jobs=2", self._root],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                ) as process:
                    self.assertEqual(process.stdout.readline(), first)
                    process.send_signal(number)
                    out, errors = process.communicate(timeout=DEADLINE)
                self.assertIn(out, ("", last))
                totals = TOTALS.fullmatch(errors)
                self.assertIsNotNone(totals, errors)
                self.assertEqual((totals[1], totals[3]), ("stopped: ", "0"))
                self.assertEqual(process.returncode, 130)

    def test_bad_arguments(self):
        for words in ([], ["a", "b"], ["--jobs=0", "a"]):
            with self.subTest(words):
                ran = subprocess.run(
                    [_binary, *words], capture_output=True, text=True, timeout=DEADLINE, check=False
                )
                self.assertEqual(ran.returncode, 1)
                self.assertIn("name one directory", ran.stderr)

    def test_a_directory_that_does_not_exist(self):
        self._root /= "nowhere"
        status, out, errors = self._run()
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(errors, f"^hashing_pool: NOT_FOUND: {self._root}: .*\n$")


if __name__ == "__main__":
    _binary = sys.argv.pop(1)
    unittest.main(verbosity=2)
