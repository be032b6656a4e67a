"""A small shop: its schema, and a database with rows, in memory."""

import sqlite3
from collections.abc import Sequence

from tableturn.tools.database.schema import ColumnKind, ColumnSchema, ForeignKey, Schema, TableSchema

DDL = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, country TEXT, "birth year" INTEGER, manager_id INTEGER);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), placed DATE, total REAL, note TEXT
);
CREATE TABLE item (order_id INTEGER, product_id INTEGER, quantity INTEGER, PRIMARY KEY (order_id, product_id));
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL, "order" INTEGER, data TEXT);
"""

ROWS = {
    "customer": [
        (1, "Ann", "France", 1980, None),
        (2, "bob", "USA", 1990, 1),
        (3, "Cy", "France", 1975, 1),
        (4, "Dé", None, None, 2),
        (5, "country", "name", 2000, 3),
    ],
    "orders": [
        (1, 1, "2020-01-05", 10.5, "x"),
        (2, 1, "2021-03-01", 20.0, None),
        (3, 2, "2021-12-31", 5.25, "it's"),
        (4, 3, "2022-07-14", 99.0, "100%"),
        (5, None, None, None, ""),
    ],
    "item": [(1, 1, 2), (1, 2, 1), (2, 2, 5), (3, 3, 1), (4, 1, 1), (4, 3, 7)],
    "product": [
        (1, "pen", 1.5, 3, '{"a": [1, 2], "b": "x"}'),
        (2, "ink", 4.0, 1, '{"a": [], "b": null}'),
        (3, "pad", 2.25, 2, None),
        (4, "cap", None, 4, "{}"),
    ],
}

_KINDS: dict[str, ColumnKind] = {"INTEGER": "number", "REAL": "number", "TEXT": "text", "DATE": "time"}


def connect() -> sqlite3.Connection:
    """A fresh database with the rows above."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(DDL)
    for table, rows in ROWS.items():
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    return connection


def _table(name: str, *columns: tuple[str, str], key: Sequence[str] = ()) -> TableSchema:
    return TableSchema(
        name,
        tuple(
            ColumnSchema(column, type_, _KINDS[type_], primary_key=key.index(column) + 1 if column in key else 0)
            for column, type_ in columns
        ),
    )


SHOP = Schema(
    "shop",
    (
        _table(
            "customer",
            ("id", "INTEGER"),
            ("name", "TEXT"),
            ("country", "TEXT"),
            ("birth year", "INTEGER"),
            ("manager_id", "INTEGER"),
            key=["id"],
        ),
        _table(
            "orders",
            ("id", "INTEGER"),
            ("customer_id", "INTEGER"),
            ("placed", "DATE"),
            ("total", "REAL"),
            ("note", "TEXT"),
            key=["id"],
        ),
        _table(
            "item",
            ("order_id", "INTEGER"),
            ("product_id", "INTEGER"),
            ("quantity", "INTEGER"),
            key=["order_id", "product_id"],
        ),
        _table(
            "product",
            ("id", "INTEGER"),
            ("name", "TEXT"),
            ("price", "REAL"),
            ("order", "INTEGER"),
            ("data", "TEXT"),
            key=["id"],
        ),
    ),
    (
        ForeignKey("orders", ("customer_id",), "customer", ("id",)),
        ForeignKey("item", ("order_id",), "orders", ("id",)),
        ForeignKey("item", ("product_id",), "product", ("id",)),
        ForeignKey("customer", ("manager_id",), "customer", ("id",)),
    ),
)
