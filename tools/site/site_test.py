#!/usr/bin/env python3
"""Tests make.py with small repositories, and makes the site of the repository.

Needs the same packages as make.py.
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import packages

packages.require()

import diagram
import links
from headers import ROOT
from names import Names
from pages import Site
from render import Context, Renderer

README = "# Rouse\n\nText.\n"
DOCS = "# Documentation\n\n[b](guide/b.md) [a](guide/a.md)\n"
BUILD = 'rouse_cc_library(name = "a", hdrs = ["a.h"], visibility = ["//visibility:public"])\n'
HEADER = """// Copyright
//
// -----
// File: a.h
// -----
//
// Has `A`.

namespace rouse {

// A
//
// Is an A.
class A {
 public:
  // Returns a `B`.
  B F();
};

// Is a B.
using B = int;

}  // namespace rouse
"""


class Folder:
    """A repository with some files, and the site that is made of it."""

    def __init__(self, **contents):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name, "repository")
        self.output = pathlib.Path(self.folder.name, "site")
        for name, text in {"README_md": README, "docs__README_md": DOCS, "docs__guide__a_md": "# Alpha\n",
                           "docs__guide__b_md": "# Beta\n", **contents}.items():
            path = self.root / name.replace("__", "/")
            path = path.with_name(".".join(path.name.rsplit("_", 1)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def make(self):
        site = Site(self.root)
        site.make()
        site.write(self.output)
        return site


class RenderTest(unittest.TestCase):
    """Checks the HTML of texts."""

    def html(self, text, is_comment=False):
        renderer = Renderer(Names(), lambda path, _: f"site/{path}", lambda path, _: f"site/{path}",
                            {"pages/x.md": "Title of X"})
        context = Context("pages/a.md", "pages/a.html")
        return (renderer.comment if is_comment else renderer.document)(text, context).strip()

    def test_gives_headings_the_anchors_of_github(self):
        self.assertEqual('<h2 id="a-bc">A <code>b</code>/c</h2>\n<h2 id="a-bc-1">A b/c</h2>',
                         self.html("## A `b`/c\n\n## A b/c"))

    def test_resolves_links(self):
        self.assertEqual('<p><a href="../site/b.h#L1">b</a> <a href="#c">c</a> <a href="https://d.e/f">d</a></p>',
                         self.html("[b](../b.h#L1) [c](#c) [d](https://d.e/f)"))

    def test_shows_the_title_in_place_of_the_name_of_a_file(self):
        self.assertEqual('<p><a href="../site/pages/x.md">Title of X</a></p>', self.html("[x.md](x.md)"))

    def test_colours_code(self):
        self.assertIn('<span class="k">return</span>', self.html("```c++\nreturn 1;\n```"))

    def test_comments_have_no_html_and_no_emphasis(self):
        self.assertEqual("<p>T* a and &lt;b&gt;*.</p>", self.html("T* a and <b>*.", is_comment=True))


class DiagramTest(unittest.TestCase):
    """Checks flowcharts."""

    def test_draws_boxes_with_their_arrows(self):
        html = diagram.boxes('flowchart TB\n  subgraph x["layer 1"]\n    a["<b>a</b><br/>A, B"]\n    b["b"]\n  end\n'
                             "  a --> b\n  a -. names .-> c\n")
        self.assertIn('<div class="box"><b>a</b><span>A, B</span>\n<span class="uses">uses b, c (names)</span>',
                      html.replace("</span><span", "</span>\n<span"))

    def test_refuses_what_it_does_not_know(self):
        with self.assertRaisesRegex(ValueError, "'a ==> b'"):
            diagram.boxes("flowchart TB\n  a ==> b\n")


class SiteTest(unittest.TestCase):
    """Checks the sites of small repositories."""

    def folder(self, **contents):
        folder = Folder(**contents)
        self.addCleanup(folder.folder.cleanup)
        return folder

    def test_makes_a_page_of_each_document_and_header(self):
        folder = self.folder(BUILD_bazel=BUILD, a_h=HEADER)
        self.assertEqual(["README.md", "docs/README.md"], Site(folder.root).documents[""])
        folder.make()
        self.assertEqual(["api/a.h.html", "api/index.html", "docs/guide/a.html", "docs/guide/b.html",
                          "docs/index.html", "index.html"],
                         sorted(file.relative_to(folder.output).as_posix() for file in folder.output.rglob("*.html")))
        self.assertEqual([], links.check(folder.output)[1])

    def test_copies_the_pictures_of_a_document(self):
        folder = self.folder(docs__c_md="# C\n\n![d](c/d.svg)\n", docs__c__d_svg="<svg/>")
        folder.make()
        self.assertIn('<img src="c/d.svg" alt="d"', (folder.output / "docs/c.html").read_text())
        self.assertEqual("<svg/>", (folder.output / "docs/c/d.svg").read_text())
        self.assertEqual([], links.check(folder.output)[1])

    def test_reports_a_picture_that_does_not_exist(self):
        folder = self.folder(docs__c_md="# C\n\n![d](c/d.svg)\n")
        with self.assertRaisesRegex(SystemExit, "shows docs/c/d.svg, which does not exist"):
            folder.make()

    def test_lists_the_documents_in_the_order_of_the_overview(self):
        self.assertEqual([f"docs/guide/{name}.md" for name in "ba"],
                         Site(self.folder().root).documents["docs/guide"])

    def test_shows_and_links_the_names_of_a_header(self):
        folder = self.folder(BUILD_bazel=BUILD, a_h=HEADER)
        folder.make()
        page = (folder.output / "api/a.h.html").read_text()
        self.assertIn('<h2 id="A">A <small>class</small></h2>', page)
        self.assertIn("<p>Is an A.</p>", page)
        self.assertIn('<h3 id="A::F">F() <small>function</small></h3>', page)
        self.assertIn('<p>Returns a <a href="#B"><code>B</code></a>.</p>', page)
        self.assertIn('<a href="#B"><span class="n">B</span></a>', page)

    def test_documents_link_to_names(self):
        folder = self.folder(BUILD_bazel=BUILD, a_h=HEADER,
                             docs__guide__a_md="# Alpha\n\n`rouse::A`, `A::F()`, a.h, `C`\n")
        folder.make()
        self.assertIn('<p><a href="../../api/a.h.html#A"><code>rouse::A</code></a>, '
                      '<a href="../../api/a.h.html#A::F"><code>A::F()</code></a>, '
                      '<a href="../../api/a.h.html">a.h</a>, <code>C</code></p>',
                      (folder.output / "docs/guide/a.html").read_text())

    def test_search_finds_names_and_sections(self):
        site = self.folder(BUILD_bazel=BUILD, a_h=HEADER, docs__guide__a_md="# Alpha\n\n## Two\n\nWords.\n").make()
        self.assertIn(("A::F", "a.h", "api/a.h.html#A::F", "function", "Returns a B."), site.search)
        self.assertIn(("Two", "Alpha", "docs/guide/a.html#two", "page", "Words."), site.search)

    def test_makes_pages_of_linked_files(self):
        folder = self.folder(b_py="x = 1\n", docs__guide__a_md="# Alpha\n\n[b](../../b.py#L1)\n")
        folder.make()
        self.assertIn('id="L1"', (folder.output / "source/b.py.html").read_text())
        self.assertEqual([], links.check(folder.output)[1])

    def test_refuses_a_link_to_nothing(self):
        with self.assertRaisesRegex(SystemExit, r"guide/a\.md: links to docs/guide/c\.md, which does not exist"):
            self.folder(docs__guide__a_md="# Alpha\n\n[c](c.md)\n").make()

    def test_reports_a_dead_anchor(self):
        folder = self.folder(docs__guide__a_md="# Alpha\n\n[b](b.md#no)\n")
        folder.make()
        problems = links.check(folder.output)[1]
        self.assertEqual(1, len(problems))
        self.assertIn("links to b.html#no, but docs/guide/b.html has no 'no'", problems[0])

    def test_replaces_only_a_site(self):
        folder = self.folder()
        folder.make()
        (folder.output / "docs/old.html").write_text("old")
        folder.make()
        self.assertFalse((folder.output / "docs/old.html").exists())
        (folder.output / "site.js").unlink()
        with self.assertRaisesRegex(SystemExit, "name an empty folder with --output"):
            folder.make()


class RepositoryTest(unittest.TestCase):
    """Makes the site of the repository."""

    longMessage = False

    def test_links_resolve(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            site = Site(ROOT)
            site.make()
            site.write(pathlib.Path(folder))
            count, problems = links.check(folder)
        self.assertFalse(problems, "\n" + "\n".join(problems))
        self.assertGreater(count, 0)
        print(f"{len(site.pages)} pages, {count} links", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
