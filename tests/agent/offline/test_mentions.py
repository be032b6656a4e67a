"""What the words of a question stand for, and what a schema says about its names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent.offline.frame import Column
from tableturn.agent.offline.mentions import Mention, find_mentions, find_unused_mentions, resolve_mentions
from tableturn.agent.offline.names import StemIndex
from tableturn.agent.offline.sql import read_sql
from tableturn.agent.offline.words import split_identifier, split_question_into_words
from tableturn.tools.database import ColumnSchema, Database, Schema, TableSchema
from tableturn.tools.values import ValueIndex


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("school") / "school.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE tblStudent(stuid INTEGER PRIMARY KEY, fname TEXT, lname TEXT, home_city TEXT, age INTEGER);
            CREATE TABLE course(course_id INTEGER PRIMARY KEY, title TEXT, credits INTEGER);
            CREATE TABLE enrolled(stuid INTEGER REFERENCES tblStudent(stuid),
                course_id INTEGER REFERENCES course(course_id), grade REAL);
            INSERT INTO tblStudent VALUES (1, 'Ida', 'Berg', 'Turin', 20), (2, 'Jon', 'Falk', 'Basel', 22);
            INSERT INTO course VALUES (1, 'Optics', 4), (2, 'Logic', 2);
        """)
    with Database.open(path) as database:
        yield database


@pytest.fixture(scope="module")
def names(school: Database) -> StemIndex:
    return StemIndex(school.schema())


def _read(school: Database, names: StemIndex, question: str, folder: Path) -> list[Mention]:
    values = ValueIndex.open(school, cache=folder)
    items = find_mentions(split_question_into_words(question), names, values.find(question, 20))
    resolve_mentions(items, names)
    return [item for item in items if isinstance(item, Mention)]


def test_words_become_tables_columns_values_and_comparisons(school: Database, names: StemIndex, tmp_path: Path) -> None:
    said = _read(school, names, "First names of students older than 20 in Turin", tmp_path)

    assert [(mark.kind, mark.column or mark.table or mark.literal) for mark in said if mark.kind != "o"] == [
        ("c", Column("tblStudent", "fname")),
        ("t", "tblStudent"),
        ("n", 20),
        ("v", Column("tblStudent", "home_city")),
    ]
    assert [mark.operator for mark in said if mark.kind == "o"] == [">"]


def test_a_misspelt_name_is_found(school: Database, names: StemIndex, tmp_path: Path) -> None:
    assert [mark.table for mark in _read(school, names, "How many studnets are there?", tmp_path)] == ["tblStudent"]


def test_a_name_may_be_said_as_the_schema_spells_it(school: Database, names: StemIndex, tmp_path: Path) -> None:
    said = _read(school, names, "home_city of students", tmp_path)
    assert [mark.column or mark.table for mark in said] == [Column("tblStudent", "home_city"), "tblStudent"]


def test_a_column_belongs_to_the_table_that_is_spoken_of(school: Database, names: StemIndex, tmp_path: Path) -> None:
    said = _read(school, names, "the names of the courses", tmp_path)
    assert said[0].column == Column("course", "title")


def test_what_the_schema_says(names: StemIndex) -> None:
    assert names.find_titles("tblStudent") == (Column("tblStudent", "fname"), Column("tblStudent", "lname"))
    assert names.key("course") == Column("course", "course_id")
    assert names.choose_identity_column("course") == Column("course", "course_id")
    assert names.count_joins("tblStudent", "course") == 2
    assert names.find_parent(Column("enrolled", "stuid")) == "tblStudent"


def test_what_connects_rows_of_two_tables(names: StemIndex) -> None:
    student = Column("tblStudent", "stuid")
    assert names.find_link_columns("tblStudent", "enrolled") == (student, Column("enrolled", "stuid"))
    assert names.find_link_columns("enrolled", "tblStudent") == (Column("enrolled", "stuid"), student)
    assert names.find_link_columns("tblStudent", "course") == (student, Column("enrolled", "stuid"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stu_fname", ("student", "first", "name")),
        ("home_city", ("home", "city")),
        ("productname", ("product", "name")),
        ("DeptID", ("department", "id")),
        ("stuname", ("student", "name")),
        ("LName", ("last", "name")),
    ],
)
def test_identifiers_are_spelled_out(name: str, words: tuple[str, ...]) -> None:
    assert split_identifier(name) == words


def test_a_shared_noun_belongs_to_each() -> None:
    assert [word.lower for word in split_question_into_words("first and last name")] == [
        "first",
        "name",
        "and",
        "last",
        "name",
    ]


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        ("SELECT fname FROM tblStudent WHERE age > 20 AND home_city = 'Turin'", []),
        ("SELECT fname FROM tblStudent WHERE age >= 21", ["Turin"]),
        ("SELECT title FROM course", ["First names", "students", "20", "Turin"]),
    ],
)
def test_mentions_that_a_query_has_no_use_for(
    school: Database, names: StemIndex, tmp_path: Path, sql: str, left_out: list[str]
) -> None:
    said = _read(school, names, "First names of students older than 20 in Turin", tmp_path)
    frame = read_sql(sql, names.schema)
    assert frame is not None
    assert [mark.text for mark in find_unused_mentions(said, frame, names.schema)] == left_out


@pytest.mark.parametrize("name", ["_", "__", "?", "#"])
def test_a_table_whose_name_has_no_words_has_columns(name: str) -> None:
    columns = ("id", "e_mail", "x y", "T Score")
    index = StemIndex(Schema("s", (TableSchema(name, tuple(map(ColumnSchema, columns))),)))
    assert [hit.column for hit in index.find(("e", "mail"))] == ["e_mail"]
