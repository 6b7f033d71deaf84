#!/usr/bin/env python3
"""quotes_test.py DOCUMENT SOURCE...: checks that the sources have a document's C++ and YAML examples.

C++ sources are tests, so that the examples are compiled and run. Compares whole lines, without
indentation and empty lines.
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
        sys.exit(f"{document}: no C++ or YAML example found; remove the test or add an example")
    known = []
    for source in sources:
        with open(source, encoding="utf-8") as file:
            known.append("\n".join(["", *lines_of(file.read()), ""]))
    missing = 0
    for example in examples:
        quote = "\n".join(["", *lines_of(example), ""])
        if not any(quote in text for text in known):
            missing += 1
            print(f"{document}: not in {' '.join(sources)}; copy the lines of the source:\n{example}")
    if missing:
        sys.exit(1)
    print(f"{len(examples)} examples")


if __name__ == "__main__":
    main()
