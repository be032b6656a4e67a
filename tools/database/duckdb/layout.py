"""The layout of files that people write: what separates cells, titles above a table, and lines of names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

SEPARATORS = (",", ";", "\t", "|")

YEARS = range(1900, 2101)
"""Whole numbers that may be a column's name, and whose sum says nothing."""

_HEAD_ROWS = 30  # that are looked at
_LONGEST_TITLE = 200
_NUMERIC = re.compile(r"[-+\u2212]?[\d.,\s]*\d%?")

Cells = Sequence[object]


def is_filled(cell: object) -> bool:
    """Whether a cell is neither None nor an empty text."""
    return cell is not None and cell != ""


def read_first_rows(lines: Sequence[str], separator: str, quote: str = '"') -> list[tuple[list[str], int]]:
    """Return the first rows of a text file, each with the number of lines up to its end."""
    reader = csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        return [(row, reader.line_num) for row in islice(reader, _HEAD_ROWS)]
    except csv.Error:
        return []


def choose_separator(lines: Sequence[str], detected: str) -> str:
    """Return the separator that gives most lines the same number of cells, and most numbers."""

    def weigh_separator(separator: str) -> tuple[float, bool, float, bool]:
        rows = [row for row, _ in read_first_rows(lines, separator) if row]
        # The longest of widths that are equally frequent.
        (width, count), *_ = sorted(Counter(map(len, rows)).items(), key=lambda item: (-item[1], -item[0])) or [(0, 0)]
        cells = [cell for row in rows[1:] for cell in row if cell]
        numbers = sum(map(_is_number, cells))
        if width == 1 and (not cells or numbers < len(cells)):
            return 0, False, 0, False  # only a column of decimal commas is not separated
        return count / max(1, len(rows)), width > 1, numbers / max(1, len(cells)), separator == detected

    return max(dict.fromkeys((detected, *SEPARATORS)), key=weigh_separator)


def find_header_row(rows: Sequence[Cells]) -> int:
    """Return the index of the header row; 0 unless a later row is clearly the header."""
    # A title fills the first column and at most half of all; below titles, a header is a row of words.
    places = {place for row in rows for place, cell in enumerate(row) if is_filled(cell)}
    for at, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        is_title = not filled or (2 * len(filled) <= len(places) and is_filled(row[min(places)]))
        if not is_title:
            return at if all(map(can_be_column_name, filled)) else 0
    return 0


def join_titles(rows: Sequence[Cells]) -> str:
    """Return the text of the rows above the header on one line."""
    return " ".join(" ".join(str(cell).split()) for row in rows for cell in row if is_filled(cell))[:_LONGEST_TITLE]


def join_header_rows(rows: Sequence[Cells]) -> tuple[list[object], int]:
    """Return the columns' names and how many rows they fill: years and units may stand below them."""
    width = max(map(len, rows))
    rows = [(*row, *[None] * (width - len(row))) for row in rows]
    header, count = list(rows[0]), 1
    first = next((place for place, cell in enumerate(header) if is_filled(cell)), 0)
    data = next((row for row in rows[1:] if is_filled(row[first])), rows[0])
    while count < len(rows) and (places := _find_lower_names(rows[count], first, data)):
        for place in places:
            # A name that is merged over several columns stands in the first of them.
            left = (rows[0][each] for each in range(place, first, -1) if is_filled(rows[0][each]))
            over = header[place] if is_filled(header[place]) or count > 1 else next(left, None)
            header[place] = join_titles([(over, rows[count][place])])
        count += 1
    return header, count


def _find_lower_names(row: Cells, first: int, data: Cells) -> list[int]:
    """Return the places of the names in a row below the header; an empty list if it is data."""
    places = [place for place, cell in enumerate(row) if is_filled(cell)]
    are_names = first not in places and all(can_be_column_name(row[place]) for place in places)
    above_numbers = (is_filled(data[place]) and not can_be_column_name(data[place]) for place in places)
    return places if are_names and all(above_numbers) else []


def has_names_above_numbers(rows: Sequence[Cells]) -> bool:
    """Whether the first of some rows has only names, at least one of them above numbers alone."""
    header, *others = rows or [()]
    below = ([row[place] for row in others if place < len(row) and row[place]] for place in range(len(header)))
    return all(map(can_be_column_name, header)) and any(
        cells and cell and not any(map(str.isdigit, str(cell))) and all(map(_is_number, cells))
        for cell, cells in zip(header, below, strict=True)
    )


def can_be_column_name(cell: object) -> bool:
    """Whether a cell may be a column's name: a text that is no number, or a year."""
    if isinstance(cell, str):
        return not _is_number(cell) or (cell.strip().isdigit() and int(cell) in YEARS)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell in YEARS


def _is_number(cell: object) -> bool:
    return isinstance(cell, str) and bool(_NUMERIC.fullmatch(cell.strip()))
