"""Data dictionaries: tables that describe a database's tables and columns, one per row."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from .annotations import Annotations
from .database import Cell, Schema, TableSchema
from .database.quoting import get_naming_rules
from .errors import QueryError

_MOST_ROWS = 20_000
_MOST_COLUMNS = 30
_MOST_TABLES = 3  # that are read because they look like one
_MOST_TEXTS = 2  # columns of words that are joined: more is no description
_FEWEST_ROWS = 3
_KNOWN = 0.75  # share of a column's names that the schema has: a dictionary may tell of tables that are hidden here
_WORDY = 0.3  # share of texts that have several words: no codes, and no times
_WORD = re.compile(r"[^\W\d_]{2,}")
_JOINT = "; "

Row = tuple[Cell, ...]


def read_data_dictionaries(schema: Schema, read: Callable[[str, int], Sequence[Row]]) -> Annotations:
    """Return the table and column descriptions in the schema's data dictionaries.

    `read` gives the rows of a query, so many at most; what may not be read or may not leave it does not give.
    """
    annotations, rules = Annotations(), get_naming_rules(schema.dialect)
    for table in list(_find_dictionary_tables(schema))[:_MOST_TABLES]:
        columns = ", ".join(rules.quote(column.name) for column in table.columns)
        with suppress(QueryError):  # one that takes too long, or may not be read, is none
            rows = read(f"SELECT {columns} FROM {rules.format_table_path(table.path)}", _MOST_ROWS)
            annotations |= describe(schema, [tuple("" if cell is None else str(cell) for cell in row) for row in rows])
    return annotations


def _find_dictionary_tables(schema: Schema) -> Iterator[TableSchema]:
    """Yield small tables in which samples of a column are names of tables."""
    for table in schema.tables:
        fits = 1 < len(table.columns) <= _MOST_COLUMNS and (table.row_count or 0) <= _MOST_ROWS
        for column in table.columns if fits and table.kind in ("table", "view") else ():
            names = [sample for sample in column.samples if isinstance(sample, str)]
            if sum(schema.table(name) is not None for name in names) > 1:
                yield table
                break


def describe(schema: Schema, rows: Sequence[Sequence[str]]) -> Annotations:
    """Return the descriptions in a table's rows; none if the table is not a data dictionary.

    Rows for values of a column, as its codes, follow the description of the column.
    """
    columns = list(zip(*rows, strict=True))
    tables = next(
        (names for names in columns if _are_mostly_true([schema.table(name) is not None for name in names if name])), ()
    )
    if len(rows) < _FEWEST_ROWS or not tables:
        return Annotations()

    def flag_known_columns(names: Sequence[str]) -> list[bool]:
        pairs = zip(tables, names, strict=True)
        return [schema.column(table, name) is not None for table, name in pairs if name and schema.table(table)]

    others = [names for names in columns if names is not tables]
    fields = next((names for names in others if _are_mostly_true(flag_known_columns(names))), ("",) * len(rows))
    others = [names for names in others if names is not fields]
    values = next((names for names in others if _are_described_values(tables, fields, names)), ("",) * len(rows))
    plain = [number for number, value in enumerate(values) if not value]
    texts = [names for names in others if names is not values and _has_phrases([names[number] for number in plain])]
    texts = texts[:_MOST_TEXTS]
    # A dictionary describes each place once; what describes it again and again is a log of changes.
    if not texts or len({(tables[number], fields[number]) for number in plain}) < len(plain):
        return Annotations()
    parts_by_item: dict[tuple[str, str], list[str]] = defaultdict(list)
    for number in sorted(range(len(rows)), key=lambda number: bool(values[number])):
        words = _JOINT.join(filter(None, (names[number].strip() for names in texts)))
        if words and (table := schema.table(tables[number])) is not None:
            column = table.column(fields[number])
            if column is not None or not fields[number]:
                item = table.name, column.name if column is not None else ""
                parts_by_item[item].append(f"{values[number]} = {words}" if values[number] else words)
    texts_by_item = {place: _JOINT.join(parts) for place, parts in parts_by_item.items()}
    return Annotations(
        {table: text for (table, column), text in texts_by_item.items() if not column},
        {place: text for place, text in texts_by_item.items() if place[1]},
    )


def _are_described_values(tables: Sequence[str], fields: Sequence[str], values: Sequence[str]) -> bool:
    """Whether `values` are values of columns that also have a description without a value."""
    value_items = {(table, field) for table, field, value in zip(tables, fields, values, strict=True) if value}
    plain_items = {(table, field) for table, field, value in zip(tables, fields, values, strict=True) if not value}
    return bool(value_items) and value_items < plain_items and "" not in {field for _, field in value_items}


def _are_mostly_true(flags: Sequence[bool]) -> bool:
    """Whether there are enough flags and most of them are true."""
    return len(flags) >= _FEWEST_ROWS and sum(flags) >= _KNOWN * len(flags)


def _has_phrases(texts: Sequence[str]) -> bool:
    """Whether enough of the texts have several words."""
    phrases = [text for text in texts if text]
    return sum(len(_WORD.findall(text)) > 1 for text in phrases) > _WORDY * max(len(phrases), 1)
