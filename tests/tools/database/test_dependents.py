"""What would tell of a hidden column without naming it is hidden as well."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError

_SCRIPT = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, pin TEXT UNIQUE, Copy TEXT AS ("pin" || '!'),
  again TEXT GENERATED ALWAYS AS (upper(copy)) STORED, loud TEXT AS (upper(name)));
INSERT INTO person (name, pin) VALUES ('ann', 'swordfish');
CREATE TABLE town (name TEXT, pin TEXT);
INSERT INTO town VALUES ('Oslo', 'swordfish');
CREATE VIEW by_natural AS SELECT p.name FROM person p NATURAL JOIN (SELECT 'swordfish' AS pin);
CREATE VIEW by_using AS SELECT person.name FROM person JOIN town USING (id, "pin");
CREATE VIEW over_it AS SELECT name FROM by_natural;
CREATE VIEW harmless AS SELECT name FROM person;
CREATE VIRTUAL TABLE over_person USING fts5(name, pin, content='person', content_rowid=id);
INSERT INTO over_person(over_person) VALUES ('rebuild');
CREATE VIRTUAL TABLE shortened USING fts5(who, c=person);
CREATE VIRTUAL TABLE older USING fts4(content="person", name);
CREATE VIRTUAL TABLE over_view USING fts5(name, content=harmless);
CREATE VIRTUAL TABLE over_town USING fts5(name, content=town);
CREATE VIRTUAL TABLE copied USING fts5(name, pin);
CREATE VIRTUAL TABLE kept USING fts5(title);
INSERT INTO kept VALUES ('a parcel');
CREATE VIRTUAL TABLE kept_old USING fts4(title);
CREATE VIRTUAL TABLE terms USING fts5vocab('over_person', row);
CREATE VIRTUAL TABLE old_terms USING fts4aux(older);
CREATE VIRTUAL TABLE kept_terms USING fts5vocab(kept, instance);
CREATE VIRTUAL TABLE kept_old_terms USING fts4aux(kept_old);
CREATE VIRTUAL TABLE area USING rtree(id, west, east);
"""
_TELLING = {
    *("by_natural", "by_using", "over_it"),
    *("over_person", "shortened", "older", "over_view", "copied", "terms", "old_terms"),
}
_HARMLESS = {"town", "harmless", "over_town", "kept", "kept_old", "kept_terms", "kept_old_terms", "area"}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    connection = sqlite3.connect(path)
    connection.executescript(_SCRIPT)
    connection.close()
    return path


def test_what_tells_of_a_hidden_column_is_hidden(people: Path) -> None:
    with Database.open(people, deny=["person.pin"]) as database:
        assert {table.name for table in database.schema().tables} == {"person"} | _HARMLESS
        for name in _TELLING:
            with pytest.raises(QueryError):
                database.execute(f"SELECT count(*) FROM {name}")
        with pytest.raises(QueryError):
            database.execute("SELECT count(*) FROM over_person('swordfish')")
        for name in _HARMLESS:
            assert database.execute(f"SELECT * FROM {name}").columns


def test_columns_computed_from_a_hidden_one_are_hidden(people: Path) -> None:
    with Database.open(people, deny=["person.pin"]) as database:
        person = database.schema().table("person")
        assert person is not None
        assert [column.name for column in person.columns] == ["id", "name", "loud"]
        for name in ("copy", "AGAIN"):
            with pytest.raises(QueryError, match="no such column"):
                database.execute(f"SELECT {name} FROM person")
        assert database.execute("SELECT loud FROM person").rows == (("ANN",),)


def test_terms_of_a_hidden_full_text_table_are_hidden(people: Path) -> None:
    with Database.open(people, deny=["kept", "kept_old.title"]) as database:
        names = {table.name for table in database.schema().tables}
        assert names.isdisjoint({"kept", "kept_terms", "kept_old", "kept_old_terms"})
        assert "terms" in names


def test_a_name_in_the_allow_list_settles_what_is_only_unclear(people: Path) -> None:
    allow = ["person.name", "town", "copied", "over_view", "harmless", "over_person"]
    with Database.open(people, allow=allow) as database:
        shown = {table.name for table in database.schema().tables}
        assert shown == {"person", "town", "copied", "harmless"}
