"""Prints how many test targets passed and failed, according to the file of Bazel's build events.

A test without a summary was not built, or did not run. Such a test counts as failed.
"""

import json
import os
import sys


def main():
    path = sys.argv[1]
    found, passed = set(), set()
    # Bazel writes no file if it cannot start.
    for line in open(path, encoding="utf-8") if os.path.exists(path) else []:
        event = json.loads(line)
        if "testSize" in event.get("configured", {}):
            found.add(event["id"]["targetConfigured"]["label"])
        elif event.get("testSummary", {}).get("overallStatus") == "PASSED":
            passed.add(event["id"]["testSummary"]["label"])
    print(len(passed), len(found - passed))


main()
