"""The engines that databases are carried to: how tables are made there, filled, queried barely, and dropped again."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit, urlunsplit

from ...closing import Closing
from .tables import Carried, Kind, Reference, quoted, read_tables, rows

_PART = 500

Runs = Callable[[str], Sequence[tuple[object, ...]]]


class NotReachable(Exception):
    """There is no such engine here; the message says why."""


class Place(Closing, ABC):
    """An engine that databases are carried to; what was made there is dropped when it is closed.

    Attributes:
        types: What the kinds of columns are called.
    """

    types: ClassVar[Mapping[Kind, str]]
    _mark = '"'

    @abstractmethod
    def carry(self, path: Path, name: str, after: Sequence[str] = ()) -> str:
        """Makes a copy of an SQLite file's tables; gives the URL to open it by.

        Args:
            path: The file.
            name: A new one among those that were carried here.
            after: Statements that are run in the copy, once it is filled.
        """

    @abstractmethod
    def bare(self, url: str) -> Runs:
        """The driver alone: runs a query on an open connection and gives all its rows."""

    def _made(self, table: Carried) -> str:
        """CREATE TABLE."""
        parts = [f"{self._quoted(column.name)} {self._type(column.kind, column.longest)}" for column in table.columns]
        if table.key:
            parts.append(f"PRIMARY KEY ({self._listed(table.key)})")
        parts += [f"UNIQUE ({self._listed(names)})" for names in table.unique]
        parts += [self._key(reference) for reference in table.references if reference.kept]
        return f"CREATE TABLE {self._quoted(table.name)} ({', '.join(parts)})"

    def _key(self, reference: Reference) -> str:
        return (
            f"FOREIGN KEY ({self._listed(reference.columns)}) REFERENCES {self._quoted(reference.table)}"
            f" ({self._listed(reference.others)})"
        )

    def _type(self, kind: Kind, longest: int) -> str:
        del longest
        return self.types[kind]

    def _quoted(self, name: str) -> str:
        return quoted(name, self._mark)

    def _listed(self, names: Sequence[str]) -> str:
        return ", ".join(map(self._quoted, names))


class SQLite(Place):
    """Where they come from: nothing is copied."""

    def close(self) -> None:
        """See `Closing`."""

    def carry(self, path: Path, name: str, after: Sequence[str] = ()) -> str:
        """See `Place`; nothing is run in what is no copy."""
        del name, after
        return f"sqlite:///{path.absolute()}"

    def bare(self, url: str) -> Runs:
        """See `Place`."""
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        return lambda sql: connection.execute(sql).fetchall()


class DuckDB(Place):
    """A file for each."""

    types: ClassVar[Mapping[Kind, str]] = {
        "whole": "BIGINT",
        "number": "DOUBLE",
        "date": "DATE",
        "moment": "TIMESTAMP",
        "text": "VARCHAR",
        "binary": "BLOB",
    }

    def __init__(self) -> None:
        try:
            import duckdb
        except ImportError:
            raise NotReachable("duckdb is not installed: pip install 'tableturn[duckdb]'") from None
        self._connect = duckdb.connect
        self._folder = Path(mkdtemp(prefix="tt_"))

    def close(self) -> None:
        """See `Closing`."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def carry(self, path: Path, name: str, after: Sequence[str] = ()) -> str:
        """See `Place`."""
        target = self._folder / f"{name}.duckdb"
        with closing(self._connect(str(target))) as connection:
            for table in read_tables(path):
                connection.execute(self._made(table))
                marks = ", ".join("?" * len(table.columns))
                found = rows(path, table)
                while part := list(islice(found, _PART)):
                    values = ", ".join([f"({marks})"] * len(part))
                    flat = [value for row in part for value in row]
                    connection.execute(f"INSERT INTO {self._quoted(table.name)} VALUES {values}", flat)
            for statement in after:
                connection.execute(statement)
        return f"duckdb:///{target}"

    def bare(self, url: str) -> Runs:
        """See `Place`."""
        connection = self._connect(url.removeprefix("duckdb:///"), read_only=True)
        return lambda sql: connection.execute(sql).fetchall()


