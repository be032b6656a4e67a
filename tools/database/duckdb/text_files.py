"""Files of separated values: their separator, header, and the types of their columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import duckdb

from ...errors import DatabaseUnavailable
from ..quoting import quoted
from .dates import ORDERS, READ_AS, is_open, options, shapes
from .encodings import Encoding, copied, encoding_of, opened, unpacked_size
from .headers import header_at, titles
from .identifiers import column_names
from .named_files import NamedFiles

# Types are found by all rows of a file of this size, and by the first ones of a larger one.
WHOLE_BYTES = 32_000_000
FIRST_ROWS = 200_000
_WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC = (*_WHOLE_NUMBERS, "FLOAT", "DOUBLE")
# Beyond that, a schema is of no use, and describing it takes minutes.
MOST_COLUMNS = 4_000
# As DuckDB reads them.
_LINE_BYTES = 2_000_000
# So much of a file is looked at for titles above its header, and so many rows for how dates are written.
_HEAD_BYTES = 64_000
_HEAD_ROWS = 30
_DATED_ROWS = 100
_DATED = ("DATE", "TIMESTAMP")
# What Excel writes, and reads, as a first line.
_NAMED_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?\s*", re.IGNORECASE)
# How numbers may be written, if not as 1234.5: 1234,5; 1.234,5; 1,234.5.
_NUMBERS = (", decimal_separator = ','", ", decimal_separator = ',', thousands = '.'", ", thousands = ','")
# What a number has, if not digits alone: a sign, groups of three digits, decimals.
_GROUPED = r"\s*[-+]?[0-9]{{1,3}}({thousands}[0-9]{{3}})+({decimal}[0-9]*)?\s*"
_SEPARATORS = (",", ";", "\t", "|")
# How the report on a file says that there is no such sign.
_NONE = "(empty)"


@dataclass(frozen=True)
class TextTable:
    """How a file is read.

    Attributes:
        scan: A call of `read_csv` with everything spelled out.
        columns: The file's own names, as the call gives them, and the repaired ones.
        path: What is read: the file, or its copy in UTF-8.
        title: What stands above its header.
        remarks: What was guessed of the file.
        dated: What was guessed of columns of dates, by the file's own names.
    """

    scan: str
    columns: tuple[tuple[str, str], ...]
    path: Path
    title: str = ""
    remarks: tuple[str, ...] = ()
    dated: dict[str, str] = field(default_factory=dict[str, str])


def read_text_file(
    connection: duckdb.DuckDBPyConnection, files: NamedFiles, path: Path, private: Path, *, thorough: bool = False
) -> TextTable:
    """Looks at a file.

    Args:
        connection: Reads the files.
        files: Gives them addresses.
        path: The file.
        private: A folder for the copy of a file in an encoding that DuckDB doesn't read.
        thorough: Whether types are found by all rows, however many there are.

    Raises:
        duckdb.Error: It cannot be read as a table.
        DatabaseUnavailable: A line is too long, or has too many columns.
    """
    encoding = encoding_of(path)
    remarks = (f"not UTF-8, read as {encoding.name}: a guess",) if encoding.is_guess else ()
    if not encoding.is_native:
        path, encoding = copied(path, private, encoding), Encoding("utf-8")
    _check_lines(path, encoding)
    whole = thorough or unpacked_size(path, WHOLE_BYTES) <= WHOLE_BYTES
    look = _Look(connection, files.address(path), f", sample_size = {-1 if whole else FIRST_ROWS}")
    first, title = _laid_out(look, _head(path, encoding), f"encoding = '{encoding.name}'")
    best, dated = _dated(look, _numbered(look, first))
    names = [name for name, _ in best.columns]
    columns = tuple(zip(names, _repaired(names), strict=True))
    return TextTable(best.scan(look.address), columns, path, title, remarks, dated)


@dataclass(frozen=True)
class _Sniffed:
    """What DuckDB finds.

    Attributes:
        options: Those that it was asked with.
        delimiter: The separator.
        details: The options that it found.
        columns: Names with types.
    """

    options: str
    delimiter: str
    details: str
    columns: tuple[tuple[str, str], ...]

    @property
    def typed(self) -> int:
        """How many columns hold something else than text."""
        return sum(kind != "VARCHAR" for _, kind in self.columns)

    def scan(self, address: str) -> str:
        """The call that reads the file so."""
        listed = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in self.columns)
        found = "" if "delim = " in self.options else f", delim = {literal(self.delimiter)}"
        columns = f"columns = {{{listed}}}"
        return f"read_csv({literal(address)}, auto_detect = false, {self.options}{found}{self.details}, {columns})"


@dataclass(frozen=True)
class _Look:
    """Asks DuckDB what it finds in a file.

    Attributes:
        connection: Reads it.
        address: Where it is.
        size: The option for how many rows are looked at.
    """

    connection: duckdb.DuckDBPyConnection
    address: str
    size: str

    def sniffed(self, options: str) -> _Sniffed:
        """What it finds where some options are given."""
        (found,) = self.connection.execute(
            "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, DateFormat, TimestampFormat, Columns"
            f" FROM sniff_csv({literal(self.address)}, {options}{self.size})"
        ).fetchall()
        delimiter, quote, escape, comment, skipped, header, days, times, columns = found
        # Quotes may come later, even if the rows that were looked at have none.
        quote, escape = (sign if sign != _NONE else '"' for sign in (quote, escape))
        details = f", quote = {literal(quote)}, escape = {literal(escape)}"
        details += "" if ", header = " in options else f", header = {bool(header)}"
        for name, value in (("skip", skipped), ("comment", comment), ("dateformat", days), ("timestampformat", times)):
            if value is not None and value != _NONE and f", {name} = " not in options:
                details += f", {name} = {value if name == 'skip' else literal(str(value))}"
        named = tuple((str(each["name"]), str(each["type"])) for each in cast("list[dict[str, Any]]", columns))
        return _Sniffed(options, str(delimiter), details, named)

    def rows(self, what: str, read: _Sniffed, rest: str = "") -> list[Any]:
        """Some of the file, as the texts that are in it."""
        texts = replace(read, columns=tuple((name, "VARCHAR") for name, _ in read.columns))
        return self.connection.execute(f"SELECT {what} FROM {texts.scan(self.address)}{rest}").fetchall()


def _laid_out(look: _Look, head: Sequence[str], options: str) -> tuple[_Sniffed, str]:
    """How columns are separated and where the header is, and what stands above it."""
    named = _NAMED_SEPARATOR.fullmatch(head[0]) if head else None
    if named:
        return look.sniffed(f"{options}, delim = {literal(named[1])}, skip = 1"), ""
    first = look.sniffed(options)
    if len(first.columns) == 1 and (separator := _separator(first.columns[0][0])):
        # Rows that are too short make it look as if nothing were separated.
        first = look.sniffed(f"{options}, delim = {literal(separator)}, null_padding = true")
    skipped, title = _titled(head, first.delimiter)
    return (look.sniffed(f"{first.options}, skip = {skipped}, header = true") if skipped else first), title


def _titled(head: Sequence[str], delimiter: str) -> tuple[int, str]:
    """How many lines stand above the header, and what they say."""
    reader = csv.reader(head, delimiter=delimiter if len(delimiter) == 1 else ",")
    try:
        rows = [(row, reader.line_num) for row in islice(reader, _HEAD_ROWS)]
    except csv.Error:
        return 0, ""
    at = header_at([row for row, _ in rows])
    return (rows[at - 1][1], titles([row for row, _ in rows[:at]])) if at else (0, "")


def _numbered(look: _Look, first: _Sniffed) -> _Sniffed:
    """The same with numbers as most columns write them."""
    found = [first]
    for numbers in _NUMBERS if any(kind == "VARCHAR" for _, kind in first.columns) else ():
        # A comma can only be a decimal's where it separates nothing.
        if first.delimiter != "," or "decimal" not in numbers:
            read = look.sniffed(first.options + numbers)
            found.append(_grouped(look, first, read) if "thousands" in numbers else read)
    return max(found, key=lambda each: each.typed * (len(each.columns) == len(first.columns)))


def _grouped(look: _Look, first: _Sniffed, read: _Sniffed) -> _Sniffed:
    """The same, with text for numbers whose thousands are no groups of three digits: `1,50` would be read as 150."""
    thousands, decimal = (r"\.", ",") if "decimal" in read.options else (",", r"\.")
    numbers = [
        name for name, kind in read.columns if kind in _NUMERIC and dict(first.columns).get(name) not in _WHOLE_NUMBERS
    ]
    if not numbers:
        return read
    pattern = literal(_GROUPED.format(thousands=thousands, decimal=decimal))
    wrong = ", ".join(
        f"coalesce(bool_or(contains({cell}, {literal(thousands[-1])})"
        f" AND NOT regexp_full_match({cell}, {pattern})), false)"
        for cell in map(quoted, numbers)
    )
    (told,) = look.rows(wrong, first)
    left = {name for name, is_wrong in zip(numbers, told, strict=True) if is_wrong}
    return replace(read, columns=tuple((name, "VARCHAR" if name in left else kind) for name, kind in read.columns))


def _dated(look: _Look, best: _Sniffed) -> tuple[_Sniffed, dict[str, str]]:
    """The same with dates in the order that fits most columns, and what to tell of those that fit in both."""
    rows = look.rows("*", best, f" LIMIT {_DATED_ROWS}")
    cells = zip(*rows, strict=True) if rows else [()] * len(best.columns)
    written = {name: list(filter(None, texts)) for (name, _), texts in zip(best.columns, cells, strict=True)}
    formats = shapes(text for texts in written.values() for text in texts)
    if not any(formats):
        return best, {}
    day_first, month_first = read = [look.sniffed(best.options + options(formats, order)) for order in ORDERS]
    order = int(month_first.typed > day_first.typed)
    if read[order].typed < best.typed:
        return best, {}
    both = (
        {name for name, kind in each.columns if kind in _DATED and any(map(is_open, written[name]))} for each in read
    )
    # Where another column fits in one order only, that is the file's.
    is_told = day_first.typed != month_first.typed
    return read[order], dict.fromkeys(() if is_told else set.intersection(*both), READ_AS[ORDERS[order]])


def _check_lines(path: Path, encoding: Encoding) -> None:
    """Looks at the first lines before DuckDB does, which takes long over what it cannot read."""
    with opened(path) as file:
        lines = file.read(2 * _LINE_BYTES).decode(encoding.name, "replace").split("\n")
    if max(map(len, lines)) > _LINE_BYTES:
        raise DatabaseUnavailable(
            f"{path} cannot be read: it has a line of more than {_LINE_BYTES:,} characters: see that its rows end with"
            " the end of a line, and that no quote is left open"
        )
    width = max(map(lines[0].count, _SEPARATORS)) + 1
    if width > MOST_COLUMNS:
        raise DatabaseUnavailable(too_wide(path, width))


def too_wide(path: Path, width: int) -> str:
    """What is said of a file with too many columns."""
    return f"{path} cannot be read: it has {width:,} columns, and at most {MOST_COLUMNS:,} are read: leave some out"


def _head(path: Path, encoding: Encoding) -> list[str]:
    """The first lines."""
    with opened(path) as file:
        return file.read(_HEAD_BYTES).decode(encoding.name, "replace").splitlines(keepends=True)


def _separator(header: str) -> str:
    """The sign that most likely separates a header; empty where there is none."""
    likeliest = max(_SEPARATORS, key=header.count)
    return likeliest if likeliest in header else ""


def _repaired(names: Sequence[str]) -> list[str]:
    return column_names([re.sub(r"^\ufeff", "", name) for name in names])


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
