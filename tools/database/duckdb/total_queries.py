"""Totals in a table that only its database reads: their rows by label, and by sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..quoting import literal, quote
from .notices import (
    EXAMPLE_CHARACTERS,
    KEPT_TOTALS,
    LOOKED_AT,
    MOST_COLUMNS,
    Notice,
    NoticeCollector,
    format_decision,
    format_row_count,
)
from .total_labels import LONGEST_LABEL, MEASURE, PLAIN_TOTAL, TOTAL
from .totals import CHANCE, FLOAT, LABELLED, TOO_MANY

if TYPE_CHECKING:
    import duckdb

    from ..schema import ColumnSchema, TableSchema


def fetch_rows_with_totals(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[ColumnSchema], scan: str
) -> list[tuple[Any, ...]]:
    """Return a table's rows if a cell is labelled as a total; an empty list for a large table."""
    import duckdb  # which a process that opens no files may lack

    text = f"left({{}}, {LONGEST_LABEL + 1})"
    casts = dict.fromkeys(("DATE", "TIMESTAMP"), "CAST({} AS VARCHAR)")
    casts |= {"VARCHAR": text, "JSON": text.format("({} ->> '$')")}
    forms = (casts.get(column.type, "{}" if column.kind == "number" else "NULL") for column in columns)
    cells = ", ".join(form.format(quote(column.name)) for form, column in zip(forms, columns, strict=True))
    try:
        condition = make_label_condition(columns, f"{TOTAL.pattern}|{MEASURE.pattern}")
        sql = f"SELECT count(*), bool_or({condition}) FROM (SELECT * FROM {scan} LIMIT {LOOKED_AT + 1})"
        ((count, has_total),) = connection.execute(sql).fetchall()
        return connection.execute(f"SELECT {cells} FROM {scan}").fetchall() if has_total and count <= LOOKED_AT else []
    except duckdb.Error:  # too little memory
        return []


def make_label_condition(columns: Sequence[ColumnSchema], pattern: str = PLAIN_TOTAL.pattern) -> str:
    """Return SQL for whether a row has a label that matches a pattern, by default a total's."""
    label = literal(rf"(?i)[\s:*]*(?:{pattern})[\s:*]*")
    texts = (quote(column.name) for column in columns[:MOST_COLUMNS] if column.type == "VARCHAR")
    conditions = (f"length({cell}) <= {LONGEST_LABEL} AND regexp_full_match({cell}, {label})" for cell in texts)
    return " OR ".join(conditions) or "false"


def make_kept_totals_condition(notices: Iterable[Notice], table: TableSchema) -> str:
    """Return SQL for a table's rows that may be totals and are kept; '' if no text tells them."""
    cells = [quote(column.name) for column in table.columns if column.type == "VARCHAR"]
    conditions, joined = [make_label_condition(table.columns)], _make_joined_texts(table.columns)
    for notice in notices:
        if (notice.table, notice.kind) == (table.name, KEPT_TOTALS):
            start = literal(notice.example[: EXAMPLE_CHARACTERS - 1])
            matches = [f"left({cell}, {EXAMPLE_CHARACTERS - 1}) = {start}" for cell in cells]
            marks = [f"left({joined}, {EXAMPLE_CHARACTERS - 1}) = {start}", " OR ".join(matches)]
            marks = marks if notice.example else [f"coalesce(trim({cell}), '') = ''" for cell in cells[:1]]
            if not notice.example and LABELLED[1] in notice.text:  # too many to tell each
                marks = [make_label_condition(table.columns, TOTAL.pattern)]
            # If no row has the texts, or lacks one, none tells which rows these are.
            cases = (f"WHEN (SELECT bool_or({mark}) FROM {quote(table.name)}) THEN {mark}" for mark in marks)
            conditions.append(f"CASE {' '.join(cases)} ELSE true END")
    return f"coalesce({' OR '.join(conditions)}, false)" if cells else ""


def _make_joined_texts(columns: Sequence[ColumnSchema]) -> str:
    """Return SQL for the texts of a row as `_join_texts` joins them, spelt as an example is."""
    texts = (f"CAST({quote(column.name)} AS VARCHAR)" for column in reversed(columns) if column.kind != "number")
    return rf"trim(regexp_replace(concat_ws(' ', {', '.join(texts)}), '[\s\pZ\pC]+', ' ', 'g'))"


def leave_out_compared_total(
    connection: duckdb.DuckDBPyConnection, noticing: NoticeCollector, columns: Sequence[ColumnSchema], scan: str
) -> str:
    """Add notices on totals not compared yet; return the scan without those left out."""
    cells = [f"CAST({quote(column.name)} AS DOUBLE)" for column in columns if column.kind == "number"]
    # NaN equals all that is computed with it. Where Parquet's statistics leave it out, `isnan` is false for it.
    numbers = [f"if(isfinite({cell}), {cell}, NULL)" for cell in cells]
    texts = [quote(column.name) for column in columns if column.type == "VARCHAR"]
    if not numbers:
        return scan
    sql = f"SELECT count(*), {', '.join(f'coalesce(sum({cell}), 0)' for cell in numbers)} FROM {scan}"
    ((rows, *sums),) = connection.execute(sql).fetchall()
    pairs = [(cell, f"CAST('{many}' AS DOUBLE)") for cell, many in zip(numbers, sums, strict=True)]
    equal = " AND ".join(f"coalesce(abs({many} - 2 * {cell}) <= {FLOAT} * abs({cell}), true)" for cell, many in pairs)
    size = " * ".join(f"greatest(1, abs(coalesce({cell}, 0)))" for cell in numbers)
    total = f"({equal} AND {size} >= {CHANCE})"
    is_labelled = make_label_condition([column for column in columns if column.type == "VARCHAR"][:1])
    is_alone = " AND ".join(f"coalesce({cell}, '') = ''" for cell in texts[1:]) or "true"
    label_sql = f"coalesce(({is_labelled}) AND {is_alone} AND coalesce({', '.join(numbers)}) IS NOT NULL, false)"
    count_sql = f"count_if({total}), count_if({total} AND {label_sql}), count_if({label_sql} AND NOT {total})"
    sql = f"SELECT {count_sql}, any_value(coalesce({', '.join(texts) or 'NULL'})) FILTER ({total}) FROM {scan}"
    ((matches, label_matches, other_labels, example),) = connection.execute(sql).fetchall()
    is_turned, is_total = noticing.is_guess_reversed("totals"), matches == 1 and rows > (2 if texts else 3)
    example = "" if example is None else example
    if is_total and label_matches:
        text = "1 row is labelled as a total and equals the sum of all others"
        noticing.add("totals", text + format_decision(is_turned), example=example)
    elif is_total:
        noticing.add_kept_totals("1 row equals the sum of all others", example, can_be_turned=True)
    if other_labels:
        noticing.add_kept_totals(f"{format_row_count(other_labels, *LABELLED)}, {TOO_MANY}")
    return f"(SELECT * FROM {scan} WHERE NOT {total})" if is_total and bool(label_matches) != is_turned else scan
