"""Files of separated values: their separator, header, and the types of their columns."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.resources import files
from itertools import chain, islice, takewhile
from pathlib import Path

import duckdb

from ...errors import DatabaseUnavailable
from ..quoting import literal, quote
from .cells import add_content_notices
from .csv_reader import DATE_TYPES, PADDING, SKIPPING, CsvReader
from .decoding import copy_as_utf8, detect_file_encoding, measure_decompressed_size, open_decompressed_file
from .entries import TableEntry, make_column_schema, make_file_entry
from .notices import LOOKED_AT, MISSING, NoticeCollector
from .rows import can_be_column_name, find_header_row, is_number, join_titles, may_be_cells
from .sources import TableFile, kind_of, make_column_names
from .strays import clean_rows

# Types are found by all rows of a file of this size, and by the first ones of a larger one.
WHOLE_BYTES = 32_000_000
FIRST_ROWS = 200_000
# Reading all of such a file takes seconds where it has to be taken apart.
SLOW_BYTES = 100_000_000
_WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC = (*_WHOLE_NUMBERS, "FLOAT", "DOUBLE")
# Beyond that, a schema is of no use, and describing it takes minutes.
MOST_COLUMNS = 4_000
# As DuckDB reads them.
_LINE_BYTES = 2_000_000
# So much of a file is looked at for its layout, and so many rows for how dates are written.
_HEAD_BYTES = 64_000
_DATED_ROWS = 100
_THIS_YEAR = date.today().year
_AHEAD = 20  # years; dates further in the future are taken for ones of the last century
# What Excel writes, and reads, as a first line.
_NAMED_SEPARATOR = re.compile(r"\"?sep=(.)\"?\s*", re.IGNORECASE)
# How numbers may be written, if not as 1234.5, by the marks of decimals and thousands: 1234,5; 1.234,5; 1,234.5.
_NUMBERS = ((",", ""), (",", "."), (".", ","))
# What a number has, if not digits alone: a sign, groups of three digits (in India of two), decimals.
_GROUPED = r"\s*[-+]?[0-9]{{1,3}}([{thousands}][0-9]{{2,3}})*[{thousands}][0-9]{{3}}([{decimal}][0-9]*)?\s*"
_MARKED = r"\s*[-+]?[0-9.,]*[.,][0-9.,]*\s*"
# Whether such a mark is a decimal's, three digits behind it do not tell.
_UNCLEAR = r"\s*[-+]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}\s*"
# Numbers of versions and cases: 1.9 is followed by 1.10, and 1.90 by 1.100, in a column without whole numbers.
_VERSION = r"[0-9]+\.[0-9]{1,3}"
_LISTED = 4  # columns whose different numbers are kept in memory at once
_TENTHS = [(r"[0-9]+\.[0-9]", r"[0-9]+\.[1-9]0"), (r"[0-9]+\.[0-9]{1,2}", r"[0-9]+\.[1-9][0-9]0")]
_CALLED = tomllib.loads(files(__package__ or "").joinpath("data", "columns.toml").read_text(encoding="utf-8"))
_NAMES = "|".join((*map(re.escape, _CALLED["versions"]), *(rf"\w*{word}" for word in _CALLED["endings"])))
_BEHIND = r"(?:[\W_]*(?:no|nr|num|number|id))?[\W_\d]*(?:[\W_](?:de|del|du|da|do)[\W_].*)?"
_VERSION_NAME = re.compile(rf"(?:.*[\W_])?(?:{_NAMES}){_BEHIND}", re.IGNORECASE)
_SHORT_NUMBER = r"\s*[-+]?[1-9][0-9]{0,2}\s*"
# What a spreadsheet makes of a code such as 12E5.
_CODE = "[0-9]+[eE][0-9]+"
# What DuckDB reads as a number to the base of 16 or 2.
_PREFIXED = r"\s*[-+]?0[xXbB].*"
# And of a number of twelve digits or more, such as a barcode.
_CUT = "[0-9]([.,][0-9]+)?E\\+1[1-9]"
# Signs that part thousands, and a minus, which DuckDB does not know; a file of this size is copied without them, and
# without stray rows.
_UNKNOWN_SIGNS = re.compile("(?<=[0-9])[\u00a0\u2009\u202f’](?=[0-9]{3})|\u2212(?=[0-9])")
_KNOWN_SIGNS = {"’": "'", "\u2212": "-"}
_COPIED_SIZE = 8_000_000
_SEPARATORS = (",", ";", "\t", "|")
_HEAD_ROWS = 30
# Lines with more cells than most have are left out of so many rows, if they are at most one in so many.
_FEWEST_ROWS, _LONG_PART = 4, 10
_UNEVEN = "lines that have more or fewer cells than the others and are left out"
_CORRECT_LINES = "correct them in the file"
_BARE_END = re.compile(rb"(?<!\r)\n")
# What DuckDB reads itself.
_NATIVE = ("utf-8", "latin-1", "utf-16")


def inspect_text_file(
    connection: duckdb.DuckDBPyConnection,
    address: Callable[[Path], str],
    file: TableFile,
    private: Path,
    *,
    thorough: bool = False,
    reversals: frozenset[str] = frozenset(),
) -> TableEntry:
    """Detect how to read a text file as a table; raise an error if that is not possible."""
    path, noticing = file.path, NoticeCollector(file.table, reversals)
    encoding, is_guess = detect_file_encoding(path)
    remark = f"not UTF-8, read as {encoding}: a guess" if is_guess else ""
    if remark:
        noticing.add("encoding", remark, turned_by="save the file as UTF-8, if letters are wrong")
    with open_decompressed_file(path) as stream:
        start = stream.read(2 * _LINE_BYTES)
    # DuckDB takes no file whose lines and cells end lines in different ways, as a spreadsheet writes them, and finds no
    # quotes behind a mark of UTF-8.
    if encoding not in _NATIVE or len(_BARE_END.findall(start)) not in (0, start.count(b"\n")):
        path, encoding = copy_as_utf8(path, private, encoding), "utf-8"
        with path.open("rb") as stream:
            start = stream.read(2 * _LINE_BYTES)
    _check_first_lines(file.path, start.decode(encoding, "replace").split("\n"))
    size = measure_decompressed_size(path, SLOW_BYTES)
    rows = None if thorough or size <= WHOLE_BYTES else FIRST_ROWS
    reader = CsvReader(connection, address(path), rows, f"encoding = '{encoding}'")
    head = start[:_HEAD_BYTES].decode(encoding, "replace").splitlines(keepends=True)
    first, title = _detect_layout(reader, head)
    if first.comment:
        noticing.add("lines", f"lines that begin with {first.comment} are left out")
    if size <= _COPIED_SIZE and (copy := _copy_without_stray_rows(first, path, encoding, private, noticing)):
        path, reader = copy, replace(reader, address=address(copy), options="encoding = 'utf-8'")
        with path.open(encoding="utf-8", newline="") as stream:
            head = stream.read(_HEAD_BYTES).splitlines(keepends=True)
        first, _ = _detect_layout(reader, head)
    if SKIPPING in first.options:
        noticing.add("lines", f"{_UNEVEN}: {first.count_uneven_lines()[0]:,}", turned_by=_CORRECT_LINES)
    first = _detect_header_line(first, head, noticing)
    best, comments = _detect_missing_values(first, noticing)
    last_century = _find_last_century_columns(best, noticing)
    if len(best.columns) == 1 and kind_of(file.path) is None:
        raise DatabaseUnavailable(
            f"{file.path} is not a table: its lines are not separated by a comma, semicolon, tab or bar; if it is"
            " a table with one column, name it .csv"
        )
    if size > _COPIED_SIZE:
        noticing.add("scope", "too large to look for repeated headers, empty rows and notes below the table")
    names = make_column_names(name for name, _ in best.columns)
    columns = [
        make_column_schema(name, kind, comment=comments.get(raw, ""))
        for name, (raw, kind) in zip(names, best.columns, strict=True)
    ]
    scan = replace(best, columns=tuple((column.name, column.type) for column in columns)).scan
    for name, (raw, kind) in zip(names, best.columns, strict=True):
        if raw in last_century:
            cell = quote(name)
            moved_sql = f"if(year({cell}) > {_THIS_YEAR}, CAST({cell} - INTERVAL 100 YEAR AS {kind}), {cell})"
            scan = f"(SELECT * REPLACE ({moved_sql} AS {cell}) FROM {scan})"
    comment = "; ".join(filter(None, (remark, title)))
    scan = add_content_notices(connection, noticing, columns, scan, is_whole=thorough or size <= SLOW_BYTES)
    notices = noticing.rename_notice_columns({raw: name for name, (raw, _) in zip(names, best.columns, strict=True)})
    return make_file_entry(file.table, columns, scan, path, comment=comment, slow=size > SLOW_BYTES, notices=notices)


def _detect_layout(reader: CsvReader, head: Sequence[str]) -> tuple[CsvReader, str]:
    """Detect the separator and the header; return the reader and the titles above the header."""
    if head and (match := _NAMED_SEPARATOR.fullmatch(head[0])):
        rows = _read_first_rows(head[1:], match[1])
        return _sniff_uneven_lines(reader, f", delim = {literal(match[1])}, skip = 1", rows), ""
    first = replace(reader, delimiter=_SEPARATORS[0])
    with suppress(duckdb.Error):  # which one line raises that has more or fewer cells than all others
        first = reader.sniff_options()
    separator = _choose_separator(head, first.delimiter)
    rows = _read_first_rows(head, separator if len(separator) == 1 else ",")
    if not first.columns or separator != first.delimiter or _begins_late(first, rows):
        index = find_header_row([row for row, _ in rows])
        skip = f", skip = {rows[index - 1][1]}" if index else ""
        first = _sniff_uneven_lines(reader, f", delim = {literal(separator)}{skip}", rows[index:])
    # DuckDB does not count comments among the lines to skip.
    lines = _remove_comments(head, first)
    rows = _read_first_rows(lines, separator if len(separator) == 1 else ",") if first.comment else rows
    index = find_header_row([row for row, _ in rows])
    titles = [[line] for line in takewhile(lambda line: first.comment and line.startswith(first.comment), head)]
    titles += [row for row, _ in rows[:index]]
    if index:
        skip = "" if ", skip = " in first.options else f", skip = {rows[index - 1][1]}"
        first = first.sniff_options(f", comment = {literal(first.comment)}{skip}, header = true")
    return first, join_titles(titles)


def _find_usual_width(rows: Iterable[tuple[Sequence[str], int]]) -> int:
    ((width, _),) = Counter(len(row) for row, _ in rows if row).most_common(1) or [(0, 0)]
    return width


def _begins_late(first: CsvReader, rows: Sequence[tuple[list[str], int]]) -> bool:
    """Whether a detected table begins below rows of another one, and is shorter than that."""
    width, skip_count = _find_usual_width(rows), first.skipped_lines
    skipped_rows = [row for row, line in rows if line <= skip_count and len(row) == width]
    return len(skipped_rows) > 1 < width and len(first.rows("1", skip_count)) < skip_count


def _sniff_uneven_lines(reader: CsvReader, options_sql: str, rows: Sequence[tuple[list[str], int]]) -> CsvReader:
    """Detect how to read lines of which some may have more or fewer cells than most have."""
    if len({len(row) for row, _ in rows if row}) == 1:
        with suppress(duckdb.Error):
            even = reader.sniff_options(options_sql)
            if not _begins_late(even, rows):
                return even
    padded = None
    with suppress(duckdb.Error):  # if a line has more cells than those that were looked at
        padded = reader.sniff_options(f"{options_sql}, {PADDING}")
        header = rows[find_header_row([row for row, _ in rows])][0] if rows else []
        if len(padded.columns) <= max(len(header), _find_usual_width(rows)) and padded.rows("count(*)"):
            return padded
    skipping = reader.sniff_options(f"{options_sql}, {SKIPPING}")
    long_count, count = skipping.count_uneven_lines(f", {PADDING}")
    is_usual = reader.sample_rows is not None or count < _FEWEST_ROWS or long_count > max(1, count // _LONG_PART)
    return padded if padded is not None and is_usual else skipping


def _remove_comments(lines: Sequence[str], first: CsvReader) -> Sequence[str]:
    """Return the lines without comments; a line within a quoted cell is not a comment."""
    if not first.comment:
        return lines
    reader = csv.reader(lines, delimiter=first.delimiter[:1] or ",", quotechar=first.quote)
    table_lines, begin = list[str](), 0
    try:
        for _ in reader:
            table_lines += [] if lines[begin].startswith(first.comment) else lines[begin : reader.line_num]
            begin = reader.line_num
    except csv.Error:
        return lines
    return table_lines


def _read_first_rows(lines: Sequence[str], separator: str, quote: str = '"') -> list[tuple[list[str], int]]:
    """Return the first rows of a text file, each with the number of lines up to its end."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        return [(row, reader.line_num) for row in islice(reader, _HEAD_ROWS)]
    except csv.Error:
        return []


