"""What the documentation's site needs beyond its pages: the hooks that mkdocs.yml names.

On GitHub and on the site the same files are read. So pages that stand at the top of the repository, such as the README,
become pages of the site; links to other files of the repository lead to pages that show them; and pictures in a light
and a dark version follow the reader's choice.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.installed_layout import ROOT

TOP = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"} | {
    "security.md": "SECURITY.md"
}
"""Pages of the site, with the files at the top of the repository that they are."""

_LINK = re.compile(r"(?<=\]\()(?!#)(?![a-z]+:)([^)#\s]+)")
_NAMED = re.compile(r"\[[\w/]+\.md\]\((?P<to>[^)#\s]+)(?P<part>#[^)]*)?\)")
"""A link whose words are a file's name."""
_PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="(?P<dark>[^"]+)">\s*'
    r'<img src="(?P<light>[^"]+)" alt="(?P<alt>[^"]*)"[^>]*>\s*</picture>'
)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_LANGUAGES = {".py": "python", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".service": "ini", ".json": "json"}


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages at the top of the repository, the files that any page links to, and the server's icon."""
    file = import_module("mkdocs.structure.files").File
    for page, source in TOP.items():
        files.append(file.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    files.append(file.generated(config, "assets/icon.svg", abs_src_path=str(ROOT / "serve" / "page" / "icon.svg")))
    pages = [each for each in files if each.src_uri.endswith(".md")]
    linked = {path for each in pages for path in map(_inside(each.src_uri), _links(each.content_string))}
    for path in sorted(each for each in linked if _is_source(each)):
        files.append(file.generated(config, _page_of(path), content=_shown(path)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Makes links and pictures those of the site; a link by a file's name has the title of its page instead."""
    if page.parent is None:
        page.meta["hide"] = ["navigation"]  # a menu of one page
    uri = page.file.src_uri
    inside = _inside(uri)

    def replaced(match: re.Match[str]) -> str:
        return posixpath.relpath(_page_of(inside(match[1])), posixpath.dirname(uri) or ".")

    def titled(match: re.Match[str]) -> str:
        file = files.get_file_from_path(posixpath.normpath(posixpath.join(posixpath.dirname(uri), match["to"])))
        return f"[{file.page.title}]({match['to']}{match['part'] or ''})" if file and file.page else match[0]

    two = r"![\g<alt>](\g<light>#only-light) ![\g<alt>](\g<dark>#only-dark)"
    return _NAMED.sub(titled, _LINK.sub(replaced, _PICTURE.sub(two, markdown)))


def _shown(path: str) -> str:
    """A source file as a page; of a notebook, its texts, its code and what that gave."""
    text = (ROOT / path).read_text("utf-8")
    suffix = Path(path).suffix
    if suffix == ".ipynb":
        return "\n\n".join(part for cell in json.loads(text)["cells"] for part in _cell(cell))
    return f"# {path}\n\n{_fenced(text, _LANGUAGES.get(suffix, 'text'))}"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    yield _fenced(source, "python") if cell["cell_type"] == "code" else source
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        plain = "".join(data.get("text/plain") or output.get("text", ()))
        yield "".join(data["text/html"]) if "text/html" in data else _fenced(_COLOURS.sub("", plain), "text")


def _fenced(code: str, language: str) -> str:
    return f"````{language}\n{code}\n````"


def _links(markdown: str) -> list[str]:
    return _LINK.findall(markdown)


def _inside(uri: str) -> Callable[[str], str]:
    """Gives, for a link on a page, the path in the repository that it leads to."""
    own = TOP.get(uri, uri.removeprefix("source/") if uri.startswith("source/") else f"docs/{uri}")
    here = posixpath.dirname(own)

    def path(link: str) -> str:
        return posixpath.normpath(posixpath.join(here, link))

    return path


def _is_source(path: str) -> bool:
    return not path.startswith("docs/") and path not in TOP.values() and (ROOT / path).is_file()


def _page_of(path: str) -> str:
    """The site's page or file for a path in the repository; the path itself where there is none."""
    for page, source in TOP.items():
        if path == source:
            return page
    return f"source/{path}.md" if _is_source(path) else path.removeprefix("docs/")
