"""Making foreign keys hold, also where tables refer to each other in a cycle, to themselves, or by several columns."""

from __future__ import annotations

import random
import sqlite3
from contextlib import suppress

from ...tools.database.quoting import quoted
from ...tools.database.schema import ForeignKey, Schema
from ...tools.database.table import Cell


def respect_keys(connection: sqlite3.Connection, schema: Schema, generator: random.Random) -> None:
    """Points rows that refer to nothing to some existing row; else the key becomes NULL or the row is deleted.

    Args:
        connection: A filled database.
        schema: Its tables and keys; keys that are only inferred are pointed, but no row is deleted for them.
        generator: Chooses.
    """
    for key in schema.foreign_keys:
        with suppress(sqlite3.Error):
            _point(connection, schema, key, generator)
    declared = [key for key in schema.foreign_keys if not key.inferred]
    # A deleted row may have been referred to.
    while any(_drop(connection, schema, key) for key in declared):
        pass


def _orphans(key: ForeignKey) -> str:
    """The condition that a row refers to nothing, compared as SQLite compares keys.

    The parent's collation and affinity count: the parent's column is on the left, and `+` removes the other's affinity.
    """
    table = quoted(key.table)
    pairs = [(f"{table}.{quoted(own)}", quoted(other)) for own, other in _pairs(key)]
    given = " AND ".join(f"{own} IS NOT NULL" for own, _ in pairs)
    same = " AND ".join(f"parent.{other} = +{own}" for own, other in pairs)
    return f"{given} AND NOT EXISTS (SELECT 1 FROM {quoted(key.ref_table)} AS parent WHERE {same})"


def _pairs(key: ForeignKey) -> list[tuple[str, str]]:
    return list(zip(key.columns, key.ref_columns, strict=True))


def _point(connection: sqlite3.Connection, schema: Schema, key: ForeignKey, generator: random.Random) -> None:
    names = ", ".join(map(quoted, key.ref_columns))
    held = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in key.ref_columns)
    parents: list[tuple[Cell, ...]] = connection.execute(
        f"SELECT DISTINCT {names} FROM {quoted(key.ref_table)} WHERE {held}"
    ).fetchall()
    identity = _identity(connection, schema, key.table)
    table = quoted(key.table)
    orphans = connection.execute(f"SELECT {', '.join(identity)} FROM {table} WHERE {_orphans(key)}").fetchall()
    changes = ", ".join(f"{quoted(own)} = ?" for own in key.columns)
    row = " AND ".join(f"{part} IS ?" for part in identity)
    for orphan in orphans if parents else ():
        connection.execute(
            f"UPDATE OR IGNORE {table} SET {changes} WHERE {row}",
            (*generator.choice(parents), *orphan),
        )


def _identity(connection: sqlite3.Connection, schema: Schema, name: str) -> list[str]:
    """What tells a table's rows apart."""
    try:
        connection.execute(f"SELECT rowid FROM {quoted(name)} LIMIT 0").close()
    except sqlite3.Error:
        table = schema.table(name)
        return [quoted(column) for column in table.primary_key] if table else []
    return ["rowid"]


def _drop(connection: sqlite3.Connection, schema: Schema, key: ForeignKey) -> bool:
    """Sets to NULL, or deletes, what refers to nothing; whether there was any."""
    table = quoted(key.table)
    before = connection.total_changes
    columns = [column for name in key.columns if (column := schema.column(key.table, name))]
    free = next((column.name for column in columns if not (column.not_null or column.primary_key)), None)
    with suppress(sqlite3.Error):
        if free is not None:
            connection.execute(f"UPDATE OR IGNORE {table} SET {quoted(free)} = NULL WHERE {_orphans(key)}")
    with suppress(sqlite3.Error):
        connection.execute(f"DELETE FROM {table} WHERE {_orphans(key)}")
    return connection.total_changes > before