def _choose_separator(lines: Sequence[str], guess: str) -> str:
    """Return the separator that gives most lines the same number of cells, and whole cells."""

    def weigh_separator(separator: str) -> tuple[float, bool, float, bool]:
        rows = [row for row, _ in _read_first_rows(lines, separator) if row]
        # The longest of widths that are equally frequent.
        (width, count), *_ = sorted(Counter(map(len, rows)).items(), key=lambda item: (-item[1], -item[0])) or [(0, 0)]
        cells = [cell for row in rows[1:] for cell in row if cell]
        numbers = sum(map(is_number, cells))
        if width == 1 and (numbers < len(cells) or max(cell.count(",") for cell in cells or [",,"]) > 1):
            return 0, False, 0, False  # only a column of decimal commas is not separated
        # A decimal comma parts no cell.
        whole_cells = numbers + sum(not is_number(cell) and not any(map(cell.count, _SEPARATORS)) for cell in cells)
        return count / max(1, len(rows)), width > 1, whole_cells / max(1, len(cells)), separator == guess

    return max(dict.fromkeys((guess, *_SEPARATORS)), key=weigh_separator)


def _copy_without_stray_rows(
    first: CsvReader, path: Path, encoding: str, private: Path, noticing: NoticeCollector
) -> Path | None:
    """Copy the file without rows outside the table; return None if no copy is needed."""
    if len(first.delimiter) != 1:
        return None
    with open_decompressed_file(path) as file:
        text = file.read().decode(encoding, "replace")
    cleaned = _UNKNOWN_SIGNS.sub(lambda sign: _KNOWN_SIGNS.get(sign[0], " "), text)
    lines, skip_count = [*_remove_comments(list(io.StringIO(cleaned, newline=None)), first)], first.skipped_lines

    def read_csv_rows(part: Sequence[str]) -> Iterator[list[str]]:
        return csv.reader(part, delimiter=first.delimiter, quotechar=first.quote)

    try:
        if skip_count == 1 and ", skip = " not in first.options:
            # R writes no name above the names of rows.
            names, row = next(read_csv_rows(lines)), next(read_csv_rows(lines[1:]))
            if len(names) + 1 == len(row) and all(map(can_be_column_name, names)):
                if not lines[0].startswith(first.quote):
                    noticing.add("lines", "rows have one cell more than the header: the first has no name")
                lines[0], skip_count, cleaned = first.delimiter + lines[0], 0, ""
        rows = list(read_csv_rows(lines[skip_count:]))
    except (csv.Error, StopIteration):
        return None
    has_header = bool(rows) and (skip_count < first.skipped_lines or _is_header(first, rows[:_HEAD_ROWS]))
    width = len(first.columns) if SKIPPING in first.options else None
    even_rows = [row for row in rows if width is None or not any(row[width:])]
    if count := len(rows) - len(even_rows):
        noticing.add("lines", f"{_UNEVEN}: {count:,}", turned_by=_CORRECT_LINES)
    table_rows = clean_rows(noticing, even_rows, has_header=has_header)
    if len(table_rows) == len(rows) and cleaned == text:
        return None
    copy = private / f"{len(list(private.iterdir()))}.csv"
    with copy.open("w", encoding="utf-8", newline="") as output:
        output.writelines(lines[:skip_count])
        csv.writer(output, delimiter=first.delimiter, quotechar=first.quote, lineterminator="\n").writerows(table_rows)
    return copy


