"""The schema text that an example carries: what is written is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.tools.database import Database, render_schema
from tableturn.tools.database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.examples.masking import parse_compact_schema

_SCHEDULE = Schema(
    "school",
    (
        TableSchema("classroom", (ColumnSchema("building", primary_key=1), ColumnSchema("room number", primary_key=2))),
        TableSchema(
            "section",
            (
                ColumnSchema(
                    "id", kind="number", primary_key=1, comment="the section's number, (unique), a key -> none"
                ),
                ColumnSchema("building", comment="of the room, or none"),
                ColumnSchema("room number", samples=("1, west", "it's 2"), distinct=2),
                ColumnSchema("course", comment="its name"),
            ),
            comment="one term, one course (each)",
        ),
        TableSchema("course", (ColumnSchema("name", likely_key=True),)),
    ),
    (
        ForeignKey("section", ("course",), "course", ("name",), inferred=True),
        ForeignKey("section", ("building", "room number"), "classroom", ("building", "room number")),
    ),
)


def _stated(schema: Schema) -> Schema:
    """The same with what the compact form is read for: names, kinds and keys, the simple ones of a table first."""

    def bare(table: TableSchema) -> TableSchema:
        in_order = [column.name for column in table.columns if column.primary_key]
        return TableSchema(
            table.name,
            tuple(
                ColumnSchema(
                    column.name,
                    kind=column.kind,
                    primary_key=in_order.index(column.name) + 1 if column.primary_key else 0,
                    likely_key=column.likely_key and not column.primary_key,
                )
                for column in table.columns
            ),
        )

    columns = {
        (table.name, column.name): place for table in schema.tables for place, column in enumerate(table.columns)
    }
    tables = [table.name for table in schema.tables]
    keys = sorted(
        schema.foreign_keys,
        key=lambda key: (tables.index(key.table), len(key.columns) > 1, columns[key.table, key.columns[0]]),
    )
    return Schema("", tuple(map(bare, schema.tables)), tuple(keys))


@pytest.mark.parametrize("samples", [0, 3])
@pytest.mark.parametrize("dialect", ["sqlite", "mysql", "postgres"])
def test_names_and_keys_are_read_back_whatever_comments_and_values_hold(dialect: str, samples: int) -> None:
    schema = replace(_SCHEDULE, dialect=dialect)
    read = parse_compact_schema(render_schema(schema, samples=samples))
    assert read == replace(_stated(schema), dialect="sqlite")


@pytest.mark.data
def test_every_training_database_is_read_back(data_dir: Path) -> None:
    wrong: list[str] = []
    for path in sorted((data_dir / "spider" / "database").glob("*/*.sqlite")):
        with Database.open(path) as database:
            schema = database.schema()
        if parse_compact_schema(render_schema(schema, samples=0)) != _stated(schema):
            wrong.append(path.stem)
    assert not wrong


def test_many_references_of_a_column_are_read_one_by_one() -> None:
    (table,) = parse_compact_schema(f"t({'a -> b.c -> ' * 4_000}d.e)").tables
    assert [column.name for column in table.columns] == ["a"]
