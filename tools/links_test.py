#!/usr/bin/env python3
"""links_test.py [ROOT]: checks the links of all documents.

Fails if a relative link in a .md file names no file or folder of the repository, or if the link's #anchor
names no heading of its document. Fails also if a comment or another text names a page docs/... that does
not exist. Links to other sites are not checked.

ROOT is by default the repository that contains this script. A test finds the repository through the
symbolic links of Bazel, because a document can link to any file: the BUILD file would otherwise have to
name all of them. The test therefore runs outside the sandbox, and each time.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folders whose names begin with a dot belong to tools, except for these.
HIDDEN = frozenset([".bcr", ".ci"])
# Files whose text can name a page. A script has no suffix.
NAMING = frozenset([".bazel", ".bzl", ".cc", ".h", ".md", ".py", ".rs", ".sh", ".txt", ".yml", ""])

FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$")
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) ")
INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.S)
# The target of [text](target), ![text](target) and [text](target "title"). The text can have brackets.
INLINE_LINK = re.compile(
    r"\[(?:(?!\n\s*\n)(?:[^\[\]]|\[[^\[\]]*\]))*\]"
    r"\(\s*(<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\s*\)"
)
DEFINED_LINK = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*(\S+)", re.M)
HTML_LINK = re.compile(r"<(?:a|img)\b[^<>]*?\b(?:href|src)=\"([^\"]*)\"", re.I)
HTML_ANCHOR = re.compile(r"<[a-z]\w*\b[^<>]*?\b(?:id|name)=\"([^\"]*)\"", re.I)
OTHER_SITE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
LINES = re.compile(r"L(\d+)(?:-L(\d+))?$")
PAGE = re.compile(r"(?<![\w/.@-])docs/[\w./-]*\.md\b")


def blank(text):
    """Returns the text with all characters replaced by spaces, except for the ends of lines."""
    return re.sub(r"[^\n]", " ", text)


def without_code_blocks(text):
    """Returns the text of a document with blank lines in place of fenced and indented code."""
    result = []
    fence = None
    may_indent = True  # the line before is blank, or is indented code
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end():].strip():
                fence = None
            result.append(blank(line))
        elif mark:
            fence = mark[1]
            result.append(blank(line))
            may_indent = False
        elif may_indent and line.startswith("    ") and not LIST_ITEM.match(line):
            result.append(blank(line))
        else:
            result.append(line)
            may_indent = not line.strip()
    return "".join(result)


def anchors(text):
    """Returns the anchors of a document, as GitHub forms them from the headings."""
    result = set()
    text = without_code_blocks(text)
    for line in text.splitlines():
        heading = HEADING.match(line)
        if not heading:
            continue
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        number = 0
        unique = anchor
        while unique in result:
            number += 1
            unique = f"{anchor}-{number}"
        result.add(unique)
    return result | set(HTML_ANCHOR.findall(text))


def links(text):
    """Yields the line and the target of each link of a document."""
    text = without_code_blocks(text)
    text = INLINE_CODE.sub(lambda code: blank(code[0]), text)
    for pattern in (INLINE_LINK, DEFINED_LINK, HTML_LINK):
        for link in pattern.finditer(text):
            yield text.count("\n", 0, link.start(1)) + 1, link[1].strip("<>")


def files(root):
    """Returns all files of the repository, without the folders of tools and without Bazel's output."""
    result = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if not (name.startswith(".") and name not in HIDDEN) and name != "node_modules"
            and not os.path.islink(os.path.join(folder, name))
        )
        result.extend(pathlib.Path(folder, name) for name in sorted(names))
    return result


class Checker:
    """Checks the documents of a repository."""

    def __init__(self, root):
        self.root = root.resolve()
        self.links = 0
        self.problems = []
        self._anchors = {}

    def check(self):
        """Returns a message for each link, and for each name of a page, that does not resolve."""
        for file in files(self.root):
            if file.suffix not in NAMING:
                continue
            try:
                text = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:  # a binary without a suffix
                continue
            if file.suffix == ".md":
                for line, target in links(text):
                    self._check_link(file, line, target)
            for page in PAGE.finditer(text):
                if not (self.root / page[0]).is_file():
                    self._report(file, text.count("\n", 0, page.start()) + 1,
                                 f"names {page[0]}, which does not exist; name the page as it is called now")
        return self.problems

    def _check_link(self, file, line, target):
        if OTHER_SITE.match(target):
            return
        self.links += 1
        path, has_anchor, anchor = target.partition("#")
        path, anchor = urllib.parse.unquote(path), urllib.parse.unquote(anchor)
        if path.startswith("/"):
            self._report(file, line, f"links to {target}; write the path relative to the document")
            return
        linked = pathlib.Path(os.path.normpath(file.parent / path)) if path else file
        if not linked.is_relative_to(self.root):
            self._report(file, line, f"links to {target}, which is outside the repository")
        elif not linked.exists():
            self._report(file, line, f"links to {target}, but {linked.relative_to(self.root)} does not exist")
        elif has_anchor and not self._has_anchor(linked, anchor):
            self._report(file, line, f"links to {target}, but {linked.relative_to(self.root)} has no {anchor!r}")

    def _has_anchor(self, linked, anchor):
        if linked.suffix == ".md":
            if linked not in self._anchors:
                self._anchors[linked] = anchors(linked.read_text(encoding="utf-8"))
            return anchor in self._anchors[linked]
        if not linked.is_file():
            return False
        lines = LINES.match(anchor)
        count = len(linked.read_bytes().splitlines())
        return bool(lines) and all(1 <= int(line) <= count for line in lines.groups() if line)

    def _report(self, file, line, problem):
        self.problems.append(f"{file.relative_to(self.root)}:{line}: {problem}")


