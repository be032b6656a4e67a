"""How long a statement becomes with its common table expressions written out."""

from __future__ import annotations

import pytest
from tableturn.tools.database.sqlite.bounded_work import MANY, count_word_with_ctes_expanded
from tableturn.tools.database.sqlite.tokens import split_words

from tests.support.steps import grows_in_proportion


@pytest.mark.parametrize(
    ("sql", "times"),
    [
        ("SELECT 1", 1),
        ("SELECT 1 UNION SELECT (SELECT 2)", 3),
        ("WITH a AS (SELECT 1) SELECT * FROM a, a", 4),
        ("WITH a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a", 5),
        ("WITH b AS NOT MATERIALIZED (SELECT 1 FROM A JOIN a), a AS MATERIALIZED (SELECT 1) SELECT 1 FROM b", 6),
        ("WITH a AS (SELECT 1), \"b\" (x, y) AS (SELECT 1 FROM [a]) SELECT 1 WHERE 1 IN 'b'", 5),
        ("WITH a AS (SELECT 1 FROM b), b AS (SELECT 1 FROM a) SELECT 1", MANY),
        (
            "WITH a0 AS (SELECT 1)" + "".join(f", a{i} AS (SELECT 1 FROM a{i - 1}, a{i - 1})" for i in range(1, 99)),
            MANY,
        ),
        ("SELECT ((((", 1),
        (") as (select", 1),
    ],
)
def test_expressions_are_counted_where_they_are_named(sql: str, times: int) -> None:
    if times == MANY:
        sql += " SELECT 1 FROM a98" if "a98" in sql else ""
    assert count_word_with_ctes_expanded(split_words(sql), "select") == times


def test_long_chains_are_counted_in_proportion_to_their_length() -> None:
    def count(length: int) -> int:
        chain = "".join(f", a{i} AS (SELECT 1 FROM a{i + 1})" for i in range(length))
        return count_word_with_ctes_expanded(split_words(f"WITH z AS (SELECT 1){chain} SELECT 1 FROM a0"), "select")

    assert count(3000) > 3000
    assert grows_in_proportion(count, 200)
