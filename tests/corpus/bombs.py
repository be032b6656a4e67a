"""Queries that try to use up time, memory or disk, on a database with a table `customer (id, name, city)`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

_COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


def make(path: Path) -> Path:
    """A database to try them on."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        rows = [(number, f"name {number}", f"city {number % 50}") for number in range(5_000)]
        connection.executemany("INSERT INTO customer VALUES (?, ?, ?)", rows)
        connection.commit()
    return path


def bombs() -> Iterator[str]:
    """Every bomb, each once."""
    seen: dict[str, None] = {}
    for family in (_time, _steps, _compiling, _memory, _disk, _large_results):
        seen.update(dict.fromkeys(family()))
    yield from seen


def _time() -> Iterator[str]:
    aggregates = ("count(*)", "sum(x)", "max(x)", "avg(x * 1.5)", "count(x % 7)", "total(length(x))", "min(-x)")
    for aggregate in aggregates:
        yield _COUNT + f"SELECT {aggregate} FROM c"
        yield _COUNT + f"SELECT {aggregate} FROM c WHERE x % 2 = 0"
    for tables in (3, 4, 6, 9, 14, 22, 40):
        yield "SELECT count(*) FROM " + ", ".join(f"customer c{i}" for i in range(tables))
        yield "SELECT max(c0.id + c1.id) FROM " + " CROSS JOIN ".join(f"customer c{i}" for i in range(tables))
    for condition in ("a.name < b.name", "a.name LIKE '%' || b.id || '%'", "instr(a.name, b.city) > 9", "a.id <> b.id"):
        yield f"SELECT count(*) FROM customer a, customer b, customer d WHERE {condition}"
    yield "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT max(x) FROM c"
    yield _COUNT + "SELECT count(*) FROM c a, c b, c d"


def _steps() -> Iterator[str]:
    """Much work in a single step."""
    for size in (20_000, 60_000, 110_000, 200_000):
        for terms in (5, 20, 60, 100):
            likes = (f"(hex(zeroblob({size})) LIKE '%{'0' * 400}1{i}')" for i in range(terms))
            yield "SELECT " + " + ".join(likes)
    for size in (20_000, 100_000, 200_000):
        for stars in (10, 50, 100):
            classes = "*" + "[0a]*" * stars + "b"
            yield f"SELECT hex(zeroblob({size})) GLOB '{classes}'"
            yield f"SELECT replace(hex(zeroblob({size})), '00', 'a') LIKE '{'%a_' * stars}b'"
    for size in (50_000, 200_000, 400_000):
        long = f"hex(zeroblob({size}))"
        yield f"SELECT instr({long}, {long} || '1')"
        yield f"SELECT length(trim({long}, {long} || '1'))"
        yield f"SELECT length(replace({long}, substr({long}, 1, {size}) || '1', 'x'))"
        yield "SELECT " + " + ".join([f"instr({long}, substr({long}, 1, {size}) || '1')"] * 50)
    for width in (10**6, 10**8, 2 * 10**9):
        yield f"SELECT printf('%{width}d', 1)"
        yield f"SELECT printf('%*d', {width}, 1)"
        yield f"SELECT length(printf('%.{width}c', 'x'))"


def _compiling() -> Iterator[str]:
    for count in (5, 20, 60, 100):
        joined = ", ".join(f"customer t{i}" for i in range(60))
        yield "SELECT " + ", ".join([f"(SELECT 1 FROM {joined})"] * min(count, 45))
    for levels in (8, 12, 16, 24, 40):
        nested = "WITH a0 AS (SELECT 1 x UNION ALL SELECT 2)"
        nested += "".join(f", a{i} AS (SELECT a.x FROM a{i - 1} a, a{i - 1} b)" for i in range(1, levels))
        yield f"{nested} SELECT count(*) FROM a{levels - 1}"
        yield nested.replace(" AS (", " AS NOT MATERIALIZED (") + f" SELECT count(*) FROM a{levels - 1}"
    for windows in (50, 90, 400, 900):
        columns = ", ".join(f"rank() OVER (PARTITION BY id + {i})" for i in range(windows))
        yield f"SELECT {columns} FROM customer"
    for depth in (50, 200, 450, 2_000):
        yield "SELECT * FROM " + "(SELECT * FROM " * depth + "customer" + ")" * depth
        yield "SELECT " + "(" * depth + "1" + ")" * depth
        yield "SELECT " + "+".join(["id"] * depth) + " FROM customer a, customer b, customer c"
        yield " UNION ALL ".join(["SELECT 1"] * depth)
        yield "SELECT count(*) FROM customer WHERE " + " OR ".join(f"name LIKE '%{i}%{i}'" for i in range(depth))
        yield "SELECT count(*) FROM customer a JOIN customer b ON " + " OR ".join(
            f"(a.id = {i} AND b.name GLOB '*[{i}]*')" for i in range(min(depth, 1_000))
        )


