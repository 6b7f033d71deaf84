"""Makes the pages of the API reference: one for each public header, and one that lists the headers."""

import html
import itertools
import posixpath
import re

import comments
from headers import merged
from render import Context, Section, relative

INDEX = "api/index.html"


def url_of_header(path):
    return f"api/{path}.html"


def label(item):
    """Returns the title of a name: functions have parentheses."""
    if item.kind == "operator":
        found = re.search(r"operator\s*(?:\(\)|[^(]*)", item.declaration)
        return re.sub(r"\s+", " ", found[0]).strip() if found else item.name
    return f"{item.name}()" if item.kind in ("function", "constructor") else item.name


def kind_of(item):
    """Returns the kind of a name, in the words of C++."""
    if item.kind in ("class", "forward"):
        return re.findall(r"^ *(class|struct|union)\b", item.declaration, re.M)[-1]
    if item.kind == "variable":
        return "constant" if re.match(r"k[A-Z]", item.name) else "variable"
    return item.kind


def groups(items):
    """Returns the items in lists. The items of a list share a comment, or have none."""
    result = []
    for item in merged(items):
        last = result[-1] if result else []
        joins = last and not item.comment and item.kind not in ("class", "section") and (
            last[0].kind not in ("class", "section"))
        if joins and (item.shared or not last[0].comment or any(item.name == other.name for other in last)):
            last.append(item)
        else:
            result.append([item])
    return result


