"""A sample of the benchmarks' gold SQL; `evals.lab bench regularize` and `check` measure all of it."""

import json
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError
from tableturn.tools.sql import check, explain, find_used_schema_items, make_sql_skeleton, regularize, vectorize_query
from tableturn.tools.sql.parse import join_split_operators

from tests.support.queries import read


def _sample(data_dir: Path) -> dict[str, list[str]]:
    """About 120 gold queries by database, of Spider's and CoSQL's training sets."""
    spider = json.loads((data_dir / "spider" / "train_spider.json").read_text())
    cosql = json.loads((data_dir / "cosql" / "train.json").read_text())
    pairs = [(record["db_id"], record["query"]) for record in spider[::90]]
    pairs += [(dialogue["database_id"], dialogue["interaction"][-1]["query"]) for dialogue in cosql[::50]]
    queries: dict[str, list[str]] = {}
    for database, sql in pairs:
        queries.setdefault(database, []).append(sql)
    return queries


@pytest.mark.data
def test_gold_queries_keep_their_result_and_are_without_fault(data_dir: Path) -> None:
    checked = 0
    for name, queries in _sample(data_dir).items():
        path = data_dir / "spider" / "database" / name / f"{name}.sqlite"
        if not path.is_file():
            continue
        with Database.open(path) as database:
            schema = database.schema()
            for sql in queries:
                try:
                    rows = database.execute(join_split_operators(sql)).rows
                except QueryError:
                    continue
                regular = regularize(sql, schema)
                assert database.execute(regular).rows == rows
                assert regularize(regular, schema) == regular
                assert [f for f in check(regular, schema) if f.severity == "error"] == []
                assert find_used_schema_items(regular, schema) == find_used_schema_items(sql, schema)
                assert (vectorize_query(regular) == vectorize_query(sql)).all()
                assert make_sql_skeleton(regular).count("_") > 0
                assert explain(read(sql, schema)).endswith(".")
                checked += 1
    assert checked > 80
