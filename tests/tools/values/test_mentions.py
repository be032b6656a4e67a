"""Which words mean a value and which only look like one, where both are close."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from tableturn.tools.database import Database
from tableturn.tools.values import ValueIndex, select_likely_values

_ROWS = """
    CREATE TABLE movie(id INTEGER PRIMARY KEY, title TEXT, genre TEXT, county TEXT, country TEXT, agency TEXT);
    INSERT INTO movie VALUES
        (1, 'The Empty Mountain Station', 'drama', 'Sonoma County', 'Peru', 'NSA'),
        (2, 'Yellow River', 'comedy', 'Sonoma', 'Netherlands', 'FBI'),
        (3, 'genre', 'movie', 'Napa', 'Switzerland', 'nasa'),
        (4, 'Yellow Submarine', 'drama', 'Marin', 'France', 'National Security Agency'),
        (5, '2010', 'CIA', 'ok', 'Chad', 'Central Bank of the West');
    CREATE TABLE colour(code TEXT PRIMARY KEY, tone TEXT);
    INSERT INTO colour VALUES ('R', 'RED'), ('B', 'BLUE'), ('G', 'OLIVE'), ('Y', 'comedy');
    CREATE TABLE person(id INTEGER PRIMARY KEY, sex TEXT, kind TEXT, town TEXT, land TEXT, desk TEXT);
    INSERT INTO person VALUES
        (1, 'F', 'female', 'Berne', 'Yellow', 'PLD'), (2, 'M', 'infant', 'Verne', 'Submarine', 'x'),
        (3, 'F', 'male', 'Oslo', 'nl', 'y');
"""

Ask = Callable[[str], set[str]]


@pytest.fixture(name="index", scope="module")
def _index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ValueIndex, Database]]:
    path = tmp_path_factory.mktemp("mentions") / "movies.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_ROWS)
    with Database.open(path) as database:
        yield ValueIndex.open(database, cache=path.parent / "cache"), database


@pytest.fixture(name="meant")
def _meant(index: tuple[ValueIndex, Database]) -> Ask:
    values, database = index

    def ask(question: str) -> set[str]:
        return {match.value for match in select_likely_values(question, values.find(question, 100), database.schema())}

    return ask


@pytest.mark.parametrize(
    ("question", "values"),
    [
        # misspelt: with a capital, or long and nearly right
        ("movies made in Frence", {"France"}),
        ("movies made in frence", set()),
        ("movies made in netherlnds", {"Netherlands"}),
        ("movies made in Perru", {"Peru"}),
        # said in part: with a capital, or most of it
        ("who directed the empty mountain station twice", {"The Empty Mountain Station"}),
        ("who directed empty", set()),
        ("who directed River", {"Yellow River"}),
        ("who directed river", set()),
        # codes
        ("who works for the national security agency", {"National Security Agency"}),
        ("how many red ones", set()),
        ("how many ones of tone red", {"RED"}),
        ("how many olive ones", {"OLIVE"}),
        ("how many blue ones", set()),
        ("how many female people", {"female"}),
        # numbers
        ("movies of 2010", set()),
        ("the title 2010", {"2010"}),
        # names of tables and columns
        ("is there a drama movie", {"drama"}),
        # greetings
        ("ok, show drama", {"drama"}),
        ("France: which movies?", {"France"}),
        ("Dutch movies", {"Netherlands"}),
        # within a longer mention
        ("wines from Sonoma County", {"Sonoma County", "Sonoma"}),
        ("who saw Yellow Submarine", {"Yellow Submarine"}),
    ],
)
def test_what_is_meant(meant: Ask, question: str, values: set[str]) -> None:
    assert meant(question) == values


def found(index: tuple[ValueIndex, Database], question: str) -> list[str]:
    return [f"{match.column}.{match.value}" for match in index[0].find(question, 100)]


def test_a_short_word_in_small_letters_is_no_misspelt_value(index: tuple[ValueIndex, Database]) -> None:
    assert "country.Peru" in found(index, "movies made in Perru")
    assert "country.Peru" not in found(index, "movies made in perru")


def test_a_misspelt_word_may_be_any_of_the_nearest(index: tuple[ValueIndex, Database]) -> None:
    assert set(found(index, "people of Xerne")) == {"town.Berne", "town.Verne"}


def test_what_lies_in_a_longer_mention_comes_late(index: tuple[ValueIndex, Database]) -> None:
    order = found(index, "French people who saw Yellow Submarine")
    assert order[:2] == ["title.Yellow Submarine", "country.France"]
    assert {"land.Yellow", "land.Submarine"} <= set(order[2:])


def test_what_the_columns_own_name_makes_longer_comes_early(index: tuple[ValueIndex, Database]) -> None:
    assert found(index, "French wines from Sonoma County")[:3] == [
        "county.Sonoma County",
        "county.Sonoma",
        "country.France",
    ]


def test_the_column_that_is_named_comes_first(index: tuple[ValueIndex, Database]) -> None:
    assert found(index, "of the genre comedy")[0] == "genre.comedy"
    assert found(index, "of the tone comedy")[0] == "tone.comedy"
    assert found(index, "the movie with comedy")[0] == "genre.comedy"
    assert found(index, "the colour of comedy")[0] == "tone.comedy"
