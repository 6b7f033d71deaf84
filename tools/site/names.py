"""Finds the page of a public name or header.

A name is found by what a reader knows: by its qualified name, without the namespaces and classes around
the text that mentions the name, and if only one public name outside of classes is spelled like this.
"""

import posixpath


class Names:
    """The public names and headers, each with its URL."""

    def __init__(self):
        self._names = {}  # by qualified name
        self._short = {}  # of names outside of classes, by the last component: all URLs
        self._headers = {}

    def add(self, item, url, is_member):
        """Adds a name. The first declaration of a name counts."""
        self._names.setdefault(item.qualified, url)
        if not is_member:
            self._short.setdefault(item.name, []).append(self._names[item.qualified])

    def add_header(self, path, url):
        self._headers[path] = url

    def find(self, name, scope=()):
        """Returns the URL of a name as a text in `scope` writes it, or None."""
        for depth in range(len(scope), -1, -1):
            url = self._names.get("::".join([*scope[:depth], name]))
            if url:
                return url
        urls = set(self._short.get(name, []))
        return urls.pop() if len(urls) == 1 else None

    def header(self, path, folder):
        """Returns the URL of a header as a text in `folder` writes it, or None."""
        while True:
            url = self._headers.get(posixpath.join(folder, path))
            if url or not folder:
                return url
            folder = posixpath.dirname(folder)
