"""A schema as text for a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .compact import group_foreign_keys_by_table, render_compact_schema
from .text import NameFormatter, format_sample_values, list_column_pitfalls, one_line, quote_comment

_LONGEST_TYPE = 40
_USED = "used by earlier queries"
_PLAIN_TYPE = re.compile(r"\w+( \w+){0,3} ?(\( ?\d+ ?(, ?\d+ ?)?\))?\Z", re.ASCII)


def render_ddl(naming: NameFormatter) -> str:
    """Render one CREATE TABLE statement per table; comments mark views and likely keys."""
    schema, keys = naming.schema, group_foreign_keys_by_table(naming.schema)
    tables = (_render_create_table(table, naming, keys[table.name.lower()]) for table in schema.tables)
    return "\n".join((*_render_table_count_note(schema, "-- {}"), *tables))


def _render_create_table(table: TableSchema, naming: NameFormatter, keys: list[ForeignKey]) -> str:
    single = len(table.primary_key) == 1
    entries = [
        (
            _render_column_definition(column, naming, single),
            _render_column_comment(column, naming.is_used_before(table.name, column.name), naming.samples),
        )
        for column in table.columns
    ]
    if len(table.primary_key) > 1:
        entries.append((f"PRIMARY KEY ({', '.join(map(naming, table.primary_key))})", ""))
    for key in keys:
        columns, ref_columns = (", ".join(map(naming, names)) for names in (key.columns, key.ref_columns))
        text = f"FOREIGN KEY ({columns}) REFERENCES {naming.quote_table(key.ref_table)} ({ref_columns})"
        entries.append((text, "probable, not declared" if key.inferred else ""))
    lines = [
        f"  {text}{',' if number < len(entries) else ''}{f' -- {note}' if note else ''}"
        for number, (text, note) in enumerate(entries, start=1)
    ]
    facts = (
        {"table": "", "view": "a view", "virtual": "a virtual table"}[table.kind],
        "" if table.row_count is None else f"{table.row_count} rows",
        quote_comment(table.comment),
        _USED if naming.is_used_before(table.name) else "",
    )
    info = ", ".join(filter(None, facts))
    return "\n".join((f"CREATE TABLE {naming.quote_table(table.name)} ({f' -- {info}' if info else ''}", *lines, ");"))


def _render_column_definition(column: ColumnSchema, naming: NameFormatter, single_key: bool) -> str:
    text = naming(column.name)
    if column.type:
        # It may be any text at all: in quotes unless it looks like a type.
        type_name = one_line(column.type, _LONGEST_TYPE)
        text += f" {type_name}" if _PLAIN_TYPE.match(type_name) else ' "' + type_name.replace('"', "'") + '"'
    if column.primary_key and single_key:
        text += " PRIMARY KEY"
    return f"{text} NOT NULL" if column.not_null else text


def _render_column_comment(column: ColumnSchema, is_used: bool, samples: int) -> str:
    values = format_sample_values(column, samples)
    warnings = list_column_pitfalls(column) if samples else ()
    notes = (quote_comment(column.comment), f"e.g. {values}" if values else "", *warnings, _USED if is_used else "")
    return "; ".join(filter(None, notes))


_LONGEST_NAME = 100
_MARK = "[SN]"


def render_credit_schema(naming: NameFormatter) -> str:
    """Render the schema as in CREDIT-SQL, appendix C: a line per table, then the foreign keys."""
    schema = naming.schema
    lines = [f"Database: {one_line(schema.name, _LONGEST_NAME)}", *_render_table_count_note(schema)]
    for table in schema.tables:
        names = ", ".join(["*", *(naming(column.name) for column in table.columns)])
        lines.append(f"Table {naming.quote_table(table.name)}, columns = [{names}]")
    lines.append(f"Foreign_keys = [{', '.join(_render_foreign_key_pairs(naming))}]")
    return "\n".join(lines)


def render_track_schema(naming: NameFormatter, all_columns: tuple[tuple[str, int], ...] = ()) -> str:
    """Render the schema as in Track-SQL, appendix B.4: `table : column, column | table : ...`.

    The most relevant tables come first, foreign keys last. What earlier queries used is marked `[SN]`; `*` stands among
    the columns of tables of which all columns are asked for (section 2.2).
    """
    positions = {table.lower(): position for table, position in all_columns}
    entries: list[str] = []
    for table in naming.schema.tables:
        columns = [
            naming(column.name) + (f" {_MARK}" if naming.is_used_before(table.name, column.name) else "")
            for column in table.columns
        ]
        if (place := positions.get(table.name.lower())) is not None:
            columns.insert(place, f"* {_MARK}" if naming.is_used_before(table.name, "*") else "*")
        entries.append(f"{naming.quote_table(table.name)} : {', '.join(columns)}")
    if keys := _render_foreign_key_pairs(naming):
        entries.append(f"foreign keys : {', '.join(keys)}")
    return "\n".join((*_render_table_count_note(naming.schema), " | ".join(entries)))


def render_craft_schema(naming: NameFormatter) -> str:
    """Render the schema as in SQL-CRAFT, appendix A.4, with keys written as SQL."""
    tables = naming.schema.tables
    primary = (f"{naming.quote_table(table.name)}.{naming(name)}" for table in tables for name in table.primary_key)
    return _render_craft_sections(naming, primary, _render_foreign_key_pairs(naming))


def render_pandas_schema(naming: NameFormatter) -> str:
    """Render the schema as in SQL-CRAFT, appendix A.4, with keys written as pandas code."""
    schema = naming.schema
    primary = (
        f"{_render_frame_lookup(table.name)}[{_quote_python_string(name)}]"
        for table in schema.tables
        for name in table.primary_key
    )
    names = _PandasNameFormatter(schema, samples=naming.samples)
    return _render_craft_sections(names, primary, (_render_pandas_merge(key, schema) for key in schema.foreign_keys))


class _PandasNameFormatter(NameFormatter):
    """A formatter of names for pandas code; names that SQL must quote become Python strings."""

    def __call__(self, column: str) -> str:
        return column if super().__call__(column) == column else _quote_python_string(column)

    def quote_table(self, name: str) -> str:
        return self(name)


def _render_craft_sections(naming: NameFormatter, primary: Iterable[str], foreign: Iterable[str]) -> str:
    schema, samples = naming.schema, naming.samples
    lines = [
        f"Database name: {one_line(schema.name, _LONGEST_NAME)}",
        *_render_table_count_note(schema),
        f"Tables: {', '.join(naming.quote_table(table.name) for table in schema.tables)}",
        f"Primary Keys: {', '.join(primary)}",
        "Foreign Key:",
        *foreign,
        "Columns:",
    ]
    for table in schema.tables:
        columns = ", ".join(f"{naming(column.name)} ({column.kind})" for column in table.columns)
        lines.append(f"Table {naming.quote_table(table.name)}: {columns}")
    if samples:
        lines.append("Examples:")
        for table in schema.tables:
            pairs = [(column.name, format_sample_values(column, samples)) for column in table.columns]
            examples = "; ".join(f"{naming(name)}: {values}" for name, values in pairs if values)
            lines.append(f"Table {naming.quote_table(table.name)}: {examples}")
    return "\n".join(lines)


def _render_table_count_note(schema: Schema, template: str = "({})") -> tuple[str, ...]:
    if len(schema.tables) == schema.total_tables:
        return ()
    return (template.format(f"{len(schema.tables)} of the database's {schema.total_tables} tables"),)


def _render_foreign_key_pairs(naming: NameFormatter) -> list[str]:
    pairs = [pair for key in naming.schema.foreign_keys for pair in key.pairs]
    return [" = ".join(f"{naming.quote_table(table)}.{naming(column)}" for table, column in pair) for pair in pairs]


def _render_pandas_merge(key: ForeignKey, schema: Schema) -> str:
    """Render a foreign key as a pandas merge, with a comment if the columns' values differ."""
    left, right = (
        _quote_python_string(names[0]) if len(names) == 1 else f"[{', '.join(map(_quote_python_string, names))}]"
        for names in (key.columns, key.ref_columns)
    )
    ends = [(schema.column(*place), schema.column(*other)) for place, other in key.pairs]
    notes = ["probable, not declared"] if key.inferred else []
    if any(column and other and {column.kind, other.kind} == {"text", "number"} for column, other in ends):
        notes.append("text on one side and numbers on the other: convert one of them first")
    if any(column and other and _has_padded_values(column) != _has_padded_values(other) for column, other in ends):
        notes.append("texts of one side are padded with blanks: strip them first")
    note = f"  # {'; '.join(notes)}" if notes else ""
    frames = f"{_render_frame_lookup(key.table)}, {_render_frame_lookup(key.ref_table)}"
    return f"pd.merge({frames}, left_on={left}, right_on={right}){note}"


