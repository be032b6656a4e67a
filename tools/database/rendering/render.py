"""A schema as text for a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .compact import keys_of_tables, render_compact
from .text import Names, examples, one_line, pitfalls, remark

_LONGEST_TYPE = 40
_USED = "used by earlier queries"
_PLAIN_TYPE = re.compile(r"\w+( \w+){0,3} ?(\( ?\d+ ?(, ?\d+ ?)?\))?\Z", re.ASCII)


def render_ddl(written: Names) -> str:
    """Write one CREATE TABLE per table; comments tell views and likely keys."""
    schema, keys = written.schema, keys_of_tables(written.schema)
    tables = (_table(table, written, keys[table.name.lower()]) for table in schema.tables)
    return "\n".join((*_part_of(schema, "-- {}"), *tables))


def _table(table: TableSchema, written: Names, keys: list[ForeignKey]) -> str:
    single = len(table.primary_key) == 1
    entries = [
        (_definition(column, written, single), _note(column, written.marks(table.name, column.name), written.samples))
        for column in table.columns
    ]
    if len(table.primary_key) > 1:
        entries.append((f"PRIMARY KEY ({', '.join(map(written, table.primary_key))})", ""))
    for key in keys:
        columns, ref_columns = (", ".join(map(written, names)) for names in (key.columns, key.ref_columns))
        text = f"FOREIGN KEY ({columns}) REFERENCES {written.table(key.ref_table)} ({ref_columns})"
        entries.append((text, "probable, not declared" if key.inferred else ""))
    lines = [
        f"  {text}{',' if place < len(entries) else ''}{f' -- {note}' if note else ''}"
        for place, (text, note) in enumerate(entries, start=1)
    ]
    facts = (
        {"table": "", "view": "a view", "virtual": "a virtual table"}[table.kind],
        "" if table.row_count is None else f"{table.row_count} rows",
        remark(table.comment),
        _USED if written.marks(table.name) else "",
    )
    told = ", ".join(filter(None, facts))
    return "\n".join((f"CREATE TABLE {written.table(table.name)} ({f' -- {told}' if told else ''}", *lines, ");"))


def _definition(column: ColumnSchema, written: Names, single_key: bool) -> str:
    text = written(column.name)
    if column.type:
        # It may be any text at all: in quotes unless it looks like a type.
        declared = one_line(column.type, _LONGEST_TYPE)
        text += f" {declared}" if _PLAIN_TYPE.match(declared) else ' "' + declared.replace('"', "'") + '"'
    if column.primary_key and single_key:
        text += " PRIMARY KEY"
    return f"{text} NOT NULL" if column.not_null else text


def _note(column: ColumnSchema, marked: bool, samples: int) -> str:
    values = examples(column, samples)
    warnings = pitfalls(column) if samples else ()
    notes = (remark(column.comment), f"e.g. {values}" if values else "", *warnings, _USED if marked else "")
    return "; ".join(filter(None, notes))


_LONGEST_NAME = 100
_MARK = "[SN]"


def render_credit(written: Names) -> str:
    """Write the form of CREDIT-SQL, appendix C: a line per table, then the foreign keys.

    The form has no place for sample values or marks.
    """
    schema = written.schema
    lines = [f"Database: {one_line(schema.name, _LONGEST_NAME)}", *_part_of(schema)]
    for table in schema.tables:
        names = ", ".join(["*", *(written(column.name) for column in table.columns)])
        lines.append(f"Table {written.table(table.name)}, columns = [{names}]")
    lines.append(f"Foreign_keys = [{', '.join(_pairs(written))}]")
    return "\n".join(lines)


def render_track(written: Names, all_columns: tuple[tuple[str, int], ...] = ()) -> str:
    """Write the form of Track-SQL, appendix B.4: `table : column, column | table : ...`.

    The most relevant tables come first, foreign keys last. What earlier queries used is marked `[SN]`; `*` stands among
    the columns of tables of which all columns are asked for (section 2.2).
    """
    places = {table.lower(): place for table, place in all_columns}
    parts: list[str] = []
    for table in written.schema.tables:
        columns = [
            written(column.name) + (f" {_MARK}" if written.marks(table.name, column.name) else "")
            for column in table.columns
        ]
        if (place := places.get(table.name.lower())) is not None:
            columns.insert(place, f"* {_MARK}" if written.marks(table.name, "*") else "*")
        parts.append(f"{written.table(table.name)} : {', '.join(columns)}")
    if keys := _pairs(written):
        parts.append(f"foreign keys : {', '.join(keys)}")
    return "\n".join((*_part_of(written.schema), " | ".join(parts)))


def render_craft(written: Names) -> str:
    """Write the form of SQL-CRAFT, appendix A.4, with keys as SQL has them."""
    tables = written.schema.tables
    primary = (f"{written.table(table.name)}.{written(name)}" for table in tables for name in table.primary_key)
    return _structure(written, primary, _pairs(written))


def render_frames(written: Names) -> str:
    """Write the form of SQL-CRAFT, appendix A.4, with keys as pandas indexing and merges.

    Names are as the frames have them.
    """
    schema = written.schema
    primary = (f"{_frame(table.name)}[{_text(name)}]" for table in schema.tables for name in table.primary_key)
    names = _FrameNames(schema, samples=written.samples)
    return _structure(names, primary, (_merge(key, schema) for key in schema.foreign_keys))


class _FrameNames(Names):
    """Names that SQL has to quote as Python texts."""

    def __call__(self, column: str) -> str:
        return column if super().__call__(column) == column else _text(column)

    def table(self, name: str) -> str:
        return self(name)


def _structure(written: Names, primary: Iterable[str], foreign: Iterable[str]) -> str:
    schema, samples = written.schema, written.samples
    lines = [
        f"Database name: {one_line(schema.name, _LONGEST_NAME)}",
        *_part_of(schema),
        f"Tables: {', '.join(written.table(table.name) for table in schema.tables)}",
        f"Primary Keys: {', '.join(primary)}",
        "Foreign Key:",
        *foreign,
        "Columns:",
    ]
    for table in schema.tables:
        columns = ", ".join(f"{written(column.name)} ({column.kind})" for column in table.columns)
        lines.append(f"Table {written.table(table.name)}: {columns}")
    if samples:
        lines.append("Examples:")
        for table in schema.tables:
            held = [(column.name, examples(column, samples)) for column in table.columns]
            shown = "; ".join(f"{written(name)}: {values}" for name, values in held if values)
            lines.append(f"Table {written.table(table.name)}: {shown}")
    return "\n".join(lines)


def _part_of(schema: Schema, form: str = "({})") -> tuple[str, ...]:
    if len(schema.tables) == schema.total_tables:
        return ()
    return (form.format(f"{len(schema.tables)} of the database's {schema.total_tables} tables"),)


def _pairs(written: Names) -> list[str]:
    return [
        f"{written.table(key.table)}.{written(column)} = {written.table(key.ref_table)}.{written(ref_column)}"
        for key in written.schema.foreign_keys
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    ]


def _merge(key: ForeignKey, schema: Schema) -> str:
    """Write the merge of a key's two ends, with what keeps their values from being equal."""
    left, right = (
        _text(names[0]) if len(names) == 1 else f"[{', '.join(map(_text, names))}]"
        for names in (key.columns, key.ref_columns)
    )
    ends = [
        (schema.column(key.table, column), schema.column(key.ref_table, ref_column))
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    ]
    notes = ["probable, not declared"] if key.inferred else []
    if any(one and other and {one.kind, other.kind} == {"text", "number"} for one, other in ends):
        notes.append("text on one side and numbers on the other: convert one of them first")
    if any(one and other and _padded(one) != _padded(other) for one, other in ends):
        notes.append("texts of one side are padded with blanks: strip them first")
    note = f"  # {'; '.join(notes)}" if notes else ""
    return f"pd.merge({_frame(key.table)}, {_frame(key.ref_table)}, left_on={left}, right_on={right}){note}"


