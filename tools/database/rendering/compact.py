"""The compact form of a schema, with keys, types and value hints: one line per table; written, and read back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, groupby, takewhile
from typing import cast, get_args

from ...derived import cache_in_first_argument
from ..column_kinds import is_date_or_time_text, is_numeric_date_column
from ..quoting import unquote
from ..schema import ColumnKind, ColumnSchema, ForeignKey, Schema, TableSchema
from ..table import Cell
from .text import (
    NameFormatter,
    format_identifier,
    format_literal,
    format_sample_values,
    list_column_pitfalls,
    list_nonblank_samples,
    one_line,
    quote_comment,
)

_LEGEND = "Notation: table(column type{values}); * primary key{key}, -> references"
_LONGEST_TITLE = 100
_LONGEST_VIEW = 200  # characters of a view's query that are shown
_LONGEST_TYPE = 80  # of a declared type
# Of the meanings of a column's codes, of longer ones none; and if they stand once, beside the table that tells them.
_LONGEST_CODES, _LONGEST_LIST = 160, 320
_SHORT_LIST = 60  # characters of all values of a column that are shown to the last
_MOST = 8  # sample values that a schema keeps of a column
_MAX_CODES = 30  # distinct values of a column that is taken to hold codes, kinds or categories
_TIMES = re.compile(r"date(?!time)|datetime|timestamp|time|interval")
# Declared types of texts that are searched by other means than texts are.
_STRUCTURED = re.compile(
    r"jsonb?$|struct\b|map\b|union\b|row\b|list\b|array\b|hstore|xml|uuid|inet|cidr|\w+range$|.*\[\d*\]$"
)

_NAME = re.compile(r'(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d]\w*)')
_PATH = re.compile(rf"{_NAME.pattern}(?:\.{_NAME.pattern})*")
_PIECE = re.compile(rf"{_PATH.pattern}|'(?:[^']|'')*'|[-~]>|\S")
_ASIDE = re.compile(r"\[[^\]]*(?:\]|\Z)|'(?:[^']|'')*'")


@cache_in_first_argument  # a whole schema is shown the same way turn after turn
def render_compact_schema(schema: Schema, used_names: frozenset[tuple[str, str]], samples: int) -> str:
    """Render the schema in compact form: the database, a legend, then one line per table."""
    naming, keys = NameFormatter(schema, used_names, samples), group_foreign_keys_by_table(schema)
    table_count, total = len(schema.tables), schema.total_tables
    title = f"Database {one_line(schema.name, _LONGEST_TITLE)}"
    lines = [f"{title}: {table_count} of its {total} tables" if table_count < total else title, _render_legend(naming)]
    lines += [render_table_line(table, keys[table.name.lower()], naming) for table in schema.tables]
    return "\n".join(lines)


def group_foreign_keys_by_table(schema: Schema) -> defaultdict[str, list[ForeignKey]]:
    """Return the foreign keys grouped by the lower-case name of the table."""
    keys: defaultdict[str, list[ForeignKey]] = defaultdict(list)
    for key in schema.foreign_keys:
        keys[key.table.lower()].append(key)
    return keys


def render_table_line(table: TableSchema, keys: Sequence[ForeignKey], naming: NameFormatter) -> str:
    """Render a table with its columns and references on one line."""
    # A reference of a single column stands at the column, one of several columns at the table's end.
    name = f"{naming.quote_table(table.name)}{'^' if (table.name.lower(), '') in naming.used_names else ''}"
    if table.like:
        return f"{name}(columns as {naming.quote_table(table.like)}){_render_table_facts(table, 0)}"
    simple: dict[str, list[ForeignKey]] = defaultdict(list)
    for key in keys:
        if len(key.columns) == 1:
            simple[key.columns[0].lower()].append(key)
    columns = [_render_column(column, table, simple[column.name.lower()], naming) for column in table.columns]
    columns += [
        f"({', '.join(map(naming, key.columns))}) {'~>' if key.inferred else '->'} "
        f"{naming.quote_table(key.ref_table)}"
        f"({', '.join(map(naming, key.ref_columns))})"
        for key in keys
        if len(key.columns) > 1
    ]
    return f"{name}({', '.join(columns)}){_render_table_facts(table, naming.samples)}"


def _render_legend(naming: NameFormatter) -> str:
    schema, samples = naming.schema, naming.samples
    columns = [column for table in schema.tables for column in table.columns]
    shows = any(schema.column(table, column) if column else schema.table(table) for table, column in naming.used_names)
    signs = (
        (samples, " [example values] or {all values}"),
        (any(column.likely_key for column in columns), ", ~* probably its key"),
        (samples and any(column.nulls for column in columns), ", ? some are NULL"),
        (any(key.inferred for key in schema.foreign_keys), ", ~> probably references"),
        (shows, ", ^ used by earlier queries"),
        (
            any(table.brief for table in schema.tables),
            "; of later tables names and keys, types of dates and of keys that are no numbers, "
            "-> table: its column of that name",
        ),
    )
    values, key, *other_signs = (text if occurs else "" for occurs, text in signs)
    return _LEGEND.format(values=values, key=key) + "".join(other_signs)


def _render_column(column: ColumnSchema, table: TableSchema, keys: Sequence[ForeignKey], naming: NameFormatter) -> str:
    references, codes = "", column.codes
    for key in keys:
        has_same_name = table.brief and key.ref_columns[0].lower() == column.name.lower()
        other = "" if has_same_name else "." + naming(key.ref_columns[0])
        references += f" {'~>' if key.inferred else '->'} {naming.quote_table(key.ref_table)}{other}"
    if codes and not (keys or codes.part) and (codes.table if table.brief else naming.samples):
        # Nothing of the table of codes is shown here.
        references = f" -> {naming.quote_table(codes.table)}{'' if table.brief else '.' + naming(codes.key)}"
    mark = "^" if (table.name.lower(), column.name.lower()) in naming.used_names else ""
    if table.brief:
        return _render_brief_column(column, mark, references, bool(keys), naming.samples, naming.schema.dialect)
    return _render_column_with_values(column, mark, references, naming.samples, naming.schema.dialect)


def _render_column_name(column: ColumnSchema, mark: str, dialect: str) -> str:
    key = "*" if column.primary_key else "~*" if column.likely_key else ""
    return f"{format_identifier(column.name, dialect)}{key}{mark}"


@cache_in_first_argument
def _render_brief_column(
    column: ColumnSchema, mark: str, references: str, is_key: bool, samples: int, dialect: str
) -> str:
    """Render a column of a shortened table: types of dates and text keys, date formats, codes."""
    text, codes = _render_column_name(column, mark, dialect), column.codes
    if column.kind == "time":
        text += f" {_choose_column_type(column)}"
        if warnings := _render_pitfalls(column):
            text += f" [{format_sample_values(column, 1)}]{warnings}" if samples else warnings
    elif column.kind == "text" and (column.primary_key or column.likely_key or is_key):
        text += f" {_choose_column_type(column)}"
    text += references
    if column.kind != "time" and not codes and not references and (values := format_sample_values(column, samples)):
        return f"{text} [{values}]"
    is_listed = codes and codes.table and not codes.part
    return text + (_render_code_meanings(column, dialect, _LONGEST_LIST) if samples and not is_listed else "")


@cache_in_first_argument
def _render_column_with_values(column: ColumnSchema, mark: str, references: str, samples: int, dialect: str) -> str:
    """Render a column with its mark and reference, followed by its values or codes."""
    # Without samples it is a structure, told in the plain kinds.
    kind = f"{_choose_column_type(column)}{'?' if column.nulls else ''}" if samples else column.kind
    text = f"{_render_column_name(column, mark, dialect)} {kind}"
    if references or (column.codes and samples):
        text += references + (_render_code_meanings(column, dialect) if samples else "")
    else:
        count = _count_samples_to_show(column, samples)
        if values := format_sample_values(column, count):
            text += f" {{{values}}}" if count >= (column.distinct or count + 1) else f" [{values}]"
        text += _render_pitfalls(column) if samples else ""
    return f"{text} {quote_comment(column.comment)}" if column.comment else text


def _choose_column_type(column: ColumnSchema) -> str:
    """Return the kind of a column, or its declared type if queries depend on that."""
    type_name = column.type.lower()
    if column.kind == "time":
        match = _TIMES.match(type_name)
        kind = match[0] if match else "time"
        # SQLite has no types for them: values tell what a text is, and whether what is declared a DATE has a time.
        forms = set(map(_detect_time_form, column.samples)) if kind in ("date", "time") else set()
        kind = forms.pop() or kind if len(forms) == 1 else kind
        return f"{kind} with time zone" if "with time zone" in type_name or type_name.endswith("tz") else kind
    if column.kind == "text" and _STRUCTURED.match(type_name):
        return one_line(type_name, _LONGEST_TYPE)
    return column.kind


def _detect_time_form(value: Cell) -> str:
    """Return the form of a time value: `date`, `time` or `datetime`; empty for other values."""
    text = str(value)
    if not is_date_or_time_text(text):
        return ""
    return "date" if ":" not in text else "time" if text.index(":") <= len("00") else "datetime"


def _render_pitfalls(column: ColumnSchema) -> str:
    """Render warnings about comparing and sorting the values of a column."""
    warnings = list_column_pitfalls(column)
    return f" ({', '.join(warnings)})" if warnings else ""


def _render_code_meanings(column: ColumnSchema, dialect: str, longest: int = _LONGEST_CODES) -> str:
    """Render the meanings of a column's codes after the label's name; empty if too long."""
    if column.codes is None:
        return ""
    meanings = ", ".join(f"{format_literal(code)} = {format_literal(text)}" for code, text in column.codes.meanings)
    label = format_identifier(column.codes.label, dialect)
    if column.codes.part:  # one of the lists of a table
        label += f" in {format_identifier(column.codes.table, dialect)} for {format_literal(column.codes.part)}"
    return f" {{{label}: {meanings}}}" if len(meanings) <= longest else ""


def _count_samples_to_show(column: ColumnSchema, samples: int) -> int:
    """Return how many sample values of a column to show."""
    # All of a column of codes, several of kinds, one of others: numbers look like numbers, and what a query compares
    # with is looked up by the question's own words.
    is_small = column.distinct is not None and column.distinct <= _MAX_CODES
    if column.type.lower().startswith("bool") and {*list_nonblank_samples(column)} <= {0, 1}:
        return 0  # as numbers they would mislead where truth values are no numbers
    if is_numeric_date_column(column):
        return min(samples, 1)
    if column.kind == "number":
        return column.distinct or 0 if is_small and not column.likely_key and (column.distinct or 0) <= samples else 0
    every = list_nonblank_samples(column)
    # Of a table that is too large to look through, few values among the first rows are likely all.
    is_complete = len(column.samples) < _MOST if column.distinct is None else column.distinct <= len(column.samples)
    if samples and is_complete and sum(len(format_literal(value)) for value in every) <= _SHORT_LIST:
        return len(column.samples)
    return samples if is_small else min(samples, 1)


def _render_table_facts(table: TableSchema, samples: int) -> str:
    facts = [] if table.kind == "table" else [table.kind]
    if table.definition and samples:
        facts.append(f"defined by {quote_comment(' '.join(table.definition.split()), _LONGEST_VIEW)}")
    if table.row_count == 0:
        facts.append("empty")
    if table.comment:
        facts.append(quote_comment(table.comment))
    return f" {', '.join(facts)}" if facts else ""


@lru_cache(maxsize=1_024)
def parse_compact_schema(text: str) -> Schema:
    """Parse a schema in the compact form; other texts give one table of all names in the text."""
    entries = [table for line in text.splitlines() if (table := _parse_table_line(line))]
    tables = tuple(table for table, _ in entries)
    if not tables:
        names = dict.fromkeys(unquote(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = (TableSchema("", tuple(map(ColumnSchema, names))),) if names else ()
    return Schema("", tables, tuple(key for _, keys in entries for key in keys))


def _parse_table_line(line: str) -> tuple[TableSchema, list[ForeignKey]] | None:
    """Return the table that a line describes, with foreign keys; None if the line has none."""
    pieces = [piece for piece in _PIECE.findall(line) if piece != "^"] or ["("]
    path, body = _extract_names(pieces[:1]), pieces[1:]
    if not path or body[:1] != ["("]:
        return None
    table = ".".join(path)
    columns: list[ColumnSchema] = []
    keys: list[ForeignKey] = []
    primary = 0
    for item in _split_parenthesized_items(body[1:]):
        if names := _extract_names(item[:1]):
            is_primary = item[1:2] == ["*"]
            primary += is_primary
            kind = cast(ColumnKind, next((piece for piece in item[1:4] if piece in get_args(ColumnKind)), "text"))
            likely = item[1:3] == ["~", "*"]
            columns.append(ColumnSchema(names[0], "", kind, primary * is_primary, likely_key=likely))
        elif item[0] != "(":
            continue
        for position, arrow in enumerate(item):
            if arrow in ("->", "~>"):
                target = _extract_names(item[position + 1 : position + 2])
                if names:  # a column's own `a -> t.b`
                    key_columns, target, references = names[:1], target[:-1], target[-1:]
                else:  # `(a, b) -> t(c, d)`
                    key_columns, references = _extract_names(item[:position]), _extract_names(item[position + 2 :])
                if target and references:
                    keys.append(ForeignKey(table, key_columns, ".".join(target), references, arrow == "~>"))
    return TableSchema(table, tuple(columns), schema=".".join(path[:-1])), keys


def _split_parenthesized_items(pieces: Sequence[str]) -> list[list[str]]:
    """Split the content of a table's parentheses at commas that are not nested."""
    depths = accumulate((piece in ("(", "[", "{")) - (piece in (")", "]", "}")) for piece in pieces)
    inside = takewhile(lambda pair: pair[1] >= 0, zip(pieces, depths, strict=True))
    items = groupby(inside, lambda pair: pair == (",", 0))
    return [[piece for piece, _ in item] for is_comma, item in items if not is_comma]


def _extract_names(pieces: Iterable[str]) -> tuple[str, ...]:
    paths = (piece for piece in pieces if _PATH.fullmatch(piece))
    return tuple(unquote(name) for path in paths for name in _NAME.findall(path))
