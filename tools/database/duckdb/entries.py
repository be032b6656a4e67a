"""What an instance is made from: tables as they were found, before it is decided what of them may be seen."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import ormsgpack

from ..column_kinds import enum_labels
from ..schema import ColumnKind, ColumnSchema, ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..session import Permissions
from ..wire import pack_opening, unpack_opening

_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL|BIGNUM|VARINT")
_KINDS: tuple[tuple[str, ColumnKind], ...] = (
    ("BOOLEAN", "boolean"),
    ("DATE", "time"),
    ("TIME", "time"),
    ("INTERVAL", "time"),
    ("BLOB", "binary"),
    ("BIT", "text"),
    ("ENUM", "text"),
    ("UUID", "text"),
    ("JSON", "text"),
)
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT")


@dataclass(frozen=True)
class Entry:
    """A table.

    Attributes:
        name: As declared, or made from a file's name.
        columns: With the name that each has in `scan`.
        scan: What the rows are selected from, as SQL.
        schema: In the catalogue of the instance.
        hides: Columns that are computed from others, by their names, in lower case: what they are hidden with.
        reads: For a view, the tables that it reads, in lower case with their schemas; None where that is not known.
        anew: For a view that names all that it reads, its own query with the view's columns, to be selected from: over
            tables of which something is hidden, the view is declared by it once more.
        query: What defines a view; empty where a part of the database is hidden, of which it may tell.
        slow: Whether reading all of it takes seconds.
        path: The file that `scan` reads; None where that is an attached one.
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
    """The table of a file, as a message has it."""
    columns = [(own, held.name, held.type, held.comment) for own, held in entry.columns]
    path = os.fsencode(entry.path or "")
    return entry.name, columns, entry.scan, entry.comment, entry.estimate, entry.slow, path, entry.remarks


def unpack_entry(packed: Any) -> Entry:
    """What `pack_entry` was given."""
    name, listed, scan, comment, estimate, slow, path, remarks = packed
    return Entry(
        name,
        tuple((own, column(shown, declared, comment=told)) for own, shown, declared, told in listed),
        scan,
        comment=comment,
        estimate=estimate,
        slow=slow,
        path=Path(os.fsdecode(path)),
        remarks=tuple(remarks),
    )


def column(name: str, declared: str, **more: object) -> ColumnSchema:
    """A column by its name and DuckDB's name of its type."""
    if declared.startswith("ENUM"):
        return replace(ColumnSchema(name, "ENUM", "text", samples=enum_labels(declared)), **more)  # pyright: ignore[reportArgumentType]
    return replace(ColumnSchema(name, declared, _kind(declared)), **more)  # pyright: ignore[reportArgumentType]


def _kind(declared: str) -> ColumnKind:
    """What a column of that type holds; `other` for plain text, whose values tell."""
    if declared.endswith("]") or declared.startswith(_NESTED):
        return "text"
    if declared == "VARCHAR":
        return "other"
    for start, kind in _KINDS:
        if declared.startswith(start):
            return kind
    return "number" if _NUMBER.match(declared) else "other"


def visible(entries: Sequence[Entry], permissions: Permissions) -> tuple[Entry, ...]:
    """The tables and columns that may be seen. A view that reads what may not is hidden, and so is what it computes.

    A view over a table of which only some columns are hidden is to be declared anew, over what may be seen: whether it
    reads a hidden one turns out when that is done. So is a view over such a view.

    Raises:
        SettingsError: The permissions name what is not there.
    """
    if not permissions:
        return tuple(entries)
    permissions.check(
        {
            name.lower()
            for entry in entries
            for name in (entry.shown, *(f"{entry.shown}.{held.name}" for _, held in entry.columns))
        }
    )
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
    hidden = {held.name.lower() for _, held in entry.columns if not permissions.shows(entry.shown, held.name)}
    size = -1
    while size != len(hidden):
        size = len(hidden)
        hidden |= {name for name, sources in entry.hides.items() if sources & hidden}
    columns = tuple((own, held) for own, held in entry.columns if held.name.lower() not in hidden)
    comment = "" if hidden else entry.comment
    return replace(entry, columns=columns, comment=comment, query="")


def keys_between(keys: Iterable[ForeignKey], entries: Sequence[Entry]) -> tuple[ForeignKey, ...]:
    """The keys whose two ends may be seen."""
    held = {(entry.shown.lower(), shown.name.lower()) for entry in entries for _, shown in entry.columns}
    return tuple(
        key
        for key in keys
        if all((key.table.lower(), name.lower()) in held for name in key.columns)
        and all((key.ref_table.lower(), name.lower()) in held for name in key.ref_columns)
    )


@dataclass(frozen=True)
class Found:
    """What an instance is made from.

    Attributes:
        database: A DuckDB file.
        entries: The tables of other files, where there is none.
    """

    database: Path | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [self.database] if self.database else [entry.path for entry in self.entries if entry.path is not None]


def pack_found(found: Found, permissions: Permissions) -> bytes:
    """What an instance is made from, as a message has it."""
    return pack_opening(found.database or "", permissions, list(map(pack_entry, found.entries)))


def unpack_found(data: bytes) -> tuple[Found, Permissions]:
    """What `pack_found` was given."""
    path, permissions, entries = unpack_opening(data)
    return Found(Path(path) if path else None, tuple(map(unpack_entry, entries))), permissions


@dataclass(frozen=True)
class About:
    """What is known of an instance.

    Attributes:
        version: Of DuckDB.
        catalogue: What may be read.
        slow: The names of tables that take seconds to be read whole.
        remarks: What was guessed of files whose texts could be read otherwise, and what to do.
    """

    version: str
    catalogue: Catalogue
    slow: frozenset[str]
    remarks: tuple[str, ...]

    def pack(self) -> bytes:
        """As bytes."""
        relations, keys = self.catalogue.relations, self.catalogue.foreign_keys
        return ormsgpack.packb((self.version, self.catalogue.version, relations, keys, tuple(self.slow), self.remarks))

    @classmethod
    def unpack(cls, data: bytes) -> About:
        """What `pack` gave."""
        version, schema, relations, keys, slow, remarks = ormsgpack.unpackb(data)
        for relation in relations:
            relation["columns"] = tuple(
                ColumnSchema(**held | {"samples": tuple(held["samples"])}) for held in relation["columns"]
            )
        foreign = tuple(
            ForeignKey(key["table"], tuple(key["columns"]), key["ref_table"], tuple(key["ref_columns"])) for key in keys
        )
        catalogue = Catalogue(schema, tuple(Relation(**each) for each in relations), foreign)
        return cls(version, catalogue, frozenset(slow), tuple(remarks))
