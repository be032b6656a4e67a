"""Statements that try to read, or to tell the existence of, what is hidden, and databases to try them on."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path

from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError

DENY = ("vault*", "*.pin*")
"""What is hidden in each of the databases; in the one where it does not exist, the entries match nothing."""

CANARY = "canary"
"""What every hidden text contains; hidden numbers contain 7777."""

_MARKS = (3, 4, 0)
"""Contents of what is hidden: two that differ, and none at all."""

_LIMITS = Limits(seconds=20.0)

_VISIBLE = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT{customer});
CREATE INDEX customer_name ON customer (name);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, total REAL);
CREATE TABLE product (sku TEXT, price REAL{product});
CREATE TABLE event ({event}what TEXT);
CREATE VIEW oslo AS SELECT id, name FROM customer WHERE city = 'Oslo';
CREATE VIEW counters AS SELECT name, seq FROM (SELECT 'orders' AS name, 1 AS seq)
  FULL JOIN sqlite_sequence USING (name, seq);
CREATE VIEW sizes AS SELECT tbl, idx, stat FROM (SELECT '' AS tbl, '' AS idx, '' AS stat)
  FULL JOIN main . "sqlite_stat1" USING (tbl, idx, stat);
CREATE VIEW sizes_too AS SELECT * FROM (SELECT '' AS tbl, '' AS idx) NATURAL FULL JOIN 'sqlite_stat1';
CREATE VIEW sizes_again AS SELECT tbl, stat FROM sizes;
CREATE VIEW member AS SELECT count(1) AS n FROM (SELECT 'vault_keyed' AS name) JOIN [sqlite_sequence] USING (name);
CREATE VIEW declared AS SELECT name, sql FROM (SELECT '' AS name, '' AS sql) FULL JOIN sqlite_schema USING (name, sql);
CREATE VIRTUAL TABLE note USING fts5(title, body);
INSERT INTO customer (id, name, city) VALUES (1, 'ann', 'Oslo'), (2, 'bo', 'Rome'), (3, 'cy', 'Oslo');
INSERT INTO orders VALUES (1, 1, 5.0), (2, 1, 7.5), (3, 2, 1.0);
INSERT INTO product (sku, price{product_names}) VALUES ('a', 1.0{product_a}), ('b', 2.0{product_b});
INSERT INTO event (what) VALUES ('start'), ('end');
INSERT INTO note VALUES ('first', 'a parcel'), ('second', 'a letter');
"""
_HIDDEN = """
CREATE TABLE vault (pin TEXT, owner TEXT, id INTEGER, name TEXT);
CREATE INDEX vault_owner ON vault (owner, pin);
CREATE INDEX customer_pin ON customer (pin, name);
CREATE UNIQUE INDEX customer_pin_city ON customer (pin_number, city);
CREATE TABLE vault_keyed (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT) ;
CREATE TABLE vault_rowless (name TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;
CREATE VIRTUAL TABLE vault_text USING fts5(title, body);
CREATE VIRTUAL TABLE vault_words USING fts5vocab(vault_text, row);
CREATE VIEW vault_view AS SELECT name, id FROM vault;
CREATE VIEW telling AS SELECT c.name FROM customer c FULL JOIN vault USING (name);
CREATE VIEW telling_too AS SELECT name, pin FROM customer;
CREATE VIEW telling_count AS SELECT count(*) AS n FROM vault_keyed;
CREATE VIEW telling_natural AS SELECT name FROM customer NATURAL JOIN vault_rowless;
INSERT INTO vault VALUES ('{canary}-1', '{canary}-2', 7777{mark}, 'ann'),
  ('swordfish', '{canary}-3', {mark}, '{canary}');
INSERT INTO vault_keyed VALUES (7777{mark}, '{canary}'), (3, 'bo');
INSERT INTO vault_rowless VALUES ('{canary}', 7777{mark}), ('ann', {mark});
INSERT INTO vault_text VALUES ('{canary}', 'a parcel {canary}');
UPDATE customer SET pin = '{canary}' || ({mark} * id % 7), pin_number = 7777{mark}000 + {mark} * id;
ANALYZE;
"""


