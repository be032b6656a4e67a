"""Adding entries to a knowledge file, removing them, and exporting all as one file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from ..errors import KnowledgeError
from ..whole_files import lock_folder_of_file, write_text_atomically
from .entry import Entry, EntryKind
from .read import KnowledgeFile, describe_yaml_error, parse_knowledge_file, read_knowledge_text


class KnowledgeWriter:
    """A writer of one knowledge file that keeps its comments and order; threads may share it."""

    def __init__(self, path: Path, author: str = "") -> None:
        self.path = path
        self._author = author

    def add(self, entry: Entry) -> Entry:
        """Add an entry with author and time, or replace the one of the same name.

        A rule or a join that stands there already is left; a file that is wrong or closed raises `KnowledgeError`.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        stamp = _drop_empty_fields(added=now, author=self._author, unchecked=entry.unchecked, rights=entry.rights)
        self._apply_file_change(lambda content: _put_entry(content, entry, stamp))
        return replace(entry, author=self._author, added=now, source=self.path.name)

    def remove(self, name: str, rights: str | None = None) -> bool:
        """Remove the term or metric with a name, or the rule with a text; return whether found.

        With `rights`, only one that was written under them (`Rights.key`).
        """
        return self.path.exists() and self._apply_file_change(lambda content: _remove_entry(content, name, rights))

    def _apply_file_change(self, change: Callable[[Any], bool]) -> bool:
        """Apply a change to the file's content and save the file; return whether it changed."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        yaml: Any = YAML()
        yaml.preserve_quotes = True
        yaml.width = 120
        try:
            with lock_folder_of_file(self.path):
                before = read_knowledge_text(self.path) if self.path.exists() else ""
                if not isinstance(parse_knowledge_file(before, self.path), KnowledgeFile):
                    raise KnowledgeError(
                        f"{self.path} cannot be changed here because it is not a knowledge file: make one with "
                        f"`extends: [{self.path.name}]` and name that one"
                    )
                content = yaml.load(before)
                content = {} if content is None else content
                if not change(content):
                    return False
                stream = io.StringIO()
                if self.path.suffix.lower() == ".json":
                    json.dump(content, stream, ensure_ascii=False, indent=2)
                else:
                    yaml.dump(content, stream)
                parse_knowledge_file(stream.getvalue(), self.path)
                write_text_atomically(self.path, stream.getvalue())
        except YAMLError as error:
            raise KnowledgeError(f"{self.path} is not YAML: {describe_yaml_error(error)}") from None
        except OSError as error:
            message = f"cannot write {self.path}: {error.strerror}; name another file with --knowledge"
            raise KnowledgeError(message) from None
        return True


_TEXTS = {"conventions": "says", "joins": "on", "never": "use"}
"""Lists, each with the field that a text alone stands for."""


def _put_entry(content: Any, entry: Entry, stamp: dict[str, Any]) -> bool:
    """Add or replace an entry in a file's content; return whether the content changes."""
    text = entry.text
    common_fields = {"also": list(entry.also), "about": [".".join(filter(None, item)) for item in entry.about]}
    match entry.kind:
        case "column" | "table":
            _write_item_description(_get_or_add_section(content, "tables", {}), entry, stamp)
            return True
        case "term":
            section, fields = "terms", _drop_empty_fields(means=text or entry.name, sql=entry.sql, **common_fields)
        case "metric":
            section, fields = "metrics", _drop_empty_fields(expression=entry.sql, means=text, **common_fields)
        case "join":
            section, fields = "joins", _drop_empty_fields(on=entry.sql or entry.name, means=text)
        case "convention":
            section, fields = "conventions", _drop_empty_fields(says=text, **common_fields)
        case "never":
            section, fields = "never", _drop_empty_fields(use=entry.name, why=text)
    if field := _TEXTS.get(section):
        entries = _get_or_add_section(content, section, [])
        if any(_normalize(_read_field(part, field)) == _normalize(fields[field]) for part in entries):
            return False
        entries.append(fields | stamp)
    else:
        definition = _get_or_add_definition(_get_or_add_section(content, section, {}), entry.name)
        # Of what is there comments and other words stay, what it said goes.
        for name in set(definition) - {*fields, *stamp, *common_fields}:
            del definition[name]
        definition.update(fields | stamp)
    return True


def _drop_empty_fields(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _get_or_add_section(content: Any, name: str, empty: Any) -> Any:
    """Return the part `name` of a file's content, added as `empty` if missing."""
    if content.get(name) is None:
        content[name] = empty
    return content[name]


def _normalize(text: object) -> str:
    return " ".join(str(text).lower().split())


def _read_field(part: Any, field: str) -> object:
    return part if isinstance(part, str) else part.get(field, "")


def _write_item_description(tables: Any, entry: Entry, stamp: dict[str, str]) -> None:
    table, column = entry.about[0]
    part = _get_or_add_definition(tables, table)
    if column:
        part = _get_or_add_definition(_get_or_add_section(part, "columns", {}), column)
    if entry.text:
        part["means"] = entry.text
    values = _get_or_add_section(part, "values", {}) if entry.values else {}
    for code, meaning in entry.values:
        # Numbers and dates are no texts to the library that keeps comments.
        values[next((key for key in values if str(key) == code), code)] = meaning
    if entry.also:
        part["also"] = [*dict.fromkeys([*(part.get("also") or []), *entry.also])]
    part.update(stamp)


def _get_or_add_definition(parts: Any, name: str) -> Any:
    """Return a definition as a mapping, created if it is missing or only a text."""
    key = name if name in parts else next((other for other in parts if _normalize(other) == _normalize(name)), name)
    definition: Any = parts.get(key)
    if not isinstance(definition, dict):
        parts[key] = {"means": definition} if definition else {}
    return parts[key]


def _remove_entry(content: Any, name: str, rights: str | None) -> bool:
    """Remove an entry from a file's content; return whether it was there."""
    for kind, field in {"terms": "", "metrics": "", **_TEXTS}.items():
        parts = content.get(kind) or {}
        for key, part in enumerate(parts) if field else parts.items():
            owner = part.get("rights", "") if isinstance(part, Mapping) else ""
            if _normalize(_read_field(part, field) if field else key) == _normalize(name) and rights in (None, owner):
                del parts[key]
                return True
    return False


def build_knowledge_content(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the entries as the plain content of a knowledge file, in a stable order."""
    content: dict[str, Any] = {}
    kinds = get_args(EntryKind)
    for entry in sorted(entries, key=lambda entry: (kinds.index(entry.kind), entry.name.lower())):
        stamp = _drop_empty_fields(author=entry.author, added=entry.added, unchecked=entry.unchecked)
        _put_entry(content, entry, stamp)
    if tables := content.get("tables"):
        content["tables"] = dict(sorted(tables.items()))
    return content
