"""What is checked of examples before they are imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.tools.examples import Example, read_examples, seed_examples
from tableturn.tools.examples.importing import find_example_fault, fix_string_quotes
from tableturn.tools.sql import Query
from tableturn.tools.sql.contradictions import find_contradiction


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the name of the boat with the highest price?", "SELECT name FROM boat"),
        ("What are the 5 most expensive boats?", "SELECT name FROM boat ORDER BY price LIMIT 5"),
        ("Which owner bought the most boats?", "SELECT owner FROM boat GROUP BY owner ORDER BY count(*) LIMIT 1"),
        ("Which owner bought the most boats?", "SELECT owner FROM boat GROUP BY owner"),
        ("Show the cheapest boat", "SELECT name FROM boat ORDER BY price DESC LIMIT 1"),
        ("Show the cheapest boat", "(SELECT name FROM boat ORDER BY price DESC LIMIT 1)"),
        ("How many boats cost [value]?", "SELECT count(*) FROM boat WHERE price = 5"),
        ("How many red boats are there?", "SELECT count(*) FROM boat WHERE colour = 'terminal'"),
    ],
)
def test_what_would_teach_wrong(question: str, sql: str) -> None:
    assert find_contradiction(question, sql) or find_example_fault(question, sql)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which boat has the most points?", "SELECT name FROM boat ORDER BY points DESC LIMIT 1"),
        ("Which boat has the most points?", "SELECT name FROM boat WHERE points = (SELECT max(points) FROM boat)"),
        ("Show the boats with the highest position.", "SELECT name FROM boat WHERE highest_position = 1"),
        ("List boats sorted by the one with the most points first.", "SELECT name FROM boat ORDER BY points DESC"),
        ("Show the cheapest boat", "SELECT name FROM boat ORDER BY price LIMIT 1"),
        ("Which boat has the most points?", "(SELECT name FROM boat) ORDER BY points DESC LIMIT 1"),
        ("Show the boat with the highest place.", "SELECT name FROM boat ORDER BY place LIMIT 1"),
        ("Which boats have at most 3 seats?", "SELECT name FROM boat WHERE seats <= 3 ORDER BY seats LIMIT 9"),
        ("Show the names of all boats, starting with the oldest.", "SELECT name FROM boat ORDER BY built"),
        ("Which points are the highest in each port?", "SELECT highest_points FROM port"),
    ],
)
def test_what_is_sound(question: str, sql: str) -> None:
    assert find_contradiction(question, sql) == find_example_fault(question, sql) == ""


def test_text_in_double_quotes_is_mended_and_names_are_not() -> None:
    example = Example(
        "q", 'SELECT "First Name" FROM b WHERE c = "O\'Neil" AND "First Name" IN ("a", "b") AND d = 1', "x"
    )
    assert fix_string_quotes(example).sql == (
        "SELECT \"First Name\" FROM b WHERE c = 'O''Neil' AND \"First Name\" IN ('a', 'b') AND d = 1"
    )


def test_an_import_leaves_out_what_is_wrong_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    items = [
        {"question": "Which boat has the most points?", "query": "SELECT name FROM boat", "db_id": "x"},
        {"question": "Which boats are red?", "query": 'SELECT name FROM boat WHERE colour = "red"', "db_id": "x"},
    ]
    path.write_text(json.dumps(items))
    refused: list[str] = []
    (read,) = read_examples(path, refused.append)
    assert read.sql == "SELECT name FROM boat WHERE colour = 'red'"
    assert len(refused) == 1
    assert "asks for 'most', and the query ranks nothing" in refused[0]


def test_built_in_examples_are_sound() -> None:
    assert [
        seed.question
        for seed in seed_examples()
        if find_example_fault(seed.question, seed.sql) or fix_string_quotes(seed) != seed
    ] == []


@pytest.mark.parametrize("part", ["strftime", "over (", "left join", "1.0 *", "partition by", "coalesce"])
def test_built_in_examples_show_what_is_hard(part: str) -> None:
    assert any(part in seed.sql.lower() for seed in seed_examples())


@pytest.mark.parametrize(
    ("sql", "ranks"),
    [
        ("SELECT name FROM boat WHERE note <> 'order by' LIMIT 3", False),
        ("SELECT name FROM boat WHERE owner IN (SELECT id FROM crew)", False),
        ("(SELECT name FROM boat ORDER BY length) LIMIT 3", True),
        ("SELECT name FROM boat b WHERE NOT EXISTS (SELECT 1 FROM boat c WHERE c.length > b.length)", True),
        ("SELECT name FROM boat WHERE length = (SELECT max(length) FROM boat)", True),
        ("SELECT name, row_number() OVER () FROM boat", True),
    ],
)
def test_what_ranks_rows_is_read_from_the_query(sql: str, ranks: bool) -> None:
    assert Query.of(sql, "sqlite").ranks_rows == ranks
