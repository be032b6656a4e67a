"""Our own form of a schema: the most compact that keeps keys, types and value hints. One line a table."""

from __future__ import annotations

from collections import defaultdict

from .render_text import examples, identifier, one_line, remark
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema

_LEGEND = "Notation: table(column type [example values]); * primary key, -> references"
_LONGEST_TITLE = 100


def render_compact(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """A line about the database, a legend of the signs that occur, then one line a table.

    A reference of a single column stands at the column, one of several columns at the table's end.
    """
    simple: dict[tuple[str, str], list[ForeignKey]] = defaultdict(list)
    composite: dict[str, list[ForeignKey]] = defaultdict(list)
    for key in schema.foreign_keys:
        if len(key.columns) == 1:
            simple[key.table.lower(), key.columns[0].lower()].append(key)
        else:
            composite[key.table.lower()].append(key)
    lines = [_title(schema), _legend(schema, _shows(schema, marked))]
    for table in schema.tables:
        name = table.name.lower()
        columns = [
            _column(column, simple.get(place), place in marked, samples)
            for column in table.columns
            for place in ((name, column.name.lower()),)
        ]
        columns += [
            f"({', '.join(map(identifier, key.columns))}) {_arrow(key)} {identifier(key.ref_table)}"
            f"({', '.join(map(identifier, key.ref_columns))})"
            for key in composite.get(name, ())
        ]
        mark = "^" if (name, "") in marked else ""
        lines.append(f"{identifier(table.name)}{mark}({', '.join(columns)}){_about(table)}")
    return "\n".join(lines)


def _shows(schema: Schema, marked: frozenset[tuple[str, str]]) -> bool:
    """Whether anything that is shown is marked."""
    return any(schema.table(table) if not column else schema.column(table, column) for table, column in marked)


def _title(schema: Schema) -> str:
    name = one_line(schema.name, _LONGEST_TITLE)
    shown, total = len(schema.tables), schema.total_tables
    return f"Database {name}: {shown} of its {total} tables" if shown < total else f"Database {name}"


def _legend(schema: Schema, marked: bool) -> str:
    likely = ", ~> probably references" if any(key.inferred for key in schema.foreign_keys) else ""
    return f"{_LEGEND}{likely}{', ^ used by earlier queries' if marked else ''}"


def _column(column: ColumnSchema, keys: list[ForeignKey] | None, marked: bool, samples: int) -> str:
    signs = ("*" if column.primary_key else "") + ("^" if marked else "")
    text = f"{identifier(column.name)}{signs} {column.kind}"
    if keys:
        for key in keys:
            text += f" {_arrow(key)} {identifier(key.ref_table)}.{identifier(key.ref_columns[0])}"
        if column.kind == "number":
            return text
    values = examples(column, samples)
    if values:
        text = f"{text} [{values}]"
    return f"{text} {remark(column.comment)}" if column.comment else text


def _arrow(key: ForeignKey) -> str:
    return "~>" if key.inferred else "->"


def _about(table: TableSchema) -> str:
    facts = [] if table.kind == "table" else [table.kind]
    if table.row_count is not None:
        facts.append(f"{table.row_count} row{'' if table.row_count == 1 else 's'}")
    if table.comment:
        facts.append(remark(table.comment))
    return f" {', '.join(facts)}" if facts else ""
