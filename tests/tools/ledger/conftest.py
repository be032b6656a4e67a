"""The databases of the ledger's tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database

from tests.tools.database.servers import MARIADB, POSTGRES
from tests.tools.ledger.sales import make_duckdb, make_on_server, make_sqlite


@pytest.fixture(scope="package", params=["sqlite", "duckdb", "postgres", "mariadb"])
def sales(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("sales")
    made = {
        "sqlite": lambda: make_sqlite(folder),
        "duckdb": lambda: make_duckdb(folder),
        "postgres": lambda: make_on_server(POSTGRES),
        "mariadb": lambda: make_on_server(MARIADB),
    }
    with Database.open(made[request.param]()) as database:
        yield database


@pytest.fixture
def chain(tmp_path: Path) -> Iterator[Database]:
    """Items of orders of customers: 3 of an order that is gone, 8 of orders of a customer who is gone."""
    with closing(sqlite3.connect(tmp_path / "chain.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, region_id INTEGER REFERENCES region);
            CREATE TABLE region (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer);
            CREATE TABLE item (order_id INTEGER REFERENCES orders, no INTEGER, part_id INTEGER REFERENCES part,
                n INTEGER, PRIMARY KEY (order_id, no));
            CREATE TABLE part (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO region VALUES (1, 'north'), (2, 'south');
            INSERT INTO customer VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 7), (4, 'd', NULL);
            INSERT INTO part VALUES (1, 'bolt'), (2, 'nut'), (3, 'cap');
        """)
        connection.executemany("INSERT INTO orders VALUES (?, ?)", [(n, n % 6 + 1) for n in range(18)])
        items = [(order, no, no + 1, 1) for order in range(18) for no in range(1 + order % 3)]
        connection.executemany(
            "INSERT INTO item VALUES (?, ?, ?, ?)", [*items, (40, 1, 9, 1), (41, 1, 1, 1), (42, 1, 1, 1)]
        )
    with Database.open(tmp_path / "chain.sqlite") as database:
        yield database
