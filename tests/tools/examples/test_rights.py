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
