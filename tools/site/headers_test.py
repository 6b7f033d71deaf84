#!/usr/bin/env python3
"""Tests headers.py, and checks the public headers of the repository."""

import pathlib
import sys
import tempfile
import unittest

import comments
from declarations import parse
from headers import ROOT, Api, merged, undocumented
from names import Names


BANNER = "// Copyright\n//\n// -----\n// File: a.h\n// -----\n//\n"


def header(body):
    """Returns the Header with some declarations in namespace rouse."""
    return parse("a.h", f"{BANNER}// F.\n\n#ifndef ROUSE_A_H_\n#define ROUSE_A_H_\n\nnamespace rouse {{\n\n{body}\n"
                        "\n}  // namespace rouse\n\n#endif  // ROUSE_A_H_\n")


def described(items):
    """Returns the kind, name and comment of each item."""
    return [(item.kind, item.qualified, " ".join(item.comment)) for item in merged(items)]


class DeclarationsTest(unittest.TestCase):
    """Checks what is read of a header."""

    def test_reads_each_kind_of_name(self):
        self.assertEqual(
            [("class", "A", "A."), ("enum", "E", "E."), ("function", "F", "F."), ("alias", "U", "U."),
             ("concept", "C", "C."), ("variable", "kV", "V.")],
            described(header("// A.\nclass A {};\n\n// E.\nenum class E { kOne };\n\n// F.\nint F(int a = 1);\n\n"
                             "// U.\nusing U = int;\n\n// C.\ntemplate <class T>\nconcept C = true;\n\n"
                             "// V.\ninline constexpr int kV{1};").items))

    def test_reads_macros_but_not_the_guard(self):
        self.assertEqual([("macro", "ROUSE_X", "X.")], described(header("// X.\n#define ROUSE_X(a) a").items))

    def test_keeps_the_comment_of_a_macro_before_its_conditions(self):
        self.assertEqual([("macro", "ROUSE_X", "X.")], described(header(
            "// X.\n#if defined(A) && \\\n    defined(B)\n#define ROUSE_X 1\n"
            "#else\n#define ROUSE_X 2\n#endif").items))

    def test_reads_the_public_members(self):
        found = header("// A.\nclass A : public B<int> {\n public:\n  // F.\n  int F() const { return {}; }\n\n"
                       " private:\n  // G.\n  int G();\n};").items[0]
        self.assertEqual([("function", "A::F", "F.")], described(found.members))

    def test_leaves_out_what_is_internal(self):
        self.assertEqual([], header("namespace internal {\nint F();\n}  // namespace internal").items)
        self.assertEqual([], header("template <class T>\nint A<T>::F() {\n  return 1;\n}").items)
        self.assertEqual([], header("// ---\n// Implementation details follow.\n// ---\n\nint F() {}").items)

    def test_leaves_out_the_model(self):
        found = header("// U.\n#ifdef ROUSE_MODEL\nusing U = int;\n#else\nusing U = long;\n#endif").items
        self.assertEqual(["using U = long;"], [item.declaration for item in found])

    def test_leaves_out_the_twins(self):
        found = header("// U.\n#if defined(ROUSE_MODEL)\nusing U = int;\n#elif defined(ROUSE_SCALING)\n"
                       "using U = char;\n#else\nusing U = long;\n#endif").items
        self.assertEqual(["using U = long;"], [item.declaration for item in found])

    def test_shares_a_comment_up_to_an_empty_line(self):
        found = header("// F.\nint F();\nint G();\n\nint H();").items
        self.assertEqual([False, True, False], [item.shared for item in found])

    def test_gives_the_declaration_without_a_body(self):
        self.assertEqual("A(int a);", header(
            "class A {\n public:\n  A(int a) : a_{a} { F(\"}\"); }\n};").items[0].members[0].declaration)

    def test_reads_the_comment_of_the_file_and_its_exports(self):
        found = parse("a.h", f"{BANNER}// Two.\n// Lines.\n\n"
                             "#include \"rouse/b.h\"  // IWYU pragma: export\n#include \"rouse/c.h\"\n")
        self.assertEqual((["Two.", "Lines."], ["b.h"]), (found.comment, found.exports))

    def test_says_where_the_layout_is_unknown(self):
        with self.assertRaisesRegex(SystemExit, r"a\.h:14: .*a declaration without an end"):
            header("int F(")