def _has_padded_values(column: ColumnSchema) -> bool:
    return any(isinstance(value, str) and value != value.strip() for value in column.samples)


def _render_frame_lookup(table: str) -> str:
    return f"db_dict[{_quote_python_string(table)}]"


def _quote_python_string(name: str) -> str:
    return repr(one_line(name, _LONGEST_NAME))


SchemaStyle = Literal["compact", "ddl", "credit", "track", "craft", "frames"]
"""`compact` is our own; `ddl` is CREATE statements; the others are the papers' forms, SQL-CRAFT's for SQL and
for pandas (`frames`)."""

_RENDERERS: Mapping[SchemaStyle, Callable[[NameFormatter], str]] = {
    "ddl": render_ddl,
    "credit": render_credit_schema,
    "craft": render_craft_schema,
    "frames": render_pandas_schema,
}


def render_schema(
    schema: Schema,
    style: SchemaStyle = "compact",
    *,
    marked: frozenset[tuple[str, str]] = frozenset(),
    samples: int = 3,
    all_columns: tuple[tuple[str, int], ...] = (),
) -> str:
    """Render a schema, or a part of one, in one of the prompt forms.

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
    if style == "compact":
        return render_compact_schema(schema, marked, samples)
    naming = NameFormatter(schema.declared_only(), marked, samples)
    return render_track_schema(naming, all_columns) if style == "track" else _RENDERERS[style](naming)
