from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset, find_empty_tables, load_dataset, read_questions
from tableturn.evals.metrics.judging import StrictJudge
from tableturn.tools.errors import DatabaseUnavailable, SettingsError

from .conftest import make_database


def test_spider_layout(league: Dataset, spider_root: Path) -> None:
    assert [question.id for question in league.questions] == ["0", "1", "2", "3"]
    assert league.find_file("league") == spider_root / "spider" / "database" / "league" / "league.sqlite"
    with pytest.raises(DatabaseUnavailable, match="no database 'cup'"):
        league.find_file("cup")
    assert load_dataset("spider", "dev", spider_root / "spider").questions == league.questions


def test_dialogues_use_spiders_databases(spider_root: Path) -> None:
    turns = [{"utterance": "How many?", "query": "SELECT count(*) FROM player WHERE goals > = 1"}] * 2
    folder = spider_root / "cosql_dataset" / "sql_state_tracking"
    folder.mkdir(parents=True)
    (folder / "cosql_dev.json").write_text(json.dumps([{"database_id": "league", "interaction": turns}] * 2))
    dataset = load_dataset("cosql", "dev", spider_root)
    assert [(question.id, question.turn) for question in dataset.questions] == [
        ("0.1", 1), ("0.2", 2), ("1.1", 1), ("1.2", 2)
    ]  # fmt: skip
    assert dataset.questions[0].golds == ("SELECT count(*) FROM player WHERE goals >= 1",)
    assert dataset.find_file("league").is_file()
    assert [question.id for question in dataset.head(1).questions] == ["0.1", "0.2"]


def test_bird_layout(tmp_path: Path) -> None:
    record = {
        "question_id": 7,
        "db_id": "cup",
        "question": "Q",
        "evidence": "E",
        "SQL": "SELECT 1",
        "difficulty": "simple",
    }
    make_database(tmp_path / "bird" / "dev_databases" / "cup" / "cup.sqlite")
    (tmp_path / "bird" / "dev.json").write_text(json.dumps([record]))
    question = load_dataset("bird", "dev", tmp_path).questions[0]
    assert (question.id, question.evidence, question.level) == ("7", "E", "simple")


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("spidr", "dev", "unknown dataset 'spidr'"),
        ("cosql-acts", "train", "was removed: give a file of your own questions"),
        ("large", "dev", "was removed: `python -m tableturn.evals.lab bench turn-cost` builds"),
        ("spider", "final", "has no split 'final'"),
        ("sparc", "dev", "no dev.json in sparc"),
    ],
)
def test_what_is_not_there_is_said(spider_root: Path, name: str, split: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_dataset(name, split, spider_root)


def test_a_dataset_without_any_database_is_refused(league: Dataset) -> None:
    with pytest.raises(SettingsError, match="none is left to ask"):
        league.without(["league"])


def test_a_file_in_another_format_is_said(spider_root: Path) -> None:
    (spider_root / "spider" / "dev.json").write_text('[{"db_id": "league", "sql": "SELECT 1"}]')
    with pytest.raises(SettingsError, match="not in its published format: KeyError"):
        load_dataset("spider", "dev", spider_root)


OWN = [
    {"question": "How many?", "sql": "SELECT 1", "database": "own.sqlite", "interaction": "a"},
    {"question": "And now?", "sql": ["SELECT 2", "SELECT 3"], "database": "own.sqlite", "interaction": "a"},
]


def test_own_questions_in_four_formats(tmp_path: Path) -> None:
    make_database(tmp_path / "own.sqlite")
    (tmp_path / "q.json").write_text(json.dumps(OWN))
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, OWN)))
    (tmp_path / "q.yaml").write_text(json.dumps(OWN))
    from_json = read_questions(tmp_path / "q.json")
    assert [(question.turn, question.golds) for question in from_json.questions] == [
        (1, ("SELECT 1",)),
        (2, ("SELECT 2", "SELECT 3")),
    ]
    assert from_json.find_file("own.sqlite") == tmp_path / "own.sqlite"
    assert read_questions(tmp_path / "q.jsonl").questions == from_json.questions
    assert read_questions(tmp_path / "q.yaml").questions == from_json.questions
    (tmp_path / "q.csv").write_text('question,sql,database\n"How many,\nall told?",SELECT 1,own.sqlite\n')
    assert read_questions(tmp_path / "q.csv").questions[0].text == "How many,\nall told?"


SAME = '{"question": "Q", "sql": "S", "database": "d", "id": 1}'


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ('{"question": 1}', "expected a list"),
        ("[1]", "record 1: this must be an object with named fields, not 1"),
        ('[{"question": "Q", "sql": "SELECT 1"}]', "record 1: database is missing"),
        ('[{"question": "Q", "sql": "S", "database": "d", "gold": "S"}]', "record 1: gold is not known"),
        (f"[{SAME}, {SAME}]", "more than once"),
        ("nonsense", "is not JSON: line 1, column 1"),
    ],
)  # fmt: skip
def test_own_questions_that_are_wrong(tmp_path: Path, records: str, message: str) -> None:
    path = tmp_path / "q.json"
    path.write_text(records)
    with pytest.raises(SettingsError, match=message):
        read_questions(path)


def test_databases_with_empty_tables_are_told(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE ware (id INTEGER); INSERT INTO ware VALUES (1); CREATE TABLE shelf (id INTEGER)"
        )
    path = tmp_path / "own.json"
    places = ("shop.duckdb", "duckdb:///nowhere.duckdb")
    path.write_text(json.dumps([{"question": "How many?", "database": place, "sql": "SELECT 1"} for place in places]))
    assert find_empty_tables(read_questions(path)) == ["shop.duckdb: tables without rows: shelf"]


@pytest.mark.data
def test_published_sets_are_as_described(data_dir: Path) -> None:
    found = {name: load_dataset(name, "dev", data_dir) for name in ("spider", "sparc", "cosql")}
    assert {name: (len(one.interactions), len(one.questions)) for name, one in found.items()} == {
        "spider": (1034, 1034), "sparc": (422, 1203), "cosql": (293, 1007)
    }  # fmt: skip
    failing = {"spider": [], "sparc": ["161.2"], "cosql": ["100.2"]}
    for name, dataset in found.items():
        assert [empty.partition(":")[0] for empty in find_empty_tables(dataset)] == ["wta_1"]
        with StrictJudge(dataset) as judge:
            found_failing = [one.id for one in dataset.questions if isinstance(judge.find_expected_results(one), str)]
        assert found_failing == failing[name]
