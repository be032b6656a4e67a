"""Rows as people write them: titles, names of columns, notes, numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest

Cells = Sequence[object]
_REMEMBERED = 500_000  # texts, as each is looked at for several kinds of totals
YEARS = range(1900, 2101)  # whose sum says nothing
_NOTE = re.compile(
    r"\W{0,2}(?:sources?|notes?|quellen?|anmerkung(?:en)?|hinweis|stand|fonte|nota|remarque|fuente|注|出典|出所|資料|備考)\s*[:：]"
    r"|[*†‡¹²³※]+ ?\w|[(\[]?\d[)\]] ",
    re.IGNORECASE,
)
# Below a table of numbers, a text alone that begins like this is one too.
_SHORT_NOTE = re.compile(
    r"[(\[]?[a-z][)\]] |[a-z]{1,2}\s?[=:] ?\w|(?:end of|fin d[ue]|ende de[rs])"
    r" (?:report|file|data|list|table|rapport|fichier|tableau|bericht|datei|liste|tabelle)"
    r"|(?:generated|created|exported|printed) (?:by|on|at)\b|(?:erstellt|exportiert|gedruckt) (?:am|von|mit)\b"
    r"|(?:généré|édité|exporté|imprimé) (?:le|par)\b",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"\W*(?:page|seite|blatt|p[aá]gina|pagina|sida|side|strona|p[.]|p[aá]g[.])\s*\d+(?:\s*(?:of|von|de|di|sur|van|av|z|/)\s*\d+)?\W*",
    re.IGNORECASE,
)
_CAPITAL = "^A"  # how names and cells may begin
_WORDS = 4  # of the shortest sentence
_NOTES = 50  # rows of the longest sheet of notes
_NUMERIC = re.compile(r"[-+\u2212]?[\d.,\s]*\d%?")
_LONGEST_TITLE = 200
# Units in any letters: zł, руб., Mio. €, μg/m3.
_LETTERS = "[A-Za-z%$\u0080-\U0010ffff]"
UNIT = (
    rf"\s?{_LETTERS}{{1,5}}[23]?(?:/{_LETTERS}{{1,4}}[23]?)?\.?(?:\s?(?:[$€£¥₽]|zł|Kč|kr|руб|EUR|USD|CHF|GBP|PLN)\.?)?"
)
# Names of months; a word that begins otherwise, as Market does, is none.
MONTH = (
    "jan|ene|gen|feb|fév|mar|mär|mrt|apr|avr|abr|ma[iyj]|jun|giu|jul|lug|aug|ago|aoû|sept?|o[ckt]t|out|nov|de[cz]|déc|dic"
    "|(?:janu|janv|janei|enero|genna|febr|févr|fever|march|märz|mars|marzo|março|maart|april|avril|abril|maggi|mayo|juni"
    "|juin|junho|june|giugn|juli|july|julho|juill|lugli|augus|agost|août|septem|settem|setem|septiem|octo|okto|otto|outu"
    "|novem|noviem|decem|dezem|décem|dicem|diciem)[^\\d\\s.,-]{0,5}"
)
_LAST_UNIT = re.compile(rf"(?<=[0-9])(?![eE][-+]?[0-9]){UNIT}$")
_UNIT_NAME = re.compile(r"\s*[(\[][^()\[\]]*[^\W\d][^()\[\]]*[)\]]\s*|\s*[(\[][%°$€£¥][)\]]\s*")
_DECORATION = re.compile(r"[\s'’%$€£¥₹₽]|CHF|EUR|USD|GBP|PLN|R\$|Fr\.|円|kr\.?|zł|Kč")
_NEGATIVE = re.compile(r"\((.+)\)|[-▲△](.+)|(.+)-")
_PLAIN = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d\d?)?", re.ASCII)
_LARGEST = 10**30  # sums of larger numbers are not told exactly


def is_filled(cell: object) -> bool:
    """Whether a cell is neither None nor an empty text."""
    return cell is not None and cell != ""


def fold_cell(cell: object) -> str:
    return "" if cell is None else str(cell).strip().casefold()


def is_number(cell: object) -> bool:
    return isinstance(cell, str) and bool(_NUMERIC.fullmatch(cell.strip()))


def is_year(cell: object) -> bool:
    """Whether a cell holds a year, or no number."""
    numbers = (parse_cell_number(cell, mark) for mark in ".,")
    return all(number is None or (number % 1 == 0 and int(number) in YEARS) for number in numbers)


def parse_cell_number(cell: object, mark: str) -> Decimal | None:
    """Return a cell's number, given the decimal mark; None if the cell is not a number."""
    if isinstance(cell, str):
        return _parse_number_text(cell, mark)
    is_number = isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) and abs(cell) < _LARGEST
    return Decimal(str(cell)) if is_number else None


