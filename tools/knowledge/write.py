"""Adding to a knowledge file what a person accepted, and taking out of it; what people wrote there stays as it is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import KnowledgeError
from ..whole_files import only_writer, write_whole
from .entry import Entry
from .file_text import text_of
from .imports import import_file
from .read import parse_file
from .yaml_text import load_yaml


class KnowledgeWriter:
    """Writes one knowledge file, whole or not at all; comments and order of what is there are kept.

    Several threads and processes may do so at once.

    Args:
        path: The file; made where there is none.
        author: Who adds.
    """

    def __init__(self, path: Path, author: str = "") -> None:
        self.path = path
        self._author = author

    def add(self, entry: Entry) -> Entry:
        """Adds an entry, or puts it in the place of one of the same name, with author and time.

        A rule or a join that stands there already is left as it is.

        Raises:
            KnowledgeError: The file is wrong, or cannot be written.
        """
        stamped = {"added": datetime.now(UTC).isoformat(timespec="seconds")}
        if self._author:
            stamped["author"] = self._author
        if entry.rights:
            stamped["rights"] = entry.rights
        self._changed(lambda content: _put(content, entry, stamped))
        return replace(entry, author=self._author, added=stamped["added"], source=self.path.name)

    def remove(self, name: str, rights: str | None = None) -> bool:
        """Take out the term or metric of that name, or the convention of that text; whether it was there.

        Args:
            name: Its name or text.
            rights: Only one that was written under these rights (`Rights.key`); None takes out whichever is first.

        Raises:
            KnowledgeError: The file is wrong, or cannot be written.
        """
        if not self.path.exists():
            return False
        return self._changed(lambda content: _take_out(content, name, rights))

    def _changed(self, change: Callable[[Any], bool]) -> bool:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        yaml: Any = YAML()
        yaml.preserve_quotes = True
        yaml.width = 120
        with _writing(self.path):
            before = text_of(self.path) if self.path.exists() else ""
            _check_ours(self.path, before)
            try:
                content = yaml.load(before)
            except YAMLError as error:
                raise KnowledgeError(f"{self.path} is not YAML: {' '.join(str(error).split())}") from None
            content = {} if content is None else content
            if not change(content):
                return False
            stream = io.StringIO()
            if self.path.suffix.lower() == ".json":
                json.dump(content, stream, ensure_ascii=False, indent=2)
            else:
                yaml.dump(content, stream)
            parse_file(load_yaml(stream.getvalue(), str(self.path)), str(self.path))
            write_whole(self.path, stream.getvalue())
        return True


@contextmanager
def _writing(path: Path) -> Generator[None]:
    """Hold back others who write, and tell what cannot be written.

    Raises:
        KnowledgeError: The file cannot be written.
    """
    try:
        with only_writer(path):
            yield
    except OSError as error:
        raise KnowledgeError(f"cannot write {path}: {error.strerror}; name another file with --knowledge") from None


def _check_ours(path: Path, text: str) -> None:
    """Refuses what is wrong already, and files of another kind.

    Raises:
        KnowledgeError: It may not be written to.
    """
    markdown = path.suffix.lower() in (".md", ".markdown")
    content = None if markdown else load_yaml(text, str(path))
    if markdown or import_file(path, content) is not None:
        raise KnowledgeError(
            f"{path} is not written to, it is of another kind: make a knowledge file with `extends: [{path.name}]` "
            "and name that one"
        )
    parse_file(content, str(path))


_TEXTS = (("conventions", "says"), ("joins", "on"), ("never", "use"))
"""Lists, each with the field that a text alone stands for."""


def _put(content: Any, entry: Entry, stamped: dict[str, str]) -> bool:
    also = {"also": list(entry.also)} if entry.also else {}
    match entry.kind:
        case "term":
            sql = {"sql": entry.sql} if entry.sql else {}
            _define(content, "terms", entry.name, {"means": entry.text or entry.name} | sql | also | stamped)
        case "metric":
            means = {"means": entry.text} if entry.text else {}
            _define(content, "metrics", entry.name, {"expression": entry.sql} | means | also | stamped)
        case "column" | "table":
            _describe(_part(content, "tables", {}), entry, stamped)
        case "join":
            return _listed(content, "joins", {"on": entry.sql or entry.name} | stamped)
        case "convention":
            return _listed(content, "conventions", {"says": entry.text} | stamped)
        case "never":
            return _listed(content, "never", {"use": entry.name, "why": entry.text} | stamped)
    return True


def _part(content: Any, name: str, empty: Any) -> Any:
    """A part of a file, also where nothing stands after its name, or the name is not there yet."""
    if content.get(name) is None:
        content[name] = empty
    return content[name]


def _define(content: Any, kind: str, name: str, fields: dict[str, Any]) -> None:
    """Writes a term or metric; of one that is there comments and other words stay, what it said goes."""
    parts = _part(content, kind, {})
    there = next((known for known in parts if _words(known) == _words(name)), name)
    held = parts.get(there)
    if not isinstance(held, dict):
        parts[there] = fields
        return
    known: Any = held
    for field in [field for field in known if field not in fields and field not in ("also", "about")]:
        del known[field]
    known.update(fields)


def _listed(content: Any, kind: str, fields: dict[str, Any]) -> bool:
    """Adds to a list what is not there."""
    parts = _part(content, kind, [])
    field = dict(_TEXTS)[kind]
    if any(_words(_text(part, field)) == _words(fields[field]) for part in parts):
        return False
    parts.append(fields)
    return True


def _words(text: object) -> str:
    return " ".join(str(text).lower().split())


def _text(part: Any, field: str) -> object:
    return part if isinstance(part, str) else part.get(field, "")


def _describe(tables: Any, entry: Entry, stamped: dict[str, str]) -> None:
    table, column = entry.about[0]
    held = _opened(tables, table)
    if column:
        held = _opened(_part(held, "columns", {}), column)
    if entry.text:
        held["means"] = entry.text
    if entry.also:
        held["also"] = [*dict.fromkeys([*(held.get("also") or []), *entry.also])]
    values = _part(held, "values", {}) if entry.values else {}
    for code, meaning in entry.values:
        # Numbers and dates are no texts to the library that keeps comments.
        values[next((known for known in values if str(known) == code), code)] = meaning
    held.update(stamped)


def _opened(parts: Any, name: str) -> Any:
    """A description as a mapping, also where it is a text alone, or not there yet."""
    there = next((known for known in parts if _words(known) == _words(name)), name)
    known: Any = parts.get(there)
    if not isinstance(known, dict):
        parts[there] = {"means": known} if known else {}
    return parts[there]


def _take_out(content: Any, name: str, rights: str | None) -> bool:
    wanted = _words(name)

    def may_go(part: Any) -> bool:
        return rights is None or rights == (part.get("rights", "") if isinstance(part, Mapping) else "")

    for kind in ("terms", "metrics"):
        for known, part in list((content.get(kind) or {}).items()):
            if _words(known) == wanted and may_go(part):
                del content[kind][known]
                return True
    for kind, field in _TEXTS:
        for number, part in enumerate(content.get(kind) or []):
            if _words(_text(part, field)) == wanted and may_go(part):
                del content[kind][number]
                return True
    return False
