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
NAME = re.compile(r"(?:rouse::)?(~?[A-Za-z]\w*(?:::~?\w+)*)(?:<[^()]*>)?(?:\([^()]*\))?")
HEADER = re.compile(r"(?:rouse/)?([\w/]+\.h)")
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
    """Renders texts. `names` finds the page of a public name; `url_of` finds the page of a file."""

    def __init__(self, names, url_of):
        self.names = names
        self.url_of = url_of
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
        return self._block(code, language, context, "rouse::")

    def signature(self, code, context):
        """Returns a declaration. All public names are links."""
        return self._block(code, "c++", context, "")

    def _block(self, code, language, context, begin):
        def link(found):
            name = re.sub(r"<[^>]*>", "", found[0])
            url = name.startswith(begin) and self.names.find(name.removeprefix("rouse::"), context.scope)
            return f'<a href="{html.escape(relative(url, context.url))}">{found[0]}</a>' if url else found[0]

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
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                self._heading(token, tokens[i + 1], tokens[i + 2], context)
            elif token.type == "inline":
                if context.sections and tokens[i - 1].type != "heading_open":
                    context.sections[-1].text.append(plain(token))
                self._inline(token.children, context)
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

    def _inline(self, tokens, context):
        """Resolves the links among tokens, and makes a link of each name that has a page."""
        inside = False
        for token in tokens:
            if token.type == "link_open":
                inside = True
                token.attrs["href"] = self._resolve(token.attrs["href"], context)
            elif token.type == "link_close":
                inside = False
            elif token.type == "code_inline" and not inside:
                url = self._mentioned(token.content, context)
                if url and url != context.url:
                    href = html.escape(relative(url, context.url))
                    token.type, content = "html_inline", html.escape(token.content)
                    token.content = f'<a href="{href}"><code>{content}</code></a>'

    def _mentioned(self, text, context):
        if header := HEADER.fullmatch(text):
            return self.names.header(header[1], posixpath.dirname(context.path))
        name = NAME.fullmatch(text)
        return self.names.find(name[1], context.scope) if name else None

    def _resolve(self, target, context):
        if OTHER_SITE.match(target):
            return target
        path, mark, anchor = target.partition("#")
        if not path:
            return target
        file = posixpath.normpath(posixpath.join(posixpath.dirname(context.path), path))
        return relative(self.url_of(file, context) + mark + anchor, context.url)

    def _fence(self, token, context):
        if token.info == "mermaid":
            return diagram.boxes(token.content)
        return self.code(token.content, token.info, context)

    def _indented(self, token, context):
        looks_like_code = context.path.endswith(".h") and re.search(r"[;{}]\s*(//.*)?$", token.content, re.M)
        return self.code(token.content, "c++" if looks_like_code else "", context)


def plain(inline):
    """Returns the text of an inline token."""
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children)