def make(path: Path, mark: int) -> Path:
    """A database with hidden contents that follow from `mark`; with 0, what is hidden does not exist at all."""
    there = mark > 0
    script = _VISIBLE.format(
        customer=", pin TEXT, pin_number INTEGER" if there else "",
        product=", pin INTEGER, PRIMARY KEY (pin, sku)) WITHOUT ROWID; CREATE TABLE vault_end (x" if there else "",
        product_names=", pin" if there else "",
        product_a=f", 7777{mark}1" if there else "",
        product_b=f", 7777{mark % 2}0" if there else "",
        event="pin_key INTEGER PRIMARY KEY, " if there else "",
    )
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        if there:
            connection.executescript(_HIDDEN.format(canary=f"{CANARY}{mark}", mark=mark))
        connection.commit()
    return path


_JOINS = (
    *("JOIN", "INNER JOIN", "CROSS JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "FULL OUTER JOIN"),
    *("NATURAL JOIN", "NATURAL LEFT JOIN", "NATURAL RIGHT JOIN", "NATURAL FULL JOIN"),
)
# What must not be read, with columns that it has.
_TARGETS = {
    "vault": ("pin", "owner"),
    "vault_keyed": ("id", "name"),
    "vault_rowless": ("name", "id"),
    "vault_view": ("name", "id"),
    "vault_text": ("title", "body"),
    "vault_text_content": ("c0", "id"),
    "vault_text_data": ("id", "block"),
    "vault_words": ("term", "doc"),
    "telling": ("name", "name"),
    "telling_too": ("name", "pin"),
    "telling_count": ("n", "n"),
    "telling_natural": ("name", "name"),
    "counters": ("name", "seq"),
    "sizes": ("tbl", "idx"),
    "sizes_too": ("tbl", "idx"),
    "sizes_again": ("tbl", "stat"),
    "member": ("n", "n"),
    "declared": ("name", "sql"),
    "sqlite_schema": ("name", "sql"),
    "sqlite_master": ("name", "tbl_name"),
    "sqlite_temp_schema": ("name", "sql"),
    "sqlite_temp_master": ("sql", "type"),
    "temp.sqlite_schema": ("name", "sql"),
    "main.sqlite_master": ("name", "sql"),
    "sqlite_stat1": ("tbl", "idx"),
    "sqlite_sequence": ("name", "seq"),
    "pragma_table_list": ("name", "type"),
    "pragma_table_info('vault')": ("name", "cid"),
    "pragma_table_xinfo('customer')": ("name", "cid"),
    "pragma_index_list('customer')": ("name", "seq"),
    "pragma_database_list": ("name", "file"),
    "dbstat": ("name", "path"),
    "sqlite_stmt": ("sql", "ncol"),
    "customer": ("pin", "pin_number"),
    "product": ("pin", "sku"),
    "event": ("pin_key", "what"),
    "main.customer": ("pin", "pin_number"),
    "temp.customer": ("pin", "pin_number"),
}
_JOINED = (
    "WITH g({a}, {b}) AS (SELECT 'swordfish', 'y') SELECT {a}, {b} FROM g {join} {target}{using}",
    "SELECT count(*) FROM (SELECT 'swordfish' AS {a}) AS g {join} {target}{using_one}",
    "SELECT {a} FROM {target} {join} (SELECT 7777 AS {a}) AS g{using_one}",
)
_ALONE = (
    "SELECT * FROM {target}",
    "SELECT {a} FROM {target}",
    "SELECT t.{b} FROM {target} AS t",
    "SELECT count(*) FROM {target}",
    "SELECT max({a}) FROM {target}",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM {target})",
    "SELECT (SELECT {a} FROM {target} LIMIT 1)",
    "SELECT name FROM customer WHERE name IN (SELECT {a} FROM {target})",
    "SELECT name FROM customer WHERE 'ann' IN {target}",
    "SELECT name FROM customer ORDER BY (SELECT {a} FROM {target})",
    "SELECT name FROM customer UNION ALL SELECT {a} FROM {target}",
    "SELECT name FROM customer EXCEPT SELECT {a} FROM {target}",
    "WITH x AS (SELECT * FROM {target}) SELECT count(*) FROM x",
    "WITH customer AS (SELECT {a} FROM {target}) SELECT * FROM customer",
    "WITH RECURSIVE x(y) AS (SELECT {a} FROM {target} UNION SELECT y FROM x) SELECT y FROM x",
    "SELECT json_group_array({a}) FROM {target}",
    "SELECT rowid FROM {target}",
    "SELECT t._rowid_, t.oid FROM {target} AS t",
    "SELECT {a}, row_number() OVER (ORDER BY {b}) FROM {target}",
    "SELECT value FROM {target}, json_each({a})",
    "SELECT * FROM {target} NOT INDEXED",
    "SELECT 1 FROM {target} INDEXED BY vault_owner",
    "SELECT a.{a} FROM {target} a JOIN {target} b USING ({a})",
    "SELECT 1 FROM customer, {target} WHERE customer.id > 0",
    "VALUES ((SELECT {a} FROM {target}))",
    "EXPLAIN SELECT {a} FROM {target}",
    "EXPLAIN QUERY PLAN SELECT count(*) FROM {target}",
    "DELETE FROM {target}",
    "INSERT INTO {target} DEFAULT VALUES",
    "UPDATE {target} SET {a} = 1",
    "WITH x AS (SELECT 1) DELETE FROM {target}",
    "CREATE TEMP VIEW v AS SELECT * FROM {target}",
)
_ON_VISIBLE = (
    *(f"SELECT name FROM customer INDEXED BY {name}" for name in ("customer_pin", "customer_pin_city", "nowhere")),
    "SELECT name FROM customer INDEXED BY customer_name",
    "SELECT group_concat(name) OVER (ORDER BY name) FROM customer INDEXED BY customer_pin",
    "SELECT sku FROM product ORDER BY rowid",
    "SELECT sku FROM product WHERE rowid > 0",
    "SELECT what FROM event WHERE rowid = 1",
    "SELECT what FROM event ORDER BY _rowid_",
    "SELECT max(rowid) FROM event",
    "SELECT what, oid FROM event",
    "SELECT * FROM customer",
    "SELECT * FROM event",
    "SELECT * FROM product",
    "SELECT c.* FROM customer AS c",
    "SELECT * FROM customer NATURAL JOIN product",
    "SELECT count(*) FROM customer a NATURAL JOIN customer b",
    "SELECT count(*) FROM product NATURAL JOIN (SELECT 1 AS pin)",
    "SELECT count(*) FROM customer NATURAL JOIN (SELECT 'canary1' AS pin)",
    'SELECT "pin" FROM customer',
    "SELECT 'pin' FROM customer GROUP BY 'pin'",
    'SELECT name FROM customer GROUP BY "pin"',
    "SELECT name FROM customer WHERE \"pin\" LIKE 'canary%'",
    "SELECT pin FROM customer, product",
    "SELECT customer.pin FROM customer, product",
    "SELECT [pin] FROM customer",
    "SELECT `pin` FROM customer",
    "SELECT count(pin) FROM customer",
    "SELECT sum(pin_number) OVER () FROM customer",
    "SELECT name FROM customer WHERE (id, pin) IN (SELECT 1, 'canary1')",
    "SELECT name FROM customer HAVING max(pin) > 'a'",
    "SELECT 1 FROM customer JOIN product ON customer.pin = product.pin",
    "SELECT min(pin), name FROM customer",
    "SELECT iif(pin IS NULL, 1, 2) FROM customer",
    "SELECT * FROM note WHERE note MATCH 'parcel'",
    "SELECT * FROM note('parcel')",
    "SELECT * FROM vault_text('parcel')",
    "SELECT * FROM vault_text WHERE vault_text MATCH 'canary1'",
    "SELECT title FROM note WHERE note MATCH 'canary1'",
    "SELECT c0 FROM note_content",
    "SELECT highlight(vault_text, 0, '<', '>') FROM vault_text",
    "SELECT name FROM 'sqlite_master'",
    "SELECT name FROM customer, 'sqlite_stat1'",
    "SELECT name FROM customer WHERE name IN 'sqlite_sequence'",
    "SELECT * FROM oslo",
    "SELECT name, pin FROM oslo",
    "SELECT * FROM oslo NATURAL JOIN customer",
    "SELECT sqlite_version() IS NULL",
    "SELECT last_insert_rowid()",
    "SELECT total_changes()",
)
_SPELLINGS = ("{}", '"{}"', "[{}]", "`{}`", "/**/{}/**/")


