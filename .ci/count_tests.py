"""Prints how many test targets passed, failed, and were aborted, according to the file of Bazel's build events.

A test without a summary was not built, or did not run. Such a test counts as failed, unless Bazel was interrupted
before the test's turn.
"""

import json
import os
import sys


def main():
    path = sys.argv[1]
    found, passed, aborted = set(), set(), set()
    # Bazel writes no file if it cannot start.
    for line in open(path, encoding="utf-8") if os.path.exists(path) else []:
        event = json.loads(line)
        if "testSize" in event.get("configured", {}):
            found.add(event["id"]["targetConfigured"]["label"])
        elif event.get("testSummary", {}).get("overallStatus") == "PASSED":
            passed.add(event["id"]["testSummary"]["label"])
        elif event.get("aborted", {}).get("reason") == "USER_INTERRUPTED":
            for kind in event["id"].keys() & {"targetCompleted", "testSummary"}:
                aborted.add(event["id"][kind]["label"])
    aborted &= found
    print(len(passed), len(found - passed - aborted), len(aborted))


main()