class ApiPages:
    """The pages of the API reference."""

    def __init__(self, api, names, renderer):
        self.api = api
        self.names = names
        self.renderer = renderer
        self.count = 0  # of names
        for path, header in api.headers.items():
            url = url_of_header(path)
            for part in self._parts(header):
                names.add_header(part.path, url)
        for path, header in api.headers.items():
            for part in self._parts(header):
                self._add_names(part.items, url_of_header(path), False)

    def _parts(self, header):
        return [header, *self.api.exported(header)]

    def _add_names(self, items, url, is_member):
        for item in merged(items):
            if item.kind not in ("section", "operator", "constructor"):
                self.names.add(item, f"{url}#{item.qualified}", is_member)
                self.count += 1
            self._add_names(item.members, url, True)

    def summary(self, path):
        """Returns the first sentence about a header, as HTML."""
        header = self.api.headers[path]
        context = Context(path, INDEX)
        return self.renderer.comment(comments.summary(header.comment), context)

    def page(self, path):
        """Returns the HTML of a header's page, and the page's context."""
        header = self.api.headers[path]
        context = Context(path, url_of_header(path))
        folder = posixpath.dirname(path)
        result = [
            f'<p class="path"><a href="{relative(INDEX, context.url)}">API</a> / '
            f'<a href="{relative(f"{INDEX}#{folder}", context.url)}">{folder}/</a></p>' if folder else "",
            f"<h1>{path.replace('/', '/<wbr>')}</h1>",
            f'<div class="use"><pre tabindex="0"><code>#include "rouse/{path}"</code></pre>'
            f"<p>Bazel: <code>{self.api.targets[path]}</code></p></div>",
        ]
        context.sections.append(Section(1, path, ""))
        parts = [part for part in self._parts(header) if part.items or part.comment]
        if not header.items and len(parts) > 1:
            parts.remove(header)  # which forwards to the others, and says less
        with_items = [part for part in parts if part.items]
        for part in parts:
            part_context = Context(part.path, context.url, (), 1, "", context.sections, context.anchors)
            if part in with_items and part is not with_items[0]:
                self._heading(2, part.path, part.path, part_context, result)
                part_context.shift = 2
            result.append(self._comment(part.comment, part_context))
            result += self._items(part.items, 2, part_context)
        result += self._includes(header, context)
        return "\n".join(result), context

    def _includes(self, header, context):
        """Says which other public headers a header includes for its users."""
        found = [path for part in self._parts(header) for path in part.exports if path in self.api.headers]
        if not found:
            return []
        result = []
        self._heading(2, "Also included", "also-included", context, result)
        result.append("<ul>")
        for path in dict.fromkeys(found):
            url = relative(url_of_header(path), context.url)
            result.append(f'<li><a href="{url}"><code>{path}</code></a></li>')
        return [*result, "</ul>"]

    @staticmethod
    def _heading(level, title, anchor, context, result, kind=""):
        context.sections.append(Section(level, title, anchor))
        note = f" <small>{kind}</small>" if kind else ""
        result.append(f'<h{level} id="{html.escape(anchor)}">{html.escape(title)}{note}</h{level}>')

    def _comment(self, comment, context):
        return self.renderer.comment(comments.markdown(comment), context)

    def _items(self, items, level, context):
        """Returns the HTML of items, whose headings have a level."""
        result = []
        for group in groups(items):
            first = group[0]
            inner = Context(context.path, context.url, first.scope, level, f"{first.qualified}.",
                            context.sections, context.anchors)
            if first.kind == "section":
                self._heading(level, first.name, self._anchor(f"section-{first.name}", context), context, result)
                result.append(self._comment(first.comment, inner))
                continue
            result.append(f'<section class="item {first.kind}">')
            self._title(group, level, context, result)
            own = (*first.scope, first.name)
            inner.scope = own if first.members else first.scope
            declarations = "\n".join(item.declaration for item in group)
            result.append(self.renderer.signature(declarations, own, inner))
            result.append(self._comment(first.comment, inner))
            if first.members:
                members = self._items(first.members, min(level + 1, 5), inner)
                result += ['<div class="members">', *members, "</div>"]
            result.append("</section>")
        return result

    def _title(self, group, level, context, result):
        """Adds the heading and the anchors of a group. A group without a comment needs no heading."""
        first = group[0]
        if first.comment or first.members:
            names = dict.fromkeys((label(item), item.qualified) for item in group
                                  if item.kind == first.kind or first.kind != "constructor")
            anchors = [self._anchor(qualified, context) for _, qualified in names]
            title = ", ".join(text for text, _ in names)
            self._heading(level, title, anchors.pop(0), context, result, kind_of(first))
        else:
            anchors = [name for name in dict.fromkeys(item.qualified for item in group) if name not in context.anchors]
            context.anchors.update(anchors)
        result += [f'<span id="{html.escape(anchor)}"></span>' for anchor in anchors]

    @staticmethod
    def _anchor(name, context):
        """Returns an anchor that the page does not have yet."""
        numbered = (f"{name}-{number}" for number in itertools.count(1))
        anchor = next(text for text in itertools.chain([name], numbered) if text not in context.anchors)
        context.anchors.add(anchor)
        return anchor

    def index(self):
        """Returns the HTML of the list of headers, and the page's context."""
        context = Context(INDEX, INDEX, sections=[Section(1, "API reference", "")])
        result = ["<h1>API reference</h1>",
                  "<p>Each page documents a public header, in the words of the header's own comments.</p>"]
        for folder, paths in itertools.groupby(self.api.headers, posixpath.dirname):
            self._heading(2, f"{folder}/" if folder else "All components", folder or "all", context, result)
            result.append('<div class="table"><table class="headers">')
            for path in paths:
                url = relative(url_of_header(path), INDEX)
                result.append(f'<tr><td><a href="{url}"><code>{posixpath.basename(path)}</code></a></td>'
                              f"<td>{self.summary(path)}</td></tr>")
            result.append("</table></div>")
        return "\n".join(result), context

    def entries(self, path):
        """Yields each name of a header's page for the search: name, kind, anchor, first sentence."""
        def visit(items):
            seen = set()
            for group in groups(items):
                for item in group:
                    if item.kind not in ("section", "operator", "constructor") and item.name not in seen:
                        seen.add(item.name)
                        yield item.qualified, kind_of(item), item.qualified, comments.plain_summary(group[0].comment)
                    yield from visit(item.members)
        for part in self._parts(self.api.headers[path]):
            yield from visit(part.items)
