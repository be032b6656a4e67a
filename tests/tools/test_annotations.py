"""Descriptions on schemas, and their file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.annotations import Annotations, AnnotationStore
from tableturn.tools.database import ColumnSchema, Schema, TableSchema

SCHEMA = Schema(
    "s",
    (TableSchema("t", (ColumnSchema("a"), ColumnSchema("b", comment="its own"))), TableSchema("u", ())),
    version="v",
)
FOUND = Annotations({"t": "thing"}, {("t", "a"): "first letter", ("t", "b"): "second", ("gone", "x"): "?"})


def test_a_comment_of_the_database_wins() -> None:
    described = FOUND.on(SCHEMA)
    assert [table.comment for table in described.tables] == ["thing", ""]
    assert [column.comment for column in described.tables[0].columns] == ["first letter", "its own"]
    assert (described.version, described.foreign_keys) == (SCHEMA.version, SCHEMA.foreign_keys)


def test_what_is_not_described() -> None:
    assert [column.name for _, column in Annotations().list_undescribed_columns(SCHEMA)] == ["a"]
    assert FOUND.list_undescribed_columns(SCHEMA) == []
    assert [table.name for table in FOUND.list_undescribed_tables(SCHEMA)] == ["u"]
    assert Annotations(columns={("t", "a"): ""}).list_undescribed_columns(SCHEMA) == [], "asked for in vain"


def test_kept_in_a_file(tmp_path: Path) -> None:
    store = AnnotationStore("v", tmp_path)
    store.add(Annotations({"t": "old"}))
    AnnotationStore("v", tmp_path).add(Annotations(columns={("t", "a"): "meanwhile"}))
    store.add(FOUND)
    assert AnnotationStore("v", tmp_path).read() == FOUND
    assert [path.name for path in store.path.parent.iterdir()] == ["v.json"]
    assert AnnotationStore("w", tmp_path).read() == Annotations(), "another version knows nothing"
    anew = store.open_fresh_store()
    anew.add(Annotations({"t": ""}, {("t", "a"): "letter"}))
    store.merge_fresh_store(anew)
    assert store.read() == FOUND | Annotations(columns={("t", "a"): "letter"}), "no words take none away"
    assert anew.read() == AnnotationStore("v", tmp_path).open_fresh_store().read() == Annotations()
    store.clear()
    assert AnnotationStore("v", tmp_path).read() == store.read() == Annotations()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tables": 3, "columns": {"t": []}}', '{"columns": {"t": {"a": 1}}}'])
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    path = AnnotationStore("v", tmp_path).path
    path.parent.mkdir()
    path.write_text(text)
    assert AnnotationStore("v", tmp_path).read() == Annotations()


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "annotations").write_text("a file")
    store = AnnotationStore("v", tmp_path)
    assert store.add(FOUND) == store.read() == FOUND