def _detect_header_line(first: CsvReader, head: Sequence[str], noticing: NoticeCollector) -> CsvReader:
    """Decide whether the first line holds column names, and add a notice if that is a guess."""
    if first.skipped_lines and ", skip = " not in first.options:
        noticing.add("lines", f"lines above the table that are left out: {first.skipped_lines}")
    are_left_out = any(notice.text.startswith(_UNEVEN) for notice in noticing.notices)
    if PADDING in first.options and not are_left_out:
        noticing.add("lines", "lines have different numbers of cells: missing ones are empty")
    if [kind for _, kind in first.columns] == ["VARCHAR"]:
        noticing.add("lines", "read as one column: no separator was found")
    lines = _remove_comments(head, first)[first.skipped_lines :]
    rows = [row for row, _ in _read_first_rows(lines, first.delimiter[:1] or ",", first.quote)]
    row = rows[0] if rows else []
    is_header = _is_header(first, rows)
    is_named = is_header != noticing.is_guess_reversed("header")
    is_unclear = not first.typed_count and may_be_cells(row, rows[1:])
    if not is_named:
        noticing.add("header", "the columns have no names: the first line is read as data")
    elif not first.has_header or not all(map(can_be_column_name, row)) or is_unclear:
        noticing.add("header", "the first line is read as the columns' names, but could be a row")
    if is_named == first.has_header:
        return first
    # Below a title, the line was named as the header before.
    plain = replace(first, options=first.options.replace(", header = true", ""))
    return plain.sniff_options(f", header = {str(is_named).lower()}")


