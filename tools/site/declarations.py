"""Reads the public names of a header, with their comments.

The parser knows the layout of this repository, which clang-format and tools/lint ensure: a comment is a
block of // lines above its declaration, and belongs to all declarations that follow it without an empty
line or another comment in between. Code inside an `#else` is not read, nor code for twins (ROUSE_MODEL and
ROUSE_SCALING).
"""

import dataclasses
import re

# Members that a concept of future/, the language or Abseil calls. The concept has the contract.
PROTOCOLS = frozenset(
    "Poll PollNext Trace BorrowsClosure await_ready await_suspend await_resume AbslStringify AbslHashValue "
    "PollRead PollReadVectored PollFillBuf Consume PollWrite PollWriteVectored PollFlush PollShutdown PollSeek "
    "Decode DecodeEnd Encode".split()
)
# What stands before a ( but is not the name of a function.
NOT_NAMES = frozenset("requires noexcept decltype alignas explicit sizeof throw".split())
NAMESPACE = re.compile(r"(?:inline )?namespace\b ?([\w:]*)")
CLASS = re.compile(
    r"(?:^|[\s>)])(class|struct|union|enum class|enum) "
    r"(?:\[\[.*?\]\] ?|alignas\(\) ?|[A-Z][A-Z0-9_]{3,}(?:\(\))? (?=\w|\[))*([\w:]+)?"
)
# What follows this line repeats names that are declared above.
IMPLEMENTATION = "Implementation details follow."
# A macro that is a line of its own.
MACRO_LINE = re.compile(r"[A-Z][A-Z0-9_]{3,}(?=\n)")
SECTION = re.compile(r"-{2,} (.*)")
EXPORT = re.compile(r'#include "rouse/([^"]+)"')


@dataclasses.dataclass
class Item:
    """A public name, or some of the same comment."""

    kind: str  # class, enum, function, alias, concept, variable, macro, constructor, operator, section
    name: str
    scope: tuple  # the namespaces and classes around the name
    declaration: str
    line: int
    comment: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)
    shared: bool = False  # has the comment of the item before
    protocol: bool = False  # an override, a friend, or one of PROTOCOLS

    @property
    def qualified(self):
        """The name with the namespaces and classes around it, without `rouse`."""
        return "::".join([*self.scope, self.name])


@dataclasses.dataclass
class Header:
    """What a header offers."""

    path: str
    comment: list
    exports: list  # the headers that this header exports
    items: list


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def active(text):
    """Returns the text without the branches of #if that are not read, and without the conditions."""
    result = []
    reading = [True]  # for each open #if: whether the branch is read
    taken = [True]
    for directive in re.split(r"^(#(?:[^\n]*\\\n)*[^\n]*\n)", text, flags=re.M):
        found = re.match(r"#\s*(\w+)(.*)", directive, re.S)
        word, condition = found.groups() if found else ("", "")
        twin = re.search("ROUSE_(MODEL|SCALING|TWIN)", condition) and word != "ifndef" and "!" not in condition
        if word in ("if", "ifdef", "ifndef"):
            reading.append(not twin)
            taken.append(not twin)
        elif word in ("else", "elif"):
            reading[-1] = not taken[-1] and not twin
            taken[-1] = taken[-1] or reading[-1]
        elif word == "endif":
            reading.pop()
            taken.pop()
        is_condition = word in ("if", "ifdef", "ifndef", "else", "elif", "endif")
        result.append(directive if all(reading) and not is_condition else blank(directive))
    return "".join(result)


def without(text, opening, closing):
    """Returns the text without the contents of brackets."""
    result = []
    depth = 0
    for i, c in enumerate(text):
        if c == closing and depth > 0 and text[i - 1] not in "-=":
            depth -= 1
        if depth == 0:
            result.append(c)
        if c == opening:
            depth += 1
    return "".join(result)


