#!/usr/bin/env python3
"""tables_test.py [ROOT]: checks the names in the tables of docs/guide/from_*.md and of examples' READMEs.

A table with a column "Rouse" says which names of Rouse take the place of other libraries' names. Fails if a
name in backquotes in this column is not a public name: a class, function, alias, concept or macro of a public
header, a member of one of them, or a header. Because classes inherit, and the parser does not follow that, any
word of a header's code is accepted, too: the test finds names that are gone, but not names that are private. Names that begin with a small letter are checked if they are called or qualified.
Enumerators, and names of std, absl and GoogleTest, are not checked.

ROOT is by default the repository that contains this script. The test reads the repository itself, like
headers_test.
"""

import pathlib
import re
import sys
import tempfile
import unittest

from headers import ROOT, Api, merged

PAGES = ("docs/guide/from_*.md", "examples/**/README.md")

CODE = re.compile(r"`([^`]+)`")
STRING = re.compile(r'"[^"]*"')
NAME = re.compile(r"(?<![\w:])\.?((?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)(\s*\()?")
COMMENT = re.compile(r"//[^\n]*")
HEADER = re.compile(r"(?:rouse/)?([\w/]+\.h)$")

# absl::StatusCode, and names that are not Rouse's.
OTHERS = frozenset(
    "Cancelled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied Unauthenticated "
    "ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss "
    "EXPECT_THAT IsOk StatusIs".split()
)


def columns(line):
    """Returns the cells of a line of a table, or None."""
    if not line.startswith("|"):
        return None
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.rstrip().removesuffix("|"))[1:]]


def rouse_cells(text):
    """Yields the line number and the text of each cell in a column "Rouse"."""
    index = None
    for number, line in enumerate(text.splitlines(), 1):
        cells = columns(line)
        if cells is None:
            index = None
        elif index is None:
            index = cells.index("Rouse") if "Rouse" in cells else -1
        elif 0 <= index < len(cells) and not set(cells[index]) <= set("-: "):
            yield number, cells[index]


def names_in(code):
    """Yields the names of a piece of code that must be Rouse's."""
    for found in NAME.finditer(STRING.sub("", code)):
        name, call = found.groups()
        if name.startswith(("std::", "absl::", "testing::")) or found[0].startswith("."):
            continue
        name = name.removeprefix("rouse::")
        last = name.split("::")[-1]
        if len(last) == 1 or re.match("k[A-Z]", last) or name in OTHERS or (last == name and not call and not re.match("[A-Z]", name)):
            continue
        if name in ("co_await", "co_return", "co_yield", "sizeof"):
            continue
        yield name


class Known:
    """The public names of a repository."""

    def __init__(self, api):
        self.headers = set(api.headers)
        self._qualified = set()
        self._last = set()
        for header in api.headers.values():
            for part in [header, *api.exported(header)]:
                self._add(part.items)
        # A public class can have members of a base class in a header that is not public.
        folders = {path.split("/")[0] for path in api.headers if "/" in path}
        self._code = [COMMENT.sub("", file.read_text(encoding="utf-8"))
                      for folder in sorted(folders) for file in sorted((api.root / folder).rglob("*.h"))]

    def _add(self, items):
        for item in merged(items):
            self._qualified.add(item.qualified)
            self._last.add(item.name)
            self._add(item.members)

    def has(self, name):
        owner, _, last = name.rpartition("::")
        if not owner:
            return last in self._last or self._is_in_code(last)
        if any(known == name or known.endswith(f"::{name}") for known in self._qualified):
            return True
        return self._is_in_code(last, re.compile(rf"\b(?:class|struct|namespace)\b.*\b{owner}\b"))

    def _is_in_code(self, name, also=re.compile("")):
        word = re.compile(rf"\b{name}\b")
        return any(word.search(text) and also.search(text) for text in self._code)


def problems(page, text, known):
    """Returns a message for each name of a page that is not known."""
    result = []
    for number, cell in rouse_cells(text):
        for code in CODE.findall(cell):
            header = HEADER.match(code)
            if header and header[1] not in known.headers:
                result.append(f"{page}:{number}: {code} is not a public header")
            elif not header:
                result += [f"{page}:{number}: {name} is not a public name of Rouse; write the name as it is called now"
                           for name in names_in(code) if not known.has(name)]
    return result


class CheckerTest(unittest.TestCase):
    """Checks a small repository."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "a").mkdir()
        (root / "a" / "BUILD.bazel").write_text(
            'rouse_cc_library(name = "a", hdrs = ["a.h"], visibility = ["//visibility:public"])\n', encoding="utf-8")
        (root / "a" / "a.h").write_text(
            "// Copyright\n//\n// -----\n// File: a.h\n// -----\n//\n// F.\n\n#ifndef ROUSE_A_H_\n#define ROUSE_A_H_\n\n"
            "namespace rouse {\n\n// A.\nclass A {\n public:\n  // F.\n  int Find(int x);\n  // g.\n  int size();\n};\n\n"
            "namespace b {\n\n// E.\nenum class E { kOne };\n\n}  // namespace b\n\n}  // namespace rouse\n\n"
            "#endif  // ROUSE_A_H_\n", encoding="utf-8")
        self.known = Known(Api(root))

    def problems(self, cell, head="| Tokio | Rouse |\n|---|---|\n"):
        return [message.split(" ")[1] for message in problems("p.md", f"{head}| `Gone` | {cell} |\n", self.known)]

    def test_accepts_public_names(self):
        self.assertEqual([], self.problems(
            "`A`, `Find`, `A::Find`, `a.Find(x)`, `size()`, `b::E`, `E::kOne`; `a/a.h`, `rouse/a/a.h`"))

    def test_accepts_names_of_others(self):
        self.assertEqual([], self.problems(
            "`A<absl::StatusOr<T>>`, `std::variant`, `co_await A`, `A(f, {.name = \"Gone\"})`, Gone, `Cancelled`"))

    def test_reports_names_that_do_not_exist(self):
        self.assertEqual(["Gone", "A::Gone", "Gone", "gone", "b::Gone", "a/b.h"], self.problems(
            "`Gone`, `A::Gone(x)`, `A<Gone>`, `gone()`, `b::Gone`, `a/b.h`"))

    def test_reports_the_line(self):
        self.assertEqual(["p.md:4: Gone is not a public name of Rouse; write the name as it is called now"],
                         problems("p.md", "\n| Rouse |\n|---|\n| `Gone` |\n", self.known))

    def test_reads_only_the_column(self):
        self.assertEqual([], self.problems("`A` | `Gone`", "| Tokio | Rouse | Notes |\n|---|---|---|\n"))
        self.assertEqual([], self.problems("`Gone`", "| Tokio | Other |\n|---|---|\n"))
        self.assertEqual(["Gone"], self.problems("`a \\| A` `Gone`"))


class RepositoryTest(unittest.TestCase):
    """Checks the repository."""

    longMessage = False
    root = ROOT

    def test_names_exist(self):
        known = Known(Api(self.root))
        found = []
        checked = 0
        for pattern in PAGES:
            for page in sorted(self.root.glob(pattern)):
                text = page.read_text(encoding="utf-8")
                checked += sum(1 for _ in rouse_cells(text))
                found += problems(page.relative_to(self.root), text, known)
        self.assertGreater(checked, 100)
        self.assertFalse(found, "\n" + "\n".join(found))
        print(f"{checked} rows", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        RepositoryTest.root = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
