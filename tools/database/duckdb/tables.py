"""Tables in memory: the sheets of a workbook, and data frames."""

from __future__ import annotations

import hashlib
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import duckdb

from ...errors import DatabaseUnavailable
from ..quoting import quote
from ..server.address import redact_message
from .notices import MISSING, NoticeCollector
from .rows import can_be_column_name, find_header_row, is_filled, is_note_sheet, is_number, join_titles, may_be_cells
from .sources import make_column_names, make_table_name, number_repeated_names
from .strays import clean_rows

if TYPE_CHECKING:
    import pandas

_UNPACKED_BYTES = 500_000_000
_SEARCHED_BYTES = 100_000_000
_MOST_ROWS = 1_048_576  # of a sheet
_MOST_SHEETS = 500
_INCOMING = "tableturn_incoming"
_FLAWS = (
    ("formulas", re.compile(rb"</f>(?:<v\s*/>|<v></v>)?</c>"),
     "formulas without a stored result are empty cells: save the workbook in a spreadsheet program"),
    ("merged", re.compile(rb'<mergeCell ref="[A-Z]+(\d+):[A-Z]+(?!\1")\d+"'),
     "of cells merged over several rows only the first row has the value: unmerge and fill them"),
    ("hidden", re.compile(rb'<(?:row|col) [^>]*\bhidden="(?:1|true)"'), "hidden rows or columns are read too"),
)  # fmt: skip
"""What is wrong with a sheet if its part of the file matches a pattern."""
# A number's format that shows leading zeros: 00000, 000-0000, and what stands around its zeros.
_CODE_FORMAT, _QUOTED = re.compile(r"00+(?:[-\s]0+)*"), re.compile(r'\\(.)|"([^"]*)"')
_AS_EMPTY, _AS_TEXT = "read as empty cells", "kept, and the column as text"


class _Code(str):
    """A number as its format shows it, with leading zeros."""

    def read_number(self) -> int:
        return int("".join(filter(str.isdigit, self)))


@dataclass(frozen=True)
class WorkbookSheet:
    """A sheet of a workbook: its data frame, if any, the title above the table, and notices."""

    noticing: NoticeCollector
    frame: pandas.DataFrame | None = None
    title: str = ""


def read_workbook(path: Path, reversals: frozenset[str] = frozenset()) -> list[WorkbookSheet]:
    """Read the sheets of a workbook."""
    try:
        import openpyxl
    except ImportError:
        raise DatabaseUnavailable("reading Excel files needs openpyxl: pip install 'tableturn[duckdb]'") from None
    sheets = {
        part: _convert_rows_to_sheet(NoticeCollector(make_table_name(name), reversals), rows, is_hidden=is_hidden)
        for part, name, is_hidden, rows in _read_sheet_rows(path, openpyxl.load_workbook)
    }
    if "sheets" not in reversals and not any(sheet.frame is not None for sheet in sheets.values()):
        return read_workbook(path, reversals | {"sheets"})
    with zipfile.ZipFile(path) as archive:
        for part, sheet in sheets.items():
            content = archive.read(part) if archive.getinfo(part).file_size < _SEARCHED_BYTES else b""
            for kind, pattern, text in _FLAWS:
                if pattern.search(content):
                    sheet.noticing.add(kind, text)
    return [*sheets.values()]


def _convert_rows_to_sheet(
    noticing: NoticeCollector, every: list[tuple[Any, ...]], *, is_hidden: bool
) -> WorkbookSheet:
    import pandas

    rows = [row for row in every if any(map(is_filled, row))]
    if is_hidden:
        noticing.add("hidden", "a hidden sheet is read too")
    is_note = is_note_sheet(rows)
    is_kept = is_note and noticing.is_guess_reversed("sheets")
    if is_kept:
        noticing.add("sheets", "a sheet of notes is read as a table")
    if not rows:
        noticing.add("empty", "an empty sheet is not read as a table")
    elif is_note and not is_kept:
        noticing.add("sheets", "a sheet of notes is not read as a table", example=join_titles(rows))
    if not rows or (is_note and not is_kept):
        return WorkbookSheet(noticing)
    every = every[every.index(rows[0]) :]
    at = find_header_row(every)
    is_named = _is_header(noticing, every[at:])
    kept = [row for row in clean_rows(noticing, every[at:], has_header=is_named) if row]
    names = [] if is_named else [()]
    return WorkbookSheet(noticing, pandas.DataFrame(_build_columns([*names, *kept], noticing)), join_titles(every[:at]))