def plain(head):
    """Returns a declaration on one line, without comments and what is inside of ( ), < > and strings."""
    head = re.sub(r"//[^\n]*", "", head)
    head = re.sub(r'"(?:[^"\\]|\\.)*"', '""', head)
    head = re.sub(r"\boperator\s*(\(\)|\[\]|[-+*/%^&|~!=<>,]+|\w+(?:[\w:<> *&]*))", "operator@", head)
    head = re.sub(r"->", "@>", head)
    head = without(without(head, "(", ")"), "<", ">")
    head = re.sub(r"\s+", " ", head).strip()
    return re.sub(r"^(?:template ?<> ?)+", "", head).replace("@>", "->")


class Parser:
    """Reads the public names of a header."""

    def __init__(self, path, text):
        self.path = path
        self.all = text
        self.text = active(text)
        self.at = 0

    def parse(self):
        comment = self._file_comment()
        exports = []
        exporting = False
        for line in self.all.splitlines():
            if "IWYU pragma: begin_exports" in line:
                exporting = True
            elif "IWYU pragma: end_exports" in line:
                exporting = False
            found = EXPORT.match(line)
            if found and (exporting or "IWYU pragma: export" in line):
                exports.append(found[1])
        return Header(self.path, comment, exports, self._scope((), None, True))

    def _file_comment(self):
        lines = []
        for line in self.text.splitlines():
            if not line.startswith("//"):
                break
            lines.append(line[2:].removeprefix(" "))
        text = "\n".join(lines)
        found = re.match(r".*?\n-{5,}\nFile: [^\n]*\n-{5,}\n\n?(.*)", text, re.S)
        return found[1].splitlines() if found else []

    def _line(self, at):
        return self.text.count("\n", 0, at) + 1

    def _fail(self, problem):
        raise SystemExit(f"{self.path}:{self._line(min(self.at, len(self.text) - 1))}: tools/site/declarations.py "
                         f"cannot read this: {problem}; the script says which layout it knows")

    def _skip_quoted(self, at):
        """Returns the end of the comment or literal at a position, or the position if there is none."""
        text = self.text
        if text.startswith("//", at):
            end = text.find("\n", at)
            return len(text) if end < 0 else end
        if text.startswith('R"', at):
            mark = re.compile(r'R"([^(\s]*)\(').match(text, at)
            return text.index(f'){mark[1]}"', at) + len(mark[1]) + 2
        quote = text[at]
        if quote == '"' or (quote == "'" and not text[at - 1].isalnum()):
            end = at + 1
            while text[end] != quote:
                end += 2 if text[end] == "\\" else 1
            return end + 1
        return at

    def _skip_braces(self, at):
        """Returns the position after the } that belongs to the { at a position."""
        depth = 0
        while at < len(self.text):
            end = self._skip_quoted(at)
            if end != at:
                at = end
                continue
            depth += {"{": 1, "}": -1}.get(self.text[at], 0)
            at += 1
            if depth == 0:
                return at
        self._fail("a { without a }")
        return at

    def _scope(self, scope, owner, public):
        """Reads to the end of a namespace or class. Returns the public items, or none if not `public`."""
        items = []
        comment = []
        shares = False  # the next declaration can have the comment of the item before
        text = self.text
        while True:
            start = self.at
            self.at = re.compile(r"\s*").match(text, self.at).end()
            if "\n\n" in self.all[start:self.at]:
                if comment and public:
                    self._floating(comment, scope, items)
                comment = []
                shares = False
            if self.at == len(text):
                return items
            if text.startswith("//", self.at):
                if comment and public and SECTION.match(comment[0]):
                    self._floating(comment, scope, items)
                    comment = []
                self.at = self._comment(comment)
                public = public and IMPLEMENTATION not in comment
                shares = False
                continue
            if text[self.at] == "}":
                return items
            if text[self.at] == "#":
                found = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*").match(text, self.at)
                name = re.match(r"#define (\w+)", found[0])
                if name and public and not name[1].endswith(("_H_", "_")) and "INTERNAL" not in name[1]:
                    signature = re.match(r"#define \w+(\([^)]*\))?", found[0])[0]
                    items.append(Item("macro", name[1], (), signature, self._line(self.at), comment))
                    items[-1].shared = shares and not comment
                    shares = bool(comment) or shares
                comment = []
                self.at = found.end()
                continue
            macro = MACRO_LINE.match(text, self.at)
            if macro:
                self.at = macro.end()
                continue
            access = re.compile(r"(public|private|protected)\s*:(?!:)").match(text, self.at)
            if owner is not None and access:
                public = access[1] == "public"
                self.at = access.end()
                comment = []
                shares = False
                continue
            before = len(items)
            self._declaration(scope, owner, public, comment, shares, items)
            shares = (bool(comment) or shares) and len(items) > before
            comment = []

    def _comment(self, lines):
        found = re.compile(r"(?:[ ]*//[^\n]*\n?)+").match(self.text, self.at)
        lines += [line.strip()[2:].removeprefix(" ") for line in found[0].rstrip("\n").split("\n")]
        return found.end() - found[0].endswith("\n")

    def _floating(self, comment, scope, items):
        """Takes a comment that belongs to no declaration: the title of a section."""
        section = SECTION.match(comment[0])
        if section:
            items.append(Item("section", section[1].strip(" .-"), scope, "", self._line(self.at), comment[1:]))

    def _declaration(self, scope, owner, public, comment, shares, items):
        """Reads one declaration, and what its braces contain."""
        text = self.text
        start = self.at
        depth = 0
        at = start
        had_body = False
        while True:
            if at >= len(text):
                self._fail("a declaration without an end")
            end = self._skip_quoted(at)
            if end != at:
                at = end
                continue
            c = text[at]
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
            if c == ";" and depth == 0:
                break
            if c == "{":
                head = text[start:at]
                what = self._braces(head) if depth == 0 else "value"
                if what == "namespace":
                    name = NAMESPACE.match(plain(head))
                    self.at = at + 1
                    names = name[1].split("::") if name else []
                    hidden = name and (not name[1] or "internal" in names or "std" in names)
                    inner = (*scope, *(part for part in names if part != "rouse"))
                    found = self._scope(inner, None, public and not hidden)
                    items += [] if hidden else found
                    self.at += 1
                    return
                if what == "class":
                    self._class(head, start, at, scope, public, comment, items)
                    return
                end = self._skip_braces(at)
                if what == "body":
                    had_body = True
                    break
                at = end
                continue
            at += 1
        self.at = end if had_body else at + 1
        if public:
            self._add(text[start:at], start, scope, owner, comment, shares, items)
        # A comment behind the declaration belongs to it.
        found = re.compile(r"[ ]*//[^\n]*").match(text, self.at)
        if found:
            if public and items and items[-1].line == self._line(start) and not had_body:
                items[-1].declaration += "  " + found[0].strip()
            self.at = found.end()

    def _braces(self, head):
        """Returns what a { after a declaration's beginning begins."""
        text = plain(head)
        if NAMESPACE.match(text) or text.startswith('extern ""'):
            return "namespace"
        if re.search(r"\brequires(?: ?\(\))?$", text):
            return "value"
        if re.search(r"(?<![=!<>@])=(?!=)", text.replace("operator@", "")):
            return "value"
        found = CLASS.search(text)
        if found and "(" not in text[found.end():].split(":")[0]:
            return "class"
        if "(" not in text:
            return "value"
        if re.search(r"\)[^:()]*:(?!:)", text.replace("::", "")) and re.search(r"[\w>]$", text):
            return "value"  # the initializer of a member
        return "body"

    def _class(self, head, start, at, scope, public, comment, items):
        found = CLASS.search(plain(head))
        name = found[2] or ""
        hidden = not public or "::" in name or not name or plain(head).startswith("friend")
        item = Item("enum" if found[1].startswith("enum") else "class", name, scope,
                    self._dedent(head, start), self._line(start), comment)
        if item.kind == "enum":
            end = self._skip_braces(at)
            item.declaration = self._dedent(self.text[start:end] + ";", start)
            self.at = end
        else:
            self.at = at + 1
            item.members = self._scope((*scope, name), name, found[1] != "class")
            if not name and public:  # the members of an anonymous union
                items += item.members
            self.at += 1
        # A variable of the type can follow.
        self.at = self.text.index(";", self.at) + 1
        specialized = re.search(re.escape(name) + r"\s*<", head)
        if not hidden and not specialized:
            items.append(item)

    def _dedent(self, text, start):
        """Returns a declaration as the header has it, moved to the left."""
        column = start - self.text.rfind("\n", 0, start) - 1
        lines = text.rstrip().split("\n")
        return "\n".join([lines[0], *(line[min(column, len(line) - len(line.lstrip())):] for line in lines[1:])])

    def _add(self, head, start, scope, owner, comment, shares, items):
        text = plain(head)
        named = self._named(text, head, owner)
        if not named:
            return
        kind, name = named
        declaration = head
        if kind in ("function", "constructor", "operator"):
            declaration = self._without_initializers(head)
        item = Item(kind, name, scope, self._dedent(declaration, start) + ";", self._line(start), comment)
        item.shared = shares and not comment
        item.protocol = bool((owner and name in PROTOCOLS) or text.startswith("friend ")
                             or re.search(r"\boverride\b", text))
        items.append(item)

    @staticmethod
    def _without_initializers(head):
        """Returns a constructor's declaration without the initializers of members."""
        depth = 0
        for i, c in enumerate(head):
            depth += {"(": 1, ")": -1}.get(c, 0)
            if c == ":" and depth == 0 and head[i - 1] != ":" and head[i + 1] != ":" and ")" in head[:i]:
                return head[:i]
        return head

    @staticmethod
    def _named(text, head, owner):
        """Returns the kind and the name of a declaration, or nothing for what has no name of its own."""
        if re.match(r"(?:static_assert|friend (?:class|struct)|extern template|template (?:class|struct))\b", text):
            return None
        if text.startswith("using namespace") or not text:
            return None
        if text.startswith("using "):
            found = re.match(r"using (\w+)(?: ?\[\[.*?\]\])? =", text)
            return ("alias", found[1]) if found else None
        if text.startswith("typedef"):
            return ("alias", re.search(r"(\w+)$", text)[1])
        found = re.match(r"(?:.* )?concept (\w+) =", text)
        if found:
            return ("concept", found[1])
        if "operator@" in text:
            return None if re.search(r"::operator@", text) else ("operator", "operator")
        value = re.search(r"(?<![=!<>@])=(?!=)", text)
        before = text[:value.start()] if value else text
        pointer = re.search(r"\((?:\w+::)?\*\s*(\w+)\)\(", re.sub(r"\s+", " ", head))
        if pointer and not re.search(r"\w\(", before.replace("() (", "")):
            return ("variable", pointer[1])
        calls = [found for found in re.finditer(r"(~?[\w:~]+) ?\(", before)
                 if found[1] not in NOT_NAMES and not re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", found[1])]
        if calls:
            name = calls[0][1]
            if "::" in name and not before.startswith("friend"):
                return None  # is declared in its class
            if name.startswith("~") or name == owner:
                return ("constructor", name)
            if owner is None and "->" in text and before.startswith(calls[0][0]):
                return None  # a deduction guide
            return ("function", name.split("::")[-1])
        found = CLASS.search(before)
        if found and before.endswith(found[2] or ""):
            return None if before.startswith("friend") else ("forward", found[2])
        before = re.sub(r"\{.*", "", before, flags=re.S)
        before = re.sub(r" ?\b[A-Z][A-Z0-9_]{3,}\(\)", "", before)
        found = re.search(r"([\w:]+)(?:\[[^\]]*\])* ?$", before.strip())
        return ("variable", found[1]) if found and "::" not in found[1] else None


def parse(path, text):
    """Returns the Header with a path and a text."""
    return Parser(path, text).parse()
