"""The store's promises, on every back end."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import ExampleRefused, ExampleStoreError
from tableturn.tools.examples import (
    AddedExamples,
    Example,
    ExampleQuery,
    ExampleStore,
    SelectorKind,
    database_identity,
    example_id,
    make_example_verifier,
    make_selector,
    mask_question,
)
from tableturn.tools.examples.example import Index

from tests.support.steps import grows_in_proportion

from .conftest import BOATS, SCHEMA, example


@pytest.fixture
def regatta(tmp_path: Path) -> Database:
    path = tmp_path / "regatta.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE boat(boat_id, name, length); INSERT INTO boat VALUES (1, 'Petrel', 9)")
    connection.close()
    return Database.open(path)


def test_adding_is_idempotent_whatever_the_spacing(store: ExampleStore) -> None:
    assert store.add(BOATS) == AddedExamples(4, 0)
    again = [example("How many  boats are there?", "SELECT  count(*)\nFROM boat"), *BOATS, *BOATS]
    assert store.add(again) == AddedExamples(0, 9)
    assert store.count() == 4


def test_an_example_comes_back_as_it_was_with_its_time(store: ExampleStore) -> None:
    store.add([BOATS[3]])
    (found,) = store.list()
    assert found.example.added is not None
    assert found.example.added.tzinfo is not None
    assert found.example == replace(BOATS[3], added=found.example.added)


@pytest.mark.parametrize("sql", ["", "SELEC 1", "DELETE FROM boat", "SELECT 1; SELECT 2", "SELECT ("])
def test_what_is_not_one_query_is_refused_with_the_reason(store: ExampleStore, sql: str) -> None:
    with pytest.raises(ExampleRefused, match=r"refused .* for 'How\?': \w+"):
        store.add([example("How?", sql)])
    assert store.count() == 0


def test_what_does_not_run_is_refused_and_the_rest_added(store: ExampleStore, regatta: Database) -> None:
    done = store.add(BOATS, make_example_verifier(regatta), strict=False)
    assert done.added == 3
    (refusal,) = done.refused
    assert refusal.example == BOATS[3]
    assert "no such table: sailor" in refusal.reason


def test_an_example_of_another_database_is_refused(store: ExampleStore, regatta: Database) -> None:
    with pytest.raises(ExampleRefused, match="of database 'harbour', not of 'regatta'"):
        store.add([example("How many?", "SELECT 1", "harbour")], make_example_verifier(regatta))


def test_lookups_find_the_same_question_first(store: ExampleStore) -> None:
    store.add(BOATS)
    for kept in BOATS:
        (first, *_) = store.nearest("question", kept.question, 2)
        assert first.example.question == kept.question
        assert first.similarity == pytest.approx(1, abs=1e-5)


def test_verified_answers_are_looked_for_among_themselves(store: ExampleStore, regatta: Database) -> None:
    owner = database_identity(regatta)
    own = [replace(kept, shared=False, owner=owner) for kept in BOATS]
    store.add(own[1:])
    assert not list(store.verified("How many boats are there?", 9, regatta, owner)), "none was approved"
    for count, kept in enumerate(own[:3], 1):
        store.add([replace(kept, question=f"{kept.question} Please", source="approved")])
        (found,) = store.verified(own[0].question, 2, regatta, owner)
        assert len(found) == min(count, 2)
        assert found[0].question == f"{own[0].question} Please"


def test_both_forms_of_a_question_are_keys(store: ExampleStore) -> None:
    store.add(BOATS)
    for text in (BOATS[3].question, BOATS[3].simplified):
        (hit,) = store.nearest("skeleton", mask_question(text, SCHEMA), 1)
        assert hit.example.question == BOATS[3].question
        assert hit.similarity == pytest.approx(1, abs=1e-5)


def test_pairs_of_one_kind_do_not_crowd_out_the_rest(store: ExampleStore) -> None:
    store.add(
        example(f"How many boats are called A{n}?", f"SELECT count(*) FROM boat WHERE name = 'A{n}'") for n in range(50)
    )
    store.add(BOATS)
    found = store.nearest("sql", "SELECT count(*) FROM _ WHERE _ = _", 5)
    assert len(found) == 5
    assert len({hit.example.sql.split("'")[0] for hit in found}) == 5


def test_another_tenants_example_is_seen_only_if_shared(store: ExampleStore) -> None:
    secret = example("How many boats did the Smiths hide?", "SELECT count(*) FROM hidden", "smiths", shared=False)
    store.add([secret, *BOATS])
    keys: dict[Index, str] = {
        "question": secret.question,
        "skeleton": mask_question(secret.question, SCHEMA),
        "sql": "SELECT count(*) FROM _",
    }
    for index, text in keys.items():
        for other in ("", "regatta", "smith", "smiths2"):
            assert secret.question not in [hit.example.question for hit in store.nearest(index, text, 9, other)]
        assert secret.question in [hit.example.question for hit in store.nearest(index, text, 9, "smiths")]
    kinds: tuple[SelectorKind, ...] = ("skeleton", "question", "draft", "voted", "random")
    for kind in kinds:
        query = ExampleQuery(secret.question, draft_sql=secret.sql)
        assert secret.question not in [shown.question for shown in make_selector(kind, store).select(query)]


def test_removing_leaves_no_trace_and_others_with_the_same_form_are_still_found(store: ExampleStore) -> None:
    twin = example("How many boats were there?", "SELECT count(*) FROM boat")
    store.add([BOATS[0], twin, BOATS[1]])
    gone = next(hit.id for hit in store.list() if hit.example.question == BOATS[0].question)
    assert store.remove([gone, "no such id"]) == 1
    assert store.remove([gone]) == 0
    (hit, *_) = store.nearest("sql", "SELECT count(*) FROM _", 1)
    assert hit.example.question == twin.question
    assert BOATS[0].question not in [hit.example.question for hit in store.nearest("question", BOATS[0].question, 9)]
    store.remove([hit.id])
    assert [hit.example for hit in store.nearest("sql", "SELECT count(*) FROM _", 9)] == [
        hit.example for hit in store.list()
    ]
    assert store.stats().sql_skeletons == 1


def test_re_indexing_changes_nothing_that_is_found(store: ExampleStore) -> None:
    store.add([*BOATS, example("How many?", "SELECT count(*) FROM secret", "smiths", shared=False)])
    before = [store.nearest("skeleton", mask_question(kept.question, SCHEMA), 3, "smiths") for kept in BOATS]
    assert store.reindex() == 5
    after = [store.nearest("skeleton", mask_question(kept.question, SCHEMA), 3, "smiths") for kept in BOATS]
    assert [[hit.id for hit in found] for found in after] == [[hit.id for hit in found] for found in before]


def test_figures(store: ExampleStore) -> None:
    store.add([*BOATS, example("How many?", "SELECT count(*) FROM secret", "smiths", shared=False)])
    stats = store.stats()
    assert (stats.examples, stats.shared, stats.embedding) == (5, 4, store.embedding.name)
    assert stats.by_database == {"regatta": 4, "smiths": 1}
    assert stats.by_source == {"import:test": 5}


def test_an_empty_store_finds_nothing(store: ExampleStore) -> None:
    assert store.nearest("question", "How many?", 5, "regatta") == []
    assert store.nearest("skeleton", "how many", 5) == []
    assert list(store.list()) == []
    assert store.remove(["x"]) == 0


def test_fifty_threads_read_and_write_at_once(store: ExampleStore) -> None:
    store.add(BOATS)

    def work(number: int) -> int:
        store.add([example(f"Which boat has the number {number}?", f"SELECT name FROM boat WHERE boat_id = {number}")])
        return len(store.nearest("question", BOATS[number % 4].question, 4))

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(work, range(100))) == {4}
    assert store.count() == 104
    for asked in [boat.question for boat in BOATS] + [f"Which boat has the number {n}?" for n in range(0, 100, 9)]:
        assert store.nearest("question", asked, 1)[0].example.question == asked


@pytest.mark.parametrize(
    "wrong",
    [
        example("\ud800 x", "SELECT 1"),
        example("x", "SELECT '\udfff'"),
        example("x", "SELECT 1", "\ud800", shared=False),
        example("x\0y", "SELECT 1"),
        example("x", "SELECT 1", simplified="\ud800"),
    ],
)
def test_texts_that_are_none_are_refused(store: ExampleStore, wrong: Example) -> None:
    done = store.add([wrong, BOATS[0]], strict=False)
    assert (done.added, len(done.refused)) == (1, 1)
    assert "an example's " in done.refused[0].reason
    done.refused[0].reason.encode()


def test_fields_that_are_no_texts_are_refused() -> None:
    wrong: Any = [replace(BOATS[0], question=None), replace(BOATS[0], sql=7), replace(BOATS[0], schema=["t"])]  # pyright: ignore[reportArgumentType]
    with ExampleStore.open() as store:
        done = store.add([*wrong, BOATS[1]], strict=False)
        assert (done.added, len(done.refused)) == (1, 3)
        assert "an example's question must be text" in done.refused[0].reason


def test_a_file_is_no_store(tmp_path: Path) -> None:
    file = tmp_path / "examples.csv"
    file.write_text("question,sql", encoding="utf-8")
    with pytest.raises(ExampleStoreError, match=r"examples\.csv is a file, .*: name a new folder"):
        ExampleStore.open(file)


def test_a_pool_is_never_smaller_than_what_is_asked_for() -> None:
    with ExampleStore.open() as store:
        store.add(example(f"How many {n} boats?", f"SELECT {', '.join(['name'] * n)} FROM boat") for n in range(1, 12))
        chosen = make_selector("skeleton", store, k1=10, k2=0, pool=4).select(ExampleQuery("How many boats?"))
        assert len(chosen) == 10


def test_what_is_remembered_of_a_database_is_forgotten_when_another_process_adds_to_it(tmp_path: Path) -> None:
    private = example("How many hidden boats?", "SELECT max(x) FROM hidden WHERE y > 1", "smiths", shared=False)
    with ExampleStore.open(tmp_path) as store, ExampleStore.open(tmp_path) as other:
        store.add([*BOATS, private])
        selector, asked = make_selector("voted", store, m=1), ExampleQuery("Who?", database="smiths")
        assert private.question in [shown.question for shown in selector.select(asked)]
        other.add([replace(private, question="And now?", sql="SELECT avg(x), min(y) FROM hidden GROUP BY z")])
        assert "And now?" in [shown.question for shown in selector.select(asked)]


@pytest.mark.parametrize("sql", ["selec " + "x, " * 5_000, f"SELECT {'(' * 3_000}1{')' * 3_000}", "SELECT (\n(\x1b[2J"])
def test_a_refusal_is_one_short_line(store: ExampleStore, sql: str) -> None:
    (refusal,) = store.add([example("How? " * 500, sql)], strict=False).refused
    assert len(refusal.reason) < 500
    assert refusal.reason.isprintable()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("SELECT 'a  b'", "SELECT 'a b'", False),
        ("SELECT 'it''s  a' FROM t", "SELECT 'it''s a' FROM t", False),
        ('SELECT "a  b" FROM t', 'SELECT "a b" FROM t', False),
        ("SELECT [a  b] FROM t", "SELECT [a b] FROM t", False),
        ("SELECT 1 -- a\n FROM t", "SELECT 1 -- a FROM t", False),
        ("SELECT '--  a' FROM t", "SELECT '-- a' FROM t", False),
        ("SELECT  'a  b'\nFROM\tt ", " SELECT 'a  b' FROM t", True),
        ("SELECT 1 -- it's one\nFROM t /* 'all' */", "SELECT 1 FROM t", True),
    ],
)
def test_spaces_count_within_literals_only(one: str, other: str, same: bool) -> None:
    assert (example_id(example("q", one)) == example_id(example("q", other))) is same


def test_adding_again_with_a_simplified_form_fills_it_in(store: ExampleStore) -> None:
    bare = replace(BOATS[3], simplified="")
    store.add([bare, BOATS[0]])
    assert store.add([BOATS[3], BOATS[0]]) == AddedExamples(0, 1, updated=1)
    assert store.add([bare, BOATS[3]]) == AddedExamples(0, 2)
    (found,) = [hit for hit in store.list() if hit.example.question == bare.question]
    assert found.example.simplified == BOATS[3].simplified
    (hit,) = store.nearest("skeleton", mask_question(BOATS[3].simplified, SCHEMA), 1)
    assert (hit.id, hit.similarity) == (found.id, pytest.approx(1, abs=1e-5))


def test_a_form_that_is_replaced_is_no_key_any_more(store: ExampleStore) -> None:
    store.add([BOATS[3]])
    assert store.add([replace(BOATS[3], simplified="Crew numbers, boat by boat!")]).updated == 1
    old = mask_question(BOATS[3].simplified, SCHEMA)
    assert all(near.similarity < 0.99 for near in store.near("skeleton", old, 9))
    assert store.remove([hit.id for hit in store.list()]) == 1
    assert store.near("skeleton", old, 9) == store.near("sql", "SELECT _", 9) == []


def test_a_form_given_later_in_one_import_counts(store: ExampleStore) -> None:
    assert store.add([replace(BOATS[3], simplified=""), BOATS[3]]) == AddedExamples(1, 1)
    assert [hit.example.simplified for hit in store.list()] == [BOATS[3].simplified]


def test_a_text_of_a_million_characters_is_refused(tmp_path: Path) -> None:
    with ExampleStore.open(tmp_path) as store:
        done = store.add([example("x" * 1_000_000, "SELECT 1"), *BOATS], strict=False)
        assert (done.added, len(done.refused)) == (len(BOATS), 1)
        assert "an example's question must have at most 100000 characters" in done.refused[0].reason
        assert len(done.refused[0].reason) < 400


@pytest.mark.parametrize("text", ["[", "[[ ", "“", "/* ", "'[", '"', "('", "a(", "-> "])
def test_what_is_opened_and_never_closed_costs_no_quadratic_work(text: str) -> None:
    def add(length: int) -> None:
        long = text * (length // len(text))
        with ExampleStore.open() as store:
            store.add([Example(long, long, "d", long), Example(long, "SELECT 1", "d", long)], strict=False)

    assert grows_in_proportion(add, 1_500)
