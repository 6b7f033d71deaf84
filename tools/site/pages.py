"""Makes the pages of the site, and writes them into a folder."""

import html
import json
import pathlib
import posixpath
import re
import shutil
import string

import api
from headers import Api
from names import Names
from render import Context, Renderer, coloured, relative

THEME = pathlib.Path(__file__).resolve().parent / "theme"
# The folders of documents, in the order of the list of pages. The last ones are closed at first.
FOLDERS = {
    "": "Start",
    "docs/tutorial": "Tutorial",
    "docs/guide": "Guide",
    "docs/reference": "Reference",
    "docs/internals": "Internals",
    "docs/contributing": "Contributing",
    "examples": "Examples",
}
OPEN = ("", "docs/tutorial", "docs/guide", "docs/reference")
# The documents of the first folder.
START = ("README.md", "docs/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")
LANGUAGES = {
    ".h": "c++", ".cc": "c++", ".py": "python", ".sh": "sh", ".bzl": "starlark", ".bazel": "starlark",
    ".yml": "yaml", ".cmake": "cmake",
}


def documents(root):
    """Returns the documents of the repository, by folder."""
    overview = (root / "docs/README.md").read_text(encoding="utf-8")
    order = {name: i for i, name in enumerate(re.findall(r"\((\w+/\w+\.md)", overview))}
    result = {"": [path for path in START if (root / path).is_file()]}
    result[""] += sorted(path for file in (root / "docs").glob("*.md")
                         if (path := file.relative_to(root).as_posix()) not in START)
    for folder in list(FOLDERS)[1:]:
        found = [file.relative_to(root).as_posix() for file in (root / folder).rglob("*.md")]
        result[folder] = sorted(found, key=lambda path: (
            not path.startswith(f"{folder}/README"), order.get(path.removeprefix("docs/"), len(order)), path))
    return result


