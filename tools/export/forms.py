"""The forms in which rows are written, what a file's name tells of them, and how each is written.

A writer is a generator: it writes a header, takes rows part by part, and ends when it gets None.
"""

from __future__ import annotations

import csv
import json
import pickle
import re
import tempfile
from collections.abc import Callable, Generator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, get_args
from zipfile import ZIP_DEFLATED, ZipFile

from ..database.fetch import Row
from ..database.table import Cell, plain_cell
from ..errors import ExportError

Format = Literal["csv", "json", "jsonl", "md", "xlsx", "parquet"]
"""Forms of rows."""

FORMATS: tuple[Format, ...] = get_args(Format)

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "md": "text/markdown; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
"""What a server says that they are."""

BINARY: frozenset[Format] = frozenset({"xlsx", "parquet"})
"""Forms that are no text."""

Writer: TypeAlias = Generator[None, Sequence[Row] | None]

_PACKAGES: dict[Format, str] = {"xlsx": "openpyxl", "parquet": "pyarrow"}
_OTHER_ENDINGS = {"ndjson": "jsonl", "markdown": "md"}

# Spreadsheets pass over blanks, and some read the wide and small forms of these signs as the signs themselves.
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")
_MARKDOWN = re.compile(r"[\\`*\[\]|<>&~]|(?<!\w)_|_(?!\w)")

_SHEET_ROWS, _SHEET_COLUMNS, _SHEET_CHARACTERS = 1_048_576, 16_384, 32_767
"""What a sheet of Excel's holds."""

_EXACT = 10**15
"""Excel keeps fifteen digits: longer integers are written as text, so that none is changed."""

_PART_ROWS = 20_000
_INT64 = 2**63


def check_installed(form: Format) -> None:
    """See that what writes a form is there.

    Raises:
        ExportError: Its package is missing.
    """
    package = _PACKAGES.get(form)
    if package and find_spec(package) is None:
        raise ExportError(f"{form} files need {package}: pip install 'tableturn[files]'")


def format_of(path: str | Path) -> Format:
    """Return the form that a file's ending names.

    Raises:
        ExportError: It names none.
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    form = _OTHER_ENDINGS.get(ending, ending)
    if form not in FORMATS:
        raise ExportError(f"cannot tell the format of {path}: use a name that ends in one of .{', .'.join(FORMATS)}")
    return form


def escaped_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is: no link, no picture, no HTML, no emphasis."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", text)


class _Echo:
    """A file that gives each line back."""

    def write(self, line: str) -> str:
        return line


def _write_csv(file: BinaryIO, columns: Sequence[str]) -> Writer:
    """Write UTF-8, commas, a header, NULL as nothing; texts that could be formulas are guarded."""
    format_line: Callable[[Sequence[object]], str] = csv.writer(_Echo()).writerow
    rows: Sequence[Row] | None = [tuple(columns)]
    while rows is not None:
        lines = [
            format_line([_guard(cell) if isinstance(cell, str) else plain_cell(cell) for cell in row]) for row in rows
        ]
        # Python's writer has to end lines as CSV does, or it leaves some in cells unquoted; files have Unix's ends.
        file.write("".join(line.removesuffix("\r\n") + "\n" for line in lines).encode("utf-8", "replace"))
        rows = yield


def _guard(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    One that begins with `=`, `+`, `-` or `@`, in any width and after any blanks, or with a tab or the end of a line,
    gets an apostrophe before it, unless it is nothing but a number (OWASP, CSV injection). Numbers that are no texts
    are never touched.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text.lstrip(" ")) else text


def _write_json(file: BinaryIO, columns: Sequence[str], *, lines: bool = False) -> Writer:
    """Write an array of objects, or with `lines` an object a line; each has a key a column."""
    names = _unique(columns)
    before = b""
    if not lines:
        file.write(b"[")
    while (rows := (yield)) is not None:
        for row in rows:
            record = dict(zip(names, map(plain_cell, row), strict=True))
            # What is no character stays as the escape that JSON has for it.
            line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")
            file.write(line + b"\n" if lines else before + b"\n" + line)
            before = b","
    if not lines:
        file.write(b"\n]\n")


def _unique(columns: Sequence[str]) -> list[str]:
    """Return names that no other column has: a repeated one gets a number, as in `name`, `name_2`."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)


def _write_markdown(file: BinaryIO, columns: Sequence[str]) -> Writer:
    """Write a table of GitHub's Markdown; nothing in a cell is read as Markdown or HTML."""

    def write_line(cells: Sequence[str]) -> None:
        file.write(f"| {' | '.join(cells)} |\n".encode("utf-8", "replace"))

    write_line([_show_in_markdown(name) for name in columns])
    write_line(["---"] * len(columns))
    while (rows := (yield)) is not None:
        for row in rows:
            write_line([_show_in_markdown(cell) for cell in row])


