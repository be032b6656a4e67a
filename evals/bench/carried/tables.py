"""The tables of an SQLite file as other engines can hold them: types by what is stored, keys that the rows keep to."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ...sqlite_files import lenient_text, open_read_only

Kind = Literal["whole", "number", "date", "moment", "text", "binary"]

_DATE = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_MOMENT = f"{_DATE} [0-2][0-9]:[0-5][0-9]:[0-5][0-9]"
_TIMES: tuple[tuple[Kind, str], ...] = (("date", _DATE), ("moment", _MOMENT))


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: As declared.
        kind: What its values are; values of several kinds are carried as texts.
        longest: Characters or bytes of its longest value.
    """

    name: str
    kind: Kind
    longest: int


@dataclass(frozen=True)
class Reference:
    """A foreign key: columns, the table and columns that they refer to, and whether each row keeps to it."""

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]
    kept: bool = True


@dataclass(frozen=True)
class Carried:
    """A table.

    Attributes:
        name: As declared.
        columns: In order.
        key: The primary key's columns; empty where the rows do not keep to it.
        references: To tables that come earlier in the list.
        unique: Other groups of columns that are referred to, each row's of its own.
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    references: tuple[Reference, ...]
    unique: tuple[tuple[str, ...], ...] = ()


def quoted(name: str, mark: str = '"') -> str:
    """A name in quotes."""
    return mark + name.replace(mark, mark * 2) + mark


def read_tables(path: Path) -> list[Carried]:
    """The tables of a file; those that others refer to come first."""
    with closing(_opened(path)) as connection:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        tables = [_table(connection, name) for (name,) in connection.execute(listed).fetchall()]
        return _in_order(connection, tables)


def rows(path: Path, table: Carried) -> Iterator[Sequence[object]]:
    """A table's rows, each value as its column holds it."""
    with closing(_opened(path)) as connection:
        # Not all: generated columns are no part of it.
        listed = ", ".join(quoted(column.name) for column in table.columns)
        for row in connection.execute(f"SELECT {listed} FROM {quoted(table.name)}"):
            yield [_value(value, column.kind) for value, column in zip(row, table.columns, strict=True)]


def _opened(path: Path) -> sqlite3.Connection:
    connection = open_read_only(path)
    connection.text_factory = lenient_text
    return connection


def _table(connection: sqlite3.Connection, name: str) -> Carried:
    declared = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    columns = tuple(_column(connection, name, entry[1], entry[2]) for entry in declared)
    key = tuple(entry[1] for entry in sorted(declared, key=lambda entry: entry[5]) if entry[5])
    references: dict[int, list[tuple[str, str, str]]] = {}
    for number, _, other, own, theirs, *_ in connection.execute(f"PRAGMA foreign_key_list({quoted(name)})"):
        references.setdefault(number, []).append((own, other, theirs or own))
    found = tuple(
        Reference(tuple(own for own, _, _ in parts), parts[0][1], tuple(theirs for _, _, theirs in parts))
        for _, parts in sorted(references.items(), reverse=True)  # SQLite lists the last one first
    )
    return Carried(name, columns, key if key and _is_key(connection, name, key) else (), found)


def _column(connection: sqlite3.Connection, table: str, name: str, declared: str) -> Column:
    column, source = quoted(name), quoted(table)
    told = connection.execute(
        f"SELECT typeof({column}), max(length({column})) FROM {source} WHERE {column} IS NOT NULL GROUP BY 1"
    ).fetchall()
    stored = {kind for kind, _ in told}
    longest = max((length or 0 for _, length in told), default=0)
    if stored == {"text"} and re.search("date|time", declared, re.IGNORECASE):
        for kind, pattern in _TIMES:
            others = f"SELECT 1 FROM {source} WHERE {column} NOT GLOB ? LIMIT 1"
            if connection.execute(others, [pattern]).fetchone() is None:
                return Column(name, kind, longest)
    return Column(name, _kind(stored, declared), longest)


def _kind(stored: set[str], declared: str) -> Kind:
    if not stored:
        number = re.search("int|bool", declared, re.IGNORECASE)
        return "whole" if number else "number" if re.search("real|num|dec|doub|flo", declared, re.I) else "text"
    if stored == {"integer"}:
        return "whole"
    if stored <= {"integer", "real"}:
        return "number"
    return "binary" if stored == {"blob"} else "text"


