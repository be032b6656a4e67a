"""Short descriptions of columns and tables (Track-SQL 2.2 and B.3), stored per schema.

Whoever describes them - a model, a person - is none of this module's business. The words are data like any other: they
are shown on one line and delimited, and never taken for an instruction.
"""

from __future__ import annotations

import glob
import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from .database import ColumnSchema, Database, Schema, TableSchema
from .folders import cache_folder
from .whole_files import lock_folder_of_file, write_text_atomically

_FOLDER = "annotations"
_MODEL_DIGITS = 8

ColumnName = tuple[str, str]
"""A table's and a column's name."""


@dataclass(frozen=True)
class Annotations:
    """Descriptions of tables and columns by name; empty if the model gave none."""

    tables: Mapping[str, str] = field(default_factory=dict[str, str])
    columns: Mapping[ColumnName, str] = field(default_factory=dict[ColumnName, str])

    def __or__(self, more: Annotations) -> Annotations:
        return Annotations({**self.tables, **more.tables}, {**self.columns, **more.columns})

    def on(self, schema: Schema) -> Schema:
        """Return the schema with these descriptions as comments on items without a comment."""
        if not self.tables and not self.columns:
            return schema
        tables = tuple(
            replace(
                table,
                comment=table.comment or self.tables.get(table.name, ""),
                columns=tuple(
                    replace(column, comment=column.comment or self.columns.get((table.name, column.name), ""))
                    for column in table.columns
                ),
            )
            for table in schema.tables
        )
        return replace(schema, tables=tables)

    def list_undescribed_columns(self, schema: Schema) -> list[tuple[TableSchema, ColumnSchema]]:
        """Return the columns without a description, in schema order."""
        return [
            (table, column)
            for table in schema.tables
            for column in table.columns
            if not column.comment and (table.name, column.name) not in self.columns
        ]

    def list_undescribed_tables(self, schema: Schema) -> list[TableSchema]:
        """Return the tables without a description, in schema order."""
        return [table for table in schema.tables if not table.comment and table.name not in self.tables]


def compute_schema_key(schema: Schema) -> str:
    """Return a hash that is equal for schemas with the same names, types and declared keys.

    The database's name and place do not count, nor does what it holds: a copy, or a file that was rewritten, keeps its
    annotations.
    """
    tables = [
        (table.name, table.kind, [(c.name, c.type, c.primary_key) for c in table.columns]) for table in schema.tables
    ]
    keys = [(k.table, k.columns, k.ref_table, k.ref_columns) for k in schema.foreign_keys if not k.inferred]
    return hashlib.sha256(repr((tables, keys)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def compute_annotations_key(database: Database, model: str) -> str:
    """Return the key under which a model's annotations of a database are stored.

    A description can repeat what a sample said. So it is read again only by who may read the same: where the engine
    gives each person rows of their own, by that person alone.
    """
    return f"{_compute_shared_access_key(database)}.{hashlib.sha256(model.encode()).hexdigest()[:_MODEL_DIGITS]}"


def read_newest_annotations(database: Database) -> Annotations:
    """Return the annotations by the model that described the database last."""
    name = f"{glob.escape(_compute_shared_access_key(database))}.{'?' * _MODEL_DIGITS}.json"
    files = sorted((cache_folder() / _FOLDER).glob(name), key=lambda path: path.stat().st_mtime)
    return _read_annotation_file(files[-1]) if files else Annotations()


def _compute_shared_access_key(database: Database) -> str:
    """Return a key that is equal for people who may read the same data of a database."""
    return compute_schema_key(database.schema()) + database.shared_session.key


class AnnotationStore:
    """The annotations of one schema, in a file of the cache folder.

    What is added is there at once and survives the process; where the folder cannot be written, it lasts as long as
    this object. May be used from several threads and processes.
    """

    def __init__(self, key: str, folder: Path | None = None) -> None:
        """Read the annotations stored under `key`; a damaged file counts as none."""
        self._key = key
        self._folder = folder
        self.path = (folder or cache_folder()) / _FOLDER / f"{key}.json"
        self._lock = threading.Lock()
        self._current = _read_annotation_file(self.path)

    def read(self) -> Annotations:
        """Return the stored annotations."""
        return self._current

    def add(self, more: Annotations) -> Annotations:
        """Add descriptions, replacing older ones, and return all."""
        with self._lock:
            try:
                with lock_folder_of_file(self.path):
                    self._current |= _read_annotation_file(self.path) | more
                    self._write_annotation_file()
            except OSError:
                self._current |= more
            return self._current

    def open_fresh_store(self) -> AnnotationStore:
        """Return a separate store for new descriptions, to be merged into this store later."""
        return AnnotationStore(f"{self._key}.afresh", self._folder)

    def merge_fresh_store(self, fresh: AnnotationStore) -> None:
        """Move the descriptions of `fresh` to this store; empty ones do not replace existing ones."""
        more = fresh.read()
        self.add(
            Annotations(
                {name: text for name, text in more.tables.items() if text or name not in self._current.tables},
                {name: text for name, text in more.columns.items() if text or name not in self._current.columns},
            )
        )
        fresh.clear()

    def clear(self) -> None:
        """Delete all annotations."""
        with self._lock:
            self._current = Annotations()
            self.path.unlink(missing_ok=True)

    def _write_annotation_file(self) -> None:
        columns: dict[str, dict[str, str]] = {}
        for (table, column), text in self._current.columns.items():
            columns.setdefault(table, {})[column] = text
        write_text_atomically(self.path, json.dumps({"tables": dict(self._current.tables), "columns": columns}))


def _read_annotation_file(path: Path) -> Annotations:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return Annotations()
    fields = cast("dict[str, object]", content) if isinstance(content, dict) else {}
    columns = {
        (table, column): text
        for table, column_items in _list_dict_items(fields.get("columns"))
        for column, text in _list_dict_items(column_items)
        if isinstance(text, str)
    }
    tables = {name: text for name, text in _list_dict_items(fields.get("tables")) if isinstance(text, str)}
    return Annotations(tables, columns)


def _list_dict_items(value: object) -> list[tuple[str, object]]:
    return list(cast("dict[str, object]", value).items()) if isinstance(value, dict) else []
