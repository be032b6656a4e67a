"""Rows of a file that are none of its table: headers, footnotes, pages and totals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, zip_longest

from .notices import NoticeCollector, format_decision, format_row_count
from .rows import (
    Cells,
    find_footnotes,
    find_headings,
    find_page_numbers,
    find_second_header,
    fold_cell,
    is_filled,
    is_name_row,
    join_titles,
)
from .totals import TotalRows

_LIKELY_NOTE = "at the end {} one text alone, as notes do"


def clean_rows(noticing: NoticeCollector, rows: Sequence[Cells], *, has_header: bool = True) -> list[Cells]:
    """Return the rows of a table without stray ones, and with rows of names as one."""
    header, count = rows[: int(has_header)], int(has_header)
    names = header[0] if header else ()
    if has_header:
        while count < len(rows) and is_name_row(names, rows[count:]):
            count += 1
    if count > 1 and noticing.is_guess_reversed("headers"):
        noticing.add("headers", "rows of names and units below the first are kept, as you said")
        count = 1
    elif count > 1:
        noticing.add("headers", f"{count} rows of names and units are read as one")
        # A name that is merged over several columns stands in the first of them.
        columns = list(zip_longest(*rows[:count]))
        above = accumulate((first for first, *_ in columns), lambda left, cell: cell if is_filled(cell) else left)
        header = [[join_titles([(name, *below)]) for name, (_, *below) in zip(above, columns, strict=True)]]
    strays = find_stray_rows(noticing, names, rows[count:])
    empty = {at for at, row in enumerate(rows[count:]) if len(row) > 1 and not any(map(fold_cell, row))}
    if empty:
        noticing.add("empty", format_row_count(len(empty), "has", "have") + " no value in any column: left out")
    return [*header, *(row for at, row in enumerate(rows[count:]) if at not in strays | empty)]


def find_stray_rows(noticing: NoticeCollector, header: Cells, rows: Sequence[Cells]) -> set[int]:
    """Return the positions of rows to leave out: repeated headers, footnotes and totals."""
    names = [fold_cell(cell) for cell in header]
    header_rows = {at for at, row in enumerate(rows) if names and fold_cell(row[0] if row else "") == names[0]}
    header_rows = {at for at in header_rows if any(names) and [*map(fold_cell, rows[at])] == names}
    width = sum(map(bool, names))
    pages = find_page_numbers(rows, width)
    titles = {at - 1 for at in header_rows if at and width > 1 and sum(map(is_filled, rows[at - 1])) == 1} - pages
    notes, likely_notes = (found - pages - titles for found in find_footnotes(rows, width))
    others = header_rows | titles | pages | notes
    strays = TotalRows(header, rows, others).find_totals_to_leave_out(noticing)
    headings = find_headings(rows, width, strays | others | likely_notes)
    if len({*filter(None, names)}) < width:
        noticing.add("names", "several columns have the same name: all but the first are numbered")
    if headings:
        text = format_row_count(len(headings), "has", "have") + " one text alone, as headings do, and count as rows"
        noticing.add("headings", text, example=rows[headings[0]][0])
    if names and (at := find_second_header(rows)) is not None and at not in header_rows | notes:
        noticing.add("tables", "an empty row divides the table: another table may begin below it", example=rows[at][0])
    for kind, places, phrases in (
        ("headers", header_rows, ("repeats the header", "repeat the header")),
        ("headers", titles, ("above a repeated header is a title", "above repeated headers are titles")),
        ("headers", pages, ("numbers a page", "number pages")),
        ("footnotes", notes, ("below the table is a note", "below the table are notes")),
        ("footnotes", likely_notes, (_LIKELY_NOTE.format("has"), _LIKELY_NOTE.format("have"))),
    ):
        is_turned = noticing.is_guess_reversed(kind)
        if places:
            text = format_row_count(len(places), *phrases) + format_decision(is_turned, kept=places is likely_notes)
            example = next(filter(is_filled, rows[min(places)]), "") if places in (notes, likely_notes, titles) else ""
            noticing.add(kind, text, example=example)
        strays |= places if is_turned == (places is likely_notes) else set[int]()
    return strays
