"""Reading a schema from the file."""

from __future__ import annotations

import hashlib
import sqlite3

from .catalogue import Catalogue
from .connection import quoted
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema


def read_schema(connection: sqlite3.Connection, name: str, catalogue: Catalogue) -> Schema:
    """What `catalogue` shows of a database."""
    tables: list[TableSchema] = []
    keys: list[ForeignKey] = []
    for entry in catalogue.visible:
        rows = connection.execute(f"PRAGMA table_xinfo({quoted(entry.name)})").fetchall()
        columns = tuple(
            ColumnSchema(
                row[1],
                row[2],
                "number"
                if any(word in row[2].upper() for word in ("INT", "REAL", "NUM", "DEC", "DOUB", "FLOA"))
                else "text",
                row[5],
                bool(row[3]),
                samples=tuple(
                    v
                    for (v,) in connection.execute(
                        f"SELECT {quoted(row[1])} v FROM (SELECT {quoted(row[1])} FROM {quoted(entry.name)} LIMIT 1000)"
                        " WHERE v IS NOT NULL GROUP BY v ORDER BY count(*) DESC LIMIT 5"
                    )
                ),
            )
            for row in rows
            if catalogue.visibility.shows(entry.name, row[1]) and row[6] != 1
        )
        count = connection.execute(f"SELECT count(*) FROM {quoted(entry.name)}").fetchone()[0]
        tables.append(TableSchema(entry.name, columns, entry.kind, count))
        for row in connection.execute(f"PRAGMA foreign_key_list({quoted(entry.name)})").fetchall():
            if row[4]:
                keys.append(ForeignKey(entry.name, (row[3],), row[2], (row[4],)))
    version = hashlib.sha256(repr([(t.name, [c.name for c in t.columns]) for t in tables]).encode()).hexdigest()[:16]
    held = {(t.name.lower(), c.name.lower()) for t in tables for c in t.columns}
    keys = [
        k
        for k in keys
        if (k.table.lower(), k.columns[0].lower()) in held and (k.ref_table.lower(), k.ref_columns[0].lower()) in held
    ]
    return Schema(name, tuple(tables), tuple(keys), version)
