"""A shop whose tables need explaining."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.knowledge import Knowledge, read_knowledge

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, status TEXT, pin TEXT);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total REAL, old_total REAL, state TEXT
);
CREATE TABLE visits (customer_ref INTEGER, day DATE);
CREATE TABLE "order lines" ("order id" INTEGER, "unit price" REAL, quantity INTEGER);
INSERT INTO customers VALUES (1, 'Ada', 'Paris', 'A', '1'), (2, 'Bo', 'Lyon', 'C', '2');
INSERT INTO orders VALUES (1, 1, 10, 9, 'sent'), (2, 1, 30, 9, 'back'), (3, 2, 5, 9, 'sent');
INSERT INTO visits VALUES (1, '2024-01-01');
INSERT INTO "order lines" VALUES (1, 5, 2);
"""

Known = Callable[..., Knowledge]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
    return path


@pytest.fixture
def database(shop: Path) -> Generator[Database]:
    with Database.open(shop) as opened:
        yield opened


@pytest.fixture
def known(tmp_path: Path, database: Database) -> Known:
    """The knowledge that a text of YAML holds."""

    def make(text: str, on: Database | None = None) -> Knowledge:
        path = tmp_path / "shop.knowledge.yaml"
        path.write_text(text, encoding="utf-8")
        return Knowledge.of(read_knowledge(path), on or database)

    return make
