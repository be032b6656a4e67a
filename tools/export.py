"""Writing rows to files and streams: CSV, JSON, JSON lines, Markdown, Excel and Parquet.

Nothing of what is written is ever a part of the result: it goes to a file of its own first, beside the one that is
wanted, which takes its place once every row is in it. Rows are held a part at a time, however many there are.
"""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatch
from functools import partial
from importlib.util import find_spec
from itertools import chain, count, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, Literal, TypeAlias, cast, get_args
from zipfile import ZIP_DEFLATED, ZipFile

from .database import Database, Limits
from .database.fetch import Row
from .database.table import Cell, PlainCell, convert_cell
from .database.watchdog import Cancellation
from .errors import ExportError, TableturnError
from .formats import PLAIN, ColumnFormat, FormatKind, format_rows, parse_date_text
from .whole_files import replace_file

Format = Literal["csv", "json", "jsonl", "md", "xlsx", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
Target = str | Path | BinaryIO
Formats: TypeAlias = Sequence[ColumnFormat]
"""A format per column; empty if cells are written as they are."""
MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
_PACKAGES: dict[Format, str] = {"xlsx": "openpyxl", "parquet": "pyarrow"}
_OTHER_ENDINGS = {"ndjson": "jsonl", "markdown": "md"}
BINARY = frozenset(_PACKAGES)

_BYTES = 4_000_000_000  # values of one export, all together: rows are not held, but a disk is finite
_MEMORY_FILE = 1_000_000  # bytes that are kept in memory before a stream's rows go to a temporary file

# Where spreadsheets would read a formula (OWASP, CSV injection): in a text, or after a semicolon, tab or line break, at
# which some divide it too, unless nothing but a number is there. An apostrophe before it keeps it a text. They pass
# over blanks, and some read the wide and small forms of these signs as the signs themselves.
_FORMULA = re.compile(
    r"(?:\A|(?<=[;\t])|(?<=[\s\S][\r\n])(?![\r\n]))(?! *[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?(?:[;\t\r\n]|\Z))"
    r"(?=(?:(?!\t)[\s\x00-\x1f\u200b\ufeff])*[=+\-@＝＋－＠﹦﹢﹣﹫])|\A(?=[\t\r\n])"
)
_WORDS, _LONGEST_NAME = re.compile(r"[^\W_]+"), 60
_MARKDOWN = re.compile(r"[\\`*\[\]|<>&~]|(?<!\w)_|_(?!\w)")

_SHEET_ROWS = 1_048_575  # what a sheet of Excel's holds below its header
_EXACT = 10**15  # Excel keeps fifteen digits: longer integers are written as text, so that none is changed
_PART_ROWS = 20_000
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True)
class ExportResult:
    """The result of an export: row count, truncation and format."""

    rows: int
    truncated: bool  # whether the query had more
    form: Format


def export_query(
    database: Database,
    sql: str,
    target: Target,
    form: Format,
    limits: Limits,
    cancellation: Cancellation | None = None,
    formats: Formats = (),
    headings: Sequence[str] = (),
) -> ExportResult:
    """Run a query and write its rows; `formats` and `headings` apply to Excel and Markdown only.

    The rows are for whoever the database's session is of: nothing is withheld, and none of it may go to a model.

    A target is a path, whose file is replaced at the end, or a stream, which gets nothing if anything fails. Of the
    limits `rows` is the most that are written, and `result_bytes` does not count, since nothing is held.

    Raises:
        QueryError: The query cannot be run under these limits.
        DatabaseUnavailable: The database is gone.
        ExportError: The file cannot be written, its form cannot hold the rows, or lacks its package.
    """
    with _open_sink(target, form, formats, headings, database) as sink:
        table = database.execute(sql, replace(limits, result_bytes=_BYTES), cancellation, sink)
    return ExportResult(sink.rows, table.truncated, form)


def export_rows(
    columns: Sequence[str],
    rows: Iterable[Row],
    target: Target,
    form: Format,
    formats: Formats = (),
    headings: Sequence[str] = (),
    database: Database | None = None,
) -> ExportResult:
    """Write given rows to a file or stream, as `export_query` does, but to no file of a database."""
    with _open_sink(target, form, formats, headings, database) as sink:
        sink.start(tuple(columns))
        for part in _batch_rows(rows):
            sink.take(part)
    return ExportResult(sink.rows, False, form)


