"""Files of separated values: their encoding, separator, header, and the types of their columns."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

import duckdb

from ..quoting import quoted
from .identifiers import column_names
from .named_files import NamedFiles

# Of a larger file, this much is looked at to tell its encoding, at its beginning and its end.
_LOOKED_AT = 4_000_000
# Types are found by all rows of a file of this size, and by the first ones of a larger one.
_WHOLE_BYTES = 32_000_000
_FIRST_ROWS = 200_000
_WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC = (*_WHOLE_NUMBERS, "FLOAT", "DOUBLE")
_COPIED_BYTES = 1 << 20
_CONTROLS = re.compile(rb"[\x80-\x9f]")
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
    """

    scan: str
    columns: tuple[tuple[str, str], ...]
    path: Path


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
    """
    encoding = _encoding(path)
    if encoding not in ("utf-8", "latin-1", "utf-16"):
        path, encoding = _copied(path, private, encoding), "utf-8"
    whole = thorough or path.stat().st_size <= _WHOLE_BYTES
    size = f", sample_size = {-1 if whole else _FIRST_ROWS}"
    first = _sniffed(connection, files.address(path), size, f"encoding = '{encoding}'")
    if len(first.columns) == 1 and (separator := _separator(first.columns[0][0])):
        # Rows that are too short make it look as if nothing were separated.
        padded = f"encoding = '{encoding}', delim = {literal(separator)}, null_padding = true"
        first = _sniffed(connection, files.address(path), size, padded)
    found = [first]
    for numbers in _NUMBERS if any(kind == "VARCHAR" for _, kind in first.columns) else ():
        # A comma can only be a decimal's where it separates nothing.
        if first.delimiter != "," or "decimal" not in numbers:
            read = _sniffed(connection, files.address(path), size, first.options + numbers)
            found.append(_grouped(connection, files.address(path), first, read) if "thousands" in numbers else read)
    best = max(found, key=lambda each: each.typed * (len(each.columns) == len(first.columns)))
    names = [name for name, _ in best.columns]
    return TextTable(best.scan(files.address(path)), tuple(zip(names, _repaired(names), strict=True)), path)


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


def _sniffed(connection: duckdb.DuckDBPyConnection, address: str, size: str, options: str) -> _Sniffed:
    (found,) = connection.execute(
        "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, DateFormat, TimestampFormat, Columns"
        f" FROM sniff_csv({literal(address)}, {options}{size})"
    ).fetchall()
    delimiter, quote, escape, comment, skipped, header, days, times, columns = found
    # Quotes may come later, even if the rows that were looked at have none.
    quote, escape = (sign if sign != _NONE else '"' for sign in (quote, escape))
    details = f", quote = {literal(quote)}, escape = {literal(escape)}, skip = {int(skipped)}, header = {bool(header)}"
    for name, value in (("comment", comment), ("dateformat", days), ("timestampformat", times)):
        if value is not None and value != _NONE:
            details += f", {name} = {literal(str(value))}"
    named = tuple((str(each["name"]), str(each["type"])) for each in cast("list[dict[str, Any]]", columns))
    return _Sniffed(options, str(delimiter), details, named)


def _grouped(connection: duckdb.DuckDBPyConnection, address: str, first: _Sniffed, read: _Sniffed) -> _Sniffed:
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
    texts = replace(first, columns=tuple((name, "VARCHAR") for name, _ in first.columns))
    (told,) = connection.execute(f"SELECT {wrong} FROM {texts.scan(address)}").fetchall()
    left = {name for name, is_wrong in zip(numbers, told, strict=True) if is_wrong}
    return replace(read, columns=tuple((name, "VARCHAR" if name in left else kind) for name, kind in read.columns))


def _separator(header: str) -> str:
    """The sign that most likely separates a header; empty where there is none."""
    likeliest = max(_SEPARATORS, key=header.count)
    return likeliest if likeliest in header else ""


def _repaired(names: Sequence[str]) -> list[str]:
    return column_names([re.sub(r"^\ufeff", "", name) for name in names])


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _encoding(path: Path) -> str:
    """Python's name of the encoding, by the mark at the beginning or by what can be read as UTF-8."""
    start, end = _ends(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16" if start.startswith(codecs.BOM_UTF16_LE) and path.suffix != ".gz" else "utf-16-be-marked"
    # Every second byte of plain text in UTF-16 is zero.
    if start[1:200:2].count(0) > len(start[:200]) // 4:
        return "utf-16-le"
    if start[0:200:2].count(0) > len(start[:200]) // 4:
        return "utf-16-be"
    if _is_utf8(start) and _is_utf8(end):
        return "utf-8"
    return "cp1252" if _CONTROLS.search(start) or _CONTROLS.search(end) else "latin-1"


def _ends(path: Path) -> tuple[bytes, bytes]:
    with _opened(path) as file:
        start = file.read(_LOOKED_AT)
        size = path.stat().st_size
        if path.suffix == ".gz" or size <= len(start):
            return start, b""
        file.seek(max(len(start), size - _LOOKED_AT))
        return start, file.read(_LOOKED_AT)


def _is_utf8(part: bytes) -> bool:
    """Whether a piece, which may begin and end within a character, is UTF-8."""
    for skipped in range(min(4, len(part) + 1)):
        try:
            codecs.getincrementaldecoder("utf-8")().decode(part[skipped:])
        except UnicodeDecodeError:
            continue
        return True
    return False


def _copied(path: Path, private: Path, encoding: str) -> Path:
    """The file's text in UTF-8."""
    copy = private / f"{len(list(private.iterdir()))}.csv"
    name = "utf-16" if encoding == "utf-16-be-marked" else encoding
    with _opened(path) as file, copy.open("w", encoding="utf-8", newline="") as written:
        reader = codecs.getreader(name)(cast("Any", file), "replace")
        while part := reader.read(_COPIED_BYTES):
            written.write(part)
    return copy


def _opened(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")
