#!/usr/bin/env python3
"""Each C++ or YAML example of a document is, word for word, in one of the sources, which a test compiles and runs (if it is C++).

quotes_test.py DOCUMENT SOURCE...

Whole lines are compared. How far they are indented, and empty ones, do not matter.
"""

import re
import sys


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def main():
    document, *sources = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        examples = re.findall(r"^```(?:c\+\+|yaml)\n(.*?)^```", file.read(), re.S | re.M)
    if not examples:
        sys.exit(f"{document}: no example found")
    known = []
    for source in sources:
        with open(source, encoding="utf-8") as file:
            known.append("\n".join(["", *lines_of(file.read()), ""]))
    missing = 0
    for example in examples:
        quote = "\n".join(["", *lines_of(example), ""])
        if not any(quote in text for text in known):
            missing += 1
            print(f"{document}: not in {' '.join(sources)}:\n{example}")
    if missing:
        sys.exit(1)
    print(f"{len(examples)} examples")


if __name__ == "__main__":
    main()