def statements() -> Iterator[str]:
    """Every statement, each once."""
    seen = dict.fromkeys(_statements())
    yield from seen


def _statements() -> Iterator[str]:
    for (target, (a, b)), join, shape in product(_TARGETS.items(), _JOINS, _JOINED):
        merged = join.startswith("NATURAL")
        using = "" if merged else f" USING ({a}, {b})" if a != b else f" USING ({a})"
        using_one = "" if merged else f" USING ({a})"
        second = b if a != b else f"{b}_2"
        names = {"a": a, "b": second, "join": join, "target": target, "using": using, "using_one": using_one}
        yield shape.format(**names)
    for (target, (a, b)), shape in product(_TARGETS.items(), _ALONE):
        yield shape.format(target=target, a=a, b=b)
    for spelling, name in product(_SPELLINGS, ("vault", "VAULT", "sqlite_temp_master", "telling", "pragma_table_list")):
        yield f"SELECT name FROM (SELECT 'x' AS name) FULL JOIN {spelling.format(name)} USING (name)"
    yield from _ON_VISIBLE


def _outcome(database: Database, sql: str) -> str:
    """Return all that a query tells; its rows in one order, as none is promised."""
    try:
        table = database.execute(sql, _LIMITS)
    except QueryError as error:
        return f"{error.kind}: {error}"
    return repr((table.columns, table.types, sorted(table.rows, key=repr), table.truncated))


