"""A schema as CREATE statements, with sample values as comments."""

from __future__ import annotations

import re
from collections import defaultdict

from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .remarks import pitfalls
from .text import Identifier, examples, identifiers, one_line, remark

_LONGEST_TYPE = 40
_USED = "used by earlier queries"
_PLAIN_TYPE = re.compile(r"\w+( \w+){0,3} ?(\( ?\d+ ?(, ?\d+ ?)?\))?\Z", re.ASCII)


def render_ddl(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """One CREATE TABLE a table; what is no plain table, and keys that are only likely, say so in comments."""
    parts: list[str] = []
    if len(schema.tables) < schema.total_tables:
        parts.append(f"-- {len(schema.tables)} of the database's {schema.total_tables} tables")
    keys: dict[str, list[ForeignKey]] = defaultdict(list)
    for key in schema.foreign_keys:
        keys[key.table.lower()].append(key)
    written = identifiers(schema)
    for table in schema.tables:
        parts.append(_table(table, written, keys.get(table.name.lower(), []), marked, samples))
    return "\n".join(parts)


def _table(
    table: TableSchema,
    written: Identifier,
    keys: list[ForeignKey],
    marked: frozenset[tuple[str, str]],
    samples: int,
) -> str:
    single = len(table.primary_key) == 1
    entries = [
        (
            _definition(column, written, single),
            _note(column, (table.name.lower(), column.name.lower()) in marked, samples),
        )
        for column in table.columns
    ]
    if len(table.primary_key) > 1:
        entries.append((f"PRIMARY KEY ({', '.join(map(written, table.primary_key))})", ""))
    for key in keys:
        entries.append((_reference(key, written), "probable, not declared" if key.inferred else ""))
    lines = [
        f"  {text}{'' if last else ','}{f' -- {note}' if note else ''}"
        for (text, note), last in zip(entries, [False] * (len(entries) - 1) + [True], strict=True)
    ]
    facts = {"table": [], "view": ["a view"], "virtual": ["a virtual table"]}[table.kind]
    if table.row_count is not None:
        facts.append(f"{table.row_count} rows")
    if table.comment:
        facts.append(remark(table.comment))
    if (table.name.lower(), "") in marked:
        facts.append(_USED)
    head = f"CREATE TABLE {written(table.name)} (" + (f" -- {', '.join(facts)}" if facts else "")
    return "\n".join((head, *lines, ");"))


def _definition(column: ColumnSchema, written: Identifier, single_key: bool) -> str:
    text = written(column.name)
    if column.type:
        text += f" {_type(column.type)}"
    if column.primary_key and single_key:
        text += " PRIMARY KEY"
    return f"{text} NOT NULL" if column.not_null else text


def _type(declared: str) -> str:
    """A declared type, which may be any text at all: in quotes unless it looks like a type."""
    declared = one_line(declared, _LONGEST_TYPE)
    return declared if _PLAIN_TYPE.match(declared) else '"' + declared.replace('"', "'") + '"'


def _note(column: ColumnSchema, marked: bool, samples: int) -> str:
    values = examples(column, samples)
    warned = pitfalls(column) if samples else ()
    notes = (remark(column.comment), f"e.g. {values}" if values else "", *warned, _USED if marked else "")
    return "; ".join(note for note in notes if note)


def _reference(key: ForeignKey, written: Identifier) -> str:
    return (
        f"FOREIGN KEY ({', '.join(map(written, key.columns))})"
        f" REFERENCES {written(key.ref_table)} ({', '.join(map(written, key.ref_columns))})"
    )
