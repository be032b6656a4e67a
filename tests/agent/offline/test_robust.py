"""Whatever is asked of whatever database, the translator answers or declines; it never crashes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tableturn.agent.offline.names import StemIndex
from tableturn.agent.offline.translator import Parser
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood
from tableturn.tools.values import ValueIndex

ODD = """
CREATE TABLE "order"("select" INTEGER PRIMARY KEY, "Größe (cm)" REAL, "from" TEXT, "a""b" TEXT);
INSERT INTO "order" VALUES (1, 1.5, 'x', 'y'), (2, 2.5, NULL, 'z');
CREATE TABLE t(a, b, c);
CREATE VIEW v AS SELECT "select" AS id, "from" FROM "order";
CREATE TABLE "no columns worth naming"("1" BLOB, "" TEXT);
"""
WORDS = [
    *("how", "many", "the", "order", "orders", "most", "least", "not", "of", "by", "each", "with", "t", "a", "v", "id"),
    *("größe", "from", "x", "than", "more", "3", "1999", "'", ",", ".", "?", "and", "or", "those"),
]


def _assert_answered_or_declined(engine: Parser, question: str, base: str = "") -> None:
    try:
        answer = engine.answer(question, base)
    except NotUnderstood:
        return
    assert answer.sql
    assert 0.0 <= answer.confidence <= 1.0


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    folder = tmp_path_factory.mktemp("odd")
    path = folder / "odd.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(ODD)
    database = Database.open(path)
    return Parser(database, ValueIndex.open(database, cache=folder / "cache"))


@given(
    st.lists(st.sampled_from(WORDS), max_size=14),
    st.sampled_from(["", 'SELECT "from" FROM "order"', "SELECT a FROM t"]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words(odd: Parser, words: list[str], base: str) -> None:
    _assert_answered_or_declined(odd, " ".join(words), base)


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(odd: Parser, text: str) -> None:
    _assert_answered_or_declined(odd, text)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("HOW MANY BOOKS ARE THERE", "SELECT COUNT(*) FROM book"),
        ("how many authrs are there??", "SELECT COUNT(*) FROM author"),
        ("titles of bookss", "SELECT title FROM book"),
    ],
)
def test_typos_and_case(engine: Parser, question: str, sql: str) -> None:
    assert engine.answer(question).sql == sql


def test_names_and_values_are_no_typos_of_the_grammar(tmp_path: Path) -> None:
    path = tmp_path / "forge.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE forge(forge_id INTEGER PRIMARY KEY, lsit TEXT, owner TEXT)")
        made.execute("INSERT INTO forge VALUES (1, 'x', 'hwo'), (2, 'y', 'averge')")
        made.commit()
    with Database.open(path) as forge:
        engine = Parser(forge, ValueIndex.open(forge, cache=tmp_path / "cache"))
        assert (
            engine.answer("wich lsit has the forge with owner hwo").sql == "SELECT lsit FROM forge WHERE owner = 'hwo'"
        )
        assert "'averge'" in engine.answer("lsit of forges with owner averge").sql


def test_names_without_words_are_no_titles(tmp_path: Path) -> None:
    path = tmp_path / "signs.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute('CREATE TABLE "%"(" " INTEGER, "*" TEXT, "?" INTEGER)')
    with Database.open(path) as signs:
        assert not StemIndex(signs.schema()).has_own_name("%")


def test_names_that_need_quotes(odd: Parser) -> None:
    assert odd.answer("How many orders are there?").sql == 'SELECT COUNT(*) FROM "order"'


@pytest.mark.data
@pytest.mark.parametrize("name", ["pets_1", "flight_2", "car_1"])
def test_questions_about_other_databases(data_dir: Path, tmp_path: Path, name: str) -> None:
    questions = [
        record["question"]
        for record in json.loads((data_dir / "spider" / "dev.json").read_text(encoding="utf-8"))
        if record["db_id"] != name
    ]
    with Database.open(data_dir / "spider" / "database" / name / f"{name}.sqlite") as database:
        engine = Parser(database, ValueIndex.open(database, cache=tmp_path))
        for question in questions[::12]:
            _assert_answered_or_declined(engine, question)
