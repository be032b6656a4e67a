"""Golds that there is reason to doubt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.adjudication.ruling import Ruling
from tableturn.evals.datasets import Dataset, read_questions
from tableturn.evals.lab.disputes import Dispute, find_disputes, parse_date, parse_number

from tests.support.command_line import laboratory

from ..conftest import make_database

DDL = """
CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT, country TEXT, capacity TEXT, built TEXT, year TEXT);
CREATE TABLE visit (id INTEGER PRIMARY KEY, plant_id INTEGER REFERENCES plant (id), code TEXT);
INSERT INTO plant VALUES
    (1, 'Alma', 'France', '998', 'May 3, 1999', '1999'), (2, 'Bor', 'Spain ', '1,660', 'June 1, 1988', '1988'),
    (3, 'Cove', 'Spain ', 'null', 'April 9, 2001', '2001'), (4, 'Dell', 'Chile', '70', 'March 2, 1970', '1970');
INSERT INTO visit VALUES (1, 1, ' A'), (2, 2, ' B'), (3, 2, ' A');
"""
MANY = "".join(
    f"INSERT INTO plant VALUES ({n}, 'P{n}', 'Chile', '{n}', 'May {n}, 1960', '1960');" for n in range(5, 26)
)
"""So many that the one capacity that is no number is few of them."""


def asked(folder: Path, *questions: dict[str, str]) -> Dataset:
    make_database(folder / "energy.sqlite", DDL + MANY)
    path = folder / "own.json"
    path.write_text(json.dumps([{"database": "energy.sqlite", "question": "What?", **fields} for fields in questions]))
    return read_questions(path)


def found(folder: Path, sql: str) -> list[tuple[str, str]]:
    return [(dispute.kind, dispute.evidence) for dispute in find_disputes(asked(folder, {"sql": sql}))]


@pytest.mark.parametrize(
    ("sql", "kind", "evidence"),
    [
        ("SELECT nme FROM plant", "fails", "no such column"),
        ("SELECT name FROM plant WHERE country = 'Spain'", "value", "2 rows, such as Bor"),
        ("SELECT count(*) FROM plant WHERE country = 'france'", "value", "country = 'france': 1"),
        ("SELECT name FROM plant WHERE country != 'france'", "value", "'france' is written 'France' in plant.country"),
        ("SELECT max(capacity) FROM plant", "text", "plant.capacity compared as text: null instead of 1660"),
        ("SELECT name FROM plant ORDER BY capacity DESC LIMIT 1", "text", "Cove instead of Bor"),
        ("SELECT count(*) FROM plant WHERE capacity > 500", "text", "instead of 2"),
        ("SELECT name FROM plant ORDER BY built LIMIT 1", "text", "plant.built compared as text: Cove"),
        ("SELECT plant.name FROM plant JOIN visit WHERE visit.code = ' A'", "join", "Nothing joins"),
    ],
)
def test_what_speaks_against_a_gold_is_told(tmp_path: Path, sql: str, kind: str, evidence: str) -> None:
    disputes = dict(found(tmp_path, sql))
    assert evidence in disputes[kind]
    assert len(disputes) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM plant WHERE country = 'France'",
        "SELECT name FROM plant WHERE trim(country) = 'Spain'",
        "SELECT name FROM plant WHERE country = 'Norway'",
        "SELECT name FROM plant ORDER BY name",
        "SELECT name FROM plant ORDER BY year DESC LIMIT 1",
        "SELECT max(CAST(capacity AS INTEGER)) FROM plant",
        "SELECT min(id) FROM plant WHERE id > 2",
        "SELECT plant.name FROM plant JOIN visit ON visit.plant_id = plant.id",
    ],
)
def test_a_sound_gold_is_left_alone(tmp_path: Path, sql: str) -> None:
    assert found(tmp_path, sql) == []


def test_twins_contradict_each_other_only_after_the_same_turns(tmp_path: Path) -> None:
    one, other = "SELECT name FROM plant WHERE id = 1", "SELECT name FROM plant WHERE id = 2"
    wider = "SELECT name, country FROM plant WHERE id = 1"
    dataset = asked(
        tmp_path,
        {"question": "The first plant?", "sql": one},
        {"question": "the first  plant", "sql": other},
        {"question": "The first plant?", "sql": wider, "interaction": "c", "id": "c.1"},
        {"question": "The first plant?", "sql": other, "interaction": "c", "id": "c.2"},
    )
    disputes = find_disputes(dataset)
    assert [(dispute.question.id, dispute.kind) for dispute in disputes] == [
        ("1", "twin"),
        ("2", "twin"),
        ("c.1", "twin"),
    ]
    assert "c.1" not in disputes[0].evidence  # another column is no contradiction
    assert "question 2 has SELECT name FROM plant WHERE id = 2" in disputes[0].evidence


def test_readers_count_alone_and_systems_only_with_a_reader(tmp_path: Path) -> None:
    gold, answer = "SELECT name FROM plant WHERE id = 1", "SELECT name FROM plant WHERE id = 2"
    dataset = asked(tmp_path, {"sql": gold})
    systems = {"a": {"1": answer}, "b": {"1": f"{answer} LIMIT 1"}}

    def disputes(*rulings: Ruling, **more: dict[str, str]) -> list[Dispute]:
        return find_disputes(dataset, rulings, systems | more)

    assert disputes() == []
    wrong = Ruling(question="What?", sql=gold, verdict="wrong", why="It is the second.")
    assert [(dispute.kind, dispute.evidence) for dispute in disputes(wrong)] == [("verdict", "It is the second.")]
    right = Ruling(question="What?", sql=answer, verdict="right", why="It is the second.")
    (dispute,) = disputes(right)
    assert (dispute.kind, dispute.evidence) == ("systems", "a, b give what a reader calls right: It is the second.")
    assert disputes(right, c={"1": gold}) == []


def test_texts_are_read_as_what_they_say() -> None:
    assert [parse_number(text) for text in (" 1,660 ", "-3.5", "$7", "12%", "1,6", "seven")] == [
        1660,
        -3.5,
        7,
        12,
        None,
        None,
    ]
    first, second = parse_date("January5,2001"), parse_date("6 Jan 2001")
    assert first is not None
    assert second == first + 1
    assert parse_date("2001-01-05") is None


def test_the_command_lists_them_with_their_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLETURN_DATA", raising=False)
    asked(tmp_path, {"sql": "SELECT max(capacity) FROM plant"}, {"question": "Who?", "sql": "SELECT name FROM plant"})
    told = laboratory("disputes", str(tmp_path / "own.json")).stdout
    assert "1 (energy.sqlite, text): What?" in told
    assert told.endswith("1 of 2 golds are disputed\n")
    record = json.loads(laboratory("disputes", str(tmp_path / "own.json"), "--json").stdout)
    assert (record["golds"], record["disputed"], record["disputes"][0]["kind"]) == (2, 1, "text")


def test_what_is_to_be_declined_has_no_gold_to_doubt(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    records = [
        {"question": "The weather?", "database": "league.sqlite", "expects": "decline"},
        {"question": "How many?", "database": "league.sqlite", "sql": "SELECT count(*) FROM nothing"},
    ]
    (tmp_path / "own.json").write_text(json.dumps(records))
    told = laboratory("disputes", str(tmp_path / "own.json"), "--json")
    assert told.returncode == 0, told.stderr
    assert (json.loads(told.stdout)["golds"], json.loads(told.stdout)["disputed"]) == (1, 1)