def _padded(column: ColumnSchema) -> bool:
    return any(isinstance(value, str) and value != value.strip() for value in column.samples)


def _frame(table: str) -> str:
    return f"db_dict[{_text(table)}]"


def _text(name: str) -> str:
    return repr(one_line(name, _LONGEST_NAME))


SchemaStyle = Literal["compact", "ddl", "credit", "track", "craft", "frames"]
"""`compact` is our own; `ddl` is CREATE statements; the others are the papers' forms, SQL-CRAFT's for SQL and
for pandas (`frames`)."""

_RENDERERS: Mapping[SchemaStyle, Callable[[Names], str]] = {
    "compact": render_compact,
    "ddl": render_ddl,
    "credit": render_credit,
    "craft": render_craft,
    "frames": render_frames,
}


def render_schema(
    schema: Schema,
    style: SchemaStyle = "compact",
    *,
    marked: frozenset[tuple[str, str]] = frozenset(),
    samples: int = 3,
    all_columns: tuple[tuple[str, int], ...] = (),
) -> str:
    """Write a schema, or a part of one, in one of the prompt forms.

    If the schema is a part of the database, the text says of how many tables. Names, values and comments are cut to
    a length, kept on their line and delimited: a database cannot add lines of its own to a prompt.

    Args:
        schema: Tables and columns in the order in which they should be shown.
        style: The form.
        marked: (table, column) pairs, in any case, that earlier queries used; the column is empty for a table itself,
            which Track-SQL's form has no mark for.
        all_columns: Tables of which all columns are asked for, in Track-SQL's form: `*` stands after so many of their
            columns.
        samples: How many sample values a column at most shows, in the forms that show them.
    """
    marked = frozenset((table.lower(), column.lower()) for table, column in marked)
    if style != "compact":
        schema = schema.stated()
    written = Names(schema, marked, samples)
    return render_track(written, all_columns) if style == "track" else _RENDERERS[style](written)
