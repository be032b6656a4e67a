"""Reading the catalogue of MySQL or MariaDB: a handful of queries, however many tables there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ..column_kinds import column_kind
from ..schema import ColumnSchema, ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..table import Cell

_LABELS = 20
_SYSTEM = "('information_schema', 'performance_schema', 'mysql', 'sys')"
_LABEL = re.compile(r"'((?:[^']|'')*)'")

_VERSION = """
    SELECT CONCAT_WS(' ', CURRENT_USER(), DATABASE(), COUNT(*), BIT_XOR(CRC32(CONCAT_WS('|', TABLE_SCHEMA, TABLE_NAME,
           ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, EXTRA, COLUMN_COMMENT))))
    FROM information_schema.COLUMNS WHERE {only}
"""
_RELATIONS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_ROWS, TABLE_COMMENT FROM information_schema.TABLES
    WHERE TABLE_TYPE IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') AND {only} ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_VIEWS = "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE {only}"
_COLUMNS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE = 'NO', EXTRA LIKE '% GENERATED%',
           COLUMN_COMMENT
    FROM information_schema.COLUMNS WHERE {only} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
    SELECT CONSTRAINT_NAME, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION,
           REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
    FROM information_schema.KEY_COLUMN_USAGE
    WHERE {only} AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
    ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""

_FUNCTIONS = "SELECT LOWER(ROUTINE_NAME) FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION'"

_Place = tuple[Cell, Cell]


class Asks(Protocol):
    """What answers queries of our own."""

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """All rows."""
        ...


def readable(schemas: Sequence[str]) -> str:
    """A condition for what may be read: these databases or, if there are none, all."""
    listed = ", ".join("'" + name.replace("\\", "\\\\").replace("'", "''") + "'" for name in schemas)
    return f"TABLE_SCHEMA IN ({listed})" if schemas else f"TABLE_SCHEMA NOT IN {_SYSTEM}"


def catalogue_version(connection: Asks, only: str, owner: str) -> str:
    """Changes with tables and columns.

    Args:
        connection: To ask.
        only: See `readable`.
        owner: Who is asking: what is kept for one is not for another.
    """
    ((told,),) = connection.rows(_VERSION.format(only=only))
    return f"{told} {owner}".strip()


def read_catalogue(connection: Asks, only: str, owner: str) -> Catalogue:
    """What the login may read; the parameters are those of `catalogue_version`."""
    version = catalogue_version(connection, only, owner)
    ((database,),) = connection.rows("SELECT DATABASE()")
    keys = connection.rows(_KEYS.format(only=only))
    primary = {((schema, table), name): place for key, schema, table, name, place, *_ in keys if key == "PRIMARY"}
    columns: dict[_Place, list[ColumnSchema]] = {}
    for schema, table, name, declared, not_null, generated, comment in connection.rows(_COLUMNS.format(only=only)):
        column = _column(str(name), str(declared))
        position = primary.get(((schema, table), name), 0)
        columns.setdefault((schema, table), []).append(
            replace(
                column,
                primary_key=int(position or 0),
                not_null=bool(not_null),
                generated=bool(generated),
                comment=str(comment or ""),
            )
        )
    views = {(schema, view): query for schema, view, query in connection.rows(_VIEWS.format(only=only))}
    relations = {
        (schema, table): Relation(
            str(schema),
            str(table),
            str(table) if schema == database else f"{schema}.{table}",
            tuple(columns[schema, table]),
            "view" if kind == "VIEW" else "table",
            "" if kind == "VIEW" else str(comment or ""),
            estimate if isinstance(estimate, int) else None,
            str(views.get((schema, table)) or ""),
        )
        for schema, table, kind, estimate, comment in connection.rows(_RELATIONS.format(only=only))
        if (schema, table) in columns
    }
    functions = frozenset(str(name) for (name,) in connection.rows(_FUNCTIONS))
    return Catalogue(version, tuple(relations.values()), tuple(_references(keys, relations)), own_functions=functions)


def _column(name: str, declared: str) -> ColumnSchema:
    if declared.startswith("enum("):
        labels = tuple(label.replace("''", "'") for label in _LABEL.findall(declared))
        return ColumnSchema(name, declared, "text", samples=labels[:_LABELS])
    return ColumnSchema(name, declared, "boolean" if declared == "tinyint(1)" else column_kind(declared, ()))


def _references(keys: Sequence[tuple[Cell, ...]], relations: Mapping[_Place, Relation]) -> Iterator[ForeignKey]:
    found: dict[tuple[Cell, ...], list[tuple[str, str]]] = {}
    for key, schema, table, name, _, ref_schema, ref_table, ref_name in keys:
        if ref_table is not None and (schema, table) in relations and (ref_schema, ref_table) in relations:
            found.setdefault((key, schema, table, ref_schema, ref_table), []).append((str(name), str(ref_name)))
    for (_, schema, table, ref_schema, ref_table), pairs in found.items():
        names, ref_names = zip(*pairs, strict=True)
        yield ForeignKey(relations[schema, table].shown, names, relations[ref_schema, ref_table].shown, ref_names)
