"""A small shop whose values are worth looking up."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.values import ValueIndex

SHOP = """
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, country TEXT, sex TEXT, secret TEXT);
INSERT INTO customer VALUES
    (1, 'Bob Fosse', 'France', 'M', 'x1'), (2, 'Ann O''Neil', 'Netherlands', 'F', 'x2'),
    (3, 'Zoë Müller', 'Germany', 'F', 'Rosebud'), (4, 'Astrid Gruber', 'United States of America', 'F', 'x4');
CREATE TABLE bureau(id INTEGER PRIMARY KEY, title TEXT, state TEXT, WiFi TEXT, is_temporary_acting TEXT, month TEXT);
INSERT INTO bureau VALUES
    (1, 'Federal Energy Regulatory Board', 'CA', 'Yes', 'T', 'May'), (2, 'Office of Naval Works', 'NY', 'No', 'F', '');
CREATE TABLE product(code TEXT, label TEXT, grade TEXT, price REAL, maker VARCHAR(20), note TEXT);
INSERT INTO product VALUES
    ('ACCT-211', 'Rocking Chairs', 'A', 3.5, 'Sonoma', ''), ('A340-300', 'Airliner', 'B', 9, 'The Who', NULL),
    ('Tony Award', 7, 'C', 1, 'Sonoma County', 'IT');
"""


@pytest.fixture
def shop_file(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SHOP)
    return path


@pytest.fixture
def shop(shop_file: Path) -> Iterator[Database]:
    with Database.open(shop_file) as database:
        yield database


@pytest.fixture
def index(shop: Database, tmp_path: Path) -> ValueIndex:
    return ValueIndex.open(shop, cache=tmp_path / "cache")