def _memory() -> Iterator[str]:
    for size in (1_000, 100_000, 400_000):
        yield _COUNT + f"SELECT length(group_concat(hex(zeroblob({size})))) FROM c"
        yield _COUNT + f"SELECT json_group_array(hex(zeroblob({size}))) FROM c"
        yield _COUNT + f"SELECT json_group_object(x, hex(zeroblob({size}))) FROM c"
        yield _COUNT + f"SELECT max(hex(zeroblob({size})) || x) OVER (ORDER BY x ROWS 100 PRECEDING) FROM c"
    for columns in (10, 200, 1_500):
        yield "SELECT " + ", ".join(f"hex(zeroblob({400_000 - i}))" for i in range(columns))
    for levels in (20, 40):
        doubled = "WITH b0 AS (SELECT 'aaaaaaaaaa' x)"
        doubled += "".join(f", b{i} AS MATERIALIZED (SELECT x || x x FROM b{i - 1})" for i in range(1, levels))
        yield f"{doubled} SELECT length(x) FROM b{levels - 1}"
    for size in (10**6, 10**8, 10**9):
        yield f"SELECT zeroblob({size})"
        yield f"SELECT hex(randomblob({size}))"
        yield f"SELECT length(quote(zeroblob({size})))"
    for depth in (900, 5_000):
        yield "SELECT json('" + "[" * depth + "]" * depth + "')"


def _disk() -> Iterator[str]:
    for size in (10, 100, 1_000, 50_000):
        random = f"randomblob({size})"
        yield _COUNT + f"SELECT x, {random} AS r FROM c ORDER BY r"
        yield _COUNT + f"SELECT DISTINCT {random} AS r FROM c"
        yield _COUNT + f"SELECT {random} AS r, count(*) FROM c GROUP BY r"
        yield _COUNT + f"SELECT count(DISTINCT {random}) FROM c"
        yield _COUNT + f"SELECT {random} FROM c UNION SELECT {random} FROM c"
        yield _COUNT + f"SELECT {random} FROM c EXCEPT SELECT 1"
        yield _COUNT + f"SELECT sum(x) OVER (ORDER BY {random}) FROM c"
        yield _COUNT + f", m AS MATERIALIZED (SELECT {random} AS r FROM c) SELECT count(*) FROM m"
        yield f"WITH RECURSIVE c(r) AS (SELECT {random} UNION SELECT {random} FROM c) SELECT count(*) FROM c"
        yield (
            f"WITH RECURSIVE c(x, r) AS (SELECT 1, '' UNION ALL SELECT x + 1, {random} FROM c, customer ORDER BY 2)"
            + (" SELECT count(*) FROM c")
        )
        for several in (3, 9):
            sorts = ", ".join(f"(SELECT {random} AS r{i} FROM c ORDER BY 1 LIMIT 900000) s{i}" for i in range(several))
            yield _COUNT + f"SELECT count(*) FROM {sorts}"
            made = ", ".join(f"m{i} AS MATERIALIZED (SELECT {random} AS r FROM c LIMIT 70000)" for i in range(several))
            counted = " + ".join(f"(SELECT count(*) FROM m{i} a, m{i} b WHERE a.r > b.r)" for i in range(several))
            yield _COUNT + f", {made} SELECT {counted}"


def _large_results() -> Iterator[str]:
    for size in (10, 1_000, 100_000, 400_000):
        yield _COUNT + f"SELECT hex(zeroblob({size})) FROM c"
        yield _COUNT + f"SELECT randomblob({size}), x, x * 1.5, NULL FROM c"
        yield _COUNT + f"SELECT replace(hex(zeroblob({size})), '0', '\U0001f600') FROM c"
    for columns in (5, 100, 1_900):
        yield _COUNT + "SELECT " + ", ".join(f"x + {i}" for i in range(columns)) + " FROM c"
