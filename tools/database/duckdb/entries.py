"""What an instance is made from: tables as they were found, before it is decided what of them may be seen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import ormsgpack

from ..column_kinds import enum_labels
from ..schema import ColumnKind, ColumnSchema
from ..server.catalogue import Catalogue
from ..session import Permissions
from ..wire import pack_opening, unpack_opening

_KINDS: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (re.compile(r".*\]\Z|STRUCT|MAP|UNION|VARIANT|BIT|UUID|JSON", re.DOTALL), "text"),
    (re.compile(r"BOOLEAN"), "boolean"),
    (re.compile(r"DATE|TIME|INTERVAL"), "time"),
    (re.compile(r"BLOB"), "binary"),
    (re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL|BIGNUM|VARINT"), "number"),
    (re.compile(r""), "other"),
)


@dataclass(frozen=True)
class Entry:
    """A table.

    Attributes:
        columns: With the name that each has in `scan`.
        scan: What the rows are selected from, as SQL.
        hides: Columns that are computed from others, by their names, in lower case: what they are hidden with.
        reads: For a view, the tables that it reads, in lower case with their schemas; None if that is not known.
        anew: For a view that names all that it reads, its own query with the view's columns, to be selected from: over
            tables of which something is hidden, the view is declared by it once more.
        query: What defines a view; empty if a part of the database is hidden, of which it may tell.
        slow: Whether reading all of it takes seconds.
        path: The file that `scan` reads; None if that is an attached one.
        remarks: What was guessed of the file.
    """

    name: str
    columns: tuple[tuple[str, ColumnSchema], ...]
    scan: str
    schema: str = "main"
    kind: Literal["table", "view"] = "table"
    comment: str = ""
    estimate: int | None = None
    hides: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    reads: frozenset[str] | None = frozenset()
    anew: str = ""
    query: str = ""
    slow: bool = False
    path: Path | None = None
    remarks: tuple[str, ...] = ()

    @property
    def is_anew(self) -> bool:
        """Whether it is a view that is declared once more."""
        return bool(self.anew) and self.scan == self.anew

    @property
    def shown(self) -> str:
        """Its name in a schema that is shown."""
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"

    @property
    def key(self) -> str:
        """Its name with its schema, in lower case."""
        return f"{self.schema}.{self.name}".lower()


def pack_entry(entry: Entry) -> tuple[Any, ...]:
    """Return the table of a file, as a message has it."""
    columns = [(own, shown.name, shown.type, shown.comment) for own, shown in entry.columns]
    path = os.fsencode(entry.path or "")
    return entry.name, columns, entry.scan, entry.comment, entry.estimate, entry.slow, path, entry.remarks


def unpack_entry(packed: Any) -> Entry:
    """Return what `pack_entry` was given."""
    name, columns, scan, comment, estimate, slow, path, remarks = packed
    return Entry(
        name,
        tuple((own, column(shown, declared, comment=note)) for own, shown, declared, note in columns),
        scan,
        comment=comment,
        estimate=estimate,
        slow=slow,
        path=Path(os.fsdecode(path)),
        remarks=tuple(remarks),
    )


def column(name: str, declared: str, **more: Any) -> ColumnSchema:
    """Return a column by its name and DuckDB's name of its type; of kind `other` if it is text, whose values tell."""
    if declared.startswith("ENUM"):
        return ColumnSchema(name, "ENUM", "text", samples=enum_labels(declared), **more)
    kind: ColumnKind = next(kind for form, kind in _KINDS if form.match(declared))
    return ColumnSchema(name, declared, kind, **more)


def visible(entries: Sequence[Entry], permissions: Permissions) -> tuple[Entry, ...]:
    """Return the tables and columns that may be seen, without views that read, or compute from, what may not.

    A view over a table of which only some columns are hidden is to be declared anew, over what may be seen: whether it
    reads a hidden one turns out when that is done. So is a view over such a view.

    Raises:
        SettingsError: The permissions name what is not there.
    """
    if not permissions:
        return tuple(entries)
    names = {entry.shown for entry in entries}
    names |= {f"{entry.shown}.{shown.name}" for entry in entries for _, shown in entry.columns}
    permissions.check(set(map(str.lower, names)))
    kept = {entry.key: _reduced(entry, permissions) for entry in entries}
    whole = {entry.key: len(entry.columns) for entry in entries}
    partial = {key for key, entry in kept.items() if len(entry.columns) < whole[key]}
    anew: set[str] = set()
    changed = True
    while changed:
        changed = False
        for key, entry in tuple(kept.items()):
            hidden = entry.reads is None or not entry.reads <= kept.keys() or not entry.columns
            over = key not in anew and entry.reads is not None and not entry.reads.isdisjoint(partial)
            if hidden or (over and not entry.anew):
                del kept[key]
                changed = True
            elif over:
                kept[key] = replace(entry, scan=entry.anew)
                anew.add(key)
                partial.add(key)
                changed = True
    return tuple(kept.values())


def _reduced(entry: Entry, permissions: Permissions) -> Entry:
    hidden = {shown.name.lower() for _, shown in entry.columns if not permissions.shows(entry.shown, shown.name)}
    size = -1
    while size != len(hidden):
        size = len(hidden)
        hidden |= {name for name, sources in entry.hides.items() if sources & hidden}
    columns = tuple((own, shown) for own, shown in entry.columns if shown.name.lower() not in hidden)
    comment = "" if hidden else entry.comment
    return replace(entry, columns=columns, comment=comment, query="")


@dataclass(frozen=True)
class Found:
    """What an instance is made from: a DuckDB file, or the tables of other files."""

    database: Path | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [self.database] if self.database else [entry.path for entry in self.entries if entry.path is not None]


def pack_found(found: Found, permissions: Permissions) -> bytes:
    """Return what an instance is made from, as a message has it."""
    return pack_opening(found.database or "", permissions, list(map(pack_entry, found.entries)))


def unpack_found(data: bytes) -> tuple[Found, Permissions]:
    """Return what `pack_found` was given."""
    path, permissions, entries = unpack_opening(data)
    return Found(Path(path) if path else None, tuple(map(unpack_entry, entries))), permissions


@dataclass(frozen=True)
class About:
    """What is known of an instance, and of what may be read in it."""

    version: str  # of DuckDB
    catalogue: Catalogue
    slow: frozenset[str]  # the names of tables that take seconds to be read whole
    remarks: tuple[str, ...]  # what was guessed of files whose texts could be read otherwise, and what to do

    def pack(self) -> bytes:
        """Return this as bytes."""
        return ormsgpack.packb(self, tuple)

    @classmethod
    def unpack(cls, data: bytes) -> About:
        """Return what `pack` gave."""
        from pydantic import TypeAdapter  # which no worker needs

        return TypeAdapter(cls).validate_python(ormsgpack.unpackb(data))
