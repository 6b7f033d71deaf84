#!/usr/bin/env python3
"""make.py [--output DIR]: makes a site of the documents and of the public headers.

    tools/bazel run //docs:site

The site is a folder of static pages, by default site/ in the workspace. A page is made of each document
(*.md), of each public header, from the header's comments, and of each other file to which a document
links. The site needs no server: a browser can open site/index.html.

Exits with status 1, and prints what is wrong, if a public name has no comment, if a link of a page leads
nowhere, or if a document has a diagram that cannot be drawn. Needs Debian's packages python3-markdown-it
and python3-pygments, and no internet access.
"""

import argparse
import os
import pathlib
import sys

import packages

packages.require()

import links
from headers import ROOT
from pages import Site


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", metavar="DIR", help="the folder of the site, by default site/ in the workspace")
    output = parser.parse_args().output
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ROOT))
    # Bazel runs the script in another folder than the user's.
    folder = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), output) if output else workspace / "site"
    site = Site(ROOT)
    problems = site.api.problems()
    if not problems:
        site.make()
        site.write(folder)
        count, problems = links.check(folder)
        print(f"{len(site.pages)} pages, {len(site.api.headers)} headers, {site.api_pages.count} public names, "
              f"{count} links")
    if problems:
        sys.exit("\n".join([*problems, f"{len(problems)} problems; the site is not complete"]))
    print(f"open {folder.resolve() / 'index.html'}")


if __name__ == "__main__":
    main()
