"""Checks the links of a finished site."""

import html.parser
import pathlib
import posixpath
import re
import urllib.parse

OTHER_SITE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors = {""}
        self.links = []  # of (target, line)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append((value or "", self.getpos()[0]))


def check(folder):
    """Returns the number of links in a folder of pages, and a message for each link that leads nowhere."""
    folder = pathlib.Path(folder)
    pages = {
        file.relative_to(folder).as_posix(): Page(file.read_text(encoding="utf-8"))
        for file in sorted(folder.rglob("*.html"))
    }
    count = 0
    problems = []
    for url, page in pages.items():
        for target, line in page.links:
            if OTHER_SITE.match(target):
                continue
            count += 1
            path, _, anchor = map(urllib.parse.unquote, target.partition("#"))
            path = posixpath.normpath(posixpath.join(posixpath.dirname(url), path)) if path else url
            if path in pages:
                if anchor not in pages[path].anchors:
                    problems.append(f"{url}:{line}: links to {target}, but {path} has no {anchor!r}")
            elif not (folder / path).is_file():
                problems.append(f"{url}:{line}: links to {target}, but the site has no {path}")
    return count, problems
