"""Finds the page of a public name or header.

A name is found by its qualified name, without the namespaces and classes around the text that mentions
the name. A name outside of classes is also found by its last part, if only one is spelled like this. In
`Next()`, a document can mean the member of any class, so such a function is found only as rouse::Next().
"""

import posixpath


class Names:
    """The public names and headers, each with its URL."""

    def __init__(self):
        self._names = {}  # by qualified name
        self._short = {}  # of names outside of classes, by the last component: all URLs
        self._headers = {}
        self._members = set()  # the last components of the functions of classes
        self._types = set()  # the last components of types

    def add(self, item, url, is_member):
        """Adds a name. The first declaration of a name counts."""
        self._names.setdefault(item.qualified, url)
        if item.kind in ("class", "enum", "alias", "concept"):
            self._types.add(item.name)
        if not is_member:
            self._short.setdefault(item.name, []).append(self._names[item.qualified])
        elif item.kind == "function":
            self._members.add(item.name)

    def add_header(self, path, url):
        """Adds a header. The first page of a header counts."""
        self._headers.setdefault(path, url)

    def find(self, name, scope=()):
        """Returns the URL of a name as a text in `scope` writes it, or None."""
        if name.startswith("rouse::"):
            return self._names.get(name.removeprefix("rouse::"))
        for depth in range(len(scope), 0, -1):
            url = self._names.get("::".join([*scope[:depth], name]))
            if url:
                return url
        if name in self._members and name not in self._types:
            return None
        if name in self._names:
            return self._names[name]
        urls = set(self._short.get(name, []))
        return urls.pop() if len(urls) == 1 else None

    def header(self, path, folder):
        """Returns the URL of a header as a text in `folder` writes it, or None."""
        while True:
            url = self._headers.get(posixpath.join(folder, path))
            if url or not folder:
                return url
            folder = posixpath.dirname(folder)
