"""Finds the packages of which the site is made."""

import os
import sys

DEBIAN_PYTHON = "/usr/bin/python3"


def require():
    """Returns if the packages can be imported. Otherwise runs the program with Debian's Python, or exits."""
    try:
        import markdown_it  # noqa: F401
        import pygments  # noqa: F401
    except ImportError as error:
        # Another Python on the PATH does not have Debian's packages.
        if os.path.exists(DEBIAN_PYTHON) and not os.path.samefile(sys.executable, DEBIAN_PYTHON):
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
        sys.exit(f"{sys.argv[0]}: {error}; on Debian, run tools/debian/setup.sh install python3-markdown-it "
                 "python3-pygments")