def _is_header(first: CsvReader, rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows holds the columns' names."""
    row, *other_rows = rows or [[]]
    years = {cell for cell in row if cell.strip().isdigit()}
    # DuckDB takes years above numbers for more of them, and names above rows that are longer, or above numbers that
    # have decimal commas, for a row.
    is_likely = len(row) > len(years) > 1 or PADDING in first.options
    for name, *cells_below in zip(row, *(other for other in other_rows if len(other) == len(row)), strict=True):
        cells = [cell for cell in cells_below if cell]
        is_likely |= bool(name and cells) and not re.search(r"\d", name) and all(map(is_number, cells))
    return first.has_header or (is_likely and all(map(can_be_column_name, row)))


def _detect_missing_values(first: CsvReader, noticing: NoticeCollector) -> tuple[CsvReader, dict[str, str]]:
    """Detect column types; read n/a and the like as empty if more columns then have a type."""
    names = [name for name, kind in first.columns if kind == "VARCHAR"]
    plain, with_empty = (NoticeCollector(noticing.table, noticing.reversals) for _ in range(2))
    best = _detect_date_order(_detect_number_format(first, plain), plain)
    words: set[str] = set()
    is_turned = noticing.is_guess_reversed("missing")
    if names:
        # A bit for each word: lists of them would take much memory in wide files.
        word_list = f"[{', '.join(map(literal, MISSING))}]"
        sums = (f"bit_or(1::BIGINT << coalesce(list_position({word_list}, {cell}), 0))" for cell in map(quote, names))
        (bits,) = first.rows(", ".join(sums), LOOKED_AT)
        words = {word for at, word in enumerate(MISSING, 1) if any(mask and mask >> at & 1 for mask in bits)}
    if words:
        empty = first.sniff_cells(f", nullstr = ['', {', '.join(map(literal, sorted(words)))}]")
        other, remarks = _detect_date_order(_detect_number_format(empty, with_empty), with_empty)
        if len(other.columns) == len(first.columns) and other.typed_count > best[0].typed_count:
            decision = "kept, as you said" if is_turned else "read as empty cells, in columns of text too"
            noticing.add("missing", f"{', '.join(sorted(words))} {decision}")
            if not is_turned:
                noticing.notices += with_empty.notices
                return other, remarks
    noticing.notices += plain.notices
    return best


def _detect_number_format(first: CsvReader, noticing: NoticeCollector) -> CsvReader:
    """Detect the decimal and thousands marks with which most columns are read as numbers."""
    readers = [first]
    texts = [quote(name) for name, kind in first.columns if kind == "VARCHAR"]

    def holds(pattern: str) -> bool:
        checks = (f"bool_or(regexp_full_match({cell}, {literal(pattern)}))" for cell in texts)
        return bool(texts) and any(first.rows(", ".join(checks), first.sample_rows)[0])

    # To look for a mark takes a tenth of the time of trying it.
    marks = list(_NUMBERS) if holds(_MARKED) else []
    for sign in "' ":
        if holds(_GROUPED.format(thousands=sign, decimal=".,")):
            marks += [(",", sign), (".", sign)]
    for decimal, thousands in marks:
        reader = first.sniff_cells(_build_number_options(decimal, thousands))
        readers.append(_keep_ungrouped_as_text(first, reader, decimal, thousands) if thousands else reader)
    best = max(readers, key=lambda candidate: candidate.typed_count * (len(candidate.columns) == len(first.columns)))
    return _resolve_ambiguous_numbers(first, best, noticing)


def _build_number_options(decimal: str, thousands: str) -> str:
    option = f", decimal_separator = '{decimal}'" if decimal != "." else ""
    return option + (f", thousands = {literal(thousands)}" if thousands else "")


def _keep_ungrouped_as_text(first: CsvReader, trial: CsvReader, decimal: str, thousands: str) -> CsvReader:
    """Keep numbers without proper groups of three digits as text: `1,50` is not 150."""
    numbers = [
        name for name, kind in trial.columns if kind in _NUMERIC and dict(first.columns).get(name) not in _WHOLE_NUMBERS
    ]
    pattern = literal(_GROUPED.format(thousands=thousands, decimal=decimal))
    wrong = "bool_or(contains(trim({0}), {1}) AND NOT regexp_full_match({0}, {2}))"
    return trial.keep_as_text(first, {name: wrong.format(quote(name), literal(thousands), pattern) for name in numbers})


def _resolve_ambiguous_numbers(first: CsvReader, best: CsvReader, noticing: NoticeCollector) -> CsvReader:
    """Keep codes such as 12E5 and 0x0A as text; choose the meaning of the mark in 1.234."""
    is_prefixed = f"bool_or(regexp_full_match({{0}}, {literal(_PREFIXED)}))"
    prefixed = {name: is_prefixed.format(quote(name)) for name, kind in best.columns if kind in _NUMERIC}
    texts = dict((best := best.keep_as_text(first, prefixed, LOOKED_AT)).columns)
    for name in (name for name in prefixed if texts[name] == "VARCHAR"):
        noticing.add("codes", "codes such as 0x0A are kept as text", name)
    names = [name for name, kind in best.columns if kind == "DOUBLE"]
    if not names:
        return best
    best = _keep_versions_as_text(best, names, noticing)
    mark = "," if "decimal" in best.options else "."
    unclear = literal(_UNCLEAR.format(mark=mark))
    count_sql = ", ".join(
        f"count_if(contains({cell}, {literal(mark)})), count_if(regexp_full_match({cell}, {unclear})),"
        f" count_if(regexp_full_match({cell}, {literal(_CODE)})), bool_or(regexp_full_match({cell}, {literal(_CUT)})),"
        f" bool_or(regexp_full_match({cell}, {unclear}) AND rtrim({cell}) LIKE '%0')"
        f" AND bool_or(regexp_full_match({cell}, {literal(_SHORT_NUMBER)}))"
        for cell in map(quote, names)
    )
    (counts,) = first.rows(count_sql, LOOKED_AT)
    codes = {name for name, count in zip(names, counts[2::5], strict=True) if count}
    for name in codes:
        noticing.add("codes", "codes of digits with an E, which could be read as powers of ten, are kept as text", name)
    for name in (name for name, is_cut in zip(names, counts[3::5], strict=True) if is_cut):
        noticing.add("codes", "numbers such as 1.23E+12 may have lost digits in a spreadsheet", name)
    best = best.with_text_columns(codes)
    mark_columns = {name for name, count in zip(names, counts[::5], strict=True) if count and name not in codes}
    if not mark_columns or "thousands" in best.options:
        return best
    # Semicolons separate columns where a comma is the decimals' mark, and commas where a point is. And who writes 500
    # without decimals writes 1.5, not 1.500.
    is_usual, is_unclear = first.delimiter == {".": ";", ",": ","}[mark], counts[::5] == counts[1::5]
    is_grouping = is_unclear and (is_usual or any(counts[4::5]))
    is_grouped_mark = is_grouping != noticing.is_guess_reversed("numbers")
    use, other = ("thousands", "decimals") if is_grouped_mark else ("decimals", "thousands")
    mark_name, unclear_columns = "point" if mark == "." else "comma", set[str]()
    for name, count, unclear_count, *_, is_grouped in zip(names, *(counts[at::5] for at in range(5)), strict=True):
        # Where other columns have decimals, a column of three each says nothing unless it is likely to have thousands.
        if name in mark_columns and count == unclear_count and (is_unclear or is_usual or is_grouped):
            unclear_columns.add(name)
            noticing.add("numbers", f"the {mark_name} is read as the mark of {use}; the file may mean {other}", name)
    if not is_grouped_mark or not unclear_columns:
        return best
    texts = {name for name, kind in best.columns if name in names and kind == "VARCHAR"}
    decimal = "," if mark == "." else "."
    grouped = first.sniff_cells(_build_number_options(decimal, mark)).with_text_columns(texts)
    return _keep_ungrouped_as_text(first, grouped, decimal, mark)


def _keep_versions_as_text(best: CsvReader, names: Sequence[str], noticing: NoticeCollector) -> CsvReader:
    """Keep numbers of versions and cases as text, by a column's name or where 1.10 stands beside 1.1."""
    # Of one first number there are both kinds; hand-written prices such as 2.5 and 3.50 are mostly of several.
    starts = "list(DISTINCT regexp_extract({0}, '%s')) FILTER (regexp_full_match({0}, '%s'))"
    pairs = (("[0-9]+", _TENTHS[0]), (_TENTHS[0][0], _TENTHS[0]), ("[0-9]+", _TENTHS[1]))
    both = (f"list_has_any({', '.join(starts % (start, last) for last in pair)})" for start, pair in pairs)
    tenths, lost = next(both), " OR ".join(both)
    named = f"{lost} OR {tenths} OR bool_or({{0}} LIKE '%0')"
    whole = (f"bool_and(regexp_full_match({quote(name)}, {literal(_VERSION)}))" for name in names)
    (are_whole,) = best.rows(", ".join(whole), LOOKED_AT)
    names, flags = [name for name, is_version in zip(names, are_whole, strict=True) if is_version], list[bool | None]()
    for first in range(0, len(names), _LISTED):
        group = names[first : first + _LISTED]
        forms = (named if _VERSION_NAME.fullmatch(name[-60:]) else lost for name in group)
        checks = (f"CASE WHEN {form} THEN true WHEN {tenths} THEN false END" for form in forms)
        sql = ", ".join(check.replace("{0}", quote(name)) for name, check in zip(group, checks, strict=True))
        flags += best.rows(sql, LOOKED_AT)[0]
    is_turned, texts = noticing.is_guess_reversed("numbers"), set[str]()
    for name, is_version in sorted((name, flag) for name, flag in zip(names, flags, strict=True) if flag is not None):
        texts |= {name} if is_version != is_turned else set()
        decision = "kept as text" if name in texts else "read as numbers"
        reason = ", as you said" if is_turned else ": they may count versions or cases"
        noticing.add("numbers", f"numbers such as 1.9 and 1.10 are {decision}{reason}", name)
    return best.with_text_columns(texts)


def _keep_mixed_dates_as_text(reader: CsvReader) -> CsvReader:
    """Keep columns as text if some dates are written in another form than the detected one."""
    conditions = dict[str, str]()
    for name, form in reader.date_formats.items():
        cell = quote(name)
        read_cell = f"try_strptime({cell}, {literal(form)})" if form else f"try_cast({cell} AS TIMESTAMP)"
        conditions[name] = f"count({cell}) > count({read_cell})"
    return reader.keep_as_text(reader, conditions, reader.sample_rows)


def _find_last_century_columns(best: CsvReader, noticing: NoticeCollector) -> set[str]:
    """Return the date columns whose late years belong to the last century; add notices on them."""
    names = [name for name, form in best.date_formats.items() if "%y" in form]
    if not names:
        return set()
    # DuckDB takes 50 for 2050: nobody was born then, and few dates are that far ahead.
    late = ", ".join(f"max(year({quote(name)})) > {_THIS_YEAR + _AHEAD}" for name in names)
    flags = best.connection.execute(f"SELECT {late} FROM (SELECT * FROM {best.scan} LIMIT {FIRST_ROWS})").fetchall()[0]
    unclear = {notice.column for notice in noticing.notices if notice.kind == "dates"}
    columns: set[str] = set()
    for name, is_late in zip(names, flags, strict=True):
        # Where the order of day and month is unclear, the word turns that.
        turned_by = "write years with four digits" if name in unclear else ""
        is_past = bool(is_late) != (not turned_by and noticing.is_guess_reversed("dates"))
        years = f"{_THIS_YEAR - 99} to {_THIS_YEAR}" if is_past else "1969 to 2068"
        noticing.add("dates", f"years of two digits are read as {years}", name, turned_by=turned_by)
        columns |= {name} if is_past else set()
    return columns


def _detect_date_order(best: CsvReader, noticing: NoticeCollector) -> tuple[CsvReader, dict[str, str]]:
    """Read dates in the order that fits most columns; return remarks on ambiguous columns."""
    best = _keep_mixed_dates_as_text(best)
    cells = zip(*best.rows("*", _DATED_ROWS), strict=True)
    texts_by_name = {name: list(filter(None, texts)) for (name, _), texts in zip(best.columns, cells, strict=False)}
    formats = _detect_date_formats(chain(*texts_by_name.values()))
    if not formats:
        return best, {}
    # Numbers that were kept text stay so.
    texts = {name for name, kind in best.columns if kind == "VARCHAR" and not _detect_date_formats(texts_by_name[name])}
    orders = (best.sniff_cells(formats.format(*order)) for order in _ORDERS)
    day_first, month_first = readers = [_keep_mixed_dates_as_text(reader.with_text_columns(texts)) for reader in orders]
    is_tie = day_first.typed_count == month_first.typed_count
    # Who writes hours in halves of days mostly writes the month first.
    is_american = "%p" in formats
    likelier = is_american != noticing.is_guess_reversed("dates")
    index = int(likelier if is_tie else month_first.typed_count > day_first.typed_count)
    if readers[index].typed_count < best.typed_count:
        return best, {}
    if not is_tie:
        # Where another column fits in one order only, that is the file's.
        return readers[index], {}
    date_columns = ({name for name, kind in reader.columns if kind in DATE_TYPES} for reader in readers)
    # With points, the day comes first.
    unclear = {
        name
        for name, texts in texts_by_name.items()
        if any(shape["sign"] != "." for shape in filter(None, map(_SHAPE.fullmatch, texts)))
    }.intersection(*date_columns)
    for name in sorted(unclear):
        noticing.add("dates", f"{_READ_AS[index]}; write dates as 2024-12-31 to be sure", name)
    return readers[index], dict.fromkeys(unclear, _READ_AS[index])


def _check_first_lines(path: Path, lines: Sequence[str]) -> None:
    """Refuse a file whose first lines are too long or have too many columns."""
    if max(map(len, lines)) > _LINE_BYTES:
        raise DatabaseUnavailable(
            f"{path} cannot be read: it has a line of more than {_LINE_BYTES:,} characters: check that its rows end"
            " with the end of a line, and that no quote is left open"
        )
    check_column_count(path, max(map(lines[0].count, _SEPARATORS)) + 1)


def check_column_count(path: Path, width: int) -> None:
    """Refuse a file that has too many columns."""
    if width > MOST_COLUMNS:
        raise DatabaseUnavailable(
            f"{path} cannot be read: it has {width:,} columns, and at most {MOST_COLUMNS:,} are read: leave some out"
        )


_SHAPE = re.compile(
    r"\s*\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?P<time>[ T]\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<half>\s?[AaPp][Mm])?)?\s*"
)
# Day first, which most of the world writes, and month first.
_ORDERS = (("%d", "%m"), ("%m", "%d"))
# Of two orders that fit equally well, the first is taken.
_READ_AS = (
    "read as day/month/year; the file may mean month/day/year",
    "read as month/day/year; the file may mean day/month/year",
)


def _detect_date_formats(texts: Iterable[str]) -> str:
    """Return DuckDB's format options for dates in texts, with placeholders for day and month."""
    formats: dict[str, str] = {}
    for shape in filter(None, map(_SHAPE.fullmatch, texts)):
        form = f"{{0}}{shape['sign']}{{1}}{shape['sign']}{'%Y' if len(shape['year']) == 4 else '%y'}"
        if time := shape["time"]:
            half = shape["half"] or ""
            form += f"{time[0]}{'%I' if half else '%H'}:%M{':%S' if shape['seconds'] else ''}"
            form += f"{' ' * half[:1].isspace()}%p" if half else ""
        formats.setdefault("timestampformat" if time else "dateformat", form)
    return "".join(f", {name} = '{form}'" for name, form in formats.items())
