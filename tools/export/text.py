"""Rows as text: CSV, JSON, JSON lines and Markdown, each row written as it comes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import BinaryIO

from ..database.fetch import Row
from ..database.table import Cell, plain_cell

# Spreadsheets pass over blanks, and some read the wide and small forms of these signs as the signs themselves.
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")
_MARKDOWN = re.compile(r"[\\`*\[\]|<>&~]|(?<!\w)_|_(?!\w)")


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    One that begins with `=`, `+`, `-` or `@`, in any width and after any blanks, or with a tab or the end of a line,
    gets an apostrophe before it, unless it is nothing but a number (OWASP, CSV injection). Numbers that are no texts
    are never touched.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text.lstrip(" ")) else text


def unique_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Names that no other column has: a repeated one gets a number, as in `name`, `name_2`."""
    seen: set[str] = set()
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in seen:
            number += 1
            name = f"{column}_{number}"
        seen.add(name)
        names.append(name)
    return tuple(names)


class CSVWriter:
    """UTF-8, commas, a header, NULL as nothing; texts that could be formulas are guarded."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._lines([[guarded(name) for name in columns]])

    def write(self, rows: Sequence[Row]) -> None:
        """See `Writer`."""
        self._lines([[_csv_cell(cell) for cell in row] for row in rows])

    def close(self) -> None:
        """See `Writer`."""

    def _lines(self, rows: Sequence[Sequence[object]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(_Lines(text)).writerows(rows)
        self._file.write(text.getvalue().encode("utf-8", "replace"))


class _Lines:
    """Ends lines as Unix does; the writer itself has to end them as CSV does, or it leaves some in cells unquoted."""

    def __init__(self, text: io.StringIO) -> None:
        self._text = text

    def write(self, line: str) -> int:
        """A row."""
        return self._text.write(line.removesuffix("\r\n") + "\n")


class JSONWriter:
    """An array of objects, or with `lines` an object a line; each has a key a column."""

    def __init__(self, file: BinaryIO, columns: Sequence[str], *, lines: bool = False) -> None:
        self._file = file
        self._names = unique_names(columns)
        self._lines = lines
        self._between = b""
        if not lines:
            file.write(b"[")

    def write(self, rows: Sequence[Row]) -> None:
        """See `Writer`."""
        for row in rows:
            record = dict(zip(self._names, map(plain_cell, row), strict=True))
            # What is no character stays as the escape that JSON has for it.
            line = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")
            self._file.write(line + b"\n" if self._lines else self._between + b"\n" + line)
            self._between = b","

    def close(self) -> None:
        """See `Writer`."""
        if not self._lines:
            self._file.write(b"\n]\n")


class MarkdownWriter:
    """A table of GitHub's Markdown; nothing in a cell is read as Markdown or HTML."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._line([_markdown(name) for name in columns])
        self._line(["---"] * len(columns))

    def write(self, rows: Sequence[Row]) -> None:
        """See `Writer`."""
        for row in rows:
            self._line([_markdown(plain_cell(cell)) for cell in row])

    def close(self) -> None:
        """See `Writer`."""

    def _line(self, cells: Sequence[str]) -> None:
        self._file.write(f"| {' | '.join(cells)} |\n".encode("utf-8", "replace"))


def _csv_cell(cell: Cell) -> int | float | str | None:
    return guarded(cell) if isinstance(cell, str) else plain_cell(cell)


def _markdown(cell: int | float | str | None) -> str:
    if cell is None:
        return ""
    return escaped_markdown(" ".join(str(cell).split()))


def escaped_markdown(text: str) -> str:
    """A text that Markdown shows as it is: no link, no picture, no HTML, no emphasis."""
    return _MARKDOWN.sub(lambda found: f"\\{found[0]}", text)
