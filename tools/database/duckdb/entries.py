"""The tables of an instance before permissions are applied."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..column_kinds import infer_column_kind, parse_enum_labels
from ..schema import ColumnKind, ColumnSchema
from ..server.catalogue import Catalogue, Relation
from ..session import Permissions
from .notices import Notice

# Values of these are shown as texts, whatever their parts are.
_TEXTS = re.compile(r".*\]\Z|STRUCT|MAP|UNION|VARIANT|BIT|UUID|JSON", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class TableEntry(Relation):
    """A table as it was read, with the SQL that selects its rows.

    Attributes:
        scan: What the rows are selected from, as SQL.
        column_sources: Columns that are computed from others, by their names, in lower case: what they are hidden with.
        reads: For a view, the tables that it reads, in lower case with their schemas; None if that is not known.
        anew: For a view that names all that it reads, its own query with the view's columns, to be selected from: over
            tables of which something is hidden, the view is declared by it once more.
        slow: Whether reading all of it takes seconds.
        path: The file that `scan` reads; None if that is an attached one.
        notices: What was noticed in the file.
    """

    scan: str
    column_sources: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    reads: frozenset[str] | None = frozenset()
    anew: str = ""
    slow: bool = False
    path: Path | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def is_redeclared(self) -> bool:
        """Whether this entry is a view that is created again from its own query."""
        return bool(self.anew) and self.scan == self.anew

    @property
    def key(self) -> str:
        """The table's name with its schema, in lower case."""
        return f"{self.schema}.{self.name}".lower()


def make_file_entry(table: str, columns: Sequence[ColumnSchema], scan: str, path: Path, **more: Any) -> TableEntry:
    """Return the table entry of a file."""
    return TableEntry("main", table, table, tuple(columns), scan=scan, path=path, **more)


def rename_entry(entry: TableEntry, name: str) -> TableEntry:
    """Return a table entry under another name."""
    notices = (replace(notice, table=name) if notice.table == entry.name else notice for notice in entry.notices)
    return replace(entry, name=name, shown_name=name, notices=tuple(notices))


def pack_entry(entry: TableEntry) -> tuple[Any, ...]:
    """Pack the table entry of a file for a message."""
    columns = [(column.name, column.type, column.comment) for column in entry.columns]
    details = entry.comment, entry.estimate, entry.slow, list(map(astuple, entry.notices))
    return entry.name, columns, entry.scan, os.fsencode(entry.path or ""), *details


def unpack_entry(message: Any) -> TableEntry:
    """Return the table entry that `pack_entry` packed."""
    name, columns, scan, path, comment, estimate, slow, notices = message
    schemas = [make_column_schema(column_name, type_name, comment=note) for column_name, type_name, note in columns]
    more = {"comment": comment, "estimate": estimate, "slow": slow, "notices": tuple(Notice(*row) for row in notices)}
    return make_file_entry(name, schemas, scan, Path(os.fsdecode(path)), **more)


def make_column_schema(name: str, type_name: str, **more: Any) -> ColumnSchema:
    """Return a column schema for a name and a DuckDB type; VARCHAR is of kind `other`."""
    if type_name.startswith("ENUM"):
        return ColumnSchema(name, "ENUM", "text", samples=parse_enum_labels(type_name), **more)
    kind: ColumnKind = "other" if type_name == "VARCHAR" else infer_column_kind(type_name, ())
    kind = "text" if _TEXTS.match(type_name) else kind
    return ColumnSchema(name, type_name, kind, **more)


def list_entry_names(entries: Iterable[TableEntry]) -> frozenset[str]:
    """Return the names of tables and their columns, in lower case."""
    return frozenset(item.name.lower() for entry in entries for item in (entry, *entry.columns))


def select_visible_entries(entries: Sequence[TableEntry], permissions: Permissions) -> tuple[TableEntry, ...]:
    """Return the visible tables and columns, without views that read hidden ones.

    A view over a table of which only some columns are hidden is to be declared anew, over what may be seen: whether it
    reads a hidden one turns out when that is done. So is a view over such a view.

    Raises:
        SettingsError: The permissions name what is not there.
    """
    if not permissions:
        return tuple(entries)
    names = {entry.shown_name for entry in entries}
    names |= {f"{entry.shown_name}.{column.name}" for entry in entries for column in entry.columns}
    permissions.check(set(map(str.lower, names)))
    visible = {entry.key: _remove_hidden_columns(entry, permissions) for entry in entries}
    widths = {entry.key: len(entry.columns) for entry in entries}

    def restrict_entry(entry: TableEntry) -> TableEntry | None:
        """Return the visible form of an entry; None if it reads hidden tables."""
        if entry.reads is None or not entry.reads <= visible.keys() or not entry.columns:
            return None
        parts = map(visible.__getitem__, entry.reads)
        if entry.is_redeclared or not any(part.is_redeclared or len(part.columns) < widths[part.key] for part in parts):
            return entry
        return replace(entry, scan=entry.anew) if entry.anew else None

    before: Mapping[str, TableEntry] = {}
    while before != visible:
        before, visible = visible, {key: form for key, entry in visible.items() if (form := restrict_entry(entry))}
    return tuple(visible.values())


def _remove_hidden_columns(entry: TableEntry, permissions: Permissions) -> TableEntry:
    names = {column.name.lower() for column in entry.columns if not permissions.shows(entry.shown_name, column.name)}
    while dependents := {name for name, sources in entry.column_sources.items() if sources & names} - names:
        names |= dependents
    columns = tuple(column for column in entry.columns if column.name.lower() not in names)
    # A view's query may tell of a part of the database that is hidden.
    # A sheet of notes is no table that could be allowed.
    notes = (note for note in entry.notices if note.table == entry.name)
    notices = (note for note in notes if not names or (note.column and note.column.lower() not in names))
    comment = "" if names else entry.comment
    return replace(entry, columns=columns, comment=comment, definition="", notices=tuple(notices))


@dataclass(frozen=True)
class InstanceDescription:
    """A description of a DuckDB instance and of what may be read in it."""

    version: str  # of DuckDB
    catalogue: Catalogue
    slow: frozenset[str]  # the names of tables that take seconds to be read whole
    notices: tuple[Notice, ...]  # what was noticed in files, of what may be seen
    hidden: frozenset[str] = frozenset()  # names of tables and columns, in lower case, that the permissions hide
