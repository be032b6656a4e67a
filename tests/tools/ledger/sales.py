"""A small database of sales with planted faults, on every engine, and the ledger of a query on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError
from tableturn.tools.ledger import Ledger, build_query_ledger
from tableturn.tools.sql import read_query

TABLES = """
CREATE TABLE product (id INTEGER PRIMARY KEY, name VARCHAR(20), kind VARCHAR(20));
CREATE TABLE shop (code VARCHAR(5) PRIMARY KEY, town VARCHAR(20));
CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER, shop VARCHAR(5), amount INTEGER, day DATE, boss INTEGER);
CREATE TABLE label (product_id INTEGER, lang VARCHAR(2), text VARCHAR(20), PRIMARY KEY (product_id, lang));
CREATE TABLE payment (id INTEGER PRIMARY KEY, sale_id INTEGER, paid INTEGER);
CREATE TABLE rate (shop VARCHAR(5), percent INTEGER);
INSERT INTO product VALUES (1, 'lamp', 'light'), (2, 'chair', 'seat'), (3, 'stool', 'Seat');
INSERT INTO shop VALUES ('N', 'Bonn'), ('S', 'Rome');
INSERT INTO label VALUES (1, 'en', 'lamp'), (1, 'de', 'Lampe'), (2, 'en', 'chair'), (3, 'en', 'stool');
INSERT INTO rate VALUES ('N', 10), ('N', 10), ('S', 20);
INSERT INTO payment VALUES (1, 1, 5), (2, 1, 5), (3, 2, 10);
"""
SALES = [
    (n, product, "NS"[n % 2], None if n % 4 == 1 else n, f"2023-0{n % 8 + 1}-10", 1)
    for n, product in enumerate([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 99, 99, 99, 99, None, None], 1)
]
"""14 sales of products, 4 of one that is gone, 2 of none; 5 without an amount."""


def list_statements() -> list[str]:
    rows = (", ".join("NULL" if cell is None else repr(cell) for cell in row) for row in SALES)
    return [*filter(str.strip, TABLES.split(";\n")), f"INSERT INTO sale VALUES {', '.join(f'({row})' for row in rows)}"]


def make_sqlite(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "sales.sqlite")) as connection, connection:
        for statement in list_statements():
            connection.execute(statement)
    return str(folder / "sales.sqlite")


def make_duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "sales.duckdb")) as connection:
        for statement in list_statements():
            connection.execute(statement)
    return str(folder / "sales.duckdb")


def make_on_server(server: Any) -> str:
    if server.unavailable():
        pytest.skip(server.unavailable())
    url = server.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in list_statements():
        server.run(url, statement)
    return url


def keep(database: Database, sql: str, **more: Any) -> Ledger:
    def count(counting: str) -> Any:
        try:
            return database.execute(counting, Limits(seconds=20)).rows
        except QueryError as error:
            raise AssertionError(f"{counting}: {error}") from error

    more.setdefault("rows", database.execute(sql).rows)
    return build_query_ledger(read_query(sql, database.schema()), count, **more)


def lost(ledger: Ledger) -> dict[str, int]:
    """The rows that each join leaves out, where they are counted."""
    return {join.table: join.lost for join in ledger.joins if join.lost is not None and not (join.kept or join.ones)}
