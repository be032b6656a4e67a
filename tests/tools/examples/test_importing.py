"""Reading examples from files, and from what people approve."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable, ExampleStoreError
from tableturn.tools.examples import (
    DatabaseFolder,
    Example,
    ExampleStore,
    database_identity,
    make_default_store,
    make_example,
    make_example_verifier,
    read_examples,
    to_json,
)

from .conftest import BOATS


def test_lines_of_json_come_back(tmp_path: Path) -> None:
    path = tmp_path / "boats.jsonl"
    path.write_text("\n".join([*map(to_json, BOATS), "", ""]), encoding="utf-8")
    assert tuple(read_examples(path, pytest.fail)) == BOATS


def test_spiders_layout(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text(
        json.dumps([{"question": "Who?", "query": "SELECT a FROM b WHERE c > = 1", "db_id": "x", "sql": {}}])
    )
    (read,) = read_examples(path, pytest.fail)
    assert read == Example("Who?", "SELECT a FROM b WHERE c >= 1", "x", source="import:train")


def test_cosqls_layout_keeps_dialogues_apart(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    turns = [{"utterance": "Who?", "query": "SELECT a FROM b"}, {"utterance": "Where?", "query": "SELECT c FROM b"}]
    path.write_text(json.dumps([{"database_id": "x", "interaction": turns}] * 2))
    read = list(read_examples(path, pytest.fail))
    assert [(one.turn, one.earlier) for one in read] == [(1, ()), (2, ("Who?",))] * 2
    assert len({one.source for one in read}) == 2
    assert all(one.source.startswith("import:talk-") for one in read)
    assert read[0].source.endswith("#1")
    other = tmp_path / "other" / "talk.json"
    other.parent.mkdir()
    other.write_text(json.dumps([{"database_id": "x", "interaction": turns[:1]}]))
    assert not {one.source for one in read} & {one.source for one in read_examples(other, pytest.fail)}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"question": "Who?"}', "a.jsonl, line 1: an example's sql is missing"),
        ("a.jsonl", "{", r"a.jsonl, line 1: not a line of JSON"),
        ("a.jsonl", "7", r"a.jsonl, line 1: an example must be a JSON object"),
        ("a.jsonl", '{"question": "a", "sql": "b", "database": "c", "color": 1}', "an example's color is not known"),
        (
            "a.jsonl",
            '{"question": "a", "sql": "b", "database": "c", "shared": "so"}',
            "shared must be true or false, not 'so'",
        ),
        ("a.jsonl", '{"question": "a", "sql": "b", "database": "c", "earlier": [1]}', "earlier.0 must be text, not 1"),
        (
            "a.jsonl",
            '{"question": "a", "sql": "b", "database": "c", "added": "noon"}',
            "added must be a date such as 2024-12-31, not 'noon'",
        ),
        ("a.json", '{"question": 1}', "not a list of examples"),
        ("a.json", "[3]", "item 1: not an object"),
        ("a.json", '[{"question": "Who?"}]', "item 1: an example's sql must be text"),
        ("a.json", "\x00", "is not JSON: line 1, column 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    told: list[str] = []
    try:
        assert not list(read_examples(path, told.append))
    except ExampleStoreError as error:
        told.append(str(error))
    assert len(told) == 1
    assert re.search(message, told[0])


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ExampleStoreError, match="there is no file"):
        list(read_examples(tmp_path / "none.json", pytest.fail))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "regatta").mkdir()
    for path in (tmp_path / "regatta" / "regatta.sqlite", tmp_path / "harbour.sqlite"):
        connection = sqlite3.connect(path)
        connection.executescript("CREATE TABLE boat(boat_id INTEGER, name TEXT); CREATE TABLE crew(crew_id INTEGER)")
        connection.close()
    return tmp_path


def test_schemas_are_filled_in_with_what_the_sql_uses(folder: Path) -> None:
    databases = DatabaseFolder(folder)
    bare = [Example("Who?", "SELECT name FROM boat", name) for name in ("regatta", "harbour", "nowhere", "../regatta")]
    first, second, *unknown = databases.complete_examples(bare)
    assert "boat(" in first.schema
    assert "crew" not in first.schema
    assert "boat(" in second.schema
    assert unknown == bare[2:]
    with pytest.raises(DatabaseUnavailable, match="holds no database 'nowhere'"):
        databases("nowhere")
    databases.close()


def test_a_name_that_no_file_can_have_is_passed_over_and_few_databases_stay_open(folder: Path) -> None:
    for number in range(40):
        shutil.copy(folder / "harbour.sqlite", folder / f"copy{number}.sqlite")
    databases = DatabaseFolder(folder)
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    names = [f"copy{number}" for number in range(40)]
    bare = [Example("Who?", "SELECT name FROM boat", name) for name in ("x" * 300, "a\0b", *names, names[0])]
    made = list(databases.complete_examples(bare))
    assert made[:2] == bare[:2]
    assert all("boat(" in example.schema for example in made[2:])
    with ExampleStore.open() as store:
        done = store.add(bare[:1] + made[2:], make_example_verifier(databases), strict=False)
        assert (done.added, len(done.refused)) == (40, 1)
        assert len(done.refused[0].reason) < 500
    if before:
        assert len(os.listdir("/proc/self/fd")) - before < 40
    databases.close()


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(to_json(BOATS[0]), encoding="utf-8-sig")
    assert list(read_examples(tmp_path / "a.jsonl", pytest.fail)) == [BOATS[0]]


def test_private_examples_are_given_to_the_databases_of_the_folder(folder: Path) -> None:
    databases = DatabaseFolder(folder)
    private = Example("Who?", "SELECT name FROM boat", "harbour", shared=False)
    kept = Example("Who?", "SELECT name FROM boat", "harbour", shared=False, owner="harbour@elsewhere")
    assert [made.owner for made in databases.complete_examples([private, kept, replace(private, shared=True)])] == [
        database_identity(databases("harbour")),
        "harbour@elsewhere",
        "",
    ]
    databases.close()


def test_an_approved_answer_is_found_by_its_database_alone(folder: Path) -> None:
    with Database.open(folder / "harbour.sqlite") as database, make_default_store() as store:
        approved = make_example(database, "How many vessels lie here?", "SELECT count(*) FROM boat")
        assert (approved.source, approved.shared, approved.database) == ("approved", False, "harbour")
        store.add([approved])
        found = store.nearest("question", "How many vessels lie here?", 1, database_identity(database))
        assert found[0].example.question == approved.question
        assert approved.question not in [
            hit.example.question for hit in store.nearest("question", approved.question, 99)
        ]


def test_what_is_no_example_is_passed_over_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    good = to_json(replace(BOATS[0], question="One\u2028line?"))
    bad = ["[" * 100_000, "no JSON", json.dumps({"question": "Who?", "sql": ["deep"] * 9_999, "database": "d"})]
    bad.append(json.dumps({"question": "\ud800", "sql": "SELECT 1", "database": "d"}))
    path.write_text("\n".join([bad[0], good, *bad[1:], to_json(BOATS[1])]), encoding="utf-8")
    refused: list[str] = []
    assert [read.question for read in read_examples(path, refused.append)] == ["One\u2028line?", BOATS[1].question]
    assert [reason.split(": ")[0] for reason in refused] == [f"{path}, line {number}" for number in (1, 3, 4, 5)]
    assert max(map(len, refused)) < len(str(path)) + 300


def test_a_deeply_nested_file_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    with pytest.raises(ExampleStoreError, match="nested too deeply"):
        list(read_examples(path, pytest.fail))
