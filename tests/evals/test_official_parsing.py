from __future__ import annotations

import pytest
from tableturn.evals.official.exact_match import (
    SchemaNames,
    Unparsed,
    compare_clauses,
    compute_hardness,
    parse,
    tokenize_sql,
)

NAMES = SchemaNames({"club": ("id", "title", "town"), "player": ("id", "club_id", "name", "goals", "fee")})
KEYS = {"player.club_id": "club.id", "club.id": "club.id"}


def matches(predicted: str, gold: str) -> bool:
    return not compare_clauses(parse(predicted, NAMES), parse(gold, NAMES), KEYS)


def test_tokens_are_cut_as_english_is() -> None:
    assert tokenize_sql("SELECT a FROM t WHERE b>= 'X y' AND c=1 LIMIT 1,2") == [
        "select", "a", "from", "t", "where", "b", ">=", '"X y"', "and", "c=1", "limit", "1,2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM player WHERE goals=1",
        "SELECT name FROM player WHERE goals IN (1, 2)",
        "SELECT name FROM player WHERE name = 'it''s",
        "SELECT a.name FROM (SELECT name FROM player) AS a",
        "SELECT name FROM player, club",
        "SELECT nothing FROM player",
        "SELECT name FROM nowhere",
        "SELECT count(*) AS player FROM player",
        "SELECT name FROM player WHERE goals IS NOT NULL",
        "UPDATE player SET goals = 1",
        "",
        "SELECT name FROM player LIMIT",
    ],
)
def test_what_the_official_tool_cannot_read(sql: str) -> None:
    with pytest.raises(Unparsed):
        parse(sql, NAMES)


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ("SELECT fee , name FROM player", "SELECT name , fee FROM player", True),
        ("SELECT DISTINCT name FROM player", "SELECT name FROM player", True),
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals > 99", True),
        ("SELECT name FROM player WHERE goals > 3", "SELECT name FROM player WHERE goals >= 3", False),
        (
            "SELECT name FROM player WHERE goals > 3 OR fee > 1",
            "SELECT name FROM player WHERE fee > 1 AND goals > 3",
            False,
        ),
        (
            "SELECT T2.club_id FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id",
            "SELECT T1.id FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id",
            True,
        ),
        ("SELECT club_id FROM player", "SELECT id FROM club", False),
        ("SELECT name FROM player ORDER BY goals", "SELECT name FROM player ORDER BY goals DESC", False),
        ("SELECT name FROM player ORDER BY goals LIMIT 1", "SELECT name FROM player ORDER BY goals LIMIT 9", True),
        ("SELECT name FROM player ORDER BY goals LIMIT 1", "SELECT name FROM player ORDER BY goals", False),
        (
            "SELECT name FROM player WHERE club_id IN (SELECT id FROM club WHERE town = 'Bath')",
            "SELECT name FROM player WHERE club_id IN (SELECT id FROM club WHERE town = 'York')",
            True,
        ),
        (
            "SELECT name FROM player WHERE club_id IN (SELECT DISTINCT id FROM club)",
            "SELECT name FROM player WHERE club_id IN (SELECT id FROM club)",
            False,
        ),
        (
            "SELECT name FROM player UNION SELECT title FROM club",
            "SELECT name FROM player INTERSECT SELECT title FROM club",
            False,
        ),
        ("SELECT name FROM player anything at all", "SELECT name FROM player", False),
    ],
)
def test_exact_set_match(predicted: str, gold: str, expected: bool) -> None:
    try:
        assert matches(predicted, gold) is expected
    except Unparsed:
        assert not expected


def test_an_unreadable_prediction_matches_nothing() -> None:
    assert compare_clauses(None, parse("SELECT name FROM player", NAMES), KEYS)


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT count(*) FROM player", "easy"),
        ("SELECT name , fee FROM player WHERE goals > 1", "medium"),
        ("SELECT name FROM player WHERE goals > (SELECT avg(goals) FROM player)", "hard"),
        ("SELECT max(goals) , min(fee) , name FROM player GROUP BY club_id , name ORDER BY name", "hard"),
        ("SELECT name FROM player WHERE goals > 1 UNION SELECT title FROM club WHERE town = 'Bath' OR id > 1", "hard"),
        ("SELECT name , fee FROM player WHERE goals > 1 EXCEPT SELECT title , town FROM club", "extra"),
    ],
)
def test_difficulty(sql: str, level: str) -> None:
    assert compute_hardness(parse(sql, NAMES)) == level


def test_negation_counts_as_an_aggregate() -> None:
    """The official tool reads the wrong field; published levels depend on it."""
    plain = "SELECT max(goals) , name FROM player WHERE name LIKE 'A' AND fee > 1 GROUP BY name"
    assert compute_hardness(parse(plain, NAMES)) != compute_hardness(parse(plain.replace("LIKE", "NOT LIKE"), NAMES))
