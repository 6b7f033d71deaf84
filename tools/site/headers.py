#!/usr/bin/env python3
"""headers.py [ROOT]: checks that each public name in Rouse's public headers has a comment.

Prints FILE:LINE for each name without a comment, and exits with status 1 if there is one. ROOT is by
default the repository that contains this script. api.py makes the API reference from the same names.

A header is public if it is in the hdrs of a target that everybody can see, or if such a header exports it
(IWYU pragma: export). A name is public if it is outside of `namespace internal` and not private or
protected. Each class, function, alias, concept, enum and macro, and each public member function needs a
comment; declarations without an empty line in between share the comment above the first. The following
names need no comment: constructors, destructors, operators, overrides, overloads below a commented one,
members whose contract is in a concept or a customization point (PROTOCOLS in declarations.py), and data
members.
"""

import ast
import pathlib
import posixpath
import re
import sys

from comments import prose
from declarations import parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def public_targets(root):
    """Returns a list of (header, target) for the headers of all targets that everybody can see."""
    result = []
    for file in sorted(root.rglob("BUILD.bazel")):
        package = file.parent.relative_to(root)
        if package.parts and package.parts[0] in ("examples", "tools", "benchmarks", "docs"):
            continue
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "rouse_cc_library":
                continue
            values = {}
            for keyword in call.keywords:
                if keyword.arg in ("name", "hdrs", "visibility"):
                    values[keyword.arg] = ast.literal_eval(keyword.value)
            if "//visibility:public" not in values.get("visibility", []):
                continue
            folder = "" if package == pathlib.Path(".") else str(package)
            name = values["name"]
            target = f"@rouse//{folder}" + ("" if name == package.name else f":{name}")
            for header in values.get("hdrs", []):
                result.append((str(package / header), target))
    return result


class Api:
    """The public headers of a repository."""

    def __init__(self, root):
        self.root = root
        self.targets = dict(public_targets(root))
        self._parsed = {}
        self.headers = {}  # of each public header
        for path in sorted(self.targets, key=posixpath.split):
            header = self.parsed(path)
            if not is_internal(header):
                self.headers[path] = header

    def parsed(self, path):
        if path not in self._parsed:
            self._parsed[path] = parse(path, (self.root / path).read_text(encoding="utf-8"))
        return self._parsed[path]

    def exported(self, header):
        """Returns the headers without a public target that a header exports, directly or not."""
        result = []
        todo = list(header.exports)
        while todo:
            path = todo.pop(0)
            if path in self.targets or path in (found.path for found in result):
                continue
            found = self.parsed(path)
            if not is_internal(found):
                result.append(found)
            todo = found.exports + todo
        return result

    def problems(self):
        """Returns a message for each public name without a comment."""
        found = {}
        for header in self.headers.values():
            for part in [header, *self.exported(header)]:
                found[part.path] = undocumented(part)
        return [message for path in sorted(found) for message in found[path]]


def is_internal(header):
    """Returns whether a header says that it is for the rest of Rouse only."""
    return bool(re.search(r"\bInternal to\b", " ".join(header.comment)))


def merged(items):
    """Returns the items without forward declarations, whose comments go to the definitions."""
    result = []
    commented = {item.name: item.comment for item in items if item.kind == "forward" and item.comment}
    defined = {item.name for item in items if item.kind == "class"}
    for item in items:
        if item.kind == "forward" and (item.name in defined or not item.comment):
            continue
        if item.kind == "class" and not item.comment:
            item.comment = commented.get(item.name, [])
        result.append(item)
    return result


def undocumented(header):
    """Returns a message for each public name of a header that needs a comment and has none."""
    result = []

    def visit(items, owner):
        known = set()
        for item in merged(items):
            if any(prose(item.comment)) or item.shared:
                known.add(item.name)
            elif item.kind in ("section", "constructor", "operator") or item.protocol or item.name in known:
                pass
            elif owner and item.kind in ("variable", "alias"):
                pass
            elif "//" in item.declaration.split("\n")[0]:
                pass
            else:
                result.append(f"{header.path}:{item.line}: {item.qualified} has no comment; say above the "
                              "declaration what it does (docs/contributing/style.md, Contracts)")
            visit(item.members, item)

    visit(header.items, None)
    return result


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    api = Api(root)
    problems = api.problems()
    print("\n".join([*problems, f"{len(api.headers)} public headers, {len(problems)} names without a comment"]))
    sys.exit(bool(problems) or not api.headers)


if __name__ == "__main__":
    main()
