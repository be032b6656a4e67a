"""A small library whose names and values the offline translator is asked about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent.offline.translator import Parser
from tableturn.tools.database import Database
from tableturn.tools.values import ValueIndex

LIBRARY = """
CREATE TABLE author(author_id INTEGER PRIMARY KEY, name TEXT, country TEXT, birth_year INTEGER,
    mentor_id INTEGER REFERENCES author(author_id));
INSERT INTO author VALUES (1, 'Ada Noor', 'France', 1950, NULL), (2, 'Bo Lind', 'Sweden', 1962, 1),
    (3, 'Cy Marsh', 'France', 1971, 1), (4, 'Di Vega', 'Spain', 1980, 2), (5, 'Eli Stone', NULL, 1991, 2);
CREATE TABLE book(book_id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author(author_id),
    year INTEGER, price REAL, pages INTEGER, genre TEXT, rare TEXT);
INSERT INTO book VALUES (1, 'Blue Tide', 1, 1990, 10, 200, 'Poetry', 'no'),
    (2, 'Red Tide', 1, 2001, 20, 300, 'Novel', 'no'),
    (3, 'Long Winter', 2, 2005, 30, 500, 'Novel', 'yes'), (4, 'Short Summer', 3, 2010, 15, 120, 'Novel', 'no'),
    (5, 'Salt', 4, 2015, 25, 250, 'Poetry', 'no'), (6, 'Stars', 4, 2018, 40, 800, 'Science', 'yes');
CREATE TABLE member(member_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT, age INTEGER);
INSERT INTO member VALUES (1, 'Ann', 'Hill', 'Oslo', 30), (2, 'Ben', 'Park', 'Oslo', 41),
    (3, 'Cleo', 'Ray', 'Lima', 22), (4, 'Dan', 'Fox', 'Quito', 55);
CREATE TABLE loan(loan_id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book(book_id),
    member_id INTEGER REFERENCES member(member_id), loan_date TEXT, fee REAL);
INSERT INTO loan VALUES (1, 1, 1, '2020-01-05', 1.5), (2, 2, 1, '2020-02-01', 2.0), (3, 3, 2, '2021-03-10', 1.0),
    (4, 1, 2, '2021-04-11', 1.5), (5, 4, 3, '2021-05-12', 3.0), (6, 1, 1, '2022-06-13', 2.5);
"""


@pytest.fixture(scope="session")
def library_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "library.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(LIBRARY)
    return path


@pytest.fixture(scope="session")
def library(library_file: Path) -> Iterator[Database]:
    with Database.open(library_file) as database:
        yield database


@pytest.fixture(scope="session")
def values(library: Database, tmp_path_factory: pytest.TempPathFactory) -> ValueIndex:
    return ValueIndex.open(library, cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def engine(library: Database, values: ValueIndex) -> Parser:
    return Parser(library, values)


SHOP = """
CREATE TABLE product(product_id INTEGER PRIMARY KEY, product_name TEXT, unit_price REAL, units_in_stock INTEGER);
INSERT INTO product VALUES (1, 'Oolong', 4.5, 12), (2, 'Sencha', 6.0, 0), (3, 'Chai', 3.0, 40), (4, 'Pu-erh', 9.5, 0);
CREATE VIEW "full list of products" AS SELECT * FROM product WHERE units_in_stock > 0;
CREATE TABLE client(client_id INTEGER PRIMARY KEY, client_name TEXT, rating INTEGER);
INSERT INTO client VALUES (1, 'Amber Cafe', 4), (2, 'Birch House', 5), (3, 'Cedar Inn', 3);
CREATE TABLE invoice(invoice_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client(client_id), total REAL,
    invoice_date TEXT);
INSERT INTO invoice VALUES (1, 1, 30.0, '2023-01-05'), (2, 1, 12.0, '2023-02-01'), (3, 2, 57.0, '2023-03-09');
CREATE TABLE invoice_line(line_id INTEGER PRIMARY KEY, invoice_id INTEGER REFERENCES invoice(invoice_id),
    product_id INTEGER REFERENCES product(product_id), unit_price REAL, quantity INTEGER);
INSERT INTO invoice_line VALUES (1, 1, 2, 6.0, 5), (2, 2, 3, 3.0, 4), (3, 3, 4, 9.5, 6);
CREATE TABLE warehouse(warehouse_id INTEGER PRIMARY KEY, warehouse_name TEXT, rating INTEGER);
INSERT INTO warehouse VALUES (1, 'North Dock', 2), (2, 'South Dock', 5);
"""


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SHOP)
    with Database.open(path) as database:
        yield database


@pytest.fixture(scope="session")
def clerk(shop: Database, tmp_path_factory: pytest.TempPathFactory) -> Parser:
    """The parser on the shop."""
    return Parser(shop, ValueIndex.open(shop, cache=tmp_path_factory.mktemp("shop_cache")))