def _batch_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(rows)
    yield from iter(lambda: list(islice(iterator, _PART_ROWS)), [])


def write_file(data: bytes, path: str | Path) -> None:
    """Write a whole file; if that fails, write nothing and raise `ExportError`."""
    with _raise_as_export_error(path), replace_file(check_export_target(None, path)) as file:
        file.write(data)


def check_export_target(database: Database | None, target: str | Path) -> Path:
    """Return a target's path, links resolved; raise `ExportError` if it cannot be written."""
    path = Path(os.path.realpath(target))
    if path.exists():
        place = database.location if database else ""
        same = os.path.exists(place) and any(os.path.samefile(place, item) for item in (path, path.parent))
        if same or fnmatch(str(path), place):
            raise ExportError(f"{target} is the database itself, or a part of it: name another file")
        if not path.is_file():
            raise ExportError(f"cannot write {target}: it exists already and is not a file")
    if not path.parent.is_dir():
        raise ExportError(f"cannot write {target}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ExportError(f"cannot write {target}: you may not write into {path.parent}")
    return path


def check_format_installed(form: Format) -> None:
    """Raise `ExportError` if the package that writes the format `form` is missing."""
    package = _PACKAGES.get(form)
    if package and find_spec(package) is None:
        raise ExportError(f"{form} files need {package}: pip install 'tableturn[files]'")


def infer_export_format(path: str | Path) -> Format:
    """Return the format for a file's extension; raise `ExportError` if it is unknown."""
    ending = Path(path).suffix.lower().removeprefix(".")
    form = _OTHER_ENDINGS.get(ending, ending)
    if form not in FORMATS:
        raise ExportError(f"cannot tell the format of {path}: use a name that ends in one of .{', .'.join(FORMATS)}")
    return form


def make_file_name(words: str) -> str:
    """Return a file name made of these words, valid on every system, without extension."""
    return " ".join(_WORDS.findall(words))[:_LONGEST_NAME].strip() or "result"


def escape_markdown(text: str) -> str:
    """Return the text escaped for Markdown: without links, images, HTML or emphasis."""
    return _MARKDOWN.sub(lambda match: f"\\{match[0]}", text)


class _ExportSink:
    """A sink that passes a query's rows to a writer, and restarts if the query restarts."""

    def __init__(self, file: BinaryIO, form: Format, target: Target, formats: Formats, headings: Sequence[str]) -> None:
        self._file, self._target = file, target
        self._form: Format = form
        self._formats, self._headings = formats, headings if form in ("xlsx", "md") else ()
        self.writer = self._write(())
        self.rows = 0

    def start(self, columns: tuple[str, ...]) -> None:
        """Start writing a result with the given columns, from the beginning of the file."""
        self.rows = 0
        self.writer = self._write(columns)
        next(self.writer)

    def take(self, rows: Sequence[Row]) -> None:
        """Write the next rows of the result."""
        self.writer.send(rows)
        self.rows += len(rows)

    def _write(self, columns: Sequence[str]) -> _Writer:
        check_format_installed(self._form)
        with _raise_as_export_error(self._target):
            self._file.seek(0)
            self._file.truncate()
            formats = self._formats or (PLAIN,) * len(columns)
            yield from _WRITERS[self._form](self._file, self._headings or columns, formats)


@contextmanager
def _open_sink(
    target: Target, form: Format, formats: Formats, headings: Sequence[str], database: Database | None = None
) -> Generator[_ExportSink]:
    """Yield a sink whose file replaces the target, or is copied to it, only if writing succeeds."""
    path = check_export_target(database, target) if isinstance(target, str | Path) else None
    with ExitStack() as stack:
        with _raise_as_export_error(target):
            buffer = stack.enter_context(tempfile.SpooledTemporaryFile(_MEMORY_FILE))
            file: Any = stack.enter_context(replace_file(path)) if path else buffer
        sink = _ExportSink(file, form, target, formats, headings)
        yield sink
        next(sink.writer, None)  # writes what comes after the last row
        with _raise_as_export_error(target):  # the last bytes reach the disk here, if it has room for them
            if not isinstance(target, str | Path):
                file.seek(0)
                shutil.copyfileobj(file, target)
                target.flush()
            stack.pop_all().close()


@contextmanager
def _raise_as_export_error(target: Target) -> Generator[None]:
    """Raise errors of files and file libraries as `ExportError`."""
    message = f"cannot write {target if isinstance(target, str | Path) else 'the rows'}: "
    try:
        yield
    except (TableturnError, BrokenPipeError):  # the latter is who reads a pipe and has had enough
        raise
    except OSError as error:
        raise ExportError(f"{message}{error.strerror or error}") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ExportError(f"{message}{type(error).__name__}: {error}") from error


# Writes a header, takes rows part by part, and ends when it gets None.
_Writer: TypeAlias = Generator[None, Sequence[Row] | None]


def _write_csv(file: BinaryIO, columns: Sequence[str], _formats: Formats) -> _Writer:
    """Write rows as CSV with a header; NULLs are empty, and no text is a formula."""
    format_line: Callable[[Iterable[object]], str] = csv.writer(cast("Any", SimpleNamespace(write=str))).writerow
    rows: Sequence[Row] | None = [tuple(columns)]
    while rows is not None:
        for row in rows:
            cells = (_FORMULA.sub("'", cell) if isinstance(cell, str) else convert_cell(cell) for cell in row)
            # Python's writer has to end lines as CSV does, or it leaves some in cells unquoted; files have Unix's ends.
            file.write((format_line(cells).removesuffix("\r\n") + "\n").encode("utf-8", "replace"))
        rows = yield


def _write_json(file: BinaryIO, columns: Sequence[str], _formats: Formats, *, lines: bool = False) -> _Writer:
    """Write rows as an array of JSON objects, or as one object per line if `lines` is set."""
    names = _number_duplicate_names(columns)
    before, after = (b"", b"\n") if lines else (b"\n", b"")
    file.write(b"" if lines else b"[")
    while (rows := (yield)) is not None:
        for row in rows:
            record = dict(zip(names, map(convert_cell, row), strict=True))
            # What is no character stays as the escape that JSON has for it.
            file.write(before + json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + after)
            before = b"" if lines else b",\n"
    file.write(b"" if lines else b"\n]\n")


def _number_duplicate_names(columns: Sequence[str]) -> list[str]:
    """Return the column names with numbers added to repeated names, as in `name`, `name_2`."""
    names: list[str] = []
    for column in columns:
        spellings = chain([column], (f"{column}_{number}" for number in count(2)))
        names.append(next(name for name in spellings if name not in names))
    return names


def _write_markdown(file: BinaryIO, columns: Sequence[str], formats: Formats) -> _Writer:
    """Write rows as a GitHub Markdown table, with Markdown and HTML in the cells escaped."""

    def write_table_line(cells: Iterable[str | None]) -> None:
        plain = ("" if cell is None else escape_markdown(" ".join(cell.split())) for cell in cells)
        file.write(f"| {' | '.join(plain)} |\n".encode("utf-8", "replace"))

    write_table_line(columns)
    write_table_line("---:" if form.is_numeric else "---" for form in formats)
    while (rows := (yield)) is not None:
        for row in format_rows(rows, formats):
            write_table_line(row)


def _write_excel(file: BinaryIO, columns: Sequence[str], formats: Formats) -> _Writer:
    """Write rows as an Excel workbook with one sheet.

    Texts are written as texts, so that none is a formula, whatever it begins with; the library cuts those that are too
    long for a cell. Characters that XML cannot hold are replaced.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter
    from openpyxl.writer.excel import ExcelWriter

    book = Workbook(write_only=True)
    sheet: Any = book.create_sheet("result")
    room = _SHEET_ROWS
    rows: Sequence[Row] | None = yield
    # Widths and the frozen header have to be there before the first row is.
    sheet.freeze_panes = "A2"
    texts = zip(columns, *format_rows((rows or ())[:_MEASURED_ROWS], formats), strict=True)
    for place, column in enumerate(texts, 1):
        longest = max(len(text or "") for text in column)
        sheet.column_dimensions[get_column_letter(place)].width = min(longest, _WIDEST) + 4
    # A line's cells are written at once, and used again for the next one.
    heads, cells = ([WriteOnlyCell(sheet) for _ in columns] for _ in range(2))
    for head, cell, form in zip(heads, cells, formats, strict=True):
        head.font, cell.number_format = Font(bold=True), _get_excel_number_format(form)

    def append_line(line: Sequence[Any], values: Iterable[object]) -> None:
        for cell, value in zip(line, values, strict=True):
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"  # the library takes some texts for formulas or errors
        sheet.append(line)

    append_line(heads, [_convert_to_excel_value(name, PLAIN) for name in columns])
    while rows is not None:
        room -= len(rows)
        if room < 0:
            raise ExportError(f"a sheet holds {_SHEET_ROWS:,} rows: use csv or parquet, or ask for fewer with --limit")
        for row in rows:
            append_line(cells, map(_convert_to_excel_value, row, formats))
        rows = yield
    # `Workbook.save` leaves its archive open where the disk is full, which is told again when it is forgotten.
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).save()


_MEASURED_ROWS, _WIDEST = 100, 60  # rows that set the widths of columns, and the widest of these in characters
_EXCEL_TIMES: dict[FormatKind, str] = {
    "month": "mmmm yyyy",
    "date": "d mmm yyyy",
    "minute": "d mmm yyyy hh:mm",
    "second": "d mmm yyyy hh:mm:ss",
}


def _get_excel_number_format(form: ColumnFormat) -> str:
    """Return the Excel number format for a column format."""
    if form.kind not in ("number", "money", "percent"):
        return _EXCEL_TIMES.get(form.kind, "General")
    digits = f"#,##0{'.' if form.decimals else ''}{'0' * form.decimals}"
    money = f"[${form.currency}] " if form.currency else ""
    # Excel's own per cent sign would multiply by 100.
    unit = '"%"' if form.kind == "percent" else f'" {form.unit}"' if form.unit else ""
    return f"{money}{digits}{unit}"


def _convert_to_excel_value(cell: Cell, form: ColumnFormat) -> PlainCell | datetime:
    """Return a cell as a number, date or text that Excel can store."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    plain = convert_cell(cell)
    if not isinstance(plain, str):
        return str(plain) if isinstance(plain, int) and abs(plain) >= _EXACT else plain
    moment = parse_date_text(plain) if form.kind in _EXCEL_TIMES else None
    if moment is not None and moment.year >= _EXCEL_YEAR:
        return moment
    return ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", plain).encode("utf-8", "replace").decode()


_EXCEL_YEAR = 1901  # its calendar begins in 1900, which it takes for a leap year


def _write_parquet(file: BinaryIO, columns: Sequence[str], _formats: Formats) -> _Writer:
    """Write rows as Parquet columns of integers, floats, bytes or text.

    What a column holds is known at its end only, since in SQLite any cell may be of any type. So the rows are first
    kept, part by part, in a temporary file, and then written with the types that hold them all.
    """
    import pyarrow
    from pyarrow import parquet

    kinds: list[set[str]] = [set() for _ in columns]
    parts = 0
    with tempfile.TemporaryFile() as buffer:
        while (rows := (yield)) is not None:
            for names, column in zip(kinds, zip(*rows, strict=True), strict=False):
                names |= {_ARROW_TYPES[kind] for kind in set(map(type, column))}
                names |= {"string" for cell in column if isinstance(cell, int) and cell not in _INT64}
            pickle.dump(rows, buffer)
            parts += 1
        buffer.seek(0)
        written = (pickle.load(buffer) for _ in range(parts))  # noqa: S301 - to a file without a name
        kinds = [{"float64"} if "float64" in names <= {"int64", "float64", ""} else names - {""} for names in kinds]
        types = [names.pop() if len(names) == 1 else "string" for names in kinds]
        schema = pyarrow.schema(list(zip(_number_duplicate_names(columns), types, strict=True)))
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for part in _batch_rows(chain.from_iterable(written)):
                arrays = [
                    pyarrow.array([_convert_to_arrow_value(cell, kind) for cell in column], kind)
                    for column, kind in zip(zip(*part, strict=True), types, strict=True)
                ]
                writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


_ARROW_TYPES = {int: "int64", float: "float64", bytes: "binary", str: "string", type(None): ""}


def _convert_to_arrow_value(cell: Cell, kind: str) -> Cell:
    """Return a cell converted to the given Arrow type."""
    if kind == "string" and cell is not None:
        return str(convert_cell(cell)).encode("utf-8", "replace").decode()
    # Arrow refuses whole numbers that a float holds only nearly.
    return float(cell) if kind == "float64" and isinstance(cell, int) else cell


_WRITERS: dict[Format, Callable[[BinaryIO, Sequence[str], Formats], _Writer]] = {
    "csv": _write_csv,
    "json": _write_json,
    "jsonl": partial(_write_json, lines=True),
    "md": _write_markdown,
    "xlsx": _write_excel,
    "parquet": _write_parquet,
}
