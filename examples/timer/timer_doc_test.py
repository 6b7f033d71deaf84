#!/usr/bin/env -S python3 -B
"""Every piece of C++ in a page is, word for word, in a source that is compiled and run."""

import re
import sys
import unittest


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class DocTest(unittest.TestCase):
    def test_the_examples_are_those_that_are_run(self):
        page, source = (read(path) for path in paths)
        examples = re.findall(r"^```c\+\+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(examples), 3)
        for example in examples:
            self.assertIn("\n" + example, source)


if __name__ == "__main__":
    paths = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
