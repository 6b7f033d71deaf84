"""Turns Markdown into HTML, with links that work on the site and with coloured code.

Needs two packages of Debian: python3-markdown-it and python3-pygments.
"""

import dataclasses
import html
import posixpath
import re

import pygments
import pygments.formatters
import pygments.lexers
from markdown_it import MarkdownIt

import diagram

LANGUAGES = {"c++": "cpp", "starlark": "python", "": "text"}
OTHER_SITE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# A name in backquotes: Mutex, rouse::Mutex::Lock(), JoinHandle<T>, Channel(100).
NAME = re.compile(r"((?:rouse::)?~?[A-Za-z]\w*(?:::~?\w+)*)(?:<[^()]*>)?(?:\([^()]*\))?")
DOCUMENT = re.compile(r"(?<![\w/.])docs/[\w/]+\.md\b")
HEADER = re.compile(r"(?<![\w/.])(?:rouse/)?([\w/]+\.h)\b(?!/)")
# A qualified name in coloured C++. The last part begins with a capital letter.
COLOURED_NAME = re.compile(
    r'(?:<span class="n\w?">\w+</span><span class="o">::</span>)*<span class="n[cf]?">[A-Z]\w*</span>'
)
FORMATTER = pygments.formatters.HtmlFormatter(nowrap=True)


@dataclasses.dataclass
class Section:
    """A part of a page, below a heading."""

    level: int
    title: str
    anchor: str
    text: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Context:
    """Where a text stands."""

    path: str  # the file of the repository that has the text
    url: str  # the page
    scope: tuple = ()  # the namespaces and classes around a comment
    shift: int = 0  # how much lower than in the text the headings are
    prefix: str = ""  # of the anchors of headings
    sections: list = dataclasses.field(default_factory=list)
    anchors: set = dataclasses.field(default_factory=set)


def relative(url, from_url):
    """Returns a URL of the site as a link on another page."""
    path, mark, anchor = url.partition("#")
    if path == from_url:
        return mark + anchor or posixpath.basename(path)
    return posixpath.relpath(path, posixpath.dirname(from_url) or ".") + mark + anchor