class UndocumentedTest(unittest.TestCase):
    """Checks which names need a comment."""

    def names(self, body):
        return [message.split()[1] for message in undocumented(header(body))]

    def test_reports_the_line_of_a_name(self):
        self.assertEqual(
            ["a.h:14: F has no comment; say above the declaration what it does (docs/contributing/style.md, "
             "Contracts)"],
            undocumented(header("int F();")))

    def test_reports_members(self):
        self.assertEqual(["A", "A::F"], self.names("class A {\n public:\n  A();\n  int F();\n  int b;\n};"))

    def test_reports_a_title_without_a_text(self):
        self.assertEqual(["A"], self.names("// A\nstruct A {};"))

    def test_accepts_overloads_and_protocols(self):
        self.assertEqual([], self.names("// F.\nint F();\n\nint F(int a);\n\n// A.\nstruct A {\n"
                                        "  int Poll(Context& cx);\n  int G() override;\n};"))

    def test_finds_the_headers_of_public_targets(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "a").mkdir()
            (root / "a/BUILD.bazel").write_text(
                'rouse_cc_library(name = "a", hdrs = ["a.h"], visibility = ["//visibility:public"])\n'
                'rouse_cc_library(name = "b", hdrs = ["b.h"])\n')
            (root / "a/a.h").write_text('#include "rouse/a/b.h"  // IWYU pragma: export\n')
            (root / "a/b.h").write_text("namespace rouse {\nint F();\n}\n")
            api = Api(root)
            self.assertEqual(({"a/a.h": "@rouse//a"}, ["a/b.h:2:"]),
                             (api.targets, [message.split()[0] for message in api.problems()]))


class CommentsTest(unittest.TestCase):
    """Checks how comments become Markdown."""

    def test_removes_the_title(self):
        self.assertEqual("Text.", comments.markdown(["A::B", "", "Text."]))
        self.assertEqual("Text.", comments.markdown(["F(), G()", "", "Text."]))
        self.assertEqual("Gives up.\n\nText.", comments.markdown(["Gives up.", "", "Text."]))

    def test_makes_code_of_indented_lines(self):
        self.assertEqual("So:\n\n    F();\n      G();\n\nText.",
                         comments.markdown(["So:", "  F();", "    G();", "Text."]))

    def test_keeps_lists(self):
        self.assertEqual("* a\n  b\n* c", comments.markdown(["* a", "  b", "* c"]))

    def test_begins_a_paragraph_with_requirements(self):
        self.assertEqual("Text.\n\nREQUIRES: a.", comments.markdown(["Text.", "REQUIRES: a."]))

    def test_finds_the_first_sentence(self):
        self.assertEqual("Waits for `a.b`.", comments.summary(["F()", "", "Waits for", "`a.b`. Then ends."]))
        self.assertEqual("Waits", comments.summary(["Waits:", "", "  F();"]))


class NamesTest(unittest.TestCase):
    """Checks which page a name has."""

    def setUp(self):
        self.names = Names()
        for item in header("namespace mpsc {\nclass Sender {\n public:\n  int Send();\n};\n}\n"
                           "int Send();\nint Go();").items:
            self.names.add(item, f"#{item.qualified}", False)
            for member in item.members:
                self.names.add(member, f"#{member.qualified}", True)

    def test_finds_a_name_in_its_scope(self):
        self.assertEqual("#mpsc::Sender", self.names.find("Sender", ("mpsc",)))
        self.assertEqual("#mpsc::Sender::Send", self.names.find("Send", ("mpsc", "Sender")))

    def test_finds_a_name_that_is_spelled_once(self):
        self.assertEqual(("#mpsc::Sender", "#Go", None), tuple(map(self.names.find, ("Sender", "Go", "Stop"))))

    def test_finds_no_function_that_may_be_a_member(self):
        self.assertEqual((None, "#Send"), (self.names.find("Send"), self.names.find("rouse::Send")))

    def test_finds_a_header_from_its_folder(self):
        self.names.add_header("sync/mutex.h", "m")
        self.assertEqual(["m", "m", None], [self.names.header("mutex.h", "sync/lock"),
                                            self.names.header("sync/mutex.h", ""),
                                            self.names.header("mutex.h", "io")])


class RepositoryTest(unittest.TestCase):
    """Checks the repository."""

    longMessage = False

    def test_each_public_name_has_a_comment(self):
        api = Api(ROOT)
        problems = api.problems()
        self.assertFalse(problems, "\n" + "\n".join(problems))
        self.assertGreater(len(api.headers), 100, f"{ROOT} is not the repository; run the test without a sandbox")
        print(f"{len(api.headers)} public headers", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
