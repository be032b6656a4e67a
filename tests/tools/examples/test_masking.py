"""Question keys: what is masked, and what the marks keep."""

from __future__ import annotations

import pytest
from tableturn.tools.database import render_schema
from tableturn.tools.database.rendering.compact import parse_compact_schema
from tableturn.tools.database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.examples import mask_question
from tableturn.tools.values import ValueMatch

SCHEMA = """Database regatta
Notation: table(column type [example values]); * primary key, -> references
boat(boat_id* number, name text ['Petrel (old)', 'Gull'], length number) 12 rows
"odd table"(sailor_id* number, "home port" text -> port.port_id) view"""


def test_names_are_read_back_from_a_prompts_schema() -> None:
    tables = {table.name: [column.name for column in table.columns] for table in parse_compact_schema(SCHEMA).tables}
    assert tables == {"boat": ["boat_id", "name", "length"], "odd table": ["sailor_id", "home port"]}


def test_any_other_text_gives_the_names_it_holds() -> None:
    (table,) = parse_compact_schema("Table boat, columns = [*,boat_id,name]\nkeys: 'x'").tables
    assert {"boat"} <= {column.name for column in table.columns}
    assert parse_compact_schema("").tables == ()


@pytest.mark.parametrize(
    ("question", "marks"),
    [
        ("How many boats are there?", "#columns1 #values0 #numbers0 #tables1"),
        ("What are the name and length of boats longer than 12?", "#columns2 #values0 #numbers1 #tables1"),
        ("Show boats called 'Gull' or Petrel.", "#columns1 #values2 #numbers0 #tables1"),
    ],
)
def test_marks_keep_what_masking_wipes_out(question: str, marks: str) -> None:
    assert mask_question(question, SCHEMA).endswith(marks)


def test_the_database_leaves_no_trace() -> None:
    boats = mask_question("How many boats have a length over 12?", SCHEMA)
    songs = mask_question("How many songs have a tempo over 90?", "song(song_id, title, tempo)")
    assert boats == songs


def test_mentions_of_values_are_masked() -> None:
    question = "How long is gull?"
    match = ValueMatch("boat", "name", "Gull", "gull", 12, 16, 1.0, "case")
    assert "gull" in mask_question(question, SCHEMA)
    masked = mask_question(question, SCHEMA, [match])
    assert "gull" not in masked
    assert "#values1" in masked


def test_a_schema_in_the_compact_form_is_read_back_with_its_references() -> None:
    schema = Schema(
        "shop",
        (
            TableSchema("customer", (ColumnSchema("id", "INTEGER", "number", 1), ColumnSchema("full name", "TEXT"))),
            TableSchema("order", (ColumnSchema("customer id", "INTEGER", "number"),)),
        ),
        (ForeignKey("order", ("customer id",), "customer", ("id",)),),
    )
    read = parse_compact_schema(render_schema(schema))
    names = [(table.name, [column.name for column in table.columns]) for table in read.tables]
    assert names == [("customer", ["id", "full name"]), ("order", ["customer id"])]
    assert read.foreign_keys == schema.foreign_keys