def anchor_of(heading):
    """Returns the anchor that GitHub forms from a heading."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def coloured(code, language):
    """Returns code as HTML with a class for each kind of token."""
    lexer = pygments.lexers.get_lexer_by_name(LANGUAGES.get(language, language), stripnl=False)
    return pygments.highlight(code, lexer, FORMATTER)


class Renderer:
    """Renders texts.

    `names` finds the page of a public name, `url_of` the page of a file, and `url_of_image` the URL of a
    picture. `titles` has the title of each document.
    """

    def __init__(self, names, url_of, url_of_image, titles):
        self.names = names
        self.url_of = url_of
        self.url_of_image = url_of_image
        self.titles = titles
        self._documents = self._markdown(MarkdownIt("commonmark", {"html": True}).enable("table"))
        self._comments = self._markdown(MarkdownIt("commonmark", {"html": False}).disable("emphasis"))

    def document(self, text, context):
        """Returns the HTML of a document."""
        return self._render(self._documents, text, context)

    def comment(self, text, context):
        """Returns the HTML of a comment."""
        return self._render(self._comments, text, context).replace("<p>REQUIRES:", "<p><b>Requires:</b>")

    def code(self, code, language, context):
        """Returns an example. The names that begin with rouse:: are links."""
        return self._block(code, language, lambda name: name.startswith("rouse::") and self._url(name, context))

    def signature(self, code, own, context):
        """Returns a declaration. The public names are links, except for the names around it and its own."""
        around = {"::".join(own[:depth]) for depth in range(len(own) + 1)}

        def url_of(name):
            url = self._url(name, context)
            return None if url and url.removeprefix("#") in around else url

        return self._block(code, "c++", url_of)

    def _url(self, name, context):
        url = self.names.find(name, context.scope)
        return url and relative(url, context.url)

    @staticmethod
    def _block(code, language, url_of):
        def link(found):
            url = url_of(re.sub(r"<[^>]*>", "", found[0]))
            return f'<a href="{html.escape(url)}">{found[0]}</a>' if url else found[0]

        result = coloured(code, language)
        if language in ("c++", "cpp"):
            result = COLOURED_NAME.sub(link, result)
        return f'<pre tabindex="0"><code>{result}</code></pre>\n'

    def _markdown(self, parser):
        parser.add_render_rule("fence", lambda _, tokens, i, options, env: self._fence(tokens[i], env["at"]))
        parser.add_render_rule("code_block", lambda _, tokens, i, options, env: self._indented(tokens[i], env["at"]))
        parser.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
        parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
        return parser

    def _render(self, parser, text, context):
        tokens = parser.parse(text)
        column = 0
        for i, token in enumerate(tokens):
            if token.type in ("tr_open", "td_open"):
                column = 0 if token.type == "tr_open" else column + 1
            elif token.type == "heading_open":
                self._heading(token, tokens[i + 1], tokens[i + 2], context)
            elif token.type == "inline":
                if context.sections and tokens[i - 1].type != "heading_open":
                    context.sections[-1].text.append(plain(token))
                # The first column of from_tokio.md has the names of Tokio.
                is_foreign = column == 1 and posixpath.basename(context.path).startswith("from_")
                self._inline(token.children, context, not is_foreign)
            elif token.type == "table_close":
                column = 0
        return parser.renderer.render(tokens, parser.options, {"at": context})

    def _heading(self, opening, inline, closing, context):
        level = min(int(opening.tag[1]) + context.shift, 6)
        opening.tag = closing.tag = f"h{level}"
        base = context.prefix + anchor_of(inline.content)
        anchor, number = base, 0
        while anchor in context.anchors:
            number += 1
            anchor = f"{base}-{number}"
        context.anchors.add(anchor)
        opening.attrs["id"] = anchor
        context.sections.append(Section(level, plain(inline), anchor))

    def _inline(self, tokens, context, links_names):
        """Resolves the links among tokens, and makes a link of each name and header that has a page."""
        inside = False
        for i, token in enumerate(tokens):
            if token.type == "link_open":
                inside = True
                file = self._linked_file(token.attrs["href"], context)
                if tokens[i + 1].content == posixpath.basename(file) and file in self.titles:
                    tokens[i + 1].content = self.titles[file]
                if file:
                    anchor = "".join(token.attrs["href"].partition("#")[1:])
                    token.attrs["href"] = relative(self.url_of(file, context) + anchor, context.url)
            elif token.type == "link_close":
                inside = False
            elif token.type == "image":
                if file := self._linked_file(token.attrs["src"], context):
                    token.attrs["src"] = relative(self.url_of_image(file, context), context.url)
            elif not inside and token.type == "code_inline" and links_names:
                url = self._mentioned(token.content, context)
                if url and url != context.url:
                    href = html.escape(relative(url, context.url))
                    token.type, content = "html_inline", html.escape(token.content)
                    token.content = f'<a href="{href}"><code>{content}</code></a>'
            elif not inside and token.type == "text" and re.search(r"\.h|\.md", token.content):
                token.type, token.content = "html_inline", self._with_files(html.escape(token.content), context)

    def _with_files(self, text, context):
        """Returns a text whose names of headers and documents are links."""
        def link(found):
            url = self.names.header(found[1], posixpath.dirname(context.path))
            if not url or url == context.url:
                return found[0]
            return f'<a href="{html.escape(relative(url, context.url))}">{found[0]}</a>'

        def titled(found):
            if found[0] not in self.titles:
                return found[0]
            href = html.escape(relative(self.url_of(found[0], context), context.url))
            return f'<a href="{href}">{html.escape(self.titles[found[0]])}</a>'

        return DOCUMENT.sub(titled, HEADER.sub(link, text))

    def _mentioned(self, text, context):
        if header := HEADER.fullmatch(text):
            return self.names.header(header[1], posixpath.dirname(context.path))
        name = NAME.fullmatch(text)
        return self.names.find(name[1], context.scope) if name else None

    @staticmethod
    def _linked_file(target, context):
        """Returns the path of the file to which a link leads, or "" if it leads to the same page or elsewhere."""
        path = target.partition("#")[0]
        if OTHER_SITE.match(target) or not path:
            return ""
        return posixpath.normpath(posixpath.join(posixpath.dirname(context.path), path))

    def _fence(self, token, context):
        if token.info == "mermaid":
            try:
                return diagram.boxes(token.content)
            except ValueError as error:
                raise SystemExit(f"{context.path}: {error}") from None
        return self.code(token.content, token.info, context)

    def _indented(self, token, context):
        looks_like_code = context.path.endswith(".h") and re.search(r"[;{}]\s*(//.*)?$", token.content, re.M)
        return self.code(token.content, "c++" if looks_like_code else "", context)


def plain(inline):
    """Returns the text of an inline token."""
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children)