class Postgres(Place):
    """A schema for each, in a database of their own."""

    types: ClassVar[Mapping[Kind, str]] = {
        "whole": "bigint",
        "number": "double precision",
        "date": "date",
        "moment": "timestamp",
        "text": "text",
        "binary": "bytea",
    }
    _variable = "TABLETURN_TEST_POSTGRES"
    _usual = "postgresql://postgres@127.0.0.1:5432/postgres"

    def __init__(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise NotReachable("psycopg is not installed: pip install 'tableturn[postgres]'") from None
        root = os.environ.get(self._variable) or self._usual
        try:
            self._root = psycopg.connect(root, autocommit=True, connect_timeout=5)
        except psycopg.Error as error:
            raise NotReachable(f"no PostgreSQL: {' '.join(str(error).split())}; set {self._variable}") from None
        self._name = f"tt_{secrets.token_hex(6)}"
        # Texts are ordered by their bytes, as SQLite does it.
        made = f"CREATE DATABASE {self._name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        self._root.execute(made.encode())
        self._url = urlunsplit(urlsplit(root)._replace(path=f"/{self._name}"))
        self._connect = psycopg.connect

    def close(self) -> None:
        """See `Closing`."""
        self._root.execute(f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)".encode())
        self._root.close()

    def carry(self, path: Path, name: str, after: Sequence[str] = ()) -> str:
        """See `Place`."""
        schema = f"tt_{name}"
        with self._connect(self._url) as connection:
            connection.execute(f"CREATE SCHEMA {quoted(schema)}; SET search_path = {quoted(schema)}".encode())
            for table in read_tables(path):
                connection.execute(self._made(table).encode())
                with connection.cursor().copy(f"COPY {quoted(table.name)} FROM STDIN".encode()) as copy:
                    for row in rows(path, table):
                        copy.write_row(row)
                for reference in table.references:
                    if not reference.kept:
                        added = f"ALTER TABLE {quoted(table.name)} ADD {self._key(reference)} NOT VALID"
                        connection.execute(added.encode())
            for statement in after:
                connection.execute(statement.encode())
            connection.execute(b"ANALYZE")
        return f"{self._url}?schema={quote(schema)}"

    def bare(self, url: str) -> Runs:
        """See `Place`."""
        address, _, schema = url.partition("?schema=")
        connection = self._connect(address, autocommit=True)
        connection.execute(f"SET search_path = {quoted(schema)}".encode())
        return lambda sql: connection.execute(sql.encode()).fetchall()


class MariaDB(Place):
    """A database for each."""

    types: ClassVar[Mapping[Kind, str]] = {
        "whole": "BIGINT",
        "number": "DOUBLE",
        "date": "DATE",
        "moment": "DATETIME",
        "text": "LONGTEXT",
        "binary": "LONGBLOB",
    }
    _mark = "`"
    _variable = "TABLETURN_TEST_MARIADB"
    _usual = "mariadb://root@127.0.0.1:3306/"
    _scheme = "mariadb"
    _short = 190
    """Characters of the longest text that may be part of a key."""

    def __init__(self) -> None:
        try:
            import pymysql
        except ImportError:
            raise NotReachable("PyMySQL is not installed: pip install 'tableturn[mysql]'") from None
        root = urlsplit(os.environ.get(self._variable) or self._usual)
        self._login: dict[str, Any] = {
            "host": root.hostname or "127.0.0.1",
            "port": root.port or 3306,
            "user": root.username,
            "password": root.password or "",
            "charset": "utf8mb4",
            "autocommit": True,
        }
        self._connect = pymysql.connect
        self._at = root.netloc
        self._prefix = f"tt_{secrets.token_hex(4)}"
        self._names: list[str] = []
        try:
            self._root = pymysql.connect(**self._login)
        except pymysql.Error as error:
            raise NotReachable(f"no MariaDB: {error}; set {self._variable}") from None

    def close(self) -> None:
        """See `Closing`."""
        with self._root.cursor() as cursor:
            for name in self._names:
                cursor.execute(f"DROP DATABASE IF EXISTS {quoted(name, '`')}")
        self._root.close()

    def carry(self, path: Path, name: str, after: Sequence[str] = ()) -> str:
        """See `Place`."""
        database = f"{self._prefix}_{name}"[:64]
        self._names.append(database)
        with self._root.cursor() as cursor:
            # Texts are told apart and ordered by their bytes, as SQLite does it.
            cursor.execute(f"CREATE DATABASE {quoted(database, '`')} CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
        with closing(self._connect(**self._login, database=database)) as connection, connection.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'")
            for table in read_tables(path):
                cursor.execute(self._made(table))
                marks = ", ".join(["%s"] * len(table.columns))
                found: Iterator[Sequence[object]] = rows(path, table)
                cursor.execute("BEGIN")
                while part := list(islice(found, _PART)):
                    cursor.executemany(f"INSERT INTO {quoted(table.name, '`')} VALUES ({marks})", part)
                cursor.execute("COMMIT")
            for statement in after:
                cursor.execute(statement)
        return f"{self._scheme}://{self._at}/{database}"

    def bare(self, url: str) -> Runs:
        """See `Place`."""
        database = re.sub("^.*/", "", url)
        connection = self._connect(**self._login, database=database)

        def run(sql: str) -> Sequence[tuple[object, ...]]:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall()

        return run

    def _type(self, kind: Kind, longest: int) -> str:
        return f"VARCHAR({self._short})" if kind == "text" and longest <= self._short else self.types[kind]


class SQLAlchemy(MariaDB):
    """The SQLAlchemy adapter over MariaDB."""

    _scheme = "sqlalchemy+mariadb+pymysql"


PLACES: dict[str, Callable[[], Place]] = {
    "sqlite": SQLite,
    "duckdb": DuckDB,
    "postgres": Postgres,
    "mariadb": MariaDB,
    "sqlalchemy": SQLAlchemy,
}
"""By the names that figures have; each raises `NotReachable` where it cannot be had."""
