"""SQLite databases carried over into other engines: types by what is stored, keys that the rows keep to."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal
from uuid import uuid4

import pandas as pd
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT
from tableturn.evals.official.execution import decode_ignoring_errors, open_database_read_only

from .servers import MARIADB, POSTGRES, Server

Kind = Literal["whole", "number", "date", "moment", "text", "binary"]
Runs = Callable[[str], Sequence[Sequence[object]]]

_DATE = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_TIMES: Mapping[Kind, str] = {"date": _DATE, "moment": f"{_DATE} [0-2][0-9]:[0-5][0-9]:[0-5][0-9]"}

_TYPES: Mapping[Kind, sa.types.TypeEngine[Any]] = {
    "whole": sa.BigInteger(),
    "number": sa.Double(),
    "date": sa.Date(),
    "moment": sa.DateTime(),
    "text": sa.Text().with_variant(LONGTEXT(), "mysql", "mariadb"),
    "binary": sa.LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb"),
}
"""What columns are declared as."""

# A key in MariaDB has 768 bytes at most.
_KEY = sa.Text().with_variant(sa.String(190), "mysql", "mariadb")


@dataclass(frozen=True)
class Reference:
    """A foreign key: columns, the table and columns that they refer to, and whether each row keeps to it."""

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]
    kept: bool = True


@dataclass
class Carried:
    """A table as other engines can hold it.

    Attributes:
        name: As declared.
        kinds: What the values of each column are; values of several kinds are carried as texts.
        key: The primary key's columns; empty if the rows do not keep to it.
        references: To tables that come earlier in the list.
        unique: Other groups of columns that are referred to, each row's of its own.
    """

    name: str
    kinds: dict[str, Kind]
    key: tuple[str, ...]
    references: list[Reference]
    unique: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def declare(self, metadata: sa.MetaData) -> sa.Table:
        """Return the table for other engines, without the references that rows break; others must be declared."""
        kept = [each for each in self.references if each.kept]
        keyed = {name for key in (self.key, *self.unique, *(each.columns for each in kept)) for name in key}
        return sa.Table(
            self.name,
            metadata,
            *(
                sa.Column(
                    name,
                    _KEY if kind == "text" and name in keyed else _TYPES[kind],
                    primary_key=name in self.key,
                    autoincrement=False,
                    quote=True,
                )
                for name, kind in self.kinds.items()
            ),
            *(sa.UniqueConstraint(*names) for names in sorted(self.unique)),
            *(
                sa.ForeignKeyConstraint(each.columns, [metadata.tables[each.table].c[name] for name in each.others])
                for each in kept
            ),
            quote=True,  # each engine has reserved words of its own: `show` is a table of Spider's
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_tables(path: Path) -> list[Carried]:
    """Return the tables of a file; those that others refer to come first."""
    with closing(_opened(path)) as connection:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        tables = [_read_table(connection, name) for (name,) in connection.execute(listed).fetchall()]
        return _settle(connection, tables)


def read_rows(path: Path, table: Carried) -> pd.DataFrame:
    """Return a table's rows, each value as its column holds it."""
    with closing(_opened(path)) as connection:
        # Not all: generated columns are no part of it.
        listed = ", ".join(map(_quoted, table.kinds))
        rows = connection.execute(f"SELECT {listed} FROM {_quoted(table.name)}").fetchall()
    found = [[_convert(value, kind) for value, kind in zip(row, table.kinds.values(), strict=True)] for row in rows]
    return pd.DataFrame(found, columns=list(table.kinds), dtype=object)


def _convert(value: object, kind: Kind) -> object:
    if isinstance(value, bytes) and kind == "text":
        return value.decode(errors="ignore")
    if value is not None and kind in ("whole", "number", "text"):
        value = {"whole": int, "number": float, "text": str}[kind](value)  # pyright: ignore[reportArgumentType]
    return value.replace("\0", "") if isinstance(value, str) else value


def _opened(path: Path) -> sqlite3.Connection:
    connection = open_database_read_only(path)
    connection.text_factory = decode_ignoring_errors
    return connection