@lru_cache(maxsize=_REMEMBERED)
def _parse_number_text(cell: str, mark: str) -> Decimal | None:
    if not _PLAIN.fullmatch(cell) or (mark != "." and "." in cell):
        cell = _LAST_UNIT.sub("", unicodedata.normalize("NFKC", cell))
        cell = _DECORATION.sub("", cell).replace("\u2212", "-")
        cell = f"-{''.join(filter(None, sign.groups()))}" if (sign := _NEGATIVE.fullmatch(cell)) else cell
        *thousands, last = cell.split("," if mark == "." else ".")
        if thousands and len(last.partition(mark)[0]) != 3:  # 3.70 is not 370
            return None
        cell = "".join((*thousands, last)).replace(mark, ".")
    return Decimal(cell) if _PLAIN.fullmatch(cell) else None


def can_be_column_name(cell: object) -> bool:
    """Whether a cell may be a column's name: a text that is no number, or a year."""
    if isinstance(cell, str):
        return not is_number(cell) or (cell.strip().isdigit() and int(cell) in YEARS)
    return isinstance(cell, int) and not isinstance(cell, bool) and cell in YEARS


def may_be_cells(names: Cells, rows: Sequence[Cells]) -> bool:
    """Whether names read as the rows below: by a value or signs of theirs, or nothing differs."""
    are_alike, are_plain = False, True
    for name, *below in zip(names, *(row for row in rows if len(row) == len(names) and row != names), strict=True):
        cells = [str(cell) for cell in below if is_filled(cell)]
        if not cells or not is_filled(name):
            continue
        if not isinstance(name, str) or is_number(name):
            return False  # years stand above numbers
        own, (first, *others) = _find_signs(name), map(_find_signs, cells)
        common = first.intersection(*others)
        if not common <= own:
            return False
        are_alike |= name in cells or bool(common - {_CAPITAL})
        are_plain &= len({*cells}) == len(cells) and own == common == first.union(*others)
    return are_alike or are_plain


def _find_signs(cell: object) -> set[str]:
    """Return the signs of a cell but letters, each digit as 0; and how it begins."""
    text = str(cell).strip()
    signs = {"0" if sign.isdigit() else sign for sign in text if not sign.isalpha() and sign not in " -"}
    return signs | ({_CAPITAL} if text[:1].isupper() else {"^0"} if text[:1].isdigit() else set())


def join_titles(rows: Sequence[Cells]) -> str:
    """Return the text of the rows above the header on one line."""
    return " ".join(" ".join(str(cell).split()) for row in rows for cell in row if is_filled(cell))[:_LONGEST_TITLE]


def _find_filled(row: Cells) -> set[int]:
    return {place for place, cell in enumerate(row) if is_filled(cell)}


def find_header_row(rows: Sequence[Cells]) -> int:
    """Return the index of the header row; 0 unless a later row is clearly the header."""
    # A title fills the first column and at most half of all; below titles, a header is a row of words.
    places = {place for row in rows for place in _find_filled(row)}
    # Below titles and keys with their values, it fills all columns, and is the first row to fill more than two.
    key_and_value = set(sorted(places)[:2])
    at = next((at for at, row in enumerate(rows[:-1]) if not _find_filled(row) <= key_and_value), 0)
    are_names = [all(map(can_be_column_name, filter(is_filled, row))) for row in rows[at : at + 2]]
    if at > 1 and _find_filled(rows[at]) == places and are_names == [True, False]:
        return at
    for at, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        is_title = not filled or (2 * len(filled) <= len(places) and is_filled(row[min(places)]))
        if not is_title:
            return at if all(map(can_be_column_name, filled)) else 0
    return 0


def is_name_row(names: Cells, rows: Sequence[Cells]) -> bool:
    """Whether the first of the rows below names belongs to them.

    Its first cell or theirs is empty, or all its cells are units in brackets, and it has words above numbers.
    """
    data = next((row for row in rows[1:] if row and is_filled(row[0])), ())
    pairs = [(cell, below) for cell, below in zip_longest(rows[0][1:], data[1:]) if is_filled(cell)]
    is_unit = (can_be_column_name(cell) and is_filled(below) and not can_be_column_name(below) for cell, below in pairs)
    is_bracketed = all(_UNIT_NAME.fullmatch(str(cell)) for cell in rows[0] if is_filled(cell))
    return bool(pairs) and (is_bracketed or not (is_filled(names[0]) and is_filled(rows[0][0]))) and all(is_unit)