def _is_header(noticing: NoticeCollector, rows: Sequence[Sequence[Any]]) -> bool:
    """Decide whether the first row holds column names, and add a notice if that is a guess."""

    def find_kind(cell: object) -> object:
        return is_number(cell) if isinstance(cell, str) else float if type(cell) is int else type(cell)

    first, *below = rows
    kinds = ({find_kind(row[at]) for row in below if at < len(row) and is_filled(row[at])} for at in range(len(first)))
    pairs = [(cell, others) for cell, others in zip(first, kinds, strict=True) if others]
    others = [cell for cell, _ in pairs if is_filled(cell) and not can_be_column_name(cell)]
    # No name is needed above the names of rows.
    is_likely = not others or not is_filled(pairs[0][0])
    is_likely |= any(is_filled(cell) and find_kind(cell) not in kinds for cell, kinds in pairs)
    # Days and sizes rise from left to right.
    numbers = [cell for cell in others if isinstance(cell, int | float)]
    is_rising = len(others) == len(numbers) > 2 and all(left < right for left, right in pairwise(numbers))
    is_named = (is_likely or is_rising) != noticing.is_guess_reversed("header")
    if not is_named:
        noticing.add("header", "the columns have no names: the first row is read as data")
    elif not is_likely or may_be_cells(first, below):
        noticing.add("header", "the first row is read as the columns' names, but could be a row")
    return is_named


def _read_sheet_rows(path: Path, load: Callable[..., Any]) -> Iterator[tuple[str, str, bool, list[tuple[Any, ...]]]]:
    advice = "save it again as .xlsx, or its sheets as CSV files"
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > _UNPACKED_BYTES:
                raise DatabaseUnavailable(f"the workbook {path} is too large: save its sheets as CSV files")
            # Reads it all: a part that is larger than it says is damaged.
            damaged_part = archive.testzip()
            if damaged_part is not None:
                raise DatabaseUnavailable(f"the workbook {path} is damaged at {damaged_part!r}: {advice}")
        with warnings.catch_warnings():
            # What openpyxl drops, such as rules for entering data, is nothing that is read here.
            warnings.simplefilter("ignore")
            book = load(path, read_only=True, data_only=True)
            has_codes = any(map(_find_code_format, book._number_formats))  # reading formats takes time
            try:
                if (count := len(book.worksheets)) > _MOST_SHEETS:
                    problem = f"it has {count:,} sheets, and at most {_MOST_SHEETS} are read: {advice}"
                    raise DatabaseUnavailable(f"the workbook {path} cannot be read: {problem}")
                for sheet in book.worksheets:
                    # What a sheet says of its size need not be true.
                    sheet.reset_dimensions()
                    rows = sheet.iter_rows(max_row=_MOST_ROWS, values_only=not has_codes)
                    rows = (tuple(map(_read_cell, row)) for row in rows) if has_codes else rows
                    filled = [next(rows, ())]
                    for row in rows:  # of empty rows one tells what it parts
                        filled += [row] if any(map(is_filled, row)) else [()] if filled[-1] else []
                    yield sheet._worksheet_path, sheet.title, sheet.sheet_state != "visible", filled
            finally:
                book.close()
    except (DatabaseUnavailable, MemoryError):
        raise
    except (zipfile.BadZipFile, KeyError):  # or a ZIP file of other parts
        raise DatabaseUnavailable(f"{path} is not an Excel workbook, or is damaged: {advice}") from None
    except Exception as error:  # noqa: BLE001 - a damaged workbook makes openpyxl fail anywhere
        reason = redact_message(f"{type(error).__name__}: {error}")
        raise DatabaseUnavailable(f"the workbook {path} cannot be read: {reason}: {advice}") from None


def _find_code_format(number_format: str) -> str:
    """Return a number format of zeros only, without its quotes; '' for other formats."""
    match = _CODE_FORMAT.fullmatch(_QUOTED.sub(r"\1\2", number_format))
    return match[0] if match else ""


def _read_cell(cell: Any) -> Any:
    """Return a cell's value, or what is shown if that has zeros or signs that the value lacks."""
    value = cell.value
    if type(value) is not int or value < 0 or not (form := _find_code_format(cell.number_format)):
        return value
    digits = str(value).zfill(count := form.count("0"))
    start, rest = digits[:-count], iter(digits[-count:])
    shown = start + "".join(next(rest) if sign == "0" else sign for sign in form)
    return value if shown == str(value) else _Code(shown)


