"""Stems from many threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tableturn.tools.database import ColumnSchema
from tableturn.tools.database.codes import is_count_column
from tableturn.tools.labels import read_languages
from tableturn.tools.words import (
    FUNCTION_WORDS,
    find_nearest_names,
    humanize_name,
    is_foreign_text,
    split_name,
    stem_english_word,
)

WORDS = [
    f"{stem}{ending}"
    for stem in ("connect", "organ", "relat", "nation", "histor")
    for ending in ("ing", "ional", "es", "ation", "ically", "edly", "iveness", "ities")
]


def test_threads_get_the_same_stems() -> None:
    expected = [stem_english_word.__wrapped__(word) for word in WORDS]

    def stems(_: int) -> list[str]:
        return [stem_english_word.__wrapped__(word) for word in WORDS * 20]

    with ThreadPoolExecutor(16) as pool:
        assert all(found == expected * 20 for found in pool.map(stems, range(64)))


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Kunden haben wir?",
        "Umsatz nach Monat seit 2023",
        "Und nur die in Paris?",
        "Chiffre d'affaires par mois depuis 2023",
        "¿Y solo los de París?",
        "Выручка по месяцам с 2023 года",
        "顧客は何人いますか",
        "Hoeveel klanten hebben we?",
    ],
)
def test_a_question_in_another_language_is_told_from_english(question: str) -> None:
    assert is_foreign_text(question, ["customers", "city", "total"])


@pytest.mark.parametrize(
    "question",
    [
        "How many Kunden do we have?",
        "customers in Lyon",
        "Revenue 2023",
        "total by city",
        "And the Germans?",
        "Top 5 SKUs",
        "",
    ],
)
def test_names_and_a_word_of_english_are_english_enough(question: str) -> None:
    assert not is_foreign_text(question, ["customers", "city", "total"])


def test_a_name_is_split_alike_with_and_without_accents() -> None:
    assert split_name("prénomÉlève2") == split_name("prenomEleve2") == ("prenom", "eleve", "2")
    assert split_name("HTTPSha256_of", keep_digits=True) == ("http", "sha256", "of")
    assert is_count_column(ColumnSchema("salles_réservées", "INTEGER", "number"))


def test_capitals_that_belong_together_are_one_word() -> None:
    names = {"SKUList": "sku list", "HTTPLog": "http log", "OrderIDs": "order ids", "birthYear": "birth year"}
    assert {name: humanize_name(name) for name in names} == names


def test_common_english_words_are_each_written_once() -> None:
    common = read_languages()["en"]["common"].split()
    assert set(common) >= FUNCTION_WORDS
    assert len(common) == len(set(common))


def test_signs_of_a_name_do_not_count_where_another_is_likely_meant() -> None:
    assert find_nearest_names("A.B.", ["a b", "price"]) == ("a b",)
