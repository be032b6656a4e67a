"""Adding to a knowledge file what a person accepted, and taking out of it; what people wrote there stays as it is."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import KnowledgeError
from .entry import Entry
from .file_text import text_of
from .read import parse_file
from .yaml_text import load_yaml

_lock = threading.Lock()


class KnowledgeWriter:
    """Writes one knowledge file, whole or not at all; comments and order of what is there are kept.

    Args:
        path: The file; made where there is none.
        author: Who adds.
    """

    def __init__(self, path: Path, author: str = "") -> None:
        self.path = path
        self._author = author

    def add(self, entry: Entry) -> Entry:
        """Adds an entry, or puts it in the place of one of the same name, with author and time.

        Raises:
            KnowledgeError: The file is wrong, or cannot be written.
        """
        stamped = {"added": datetime.now(UTC).isoformat(timespec="seconds")}
        if self._author:
            stamped["author"] = self._author
        self._changed(lambda content: _put(content, entry, stamped))
        return replace(entry, author=self._author, added=stamped["added"], source=self.path.name)

    def remove(self, name: str) -> bool:
        """Takes out the term or metric of that name, or the convention of that text; whether it was there.

        Raises:
            KnowledgeError: The file is wrong, or cannot be written.
        """
        if not self.path.exists():
            return False
        return self._changed(lambda content: _take_out(content, name))

    def _changed(self, change: Callable[[Any], bool]) -> bool:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        yaml: Any = YAML()
        yaml.preserve_quotes = True
        yaml.width = 120
        with _lock:
            try:
                content = yaml.load(text_of(self.path)) if self.path.exists() else None
            except YAMLError as error:
                raise KnowledgeError(f"{self.path} is not YAML: {' '.join(str(error).split())}") from None
            content = {} if content is None else content
            if not isinstance(content, dict):
                raise KnowledgeError(f"{self.path} is no knowledge file")
            if not change(content):
                return False
            stream = io.StringIO()
            yaml.dump(content, stream)
            parse_file(load_yaml(stream.getvalue(), str(self.path)), str(self.path))
            _write(self.path, stream.getvalue())
        return True


def _put(content: Any, entry: Entry, stamped: dict[str, str]) -> bool:
    also = {"also": list(entry.also)} if entry.also else {}
    match entry.kind:
        case "term":
            sql = {"sql": entry.sql} if entry.sql else {}
            content.setdefault("terms", {})[entry.name] = {"means": entry.text or entry.name} | sql | also | stamped
        case "metric":
            means = {"means": entry.text} if entry.text else {}
            content.setdefault("metrics", {})[entry.name] = {"expression": entry.sql} | means | also | stamped
        case "join":
            content.setdefault("joins", []).append({"on": entry.sql or entry.name} | stamped)
        case "convention":
            content.setdefault("conventions", []).append({"says": entry.text} | stamped)
        case "column" | "table":
            _describe(content.setdefault("tables", {}), entry, stamped)
        case "never":
            content.setdefault("never", []).append({"use": entry.name, "why": entry.text} | stamped)
    return True


def _describe(tables: Any, entry: Entry, stamped: dict[str, str]) -> None:
    table, column = entry.about[0]
    held = _opened(tables, table)
    if column:
        held = _opened(held.setdefault("columns", {}), column)
    if entry.text:
        held["means"] = entry.text
    if entry.also:
        held["also"] = [*dict.fromkeys([*held.get("also", []), *entry.also])]
    if entry.values:
        held["values"] = {**held.get("values", {}), **dict(entry.values)}
    held.update(stamped)


def _opened(parts: Any, name: str) -> Any:
    """A description as a mapping, also where it is a text alone, or not there yet."""
    known: Any = parts.get(name)
    if not isinstance(known, dict):
        known = parts[name] = {"means": known} if known else {}
    return parts[name]


def _take_out(content: Any, name: str) -> bool:
    wanted = " ".join(name.lower().split())
    for kind in ("terms", "metrics"):
        for known in list(content.get(kind) or {}):
            if " ".join(str(known).lower().split()) == wanted:
                del content[kind][known]
                return True
    for kind, field in (("conventions", "says"), ("joins", "on"), ("never", "use")):
        for number, part in enumerate(content.get(kind) or []):
            text = part if isinstance(part, str) else part.get(field, "")
            if " ".join(str(text).lower().split()) == wanted:
                del content[kind][number]
                return True
    return False


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, "utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise KnowledgeError(f"cannot write {path}: {error.strerror}; name another file with --knowledge") from None