def try_on_all(folder: Path, tried: Iterable[str]) -> Iterator[tuple[str, bool, bool]]:
    """Yield each statement, whether it read something hidden, and whether it told the databases apart.

    The first statement is empty: it stands for the schema.
    """
    with ExitStack() as opened:
        databases: list[Database] = []
        for mark in _MARKS:
            (folder / str(mark)).mkdir()
            path = make(folder / str(mark) / "shop.db", mark)
            databases.append(opened.enter_context(Database.open(path, deny=DENY)))
        yield "", False, len({repr(database.schema().tables) for database in databases}) > 1
        for sql in tried:
            outcomes = {_outcome(database, sql) for database in databases}
            values = {value for told in outcomes for value in re.findall(rf"{CANARY}\w*|7777\d*", told)}
            yield sql, any(value not in sql for value in values), len(outcomes) > 1


def hide_others(path: Path, queries: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each query that runs, and its outcomes before and after a table is hidden that it does not name."""
    with ExitStack() as opened:
        whole = opened.enter_context(Database.open(path))
        tables = [table.name for table in whole.schema().tables]
        without: dict[str, Database] = {}
        for sql in queries:
            hidden = next((table for table in tables if table.lower() not in sql.lower()), None)
            before = _outcome(whole, sql)
            if hidden is None or not before.startswith("("):
                continue
            if hidden not in without:
                without[hidden] = opened.enter_context(Database.open(path, deny=[hidden]))
            yield sql, before, _outcome(without[hidden], sql)
