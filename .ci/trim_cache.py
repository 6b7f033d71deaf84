#!/usr/bin/env python3
# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0

"""Deletes the files of Bazel's disk cache that were not read for longest.

Usage: trim_cache.py FOLDER

Keeps at most MAX_BYTES, and less if the disk has less than MIN_FREE_BYTES free: a CI run writes about 25 GB, and
on a full disk its tests fail. Bazel compiles again what it does not find.
"""

import os
import shutil
import sys

MAX_BYTES = 40 * 10**9
MIN_FREE_BYTES = 30 * 10**9
DAY_NS = 86400 * 10**9


def main(folder: str) -> None:
    files = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            status = os.stat(path)
            files.append((status.st_atime_ns, status.st_size, path))
            # The file system stores the time of a read only if the stored time is a day old. So each run makes
            # all files a day older.
            os.utime(path, ns=(status.st_atime_ns - DAY_NS, status.st_mtime_ns))
    files.sort()
    size = sum(file[1] for file in files)
    excess = max(size - MAX_BYTES, MIN_FREE_BYTES - shutil.disk_usage(folder).free)
    deleted = 0
    for _, bytes_of_file, path in files:
        if deleted >= excess:
            break
        os.remove(path)
        deleted += bytes_of_file
    print(f"trim_cache: deleted {deleted / 1e9:.1f} of {size / 1e9:.1f} GB; "
          f"{shutil.disk_usage(folder).free / 1e9:.1f} GB of the disk are free")


if __name__ == "__main__":
    main(sys.argv[1])
