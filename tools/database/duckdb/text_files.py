"""Files of separated values: their separator, header, and the types of their columns."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import duckdb

from ...errors import DatabaseUnavailable
from ..quoting import literal, quoted
from .sources import column_names

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
    """How a file is read, and what was guessed of it."""

    scan: str  # a call of `read_csv` with everything spelled out
    columns: tuple[tuple[str, str], ...]  # the file's own names, as the call gives them, and the repaired ones
    path: Path  # the file, or its copy in UTF-8
    title: str  # what stands above its header
    remarks: tuple[str, ...]
    dated: dict[str, str]  # remarks on columns of dates, by the file's own names


def read_text_file(
    connection: duckdb.DuckDBPyConnection,
    address: Callable[[Path], str],
    path: Path,
    private: Path,
    *,
    thorough: bool = False,
) -> TextTable:
    """Find out how to read a file; raise `duckdb.Error` or `DatabaseUnavailable` if it cannot be read as a table."""
    encoding = encoding_of(path)
    remarks = (f"not UTF-8, read as {encoding.name}: a guess",) if encoding.is_guess else ()
    if not encoding.is_native:
        path, encoding = copied(path, private, encoding), Encoding("utf-8")
    _check_lines(path, encoding)
    whole = thorough or unpacked_size(path, WHOLE_BYTES) <= WHOLE_BYTES
    look = _Look(connection, address(path), f", sample_size = {-1 if whole else FIRST_ROWS}")
    with open_unpacked(path) as file:
        head = file.read(_HEAD_BYTES).decode(encoding.name, "replace").splitlines(keepends=True)
    first, title = _laid_out(look, head, f"encoding = '{encoding.name}'")
    best, dated = _dated(look, _numbered(look, first))
    names = [name for name, _ in best.columns]
    columns = tuple(zip(names, column_names([re.sub(r"^\ufeff", "", name) for name in names]), strict=True))
    return TextTable(best.scan(look.address), columns, path, title, remarks, dated)


@dataclass(frozen=True)
class _Sniffed:
    """What DuckDB finds if it is given some options."""

    options: str
    delimiter: str
    details: str  # the options that it found
    columns: tuple[tuple[str, str], ...]  # names with types

    @property
    def typed(self) -> int:
        """How many columns hold something else than text."""
        return sum(kind != "VARCHAR" for _, kind in self.columns)

    def scan(self, address: str) -> str:
        listed = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in self.columns)
        found = "" if "delim = " in self.options else f", delim = {literal(self.delimiter)}"
        columns = f"columns = {{{listed}}}"
        return f"read_csv({literal(address)}, auto_detect = false, {self.options}{found}{self.details}, {columns})"


@dataclass(frozen=True)
class _Look:
    """Asks DuckDB what it finds in a file."""

    connection: duckdb.DuckDBPyConnection
    address: str
    size: str  # the option for how many rows are looked at

    def sniffed(self, options: str) -> _Sniffed:
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
        """Read some of the file, as the texts that are in it."""
        texts = replace(read, columns=tuple((name, "VARCHAR") for name, _ in read.columns))
        return self.connection.execute(f"SELECT {what} FROM {texts.scan(self.address)}{rest}").fetchall()


def _laid_out(look: _Look, head: Sequence[str], options: str) -> tuple[_Sniffed, str]:
    """Return how columns are separated and where the header is, and what stands above it."""
    if head and (named := _NAMED_SEPARATOR.fullmatch(head[0])):
        return look.sniffed(f"{options}, delim = {literal(named[1])}, skip = 1"), ""
    first = look.sniffed(options)
    header = first.columns[0][0] if len(first.columns) == 1 else ""
    likeliest = max(_SEPARATORS, key=header.count)
    if likeliest in header:
        # Rows that are too short make it look as if nothing were separated.
        first = look.sniffed(f"{options}, delim = {literal(likeliest)}, null_padding = true")
    skipped, title = _titled(head, first.delimiter)
    return (look.sniffed(f"{first.options}, skip = {skipped}, header = true") if skipped else first), title


def _titled(head: Sequence[str], delimiter: str) -> tuple[int, str]:
    """Return how many lines stand above the header, and what they say."""
    reader = csv.reader(head, delimiter=delimiter if len(delimiter) == 1 else ",")
    try:
        rows = [(row, reader.line_num) for row in islice(reader, _HEAD_ROWS)]
    except csv.Error:
        return 0, ""
    at = header_at([row for row, _ in rows])
    return (rows[at - 1][1], titles([row for row, _ in rows[:at]])) if at else (0, "")


def _numbered(look: _Look, first: _Sniffed) -> _Sniffed:
    """Have numbers read as most columns write them."""
    found = [first]
    for numbers in _NUMBERS if any(kind == "VARCHAR" for _, kind in first.columns) else ():
        # A comma can only be a decimal's where it separates nothing.
        if first.delimiter != "," or "decimal" not in numbers:
            read = look.sniffed(first.options + numbers)
            found.append(_grouped(look, first, read) if "thousands" in numbers else read)
    return max(found, key=lambda each: each.typed * (len(each.columns) == len(first.columns)))


def _grouped(look: _Look, first: _Sniffed, read: _Sniffed) -> _Sniffed:
    """Keep numbers text whose thousands are no groups of three digits: `1,50` would be read as 150."""
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
    (flags,) = look.rows(wrong, first)
    texts = {name for name, is_wrong in zip(numbers, flags, strict=True) if is_wrong}
    return replace(read, columns=tuple((name, "VARCHAR" if name in texts else kind) for name, kind in read.columns))


def _dated(look: _Look, best: _Sniffed) -> tuple[_Sniffed, dict[str, str]]:
    """Have dates read in the order that fits most columns, and return remarks on those that fit in both."""
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
    """Look at the first lines before DuckDB does, which takes long over what it cannot read."""
    with open_unpacked(path) as file:
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
    """Return the message on a file with too many columns."""
    return f"{path} cannot be read: it has {width:,} columns, and at most {MOST_COLUMNS:,} are read: leave some out"


_SHAPE = re.compile(
    r"\s*\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?P<time>[ T]\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<half>\s?[AaPp][Mm])?)?\s*"
)

ORDERS = ("%d{0}%m", "%m{0}%d")
"""Day first, which most of the world writes, and month first."""

READ_AS = {
    "%d{0}%m": "read as day/month/year; the file may mean month/day/year",
    "%m{0}%d": "read as month/day/year; the file may mean day/month/year",
}
"""What is told of a column that could be read in both orders."""


def shapes(texts: Iterable[str]) -> tuple[str, ...]:
    """Return formats, with `{order}` for day and month, of the dates and times among texts; at most one of each."""
    days = times = ""
    for text in texts:
        found = _SHAPE.fullmatch(text)
        if found is None:
            continue
        sign, year = found["sign"], "%Y" if len(found["year"]) == 4 else "%y"
        day = f"{{order}}{sign}{year}"
        if found["time"] is None:
            days = days or day
        elif not times:
            seconds = ":%S" if found["seconds"] else ""
            half = "" if found["half"] is None else " %p" if found["half"][0].isspace() else "%p"
            times = f"{day}{found['time'][0]}{'%I' if half else '%H'}:%M{seconds}{half}"
    return days, times


def options(formats: tuple[str, ...], order: str) -> str:
    """Return the options of `sniff_csv` for one order."""
    days, times = (each.replace("{order}", order.format(each.removeprefix("{order}")[:1])) for each in formats)
    return (f", dateformat = '{days}'" if days else "") + (f", timestampformat = '{times}'" if times else "")


def is_open(text: str) -> bool:
    """Whether a text is a date that people write in either order; with points, the day comes first."""
    found = _SHAPE.fullmatch(text)
    return found is not None and found["sign"] != "."


_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d%?")
_YEARS = range(1900, 2101)
_LONGEST_TITLE = 200


def is_filled(cell: object) -> bool:
    """Whether there is something in a cell."""
    return cell is not None and cell != ""


def header_at(rows: Sequence[Sequence[object]]) -> int:
    """Return the place of the header; 0 if it is not surely a later row."""
    # A title fills the first column and at most half of all; below titles, a header is a row of words.
    width = len({place for row in rows for place, cell in enumerate(row) if is_filled(cell)})
    start = min((place for row in rows for place, cell in enumerate(row) if is_filled(cell)), default=0)
    for at, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        is_title = not filled or (2 * len(filled) <= width and is_filled(row[start]))
        if not is_title:
            return at if all(map(_is_name, filled)) else 0
    return 0


def titles(rows: Sequence[Sequence[object]]) -> str:
    """Return what stands in rows above the header, in one line."""
    return " ".join(" ".join(str(cell).split()) for row in rows for cell in row if is_filled(cell))[:_LONGEST_TITLE]


def _is_name(cell: object) -> bool:
    if isinstance(cell, str):
        number = _NUMBER.fullmatch(cell.strip())
        return number is None or (cell.strip().isdigit() and int(cell) in _YEARS)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell in _YEARS


# Of a larger file, this much is looked at, at its beginning and its end.
_LOOKED_AT = 4_000_000
# Of the lines with other signs than ASCII's, so many bytes are enough to tell a language by.
_WEIGHED = 64_000
_COPIED_BYTES = 1 << 20
_WESTERN = "cp1252"
# Those that spreadsheets and databases write, by Python's names; obscurer ones would only be mistaken for them.
_CANDIDATES = tuple(
    """
    cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 cp932 euc-jp gb18030 big5 cp949 koi8-r cp866
    cp850 cp852 mac-roman iso-8859-2 iso-8859-7
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
# Western text has few signs to tell it by: it is taken for another only where that is about twice as likely.
_PRIOR = 0.55