def _read_table(connection: sqlite3.Connection, name: str) -> Carried:
    """Read a table with its references as they are declared."""
    declared = connection.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
    kinds: dict[str, Kind] = {
        column: _kind(connection, name, column, type_name) for _, column, type_name, *_ in declared
    }
    key = tuple(entry[1] for entry in sorted(declared, key=lambda entry: entry[5]) if entry[5])
    parts: dict[int, list[tuple[str, str, str]]] = {}
    for number, _, other, own, theirs, *_ in connection.execute(f"PRAGMA foreign_key_list({_quoted(name)})"):
        parts.setdefault(number, []).append((own, other, theirs or own))
    references = [
        Reference(tuple(own for own, _, _ in each), each[0][1], tuple(theirs for _, _, theirs in each))
        for _, each in sorted(parts.items(), reverse=True)  # SQLite lists the last one first
    ]
    return Carried(name, kinds, key if key and _is_key(connection, name, key) else (), references)


def _kind(connection: sqlite3.Connection, table: str, column: str, declared: str) -> Kind:
    name, source = _quoted(column), _quoted(table)
    found = connection.execute(f"SELECT DISTINCT typeof({name}) FROM {source} WHERE {name} IS NOT NULL").fetchall()
    stored = {kind for (kind,) in found}
    if not stored:
        number = re.search("int|bool", declared, re.IGNORECASE)
        return "whole" if number else "number" if re.search("real|num|dec|doub|flo", declared, re.I) else "text"
    if stored == {"text"} and re.search("date|time", declared, re.IGNORECASE):
        for kind, pattern in _TIMES.items():
            others = f"SELECT 1 FROM {source} WHERE {name} NOT GLOB '{pattern}' LIMIT 1"
            if connection.execute(others).fetchone() is None:
                return kind
    if stored <= {"integer", "real"}:
        return "number" if "real" in stored else "whole"
    return "binary" if stored == {"blob"} else "text"


