"""A schema in the forms that the papers' prompts use."""

from __future__ import annotations

from ..schema import ColumnSchema, ForeignKey, Schema
from .text import Identifier, examples, identifiers, one_line

_LONGEST_NAME = 100
_MARK = "[SN]"


def render_credit(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """CREDIT-SQL appendix C: the database, one line a table with `*` first among its columns, the foreign keys.

    The form has no place for sample values or marks.
    """
    written = identifiers(schema)
    lines = [f"Database: {one_line(schema.name, _LONGEST_NAME)}", *_part_of(schema)]
    for table in schema.tables:
        names = ", ".join(["*", *(written(column.name) for column in table.columns)])
        lines.append(f"Table {written(table.name)}, columns = [{names}]")
    lines.append(f"Foreign_keys = [{', '.join(pair for key in schema.foreign_keys for pair in _pairs(key, written))}]")
    return "\n".join(lines)


def render_track(
    schema: Schema, marked: frozenset[tuple[str, str]], all_columns: tuple[tuple[str, int], ...] = ()
) -> str:
    """Track-SQL appendix B.4: `table : column, column | table : ...`, the most relevant first, then the foreign keys.

    What earlier queries used is marked `[SN]`; `*` stands among the columns where all are asked for (section 2.2).
    """
    written = identifiers(schema)
    places = {table.lower(): place for table, place in all_columns}
    parts: list[str] = []
    for table in schema.tables:
        name = table.name.lower()
        names = [(written(column.name), column.name.lower()) for column in table.columns]
        if name in places:
            names.insert(places[name], ("*", "*"))
        columns = [shown + (f" {_MARK}" if (name, folded) in marked else "") for shown, folded in names]
        parts.append(f"{written(table.name)} : {', '.join(columns)}")
    keys = ", ".join(pair for key in schema.foreign_keys for pair in _pairs(key, written))
    if keys:
        parts.append(f"foreign keys : {keys}")
    return "\n".join((*_part_of(schema), " | ".join(parts)))


def render_craft(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """SQL-CRAFT appendix A.4 for who writes SQL alone: keys as SQL has them, columns with types, example values."""
    written = identifiers(schema)
    primary = (f"{written(table.name)}.{written(name)}" for table in schema.tables for name in table.primary_key)
    foreign = (pair for key in schema.foreign_keys for pair in _pairs(key, written))
    keys = [f"Primary Keys: {', '.join(primary)}", "Foreign Key:", *foreign]
    return "\n".join(_structure(schema, keys, written, samples))


def render_frames(schema: Schema, marked: frozenset[tuple[str, str]], samples: int) -> str:
    """SQL-CRAFT appendix A.4: keys as pandas indexing and merges over `db_dict`, columns with types, example values.

    Names are as the frames have them: those that SQL has to quote are Python texts.
    """
    in_sql = identifiers(schema)

    def written(name: str) -> str:
        return name if in_sql(name) == name else _text(name)

    primary = (f"{_frame(table.name)}[{_text(name)}]" for table in schema.tables for name in table.primary_key)
    merges = (_merge(key, schema) for key in schema.foreign_keys)
    keys = [f"Primary Keys: {', '.join(primary)}", "Foreign Key:", *merges]
    return "\n".join(_structure(schema, keys, written, samples))


def _structure(schema: Schema, keys: list[str], written: Identifier, samples: int) -> list[str]:
    lines = [
        f"Database name: {one_line(schema.name, _LONGEST_NAME)}",
        *_part_of(schema),
        f"Tables: {', '.join(written(table.name) for table in schema.tables)}",
        *keys,
        "Columns:",
    ]
    for table in schema.tables:
        columns = ", ".join(f"{written(column.name)} ({column.kind})" for column in table.columns)
        lines.append(f"Table {written(table.name)}: {columns}")
    if samples:
        lines.append("Examples:")
        for table in schema.tables:
            held = [(column.name, examples(column, samples)) for column in table.columns]
            shown = "; ".join(f"{written(name)}: {values}" for name, values in held if values)
            lines.append(f"Table {written(table.name)}: {shown}")
    return lines


def _part_of(schema: Schema) -> tuple[str, ...]:
    if len(schema.tables) == schema.total_tables:
        return ()
    return (f"({len(schema.tables)} of the database's {schema.total_tables} tables)",)


def _pairs(key: ForeignKey, written: Identifier) -> list[str]:
    table, ref_table = written(key.table), written(key.ref_table)
    return [
        f"{table}.{written(column)} = {ref_table}.{written(ref_column)}"
        for column, ref_column in zip(key.columns, key.ref_columns, strict=True)
    ]


def _merge(key: ForeignKey, schema: Schema) -> str:
    """The merge of a key's two ends, with what keeps their values from being equal."""
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