def _is_key(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    listed = ", ".join(map(quoted, columns))
    empty = " OR ".join(f"{quoted(name)} IS NULL" for name in columns)
    found = connection.execute(
        f"SELECT 1 FROM {quoted(table)} GROUP BY {listed} HAVING count(*) > 1 OR {empty} LIMIT 1"
    )
    return found.fetchone() is None


def _in_order(connection: sqlite3.Connection, tables: list[Carried]) -> list[Carried]:
    """Tables after those that they refer to, without the references that no engine takes or that close a circle."""
    placed: dict[str, Carried] = {}
    left = list(tables)
    names = {table.name.lower() for table in tables}
    while left:
        known = placed.keys()
        ready = next((each for each in left if _waits_for(each, names) <= known | {each.name.lower()}), left[0])
        left.remove(ready)
        declared, ready = ready.references, replace(ready, references=())
        for reference in declared:
            other = placed.get(reference.table.lower())
            if other is not None:
                ready, placed[other.name.lower()] = _referring(connection, ready, reference, other)
        placed[ready.name.lower()] = ready
    return list(placed.values())


def _waits_for(table: Carried, names: set[str]) -> set[str]:
    return {reference.table.lower() for reference in table.references} & names


def _referring(
    connection: sqlite3.Connection, table: Carried, reference: Reference, other: Carried
) -> tuple[Carried, Carried]:
    """Both tables, with the reference where other engines can hold it: to a key, by columns of the same types."""
    own = [_named(table, name) for name in reference.columns]
    theirs = [_named(other, name) for name in reference.others]
    names = tuple(column.name for column in theirs)
    if names != other.key and names not in other.unique:
        if not _is_key(connection, other.name, names):
            return table, other
        other = replace(other, unique=(*other.unique, names))
    for mine, target in zip(own, theirs, strict=True):
        if mine.kind != target.kind:
            # SQLite compares numbers with texts that look like them; elsewhere one that refers has to be one.
            if target.kind != "whole" or not _holds_numbers(connection, table.name, mine.name):
                return table, other
            columns = tuple(replace(each, kind="whole") if each is mine else each for each in table.columns)
            table = replace(table, columns=columns)
    kept = _is_kept(connection, table, other, [(x.name, y.name) for x, y in zip(own, theirs, strict=True)])
    made = Reference(tuple(column.name for column in own), other.name, names, kept)
    return replace(table, references=(*table.references, made)), other


def _holds_numbers(connection: sqlite3.Connection, table: str, column: str) -> bool:
    name = quoted(column)
    written = f"CAST(CAST({name} AS INTEGER) AS TEXT)"
    other = f"SELECT 1 FROM {quoted(table)} WHERE CAST({name} AS TEXT) <> {written} LIMIT 1"
    return connection.execute(other).fetchone() is None


def _is_kept(connection: sqlite3.Connection, table: Carried, other: Carried, pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether each row refers to one that is there."""
    joined = " AND ".join(f"a.{quoted(own)} = b.{quoted(theirs)}" for own, theirs in pairs)
    given = " AND ".join(f"a.{quoted(own)} IS NOT NULL" for own, _ in pairs)
    broken = connection.execute(
        f"SELECT 1 FROM {quoted(table.name)} a WHERE {given}"
        f" AND NOT EXISTS (SELECT 1 FROM {quoted(other.name)} b WHERE {joined}) LIMIT 1"
    )
    return broken.fetchone() is None


def _named(table: Carried, name: str) -> Column:
    return next((column for column in table.columns if column.name.lower() == name.lower()), Column(name, "text", 0))


def _value(value: object, kind: Kind) -> object:
    if value is None:
        return None
    if kind == "text" and not isinstance(value, str):
        return value.decode(errors="ignore") if isinstance(value, bytes) else str(value)
    if kind == "whole" and isinstance(value, str):
        return int(value)
    if kind == "number" and isinstance(value, int):
        return float(value)
    return value.replace("\0", "") if isinstance(value, str) else value
