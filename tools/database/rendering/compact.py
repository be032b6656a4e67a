"""Our own form of a schema: the most compact that keeps keys, types and value hints. One line a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ...derived import derived
from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .text import Names, examples, filled, literal, one_line, pitfalls, remark

_LEGEND = "Notation: table(column type{values}); * primary key{key}, -> references"
_LONGEST_TITLE = 100

_SHORT = 60
"""Characters of all values of a column that are shown to the last."""

_LONGEST_VIEW = 200
"""Characters of a view's query that are shown."""

_LONGEST_CODES = 160
"""Characters of the meanings of a column's codes that are shown; of more, none."""

_MOST = 8
"""Sample values that a schema keeps of a column at most."""

_LONGEST_LIST = 320
"""The same where they stand once, beside the table that tells them."""

_LONGEST_TYPE = 80
"""Characters of a declared type that are shown."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIMES = re.compile(r"date(?!time)|datetime|timestamp|time|interval")
_STRUCTURED = re.compile(
    r"jsonb?$|struct\b|map\b|union\b|row\b|list\b|array\b|hstore|xml|uuid|inet|cidr|\w+range$|.*\[\d*\]$"
)
"""Declared types of texts that are searched by other means than texts are."""

_FEW = 30
"""Distinct values of a column that is taken to hold codes, kinds or categories."""


def render_compact(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """A line about the database, a legend of the signs that occur, then one line a table.

    A reference of a single column stands at the column, one of several columns at the table's end.
    """
    keys: dict[str, list[ForeignKey]] = defaultdict(list)
    for key in schema.foreign_keys:
        keys[key.table.lower()].append(key)
    written = Names(schema)
    lines = [_title(schema), _legend(schema, _shows(schema, marked), samples)]
    lines += [table_line(table, keys[table.name.lower()], written, samples, marked) for table in schema.tables]
    return "\n".join(lines)


def table_line(
    table: TableSchema,
    keys: Sequence[ForeignKey],
    written: Names,
    samples: int,
    marked: frozenset[tuple[str, str]] = frozenset(),
) -> str:
    """A table's line, with its references; the other parameters are those of `render_schema`."""
    name = table.name.lower()
    mark = "^" if (name, "") in marked else ""
    if table.like:
        return f"{written.table(table.name)}{mark}(columns as {written.table(table.like)}){_about(table, 0)}"
    simple: dict[str, list[ForeignKey]] = defaultdict(list)
    for key in keys:
        if len(key.columns) == 1:
            simple[key.columns[0].lower()].append(key)
    write = _brief_column if table.brief else _column
    columns = [
        write(column, written, simple[column.name.lower()], (name, column.name.lower()) in marked, samples)
        for column in table.columns
    ]
    columns += [
        f"({', '.join(map(written, key.columns))}) {_arrow(key)} {written.table(key.ref_table)}"
        f"({', '.join(map(written, key.ref_columns))})"
        for key in keys
        if len(key.columns) > 1
    ]
    return f"{written.table(table.name)}{mark}({', '.join(columns)}){_about(table, samples)}"


def _shows(schema: Schema, marked: frozenset[tuple[str, str]]) -> bool:
    """Whether anything that is shown is marked."""
    return any(schema.table(table) if not column else schema.column(table, column) for table, column in marked)


def _title(schema: Schema) -> str:
    name = one_line(schema.name, _LONGEST_TITLE)
    shown, total = len(schema.tables), schema.total_tables
    return f"Database {name}: {shown} of its {total} tables" if shown < total else f"Database {name}"


def _legend(schema: Schema, marked: bool, samples: int) -> str:
    keyed = any(column.likely_key for table in schema.tables for column in table.columns)
    values = " [example values] or {all values}" if samples else ""
    legend = _LEGEND.format(values=values, key=", ~* probably its key" if keyed else "")
    null = ", ? some are NULL" if samples and _has_nulls(schema) else ""
    likely = ", ~> probably references" if any(key.inferred for key in schema.foreign_keys) else ""
    legend += f"{null}{likely}{', ^ used by earlier queries' if marked else ''}"
    brief = any(table.brief for table in schema.tables)
    return f"{legend}; of later tables names and keys alone, -> table: its column of that name" if brief else legend


def _has_nulls(schema: Schema) -> bool:
    return any(column.nulls for table in schema.tables for column in table.columns)