def _build_columns(rows: Sequence[Sequence[Any]], noticing: NoticeCollector) -> dict[str, pandas.Series[Any]]:
    """Return the columns of rows by name, without empty ones; the first row is the header."""
    every = [[row[index] if index < len(row) else None for row in rows] for index in range(max(map(len, rows)))]
    indexes = [place for place, column in enumerate(every) if any(map(is_filled, column))]
    if indexes and len(indexes) <= indexes[-1] - indexes[0]:
        noticing.add("tables", "an empty column divides the sheet: there may be two tables side by side")
    columns = [every[place] for place in indexes]
    names = make_column_names([column[0] for column in columns])
    return {name: _build_column_series(column[1:], name, noticing) for name, column in zip(names, columns, strict=True)}


def _build_column_series(values: Sequence[Any], name: str, noticing: NoticeCollector) -> pandas.Series[Any]:
    """Return a column as a series of one type; as text if the values have several types."""
    import pandas

    cells: list[Any] = [value if is_filled(value) else None for value in values]
    if any(isinstance(value, _Code) for value in cells):
        is_turned = noticing.is_guess_reversed("numbers")
        decision = "read as numbers, as you said" if is_turned else "kept as text"
        noticing.add("codes", f"numbers shown with leading zeros are {decision}", name, turned_by="numbers")
        read = _Code.read_number if is_turned else str
        cells = [read(value) if isinstance(value, _Code) else value for value in cells]
    words = {value for value in cells if isinstance(value, str)}
    if words and words.issubset(MISSING) and not all(value is None or value in words for value in cells):
        is_turned = noticing.is_guess_reversed("missing")
        noticing.add("missing", f"{', '.join(sorted(words))} {_AS_TEXT if is_turned else _AS_EMPTY}", name)
        if not is_turned:
            cells = [None if value in words else value for value in cells]
    kinds = {type(value) for value in cells if value is not None}
    if kinds == {datetime} and all(value is None or value.time() == time() for value in cells):
        return pandas.Series([value and value.date() for value in cells], dtype=object)
    if len(kinds) > 1 and not kinds <= {int, float}:
        return pandas.Series([None if value is None else str(value) for value in cells], dtype=object)
    if kinds <= {int} or kinds <= {int, float} or kinds == {bool}:
        return pandas.Series(cells, dtype=object).convert_dtypes()
    return pandas.Series(cells, dtype=object)


def collect_data_frames(source: Any) -> dict[str, pandas.DataFrame] | None:
    """Return data frames by table name, a single frame as `data`; None for other objects."""
    import pandas

    if isinstance(source, pandas.DataFrame):
        return {"data": source}
    if not isinstance(source, Mapping):
        return None
    items = cast("Mapping[object, object]", source).items()
    frames = {str(name): frame for name, frame in items if isinstance(frame, pandas.DataFrame)}
    return frames if frames and len(frames) == len(items) else None


def compute_frames_fingerprint(frames: Mapping[str, pandas.DataFrame]) -> str:
    """Return a key of the frames' contents; a random key if the contents cannot be hashed."""
    from pandas.util import hash_pandas_object

    digest = hashlib.sha256()
    try:
        for name, frame in frames.items():
            digest.update(
                repr((name, [*map(str, frame.columns)], [*map(str, frame.dtypes)])).encode("utf-8", "replace")
            )
            digest.update(hash_pandas_object(frame).to_numpy().tobytes())
    except TypeError:
        return uuid4().hex
    return digest.hexdigest()[:16]


def copy_frame_to_table(connection: duckdb.DuckDBPyConnection, table: str, frame: pandas.DataFrame) -> None:
    """Copy a data frame with unique column names into a new table."""
    create = f"CREATE OR REPLACE TABLE {quote(table)} AS SELECT * FROM {_INCOMING}"
    try:
        connection.register(_INCOMING, frame).execute(create)
    except (duckdb.ConversionException, duckdb.InvalidInputException, duckdb.NotImplementedException):
        # Values of several types in one column: as text they can all be kept.
        texts = {
            name: column.map(str, na_action="ignore").astype(object)
            for name, column in frame.items()
            if column.dtype == object
        }
        connection.register(_INCOMING, frame.assign(**cast("Any", texts))).execute(create)
    finally:
        connection.unregister(_INCOMING)


def write_frames_to_file(frames: Mapping[str, pandas.DataFrame], path: Path) -> None:
    """Write data frames to a DuckDB file for workers; named index levels become columns."""
    with duckdb.connect(str(path), config={"storage_compatibility_version": "latest"}) as connection:
        names = number_repeated_names([make_table_name(name) for name in frames])
        for name, frame in zip(names, frames.values(), strict=True):
            flat = frame.reset_index() if any(level is not None for level in frame.index.names) else frame
            if not len(flat.columns):
                raise DatabaseUnavailable(f"the table {name} has no columns")
            copy_frame_to_table(connection, name, flat.set_axis(make_column_names(flat.columns), axis=1))
