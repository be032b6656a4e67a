"""Notices on the cells of a table: numbers and dates kept as text, spellings, copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..quoting import literal, quote
from .notices import (
    EXAMPLE_CHARACTERS,
    KEPT_TOTALS,
    LOOKED_AT,
    MISSING,
    MOST_COLUMNS,
    NoticeCollector,
    format_row_count,
)
from .rows import MONTH, UNIT
from .total_queries import leave_out_compared_total

if TYPE_CHECKING:
    import duckdb

    from ..schema import ColumnSchema

_AT_ONCE = 20  # columns of text that are looked at together

# What a column of text is looked at for, by DuckDB.
_NUMERAL = (
    r"[-+−–(▲△]?\s?(?:[$€£¥₹₽]|R\$|CHF|EUR|USD|GBP|PLN|kr\.?|zł|Kč)?\s?"
    r"[-+−–]?[0-9０-９][0-9０-９.,'’  _]*[-−)]?(?:[eE][-+]?[0-9]+)?"
)
_YEAR, _WORD, _FULL_YEAR = r"(?:[12]\d)?\d\d", r"[^\d\s.,/:-]{3,9}\.?", r"(?:19|20)\d\d"
_DATE = (
    rf"\d{{1,2}}[-/.]\d{{1,2}}[-/.]{_YEAR}|[12]\d{{7}}T\d{{4,6}}Z?"
    rf"|\d{{1,2}}\.?[ /-]{_WORD},?[ /-]{_YEAR}|(?i:{MONTH})\.?[ -]{_YEAR}"
    # A year beside other numbers, with words of any language: 3 de enero de 2024, KW 12/2024, 2024년 1월 3일.
    rf"|\D{{0,12}}\d{{1,2}}\D{{1,20}}{_FULL_YEAR}\D{{0,4}}"
    rf"|\D{{0,4}}{_FULL_YEAR}\D{{1,3}}\d{{1,2}}(?:\D{{1,3}}\d{{1,2}})?\D{{0,3}}"
)
_TIME = r"[0-9]{1,4}:[0-9]{2}(?::[0-9]{2})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_FORMS = {
    "numbers": _NUMERAL,
    "numbers with units": _NUMERAL + UNIT,
    # With names of months in any language; `\p{L}` would take twenty times as long.
    "dates or times": rf"(?:[^\d\s]{{2,10}} )?(?:{_DATE})(?:[ T:,].{{0,30}})?|{_TIME}"
    # Before a Japanese year may be its era.
    r"|[^\d\s]{0,2}[\d元]{1,4}年\d{1,2}月(?:\d{1,2}日)?",
    "codes": "0[0-9]+|[0-9]{16,}",
}
_DAY = "{0} BETWEEN 19000101 AND 21001231 AND {0} // 100 % 100 BETWEEN 1 AND 12 AND {0} % 100 BETWEEN 1 AND 31"
_SERIAL = "({0} BETWEEN 25569 AND 73050)"  # days since 1900, of 1970 to 2100
_SPAN_NAME = re.compile(
    r"length|duration|elapsed|länge|dauer|durée|duraci[oó]n|durata|duração|duur|lengte", re.IGNORECASE
)
_DAY_NAME = re.compile(r"dat(?:e|um|a)|day|\btag|jour|fecha|giorno|日", re.IGNORECASE)
# What stands for none in numbers and dates, if it is far from all others: three times as large, or twenty years away.
_PLACEHOLDER = re.compile(r"(?:-9{2,}|9{3,})(?:\.0)?|(?:0001|1900|1970)-01-01.*|(?:2[1-9]|[3-9]\d)\d\d-.*")
_FAR_NUMBER, _FAR_DAY = "3 * abs({0}) <= abs({1})", "abs(date_diff('year', {0}, {1})) >= 20"
_SOME = 0.4  # of the cells of a column of text, at least, are numbers that are worth a remark
_KINDS = {"numbers": "numbers as text", "dates or times": "mixed dates", "numbers with units": "units"}


def add_content_notices(
    connection: duckdb.DuckDBPyConnection,
    noticing: NoticeCollector,
    columns: Sequence[ColumnSchema],
    scan: str,
    *,
    is_whole: bool = True,
) -> str:
    """Add notices on a table's cells; return the scan, without NaN and a total that is left out.

    Only the first rows are looked at, and for totals all of them if `is_whole`.
    """
    import duckdb  # which a process that opens no files may lack

    head = columns[:MOST_COLUMNS]
    noticed_columns = {notice.column for notice in noticing.notices}
    texts = [column.name for column in head if column.type == "VARCHAR" and column.name not in noticed_columns]
    cells = ", ".join(quote(column.name) for column in head)
    try:
        scan = _leave_out_nan(connection, noticing, head, scan, "" if is_whole else f" LIMIT {LOOKED_AT + 1}")
        source = f"FROM (SELECT * FROM {scan} LIMIT {LOOKED_AT + 1})"
        first, numbers = quote(head[0].name), [column.name for column in head if column.type in ("INTEGER", "BIGINT")]
        count_sql = f"count(*), count(DISTINCT hash({cells})), count({first}), count(DISTINCT {first})"
        is_first_filled = f"(SELECT {first} FROM {scan} LIMIT 1) IS NOT NULL"
        forms = {name: f"{_DAY} OR {_SERIAL}" if _DAY_NAME.search(name) else _DAY for name in numbers}
        days = "".join(f", bool_and({form.format(quote(name))})" for name, form in forms.items())
        sql = f"SELECT {count_sql}, {is_first_filled}{days} {source}"
        ((rows, distinct, filled_count, labels, is_labelled, *are_days),) = connection.execute(sql).fetchall()
        _add_placeholder_notices(connection, noticing, head, source)
        for name in (column.name for column in head if column.type == "TIMESTAMP WITH TIME ZONE"):
            noticing.add("zones", "times with a zone are read as UTC, and so are their days", name)
        for name in (column.name for column in head if column.type == "TIME"):
            sql = f"SELECT bool_and(second({(cell := quote(name))}) = 0), bool_and(minute({cell}) % 5 = 0) {source}"
            ((is_short, is_round),) = connection.execute(sql).fetchall()
            # Hours of a day that people set are mostly round.
            if is_short and (not is_round or _SPAN_NAME.search(name)):
                units = "hours and minutes", "minutes and seconds"
                if noticing.is_guess_reversed("times"):
                    span = "make_time(0, hour({0}), minute({0})) AS {0}".format(quote(name))
                    scan, units = f"(SELECT * REPLACE ({span}) FROM {scan})", units[::-1]
                noticing.add("times", "read as {}; the file may mean {}".format(*units), name)
        for name in (name for name, is_day in zip(numbers, are_days, strict=True) if is_day):
            noticing.add("mixed dates", "dates such as 20240131, or a spreadsheet's 45322, are read as numbers", name)
        for batch in (texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE)):
            (row,) = connection.execute(f"SELECT {', '.join(map(_make_text_count_sql, batch))} {source}").fetchall()
            for name, counts in zip(batch, row, strict=True):
                _add_text_column_notice(noticing, name, counts)
        if is_whole and not any(notice.kind in ("totals", KEPT_TOTALS) for notice in noticing.notices):
            scan = leave_out_compared_total(connection, noticing, head, scan)
    except duckdb.Error:  # too little memory, or later rows of another type: queries have a way to deal with that
        noticing.add("scope", "its cells could not be checked")
        return scan
    if is_labelled and 2 * filled_count <= rows and filled_count == labels > 1:
        blanks = format_row_count(rows - filled_count, "has", "have")
        noticing.add("merged", f"{blanks} no value: fill in the value above if that is meant", head[0].name)
    if len(columns) > 1 and (copies := rows - distinct):
        noticing.add("copies", format_row_count(copies, "is an exact copy of another", "are exact copies of others"))
    if not is_whole:
        noticing.add("scope", "too large to look for totals")
    if rows > LOOKED_AT:
        noticing.add("scope", f"only the first {LOOKED_AT:,} rows were checked for irregular cells")
    return scan


def _leave_out_nan(
    connection: duckdb.DuckDBPyConnection,
    noticing: NoticeCollector,
    columns: Sequence[ColumnSchema],
    scan: str,
    limit: str,
) -> str:
    """Add notices on numbers that are NaN; return the scan with empty cells for them."""
    names = [column.name for column in columns if column.type in ("DOUBLE", "FLOAT")]
    # Where Parquet's statistics leave NaN out, `isnan` is false for it.
    are_numbers = [f"(isfinite({cell}) OR isinf({cell}))" for cell in map(quote, names)]
    sql = f"SELECT {', '.join(f'NOT bool_and({test})' for test in are_numbers)} FROM (FROM {scan}{limit})"
    found = connection.execute(sql).fetchall()[0] if names else ()
    cells = [(name, test) for name, test, is_found in zip(names, are_numbers, found, strict=True) if is_found]
    is_turned = noticing.is_guess_reversed("missing")
    for name, _ in cells:
        noticing.add("missing", f"NaN {'kept, as you said' if is_turned else 'read as empty cells'}", name)
    empty = ", ".join(f"if({test}, {quote(name)}, NULL) AS {quote(name)}" for name, test in cells)
    return f"(SELECT * REPLACE ({empty}) FROM {scan})" if empty and not is_turned else scan


def _add_placeholder_notices(
    connection: duckdb.DuckDBPyConnection, noticing: NoticeCollector, columns: Sequence[ColumnSchema], source: str
) -> None:
    """Add notices on numbers and dates that may stand for none, as -999 and 9999-12-31 do."""
    days = ("DATE", "TIMESTAMP")
    placed = [column for column in columns if column.type in days or column.kind == "number"]
    ends = [(column, f"CAST({end}({quote(column.name)}) AS VARCHAR)") for column in placed for end in ("min", "max")]
    values = connection.execute(f"SELECT {', '.join(sql for _, sql in ends)} {source}").fetchall()[0] if ends else ()
    for (column, _), value in zip(ends, values, strict=True):
        if value and _PLACEHOLDER.fullmatch(value):
            cell, other = quote(column.name), f"CAST({literal(value)} AS {column.type})"
            is_far = (_FAR_DAY if column.type in days else _FAR_NUMBER).format(cell, other)
            sql = f"SELECT count_if({cell} = {other}), bool_and({is_far}) FILTER ({cell} <> {other}) {source}"
            ((count, is_alone),) = connection.execute(sql).fetchall()
            if is_alone:
                text = format_row_count(count, "has", "have") + " a value far from all others, which may mean none"
                noticing.add("placeholders", text, column.name, value)


def _make_text_count_sql(name: str) -> str:
    """Return SQL that counts the forms of text in a column and picks an example."""
    cell = f"trim({quote(name)})"
    forms = {form: f"regexp_full_match({cell}, {literal(pattern)})" for form, pattern in _FORMS.items()}
    forms["numbers"] = f"({forms['numbers']} AND NOT {forms['dates or times']})"
    forms["missing"] = f"{cell} IN ({', '.join(map(literal, MISSING))})"
    counts = ", ".join(f"{literal(form)}: count({cell}) FILTER ({match})" for form, match in forms.items())
    other = (
        f"min(left({cell}, {2 * EXAMPLE_CHARACTERS})) FILTER (NOT ({forms['numbers']} OR {forms['dates or times']}))"
    )
    variants = f"count(DISTINCT hash({quote(name)})) - count(DISTINCT hash(lower({cell})))"
    return f"{{'filled': count({cell}), 'other': {other}, 'variants': {variants}, {counts}}}"


def _add_text_column_notice(noticing: NoticeCollector, name: str, counts: dict[str, Any]) -> None:
    """Add the notice on a column of text, if there is anything to report."""
    filled_count, variants = counts["filled"], counts["variants"]
    form = max(_KINDS, key=lambda key: counts[key])
    form_count = counts[form] + (counts["numbers"] if form == "numbers with units" else 0)
    some = counts["numbers"] + counts["numbers with units"]
    least = 0.9 if form == "numbers with units" else 0.5
    if form_count and form_count >= least * (filled_count - counts["missing"]) and counts["codes"] < filled_count:
        if form == "numbers" and counts["codes"]:
            text = "digits that begin with zeros, and long ones, are kept as text"
        elif form == "numbers with units":
            text = "numbers with units are kept as text"
        elif form_count < filled_count:
            text = f"{form_count:,} of {filled_count:,} cells hold {form}, the others do not: kept as text"
        else:
            text = f"{form} written in several ways, or in an unusual one, are kept as text"
        noticing.add(_KINDS[form], text, name, counts["other"] or "")
    elif counts["numbers"] > 1 and not counts["codes"] and some >= _SOME * (filled_count - counts["missing"]):
        units = ", some of them with units" if counts["numbers with units"] else ""
        text = f"{some:,} of {filled_count:,} cells hold numbers{units}: kept as text"
        noticing.add("numbers as text", text, name, counts["other"] or "")
    elif variants:
        differ = "value differs" if variants == 1 else "values differ"
        noticing.add("spellings", f"{variants:,} {differ} from another only in case or spaces", name)