def _is_key(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    listed = ", ".join(map(_quoted, columns))
    empty = " OR ".join(f"{_quoted(name)} IS NULL" for name in columns)
    found = f"SELECT 1 FROM {_quoted(table)} GROUP BY {listed} HAVING count(*) > 1 OR {empty} LIMIT 1"
    return connection.execute(found).fetchone() is None


def _settle(connection: sqlite3.Connection, tables: list[Carried]) -> list[Carried]:
    """Put tables after those that they refer to; leave out references that no engine takes or that close a circle."""
    placed: dict[str, Carried] = {}
    left = list(tables)
    while left:
        waiting = {table.name.lower() for table in left}
        ready = next((each for each in left if not _referred(each) & waiting - {each.name.lower()}), left[0])
        left.remove(ready)
        # A reference to the table itself would ask for an order of its rows.
        known = [(each, placed[each.table.lower()]) for each in ready.references if each.table.lower() in placed]
        ready.references = [held for each, other in known if (held := _hold(connection, ready, each, other))]
        placed[ready.name.lower()] = ready
    return list(placed.values())


def _referred(table: Carried) -> set[str]:
    return {reference.table.lower() for reference in table.references}


def _hold(connection: sqlite3.Connection, table: Carried, declared: Reference, other: Carried) -> Reference | None:
    """Return a reference as other engines can hold it: to a key, by columns of the same types."""
    own = tuple(_declared(table, name) for name in declared.columns)
    theirs = tuple(_declared(other, name) for name in declared.others)
    if theirs != other.key and theirs not in other.unique:
        if not _is_key(connection, other.name, theirs):
            return None
        other.unique.add(theirs)
    for mine, target in zip(own, theirs, strict=True):
        if table.kinds.get(mine) != other.kinds.get(target):
            # SQLite compares numbers with texts that look like them; elsewhere one that refers has to be one.
            written = f"CAST(CAST({_quoted(mine)} AS INTEGER) AS TEXT)"
            text = f"SELECT 1 FROM {_quoted(table.name)} WHERE CAST({_quoted(mine)} AS TEXT) <> {written} LIMIT 1"
            if other.kinds.get(target) != "whole" or connection.execute(text).fetchone() is not None:
                return None
            table.kinds[mine] = "whole"
    pairs = [(f"a.{_quoted(mine)}", f"b.{_quoted(target)}") for mine, target in zip(own, theirs, strict=True)]
    broken = (
        f"SELECT 1 FROM {_quoted(table.name)} a WHERE {' AND '.join(f'{mine} IS NOT NULL' for mine, _ in pairs)}"
        f" AND NOT EXISTS (SELECT 1 FROM {_quoted(other.name)} b"
        f" WHERE {' AND '.join(f'{mine} = {target}' for mine, target in pairs)}) LIMIT 1"
    )
    return Reference(own, other.name, theirs, kept=connection.execute(broken).fetchone() is None)


def _declared(table: Carried, name: str) -> str:
    """Return a column's name as its table declares it."""
    return next((column for column in table.kinds if column.lower() == name.lower()), name)


_SERVERS: Mapping[str, tuple[Server, str, str]] = {
    "postgres": (POSTGRES, "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'", ""),
    "mariadb": (MARIADB, "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", "mariadb:"),
    "sqlalchemy": (MARIADB, "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", "sqlalchemy+mariadb+pymysql:"),
}
"""By engine: its server, the options of a database whose texts are told apart and ordered by their bytes, a scheme."""

ENGINES = ("sqlite", "duckdb", *_SERVERS)
"""The engines that databases are carried to, by the names that figures have."""


def explain_missing(engine: str) -> str:
    """Return why an engine cannot be had here; empty if it can."""
    if engine == "duckdb" and find_spec("duckdb") is None:
        return "duckdb is not installed: pip install 'tableturn[duckdb]'"
    return _SERVERS[engine][0].unavailable() if engine in _SERVERS else ""


def carry(path: Path, engine: str, folder: Path, after: Sequence[str] = ()) -> str:
    """Copy an SQLite file's tables to an engine; return the URL to open the copy by.

    Args:
        path: The file; it is itself what is opened in SQLite.
        engine: One of `ENGINES`.
        folder: Where a copy that is a file may be.
        after: Statements that are run in the copy, once it is filled.
    """
    if engine == "sqlite":
        return f"sqlite:///{path.absolute()}"
    if engine == "duckdb":
        return _carry_to_duckdb(path, Path(mkdtemp(dir=folder)) / f"{path.stem}.duckdb", after)
    server, options, scheme = _SERVERS[engine]
    url = server.make_database(f"tt_{uuid4().hex[:12]}", options)
    metadata = sa.MetaData()
    with _engine(url).connect() as connection:
        for each in read_tables(path):
            table = each.declare(metadata)
            table.create(connection)
            types: Any = {column.name: column.type for column in table.columns}
            read_rows(path, each).to_sql(each.name, connection, if_exists="append", index=False, dtype=types)
        for statement in (*after, *(() if server is MARIADB else ("ANALYZE",))):
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
        connection.commit()
    return url.replace("mariadb:", scheme)


def _carry_to_duckdb(path: Path, target: Path, after: Sequence[str]) -> str:
    import duckdb

    metadata = sa.MetaData()
    with closing(duckdb.connect(str(target))) as connection:
        for each in read_tables(path):
            # DuckDB reads PostgreSQL's words.
            connection.execute(str(sa.schema.CreateTable(each.declare(metadata)).compile(dialect=postgresql.dialect())))
            rows = read_rows(path, each)
            connection.register(
                "rows", rows.set_axis([str(place) for place in range(len(rows.columns))], axis="columns")
            )
            connection.execute(f"INSERT INTO {_quoted(each.name)} SELECT * FROM rows")
            connection.unregister("rows")
        for statement in after:
            connection.execute(statement)
    return f"duckdb:///{target}"


def open_driver(url: str) -> Runs:
    """Return the driver alone: it runs a query on an open connection and returns all its rows."""
    kind, _, place = url.partition(":///")
    if kind == "sqlite":
        return partial(_run, sqlite3.connect(place))
    if kind == "duckdb":
        import duckdb

        return partial(_run, duckdb.connect(place, read_only=True))
    return partial(_run, _engine(url).raw_connection())


def _run(connection: Any, sql: str) -> Sequence[Sequence[object]]:
    with closing(connection.cursor()) as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _engine(url: str) -> sa.Engine:
    driver = "postgresql+psycopg" if url.startswith("postgres") else "mariadb+pymysql"
    return sa.create_engine(sa.make_url(url).set(drivername=driver), poolclass=sa.NullPool)
