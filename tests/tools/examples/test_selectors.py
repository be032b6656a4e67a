"""What the selectors choose."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.rendering.compact import parse_compact_schema
from tableturn.tools.errors import ExampleRefused, SettingsError
from tableturn.tools.examples import (
    ExampleQuery,
    ExampleStore,
    SelectorKind,
    choose_examples,
    database_identity,
    example_id,
    make_default_store,
    make_example,
    make_example_verifier,
    make_selector,
    seed_examples,
)
from tableturn.tools.examples.masking import regularize_example
from tableturn.tools.sql import make_sql_skeleton

from .conftest import SCHEMA, example

QUERY = ExampleQuery("How many boats are there?", schema=parse_compact_schema(SCHEMA), database="regatta")


@pytest.fixture(scope="module")
def seeds() -> ExampleStore:
    return make_default_store()


def skeletons(kind: SelectorKind, seeds: ExampleStore, query: ExampleQuery, **numbers: int) -> list[str]:
    return [make_sql_skeleton(shown.sql) for shown in make_selector(kind, seeds, **numbers).select(query)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many boats are there?", "SELECT count(*) FROM boat"),
        ("How many sailors does each boat have?", "SELECT length, count(*) FROM boat GROUP BY length"),
        ("Which boat is the longest?", "SELECT name FROM boat ORDER BY length DESC LIMIT 1"),
        ("Which boats have no sailors?", "SELECT name FROM boat WHERE boat_id NOT IN (SELECT boat_id FROM sailor)"),
    ],
)
def test_the_form_of_a_question_finds_the_form_of_its_sql(seeds: ExampleStore, question: str, expected: str) -> None:
    query = ExampleQuery(question, schema=parse_compact_schema(SCHEMA))
    assert make_sql_skeleton(expected) in skeletons("skeleton", seeds, query)


def test_by_skeleton_shows_as_many_forms_as_examples(seeds: ExampleStore) -> None:
    shown = skeletons("skeleton", seeds, QUERY)
    assert len(shown) == len(set(shown)) == 8


def test_the_simplified_form_has_its_share_without_repeats(seeds: ExampleStore) -> None:
    alone = make_selector("skeleton", seeds).select(QUERY)
    query = ExampleQuery(QUERY.question, "For each boat, give the length and the number of sailors.", QUERY.schema)
    both = make_selector("skeleton", seeds).select(query)
    assert both[:4] == alone[:4]
    assert both[4:] != alone[4:]
    assert len(set(both)) == len({make_sql_skeleton(shown.sql) for shown in both}) == 8


def test_the_papers_way_takes_the_nearest(seeds: ExampleStore) -> None:
    chosen = make_selector("skeleton", seeds, pool=0, k1=3, k2=0).select(QUERY)
    assert len(chosen) == 3
    assert chosen[0].sql.startswith("SELECT count(*) FROM")


def test_a_draft_brings_its_own_form_first(seeds: ExampleStore) -> None:
    draft = "SELECT a FROM b WHERE c NOT IN (SELECT d FROM e)"
    query = ExampleQuery(QUERY.question, schema=QUERY.schema, draft_sql=draft)
    shown = skeletons("draft", seeds, query)
    assert shown[0] == make_sql_skeleton(draft)
    assert make_sql_skeleton("SELECT count(*) FROM boat") in shown
    assert len(shown) == len(set(shown)) == 8


@pytest.mark.parametrize("draft", ["", "not SQL at all", "DROP TABLE boat"])
def test_without_a_usable_draft_the_question_decides(seeds: ExampleStore, draft: str) -> None:
    query = ExampleQuery(QUERY.question, schema=QUERY.schema, draft_sql=draft)
    assert skeletons("draft", seeds, query) == skeletons("skeleton", seeds, query)


def test_by_question_finds_the_same_words(seeds: ExampleStore) -> None:
    asked = seed_examples()[17]
    chosen = make_selector("question", seeds).select(ExampleQuery(asked.question))
    assert len(chosen) == 5
    assert chosen[0].question == asked.question


def test_voted_examples_are_the_same_for_all_questions_until_the_store_changes() -> None:
    store = make_default_store()
    first = make_selector("voted", store, m=3).select(QUERY)
    assert make_selector("voted", store, m=3).select(ExampleQuery("Something else?")) is first
    assert len(set(first)) == 18
    store.add(example(f"What is {n}?", f"SELECT max(a{n}), min(b) FROM t GROUP BY c, d, e") for n in range(300))
    assert make_selector("voted", store, m=3).select(QUERY) != first


def test_voted_examples_may_be_of_any_engine() -> None:
    store = make_default_store()
    store.add([example("Parks of the north?", "SELECT name FROM park WHERE region !~ '^N' AND tags @> ARRAY['a']")])
    assert len(make_selector("voted", store, m=2).select(QUERY)) == 18


def test_an_example_is_regularized_as_its_engine_reads_it() -> None:
    approved = replace(
        example("Holders?", 'SELECT t."Holder" FROM "Season Pass" t'),
        schema='"Season Pass"("Holder" text, "id" number)',
    )
    regular = 'SELECT "Season Pass"."Holder" FROM "Season Pass"'
    assert regularize_example(approved, "postgres").sql == regular
    other = replace(approved, sql="SELECT a FROM t WHERE a ~ ARRAY['x']")
    assert regularize_example(other, "sqlite") == other, "what its engine alone can read stays as it is"


def test_random_choices_are_pairs_and_differ_by_seed(seeds: ExampleStore) -> None:
    chosen = make_selector("random", seeds, k=10).select(QUERY)
    assert len(set(chosen)) == 10
    assert len({shown.database for shown in chosen}) > 2
    assert any(make_selector("random", seeds, k=10, seed=seed).select(QUERY) != chosen for seed in range(1, 5))


def test_no_examples(seeds: ExampleStore) -> None:
    assert make_selector("none", seeds).select(QUERY) == ()


def test_an_unknown_selector_is_named(seeds: ExampleStore) -> None:
    with pytest.raises(SettingsError, match="'best'; there are skeleton, question"):
        make_selector(cast("SelectorKind", "best"), seeds)


def _payroll(folder: Path) -> Database:
    folder.mkdir()
    connection = sqlite3.connect(folder / "main.db")
    connection.execute("CREATE TABLE salary(employee TEXT, pay INTEGER)")
    connection.close()
    return Database.open(folder / "main.db")


@pytest.mark.parametrize("kind", ["skeleton", "question", "draft", "voted", "random"])
def test_databases_in_files_of_one_name_do_not_share_private_examples(tmp_path: Path, kind: SelectorKind) -> None:
    with _payroll(tmp_path / "a") as mine, _payroll(tmp_path / "b") as other, ExampleStore.open() as store:
        sql = "SELECT pay FROM salary WHERE employee = 'Ann'"
        store.add([make_example(mine, "What does Ann get for project Nimbus?", sql)], make_example_verifier(mine))
        seen = {
            name: make_selector(kind, store).select(ExampleQuery("What does Ann get?", draft_sql=sql, database=name))
            for name in (database_identity(mine), database_identity(other), "main", "")
        }
        assert [len(shown) for shown in seen.values()] == [1, 0, 0, 0]


def test_an_example_is_not_taken_over_by_another_database_of_its_name(tmp_path: Path) -> None:
    with _payroll(tmp_path / "a") as mine, _payroll(tmp_path / "b") as other, ExampleStore.open() as store:
        own, theirs = (make_example(database, "Who?", "SELECT pay FROM salary") for database in (mine, other))
        with pytest.raises(ExampleRefused, match="another database called 'main'"):
            store.add([own], make_example_verifier(other))
        assert store.add([own, theirs]).added == 2
        assert store.remove([example_id(own)]) == 1
        assert [hit.example.owner for hit in store.list()] == [database_identity(other)]


def test_an_example_that_is_private_and_shared_is_shown_once(tmp_path: Path) -> None:
    with _payroll(tmp_path / "a") as database, ExampleStore.open() as store:
        own = make_example(database, "Who?", "SELECT pay FROM salary")
        store.add([own, replace(own, shared=True, owner="")])
        assert len(store.nearest("question", "Who?", 5, database_identity(database))) == 1


def test_its_own_examples_come_before_those_of_other_data(tmp_path: Path) -> None:
    with _payroll(tmp_path / "a") as mine, make_default_store() as store:
        asked = [f"What does Ann get for {thing}?" for thing in ("Nimbus", "Stratus", "Cirrus")]
        own = [make_example(mine, text, f"SELECT pay FROM salary WHERE pay > {n}") for n, text in enumerate(asked)]
        store.add([*own, replace(own[0], shared=True)])
        query = ExampleQuery("What does Ann get for Cirrus and Stratus?", database=database_identity(mine))
        others = make_selector("skeleton", store).select(query)
        shown = choose_examples(store, mine, query, "skeleton", 2, {})
        assert {example.question for example in shown[:2]} == {asked[1], asked[2]}
        ids = [example_id(replace(example, shared=True)) for example in shown]
        assert len(ids) == len(set(ids)), "what is private and shared too is shown once"
        assert set(others) <= set(shown)
        assert choose_examples(store, mine, query, "skeleton", 0, {}) == list(others)