def _show_in_markdown(cell: Cell) -> str:
    plain = plain_cell(cell)
    return "" if plain is None else escaped_markdown(" ".join(str(plain).split()))


def _write_excel(file: BinaryIO, columns: Sequence[str]) -> Writer:
    """Write a workbook of one sheet: a bold header, then the rows.

    Texts are written as texts, so that none is a formula, whatever it begins with; those that are too long for a cell
    are cut with an ellipsis, and characters that XML cannot hold are replaced.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Font
    from openpyxl.writer.excel import ExcelWriter

    if len(columns) > _SHEET_COLUMNS:
        raise ExportError(f"a sheet holds {_SHEET_COLUMNS:,} columns, and the result has {len(columns):,}: use csv")
    book = Workbook(write_only=True)
    sheet: Any = book.create_sheet("result")

    def clean(text: str) -> str:
        text = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "replace").decode()
        return text if len(text) <= _SHEET_CHARACTERS else text[: _SHEET_CHARACTERS - 1] + "…"

    def mark_as_text(text: str) -> Any:
        cell: Any = WriteOnlyCell(sheet, "")
        cell.value, cell.data_type = text, "s"
        return cell

    def fill(cell: Cell) -> Any:
        plain = plain_cell(cell)
        if isinstance(plain, int) and abs(plain) >= _EXACT:
            return str(plain)
        text = clean(plain) if isinstance(plain, str) else plain
        # The library takes nothing else for a formula or an error, and a cell of one's own takes time.
        return mark_as_text(text) if isinstance(text, str) and text[:1] in ("=", "#") else text

    header = [mark_as_text(clean(name)) for name in columns]
    for cell in header:
        cell.font = Font(bold=True)
    sheet.append(header)
    left = _SHEET_ROWS - 1
    while (rows := (yield)) is not None:
        left -= len(rows)
        if left < 0:
            raise ExportError(
                f"a sheet holds {_SHEET_ROWS - 1:,} rows: use csv or parquet, or ask for fewer with --limit"
            )
        for row in rows:
            sheet.append([fill(cell) for cell in row])
    # `Workbook.save` leaves its archive open where the disk is full, which is told again when it is forgotten.
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        ExcelWriter(book, archive).save()


def _write_parquet(file: BinaryIO, columns: Sequence[str]) -> Writer:
    """Write integers, floats, texts and bytes; a column of several kinds is text, and so are integers beyond 64 bits.

    What a column holds is known at its end only, since in SQLite any cell may be of any type. So the rows are first
    kept, part by part, in a temporary file, and then written with the types that hold them all.
    """
    import pyarrow
    from pyarrow import parquet

    kinds: list[set[str]] = [set() for _ in columns]
    part: list[Row] = []
    parts = 0
    with tempfile.TemporaryFile() as kept:
        rows: Sequence[Row] | None = ()
        while rows is not None:
            rows = yield
            part += rows or ()
            if part and (rows is None or len(part) >= _PART_ROWS):
                for known, column in zip(kinds, zip(*part, strict=True), strict=True):
                    known.update(map(_kind, column))
                pickle.dump(part, kept)
                part, parts = [], parts + 1
        names = map(_PARQUET_TYPES.get, (frozenset(known - {""}) for known in kinds))
        types = [getattr(pyarrow, name or "string")() for name in names]
        schema = pyarrow.schema(list(zip(_unique(columns), types, strict=True)))
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            kept.seek(0)
            for _ in range(parts):
                cells = zip(*pickle.load(kept), strict=True)  # noqa: S301 - written above, to a file without a name
                arrays = [
                    pyarrow.array([_cast(cell, str(kind)) for cell in column], kind)
                    for column, kind in zip(cells, types, strict=True)
                ]
                writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def _kind(cell: Cell) -> str:
    """Return what a cell is; empty for NULL."""
    match cell:
        case None:
            return ""
        case bytes():
            return "blob"
        case float():
            return "real"
        case int():
            return "integer" if -_INT64 <= cell < _INT64 else "text"
        case _:
            return "text"


_PARQUET_TYPES = {
    frozenset({"integer"}): "int64",
    frozenset({"real"}): "float64",
    frozenset({"integer", "real"}): "float64",
    frozenset({"blob"}): "binary",
}
"""By the kinds of a column's cells; others are text."""


def _cast(cell: Cell, kind: str) -> Cell:
    """Return a cell as a column of an Arrow type holds it."""
    if isinstance(cell, int) and kind == "double":
        return float(cell)  # Arrow refuses whole numbers that a float holds only nearly
    if cell is None or kind != "string":
        return cell
    return str(plain_cell(cell)).encode("utf-8", "replace").decode()


WRITERS: dict[Format, Callable[[BinaryIO, Sequence[str]], Writer]] = {
    "csv": _write_csv,
    "json": _write_json,
    "jsonl": partial(_write_json, lines=True),
    "md": _write_markdown,
    "xlsx": _write_excel,
    "parquet": _write_parquet,
}
