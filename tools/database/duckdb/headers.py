"""Where a table begins in a sheet or a file that people made for people: below the rows that only title it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d%?")
_YEARS = range(1900, 2101)
_LONGEST_TITLE = 200


def is_filled(cell: object) -> bool:
    """Whether there is something in a cell."""
    return cell is not None and cell != ""


def header_at(rows: Sequence[Sequence[object]]) -> int:
    """The place of the header; 0 where it is not surely a later row.

    A title fills the first column and at most half of all; below titles, a header is a row of words.

    Args:
        rows: The first ones, empty ones among them.
    """
    width = len({place for row in rows for place, cell in enumerate(row) if is_filled(cell)})
    start = min((place for row in rows for place, cell in enumerate(row) if is_filled(cell)), default=0)
    for at, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        is_title = not filled or (2 * len(filled) <= width and is_filled(row[start]))
        if not is_title:
            return at if all(map(_is_name, filled)) else 0
    return 0


def titles(rows: Sequence[Sequence[object]]) -> str:
    """What stands in rows above the header, in one line."""
    return " ".join(" ".join(str(cell).split()) for row in rows for cell in row if is_filled(cell))[:_LONGEST_TITLE]


def _is_name(cell: object) -> bool:
    if isinstance(cell, str):
        number = _NUMBER.fullmatch(cell.strip())
        return number is None or (cell.strip().isdigit() and int(cell) in _YEARS)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell in _YEARS
