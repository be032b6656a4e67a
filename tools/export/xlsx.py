"""Rows as an Excel workbook of one sheet, written row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from ..database.fetch import Row
from ..database.table import Cell, plain_cell
from ..errors import ExportError

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
"""What a sheet holds."""

_EXACT = 10**15
"""Excel keeps fifteen digits: longer integers are written as text, so that none is changed."""


class ExcelWriter:
    """A bold header, then the rows.

    Texts are written as texts, so that none is a formula, whatever it begins with; those that are too long for a cell
    are cut with an ellipsis, and characters that XML cannot hold are replaced.
    """

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import Font

        if len(columns) > MOST_COLUMNS:
            raise ExportError(f"a sheet holds {MOST_COLUMNS:,} columns, and the result has {len(columns):,}: use csv")
        self._file = file
        self._cell: Any = WriteOnlyCell
        self._illegal = ILLEGAL_CHARACTERS_RE
        self._book = Workbook(write_only=True)
        self._sheet: Any = self._book.create_sheet("result")
        self._left = MOST_ROWS - 1
        header = [self._as_text(self._clean(name)) for name in columns]
        for cell in header:
            cell.font = Font(bold=True)
        self._sheet.append(header)

    def write(self, rows: Sequence[Row]) -> None:
        """See `Writer`."""
        self._left -= len(rows)
        if self._left < 0:
            raise ExportError(
                f"a sheet holds {MOST_ROWS - 1:,} rows: use csv or parquet, or ask for fewer with --limit"
            )
        for row in rows:
            self._sheet.append([self._value(cell) for cell in row])

    def close(self) -> None:
        """See `Writer`."""
        from openpyxl.writer.excel import ExcelWriter as BookWriter

        # `Workbook.save` leaves its archive open where the disk is full, which is told again when it is forgotten.
        with ZipFile(self._file, "w", ZIP_DEFLATED) as archive:
            BookWriter(self._book, archive).save()

    def _value(self, cell: Cell) -> Any:
        plain = plain_cell(cell)
        if isinstance(plain, str):
            return self._text(plain)
        return self._text(str(plain)) if isinstance(plain, int) and abs(plain) >= _EXACT else plain

    def _text(self, text: str) -> Any:
        text = self._clean(text)
        # The library takes nothing else for a formula or an error, and a cell of one's own takes time.
        return self._as_text(text) if text[:1] in ("=", "#") else text

    def _clean(self, text: str) -> str:
        text = self._illegal.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "replace").decode()
        return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"

    def _as_text(self, text: str) -> Any:
        cell = self._cell(self._sheet, "")
        cell.value, cell.data_type = text, "s"
        return cell