def _is_note(cell: object) -> bool:
    return isinstance(cell, str) and (bool(_NOTE.match(cell)) or len(cell.split()) >= _WORDS)


def is_note_sheet(rows: Sequence[Cells]) -> bool:
    """Whether a sheet has only notes: one text per row, at least one of them a sentence."""
    cells = [cell for row in rows for cell in row if is_filled(cell)]
    return (
        len(cells) <= len(rows) <= _NOTES
        and all(isinstance(cell, str) for cell in cells)
        and (len(cells) == 1 or any(_is_note(cell) for cell in cells))
    )


def find_footnotes(rows: Sequence[Cells], width: int) -> tuple[set[int], set[int]]:
    """Return the positions of the footnotes at the end of a table, and of rows that may be some."""
    alone = dict(_iterate_lone_cells(rows))
    filled = [at for at, row in enumerate(rows) if width > 1 and any(map(fold_cell, row))]
    last = [*takewhile(lambda at: at in alone or _NOTE.match(fold_cell(rows[at][0])), reversed(filled))]
    notes, above = {at for at in last if _NOTE.match(fold_cell(rows[at][0]))}, filled[: len(filled) - len(last)]
    numbered = [at for at in above if any(re.search(r"\d", fold_cell(cell)) for cell in rows[at][1:])]
    if 2 * len(last) >= len(rows):
        return set(), set()
    if all(at in notes or _is_note(alone[at]) for at in last):
        return set(last), set()
    if 2 * len(numbered) <= len(filled):
        return notes, set()  # rows with one cell are data here
    # What stands below a note, or below the only empty row, is no row of the table.
    is_apart = above[-1] - above[0] < len(above) < last[-1]
    is_list = any(_SHORT_NOTE.match(fold_cell(rows[at][0])) for at in above)
    begins = [at for at in last if at in notes or (_SHORT_NOTE.match(alone[at]) and not is_list)]
    begins += [at for at in last if is_apart and not any(map(fold_cell, rows[at - 1]))]
    begin = min(begins, default=len(rows))
    likely = {at for at in last if at < begin and re.search(r"[^\W\d_]", fold_cell(rows[at][0]))}
    return {at for at in last if at >= begin}, likely


def find_page_numbers(rows: Sequence[Cells], width: int) -> set[int]:
    """Return the positions of rows that only number a page of what was printed."""
    alone = ((at, cell) for at, cell in _iterate_lone_cells(rows) if width > 1)
    return {at for at, cell in alone if _PAGE.fullmatch(cell)}


def find_headings(rows: Sequence[Cells], width: int, without: set[int]) -> list[int]:
    """Return the positions of rows with one text alone, in the first column, above fuller rows."""
    alone = {at for at, cell in _iterate_lone_cells(rows) if rows[at][0] == cell and can_be_column_name(cell)} - without
    filled = [at for at, row in enumerate(rows) if at not in without and any(map(is_filled, row))]
    found = [at for at, below in pairwise(filled) if at in alone and below not in alone]
    return found if width > 2 and len(found) == len(alone) and 2 * len(alone) < len(filled) else []


def find_second_header(rows: Sequence[Cells]) -> int | None:
    """Return the position of a row of names below an empty row, as of another table; or None."""
    for at, (above, row) in enumerate(pairwise(rows[:-1]), 1):
        filled = [cell for cell in row if fold_cell(cell)]
        if len(filled) > 1 and not any(map(fold_cell, above)) and all(map(_is_wordy, filled)):
            return at
    return None


def _is_wordy(cell: object) -> bool:
    return isinstance(cell, str) and can_be_column_name(cell) and (cell.strip().isdigit() or not re.search(r"\d", cell))


def _iterate_lone_cells(rows: Sequence[Cells]) -> Iterator[tuple[int, str]]:
    for at, row in enumerate(rows):
        filled = [cell for cell in row if is_filled(cell)]
        if len(filled) == 1 and isinstance(filled[0], str):
            yield at, filled[0]


def find_texts(row: Cells) -> list[int]:
    """Return the places of a row's cells that hold neither nothing nor a number."""
    filled = ((place, cell) for place, cell in enumerate(row) if fold_cell(cell))
    return [place for place, cell in filled if parse_cell_number(cell, ".") is parse_cell_number(cell, ",") is None]
