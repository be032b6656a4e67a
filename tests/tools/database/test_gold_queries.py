"""Gold queries give the same rows as on an unrestricted connection; `bench readonly-cost` runs all of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tableturn.evals.lab.bench.gold import read_gold_queries_by_file
from tableturn.tools.database import Database, Limits
from tableturn.tools.database.dialects import (
    MOST_JOINS,
    MOST_PARTS,
    MOST_TOKENS,
    count_selects_and_joins,
    get_sqlglot_dialect,
)

_EVERY = 40


@pytest.mark.data
def test_gold_queries_run_alike(data_dir: Path) -> None:
    compared = 0
    for path, queries in read_gold_queries_by_file(data_dir).items():
        plain = sqlite3.connect(path)
        with Database.open(path) as database:
            for sql in queries[::_EVERY]:
                try:
                    cursor = plain.execute(sql)
                except sqlite3.Error:
                    continue
                table = database.execute(sql, Limits(seconds=60, rows=1_000_000))
                assert table.columns == tuple(entry[0] for entry in cursor.description)
                assert list(table.rows) == cursor.fetchall()
                compared += 1
        plain.close()
    assert compared > 300


@pytest.mark.data
def test_gold_queries_are_far_below_the_limits_of_statements(data_dir: Path) -> None:
    queries = [sql for held in read_gold_queries_by_file(data_dir).values() for sql in held]
    assert len(queries) > 1_000
    most = max(queries, key=count_selects_and_joins)
    assert count_selects_and_joins(most) <= min(MOST_PARTS, MOST_JOINS) / 5
    assert max(len(get_sqlglot_dialect("sqlite").tokenize(sql)) for sql in queries) <= MOST_TOKENS / 5