class CheckerTest(unittest.TestCase):
    """Checks small repositories."""

    def problems(self, **contents):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in contents.items():
                file = root / name.replace("__", "/").replace("_dot_", ".")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return Checker(root).check()

    def test_accepts_what_resolves(self):
        self.assertEqual([], self.problems(
            a_dot_md="# A\n\n[b](b/b.md) [two\nlines](b/b.md#one-two) [folder](b) [here](#a) <a href=\"#a\">x</a>\n"
                     "[site](https://example.org/x#y) [code](b/c.h#L1-L2) [title](b/b.md \"title\") [d][d]\n\n"
                     "[d]: b/b.md#again-1\n",
            b__b_dot_md="# One, `two`!\n\n## Again\n\n## Again\n\n[up](../a.md#a) [`code`](#again)\n",
            b__c_dot_h="1\n2\n"))

    def test_reports_a_missing_file_with_its_line(self):
        self.assertEqual(["a/b.md:3: links to c.md, but a/c.md does not exist"],
                         self.problems(a__b_dot_md="# B\n\n[c](c.md)\n"))

    def test_reports_the_line_of_the_target(self):
        self.assertEqual(["a.md:2: links to b.md#x, but b.md does not exist"],
                         self.problems(a_dot_md="[two\nlines](b.md#x)\n"))

    def test_reports_a_missing_anchor(self):
        self.assertEqual(["a.md:3: links to #b, but a.md has no 'b'",
                          "a.md:3: links to b.md#a, but b.md has no 'a'"],
                         self.problems(a_dot_md="# A\n\n[b](#b) [a](b.md#a)\n", b_dot_md="# B\n"))

    def test_reports_a_line_that_the_file_does_not_have(self):
        self.assertEqual(["a.md:1: links to b.h#L3, but b.h has no 'L3'"],
                         self.problems(a_dot_md="[b](b.h#L3)\n", b_dot_h="1\n2\n"))

    def test_reports_links_in_definitions_and_in_html(self):
        self.assertEqual(["a.md:3: links to c.md, but c.md does not exist",
                          "a.md:1: links to d.png, but d.png does not exist"],
                         self.problems(a_dot_md="<img src=\"d.png\"> [c][c]\n\n[c]: c.md\n"))

    def test_reports_paths_that_a_site_cannot_follow(self):
        self.assertEqual(["a.md:1: links to /b.md; write the path relative to the document",
                          "a.md:2: links to ../b.md, which is outside the repository"],
                         self.problems(a_dot_md="[b](/b.md)\n[b](../b.md)\n"))

    def test_ignores_code(self):
        self.assertEqual([], self.problems(
            a_dot_md="`[x](y)`\n\n```c++\n[x](y)\n# No heading\n```\n\n    [x](y)\n\n```\n    [x](y)\n```\n"))

    def test_takes_no_heading_from_code(self):
        self.assertEqual(["a.md:5: links to #x, but a.md has no 'x'"],
                         self.problems(a_dot_md="```\n# X\n```\n\n[x](#x)\n"))

    def test_reports_a_link_after_code(self):
        self.assertEqual(["a.md:5: links to y, but y does not exist"],
                         self.problems(a_dot_md="```\nx\n```\n\n[x](y)\n"))

    def test_reports_the_name_of_a_page_that_does_not_exist(self):
        page, other = ("docs/" + name for name in ("b.md", "c.md"))
        self.assertEqual([f"a.h:2: names {page}, which does not exist; name the page as it is called now"],
                         self.problems(a_dot_h=f"// See {other}\n// and {page}.\n", docs__c_dot_md="# C\n"))


class RepositoryTest(unittest.TestCase):
    """Checks the repository."""

    longMessage = False
    root = ROOT

    def test_links_resolve(self):
        self.assertTrue((self.root / "docs" / "README.md").is_file(),
                        f"{self.root} is not the repository; run the test without a sandbox")
        checker = Checker(self.root)
        problems = checker.check()
        self.assertFalse(problems, "\n" + "\n".join(problems))
        self.assertGreater(checker.links, 0)
        print(f"{checker.links} links", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        RepositoryTest.root = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
