"""A small database with one of everything that a guard and a schema reader have to understand."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_SCRIPT = """
CREATE TABLE customer ( -- people who bought something
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- first and family name
  /* where they live */
  city TEXT
);
CREATE INDEX customer_city ON customer (city);
INSERT INTO customer VALUES (1, 'Anna Berg', 'Oslo'), (2, 'Bo Dahl', 'Bergen'), (3, 'Cara Eik', 'Oslo'),
  (4, 'Dag Foss', NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER REFERENCES customer, status VARCHAR(10) DEFAULT 'open',
  total REAL, ordered_on TEXT
);
INSERT INTO orders (customer_id, status, total, ordered_on) VALUES
  (1, 'paid', 120.5, '2024-01-05'), (1, 'open', 8.0, '2024-02-10'), (2, 'paid', 55.25, '2024-02-11'),
  (3, 'paid', 5.0, '2024-03-01');
CREATE TABLE product (
  sku TEXT PRIMARY KEY, name TEXT, price REAL, tax REAL GENERATED ALWAYS AS (price * 0.25) VIRTUAL
) WITHOUT ROWID;
INSERT INTO product VALUES ('A-1', 'Lamp', 40.0), ('B-2', 'Chair', 90.0);
CREATE TABLE line (
  id INTEGER, sku TEXT, amount INTEGER, details TEXT, PRIMARY KEY (id, sku), FOREIGN KEY (sku) REFERENCES product (sku)
);
INSERT INTO line VALUES
  (1, 'A-1', 2, '{"colour": "red", "tags": ["new", "big"], "size": 3}'),
  (1, 'B-2', 1, '{"colour": "blue", "tags": []}');
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER, photo BLOB);
INSERT INTO staff VALUES (1, 'Ada', NULL, x'00ff'), (2, 'Ben', 1, NULL), (3, 'Cem', 2, NULL);
CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY, label TEXT) STRICT;
INSERT INTO country VALUES ('NO', 'Norway');
CREATE TABLE "odd name" ("a ""quoted"" column" TEXT, "select" INTEGER, größe REAL);
INSERT INTO "odd name" VALUES ('x', 1, 2.5);
CREATE TABLE empty (x INTEGER, y);
CREATE VIEW paid AS SELECT id, customer_id, total FROM orders WHERE status = 'paid';
CREATE VIEW broken AS SELECT gone FROM customer;
CREATE VIRTUAL TABLE note USING fts5(title, body);
INSERT INTO note VALUES ('first', 'the parcel arrived'), ('second', 'the parcel is late');
CREATE VIRTUAL TABLE note_terms USING fts5vocab(note, row);
CREATE VIRTUAL TABLE old_note USING fts4(body);
INSERT INTO old_note VALUES ('a letter'), ('another letter');
CREATE VIRTUAL TABLE place USING rtree(id, west, east, south, north);
INSERT INTO place VALUES (1, 10.0, 11.0, 59.0, 60.0);
"""


def make_shop(path: Path) -> Path:
    """Write the database to `path`."""
    connection = sqlite3.connect(path)
    connection.executescript(_SCRIPT)
    connection.close()
    return path
