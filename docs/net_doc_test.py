#!/usr/bin/env -S python3 -B
"""Every example of net.md is, word for word, in the source that compiles and runs it."""

import re
import sys
import unittest


def normalized(text):
    """Without what depends on where the code is."""
    return [line.strip() for line in text.splitlines() if line.strip()]


class DocTest(unittest.TestCase):
    def test_examples_are_compiled(self):
        with open(PAGE, encoding="utf-8") as page:
            examples = re.findall(r"```c\+\+\n(.*?)```", page.read(), re.DOTALL)
        self.assertGreater(len(examples), 10)
        with open(SOURCE, encoding="utf-8") as source:
            compiled = "\n".join(normalized(source.read()))
        for example in examples:
            self.assertIn("\n".join(normalized(example)), compiled)


if __name__ == "__main__":
    PAGE, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