def _brief_column(column: ColumnSchema, written: Names, keys: Sequence[ForeignKey], marked: bool, samples: int) -> str:
    text = f"{written(column.name)}{_signs(column, marked)}"
    for key in keys:
        same = key.ref_columns[0].lower() == column.name.lower()
        text += f" {_arrow(key)} {written.table(key.ref_table)}{'' if same else '.' + written(key.ref_columns[0])}"
    if column.codes and column.codes.table:
        return text if keys else f"{text} -> {written.table(column.codes.table)}"
    return text + (_meanings(column, _LONGEST_LIST) if samples else "")


def _signs(column: ColumnSchema, marked: bool) -> str:
    return ("*" if column.primary_key else "~*" if column.likely_key else "") + ("^" if marked else "")


def _column(column: ColumnSchema, written: Names, keys: Sequence[ForeignKey], marked: bool, samples: int) -> str:
    # Without samples it is a structure, told in the plain kinds.
    kind = f"{_type(column)}{'?' if column.nulls else ''}" if samples else column.kind
    text = f"{written(column.name)}{_signs(column, marked)} {kind}"
    if keys:
        for key in keys:
            text += f" {_arrow(key)} {written.table(key.ref_table)}.{written(key.ref_columns[0])}"
        text += _meanings(column) if samples else ""
        return f"{text} {remark(column.comment)}" if column.comment else text
    if samples and column.codes:
        # Nothing of the table of codes is shown here.
        text += f" -> {written.table(column.codes.table)}.{written(column.codes.key)}{_meanings(column)}"
        return f"{text} {remark(column.comment)}" if column.comment else text
    return text + _told(column, samples)


def _type(column: ColumnSchema) -> str:
    """Return what a column holds: its kind, or the declared type if a query has to be written otherwise for it."""
    declared = column.type.lower()
    if column.kind == "time" and (named := _TIMES.match(declared)):
        zoned = "with time zone" in declared or declared.endswith("tz")
        return f"{named[0]} with time zone" if zoned else named[0]
    if column.kind == "time" and column.samples and all(_DAY.fullmatch(str(value)) for value in column.samples):
        return "date"
    if column.kind == "text" and _STRUCTURED.match(declared):
        return one_line(declared, _LONGEST_TYPE)
    return column.kind


@derived
def _told(column: ColumnSchema, samples: int) -> str:
    """What follows a column's name and kind where it references nothing: sample values, pitfalls, its comment."""
    text, shown = "", _telling(column, samples)
    values = examples(column, shown)
    if values:
        text += f" {{{values}}}" if shown >= (column.distinct or shown + 1) else f" [{values}]"
    warned = pitfalls(column) if samples else ()
    text += f" ({', '.join(warned)})" if warned else ""
    return f"{text} {remark(column.comment)}" if column.comment else text


def _meanings(column: ColumnSchema, longest: int = _LONGEST_CODES) -> str:
    """What a column's codes mean, as far as it is short."""
    if column.codes is None:
        return ""
    told = ", ".join(f"{literal(code)} = {literal(text)}" for code, text in column.codes.meanings)
    return f" {{{told}}}" if len(told) <= longest else ""


def _telling(column: ColumnSchema, samples: int) -> int:
    """How many sample values tell a writer of SQL something: all of a column of codes, several of kinds, one of others.

    Numbers look like numbers, and whatever a query compares with is looked up by the question's own words.
    """
    few = column.distinct is not None and column.distinct <= _FEW
    if column.type.lower().startswith("bool") and {*filled(column)} <= {0, 1}:
        return 0  # as numbers they would mislead where truth values are no numbers
    if column.kind == "number" and column.likely_key:
        return 0
    if column.kind == "number":
        return min(samples, column.distinct or 0) if few and (column.distinct or 0) <= samples else 0
    every = filled(column)
    # Of a table that is too large to look through, few values among the first rows are likely all.
    known = len(column.samples) < _MOST if column.distinct is None else column.distinct <= len(column.samples)
    if samples and known and sum(len(literal(value)) for value in every) <= _SHORT:
        return len(column.samples)
    return samples if few else min(samples, 1)


def _arrow(key: ForeignKey) -> str:
    return "~>" if key.inferred else "->"


def _about(table: TableSchema, samples: int) -> str:
    facts = [] if table.kind == "table" else [table.kind]
    if table.definition and samples:
        facts.append(f"defined by {remark(' '.join(table.definition.split()), _LONGEST_VIEW)}")
    if table.row_count == 0:
        facts.append("empty")
    if table.comment:
        facts.append(remark(table.comment))
    return f" {', '.join(facts)}" if facts else ""
