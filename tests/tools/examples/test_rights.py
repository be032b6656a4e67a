"""What an approved example records of what its query may read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.examples.rights import make_example, restrict_example


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.id FROM (shop AS a JOIN staff AS b ON b.shop_id = a.id) AS t WHERE t.salary > 5",
        "SELECT id FROM staff AS s WHERE s['salary'] > 5",
        "SELECT struct_extract(s, 'salary') FROM staff AS s",
        "SELECT COLUMNS('sal.*') FROM staff",
        "SELECT * LIKE 'sal%' FROM staff",
        "SELECT id FROM (SELECT (*) FROM staff) WHERE salary > 5",
        "SELECT salary FROM staff",
    ],
)
def test_what_an_approved_query_may_read_is_recorded(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "shops.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE shop (id INTEGER); CREATE TABLE staff (id INTEGER, shop_id INTEGER, salary INTEGER)"
        )
    with Database.open(path) as database:
        example = make_example(database, "Who?", sql)
        assert restrict_example(example, database)
    with Database.open(path, deny=["staff.salary"]) as database:
        assert restrict_example(example, database) is None


def test_a_word_that_is_also_a_tables_name_hides_nothing(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE status (id INTEGER, secret TEXT); CREATE TABLE orders (id INTEGER, status TEXT)"
        )
    with Database.open(tmp_path / "d.duckdb") as database:
        examples = [
            make_example(database, "How many by status?", "SELECT status, count(*) FROM orders GROUP BY status"),
            make_example(database, "All orders", "WITH t AS (SELECT id FROM orders) SELECT * FROM t"),
        ]
    with Database.open(tmp_path / "d.duckdb", deny=["status.secret"]) as database:
        assert all(restrict_example(example, database) for example in examples)