class Site:
    """The pages of a repository."""

    def __init__(self, root):
        self.root = root
        self.api = Api(root)
        self.documents = documents(root)
        self.titles = {}  # of documents
        for paths in self.documents.values():
            for path in paths:
                found = re.search(r"^# (.*)", (root / path).read_text(encoding="utf-8"), re.M)
                self.titles[path] = found[1].replace("`", "") if found else path
        self.names = Names()
        self.renderer = Renderer(self.names, self.url_of, self.url_of_image, self.titles)
        self.api_pages = api.ApiPages(self.api, self.names, self.renderer)
        self.pages = {}  # the HTML, by URL
        self.search = []  # of (title, where, URL, kind, text)
        self.sources = []  # the files that still need a page
        self.images = set()  # the pictures that pages show
        self._template = string.Template((THEME / "page.html").read_text(encoding="utf-8"))

    def url_of(self, path, context=None):
        """Returns the URL of the page of a file or folder of the repository."""
        if url := self.names.header(path, ""):
            return url
        readme = posixpath.normpath(posixpath.join(path, "README.md"))
        path = readme if readme in self.titles else path
        if path in self.titles:
            folder, name = posixpath.split(path)
            return posixpath.join(folder, "index.html" if name == "README.md" else name.removesuffix(".md") + ".html")
        if not (self.root / path).exists():
            raise SystemExit(f"{context.path if context else path}: links to {path}, which does not exist")
        if path not in self.sources:
            self.sources.append(path)
        return f"source/{path}/index.html" if (self.root / path).is_dir() else f"source/{path}.html"

    def url_of_image(self, path, context):
        """Returns the URL of a picture of the repository."""
        if not (self.root / path).is_file():
            raise SystemExit(f"{context.path}: shows {path}, which does not exist")
        self.images.add(path)
        return path

    def make(self):
        """Makes all pages."""
        for paths in self.documents.values():
            for path in paths:
                self._document(path)
        for path in self.api.headers:
            body, context = self.api_pages.page(path)
            self._page(context, body, f"rouse/{path}", "api", f"The public names of rouse/{path}")
            self.search.append((path, "header", context.url, "header", ""))
            self.search += ((name, path, f"{context.url}#{anchor}", kind, text)
                            for name, kind, anchor, text in self.api_pages.entries(path))
        body, context = self.api_pages.index()
        self._page(context, body, "API reference", "index", "The public headers of Rouse")
        for path in self.sources:  # which grows
            self._source(path)

    def write(self, folder):
        """Replaces the site in a folder."""
        if folder.exists() and any(folder.iterdir()) and not (folder / "site.js").is_file():
            raise SystemExit(f"{folder} has files that are not of a site; name an empty folder with --output")
        shutil.rmtree(folder, ignore_errors=True)
        for url, text in self.pages.items():
            file = folder / url
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for path in self.images:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / path, folder / path)
        for name in ("site.css", "site.js"):
            shutil.copyfile(THEME / name, folder / name)
        entries = json.dumps(self.search, ensure_ascii=False, separators=(",", ":"))
        (folder / "search.js").write_text(f"searchEntries({entries});\n", encoding="utf-8")

    def _document(self, path):
        context = Context(path, self.url_of(path))
        text = (self.root / path).read_text(encoding="utf-8")
        body = self.renderer.document(text, context)
        self._page(context, body, self.titles[path], "document", self.titles[path])
        for section in context.sections:
            self.search.append((section.title, self.titles[path],
                                f"{context.url}#{section.anchor}" if section.level > 1 else context.url,
                                "page", " ".join(section.text)))

    def _source(self, path):
        url = self.url_of(path)
        context = Context(path, url)
        file = self.root / path
        if file.is_dir():
            items = "".join(
                f'<li><a href="{relative(self.url_of(posixpath.join(path, name)), url)}">{html.escape(name)}</a></li>'
                for name in sorted(entry.name for entry in file.iterdir()
                                   if not entry.name.startswith((".", "__")) and not entry.is_symlink()))
            body = f"<ul>{items}</ul>"
        else:
            language = LANGUAGES.get(file.suffix, "text")
            lines = coloured(file.read_text(encoding="utf-8"), language).splitlines()
            body = "".join(f'<span class="line" id="L{i}">{line}</span>' for i, line in enumerate(lines, 1))
            body = f'<pre class="source" tabindex="0"><code>{body}</code></pre>'
        self._page(context, f"<h1>{html.escape(path)}</h1>\n{body}", path, "source", path)

    def _page(self, context, body, title, kind, description):
        root = posixpath.relpath(".", posixpath.dirname(context.url) or ".")
        self.pages[context.url] = self._template.substitute(
            title=html.escape(title if title == "Rouse" else f"{title} · Rouse"),
            description=html.escape(description), kind=kind, body=body, nav=self._nav(context),
            toc=self._toc(context), around=self._around(context), root="" if root == "." else f"{root}/")

    def _nav(self, context):
        """Returns the list of pages."""
        result = []
        for folder, title in FOLDERS.items():
            paths = self.documents[folder]
            is_open = folder in OPEN or context.path in paths
            result.append(f'<details{" open" * is_open}><summary>{title}</summary><ul>')
            for path in paths:
                name = "Overview" if path == "README.md" else self.titles[path]
                result.append(self._entry(self.url_of(path), name, context))
            result.append("</ul></details>")
        result.append("<details open><summary>API reference</summary><ul>")
        result.append(self._entry(api.INDEX, "All headers", context))
        own_folder = posixpath.dirname(context.path) if context.path in self.api.headers else None
        for folder in dict.fromkeys(map(posixpath.dirname, self.api.headers)):
            if folder == own_folder:
                result.append(f"<li><b>{folder or 'rouse'}/</b><ul>")
                result += (self._entry(api.url_of_header(path), posixpath.basename(path), context)
                           for path in self.api.headers if posixpath.dirname(path) == folder)
                result.append("</ul></li>")
            elif folder:
                result.append(self._entry(f"{api.INDEX}#{folder}", f"{folder}/", context))
        return "\n".join([*result, "</ul></details>"])

    @staticmethod
    def _entry(url, title, context):
        here = ' aria-current="page"' if url == context.url else ""
        return f'<li><a href="{relative(url, context.url)}"{here}>{html.escape(title)}</a></li>'

    @staticmethod
    def _toc(context):
        """Returns the list of the sections of a page, if it has several."""
        sections = [section for section in context.sections if section.level in (2, 3)]
        if len(sections) < 2:
            return ""
        items = "\n".join(
            f'<li class="level{section.level}"><a href="#{html.escape(section.anchor)}">'
            f"{html.escape(section.title.replace('()', ''))}</a></li>" for section in sections)
        return f'<details class="toc"><summary>On this page</summary><ul>\n{items}\n</ul></details>'

    def _around(self, context):
        """Returns the links to the pages before and after a page of docs/."""
        order = [path for folder in FOLDERS if folder.startswith("docs/") for path in self.documents[folder]]
        if context.path not in order:
            return ""
        at = order.index(context.path)
        result = ['<nav class="around" aria-label="Before and after">']
        for name, title, paths in (("before", "← {}", order[:at][-1:]), ("after", "{} →", order[at + 1:][:1])):
            for path in paths:
                url = relative(self.url_of(path), context.url)
                text = html.escape(title.format(self.titles[path]))
                result.append(f'<a class="{name}" href="{url}">{text}</a>')
        return "\n".join([*result, "</nav>"])