@dataclass(frozen=True)
class Encoding:
    """What a file is read as, by Python's name; a guess if nothing in the file says so."""

    name: str
    is_guess: bool = False

    @property
    def is_native(self) -> bool:
        """Whether DuckDB reads it itself."""
        return self.name in ("utf-8", "latin-1", "utf-16")


def encoding_of(path: Path) -> Encoding:
    """Return the encoding of a file."""
    start, end = _ends(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16" if start.startswith(codecs.BOM_UTF16_LE) and path.suffix != ".gz" else "utf-16-marked")
    # Every second byte of plain text in UTF-16 is zero.
    if start[1:200:2].count(0) > len(start[:200]) // 4:
        return Encoding("utf-16-le")
    if start[0:200:2].count(0) > len(start[:200]) // 4:
        return Encoding("utf-16-be")
    if _reads("utf-8", start) and _reads("utf-8", end):
        return Encoding("utf-8")
    return Encoding(_likeliest(start, end), is_guess=True)


def copied(path: Path, private: Path, encoding: Encoding) -> Path:
    """Copy the file's text in UTF-8, to a folder of our own."""
    copy = private / f"{len(list(private.iterdir()))}.csv"
    name = encoding.name.removesuffix("-marked")
    with open_unpacked(path) as file, copy.open("w", encoding="utf-8", newline="") as written:
        reader = codecs.getreader(name)(cast("Any", file), "replace")
        while part := reader.read(_COPIED_BYTES):
            written.write(part)
    return copy


def open_unpacked(path: Path) -> IO[bytes]:
    """Open a file, whose bytes are unpacked."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def unpacked_size(path: Path, enough: int) -> int:
    """Return the size of a file, unpacked; anything larger than `enough` if it is larger."""
    if path.suffix != ".gz":
        return path.stat().st_size
    size = 0
    with open_unpacked(path) as file:
        while size <= enough and (part := file.read(_COPIED_BYTES)):
            size += len(part)
    return size


def _likeliest(start: bytes, end: bytes) -> str:
    """Return the encoding of what is not UTF-8, by statistics of languages, over the lines that tell."""
    import chardet

    lines = [line for line in (start + b"\n" + end).splitlines() if not line.isascii()]
    weighed = b"\n".join(lines)[:_WEIGHED]
    if not any(sign.isalpha() for sign in weighed.decode(_WESTERN, "ignore") if not sign.isascii()):
        return _western(start + end)
    found = chardet.detect_all(weighed, ignore_threshold=True, compat_names=False, include_encodings=_CANDIDATES)
    weights = [(str(each["encoding"]), each["confidence"]) for each in found if each["encoding"]]
    western = max((sure for name, sure in weights if codecs.lookup(name).name == _WESTERN), default=0.0)
    for name, sure in weights:
        if western >= _PRIOR * sure:
            break
        if _reads(name, start) and _reads(name, end):
            return name
    return _western(start + end)


def _western(part: bytes) -> str:
    # DuckDB reads Latin-1 itself, which differs in what are control characters there.
    return _WESTERN if any(128 <= byte < 160 for byte in set(part)) else "latin-1"


def _reads(name: str, part: bytes) -> bool:
    """Whether a piece, which may begin and end within a character, can be read so."""
    for skipped in range(min(4, len(part) + 1)):
        try:
            codecs.getincrementaldecoder(name)().decode(part[skipped:])
        except UnicodeDecodeError:
            continue
        return True
    return False


def _ends(path: Path) -> tuple[bytes, bytes]:
    with open_unpacked(path) as file:
        start = file.read(_LOOKED_AT)
        size = path.stat().st_size
        if path.suffix == ".gz" or size <= len(start):
            return start, b""
        file.seek(max(len(start), size - _LOOKED_AT))
        return start, file.read(_LOOKED_AT)
