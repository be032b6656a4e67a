"""Notices on files: guesses in how they are read, and what misleads a count or a sum."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib.resources import files
from itertools import accumulate, chain, islice, repeat, takewhile, zip_longest
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

from ...errors import SettingsError
from ..quoting import literal, quote
from .rows import (
    Cells,
    find_footnotes,
    find_headings,
    find_page_numbers,
    find_second_header,
    fold_cell,
    is_filled,
    is_name_row,
    is_year,
    join_titles,
    parse_cell_number,
)

if TYPE_CHECKING:
    import duckdb

    from ..schema import ColumnSchema, Schema, TableSchema

GUESSES = ("totals", "headers", "footnotes", "header", "dates", "numbers", "missing", "sheets")
"""Guesses about files that can be decided otherwise; docs/databases.md says what is guessed."""

_EMPTY = (
    "NA N/A n/a na NaN nan NULL null None - -- – — ? . k.A. n.d. #N/A #NV #DIV/0! #REF! #VALUE! #NAME? #NUM! #NULL!"
)
MISSING = tuple(_EMPTY.split())
"""How people write that a cell is empty, and the errors of a spreadsheet's formulas."""

LOOKED_AT = 100_000
"""Rows of a table that are looked at: the first ones."""

KEPT_TOTALS = "kept totals"
"""The kind of a notice on rows that may be totals, and that count like others."""

MOST_COLUMNS = 200  # that are looked at
EXAMPLE_CHARACTERS = 40  # characters of an example


@dataclass(frozen=True)
class Notice:
    """A remark on a file: a guess in how it is read, or a fact that may mislead.

    Attributes:
        table: The table.
        column: The column; empty if it is about rows, or the whole table.
        kind: A word of `GUESSES`, or what the fact is about.
        text: What was noticed; it has no cell of the file.
        turned_by: For a guess, what decides it otherwise: a word of `GUESSES`, or what to do; empty for a fact.
        example: A cell that shows it, shortened; empty where cells are withheld.
    """

    table: str
    column: str
    kind: str
    text: str
    turned_by: str = ""
    example: str = ""

    def __str__(self) -> str:
        place = ".".join(filter(None, (self.table, self.column)))
        return f"{place}: {self.text}" + (f"; otherwise: {self.turned_by}" if self.turned_by else "")


def validate_guesses(words: Iterable[str]) -> frozenset[str]:
    """Return the guesses to reverse; raise `SettingsError` for an unknown guess."""
    guesses = frozenset(words)
    for word in guesses:
        if word.rpartition(".")[2] not in GUESSES:
            raise SettingsError(f"no guess is called {word!r}: write one of {', '.join(GUESSES)}, or TABLE.GUESS")
    return guesses


def list_likely_key_notices(schema: Schema) -> Iterator[Notice]:
    """Yield a notice for each likely key, which was inferred from names and values."""
    for table in schema.tables:
        for column in table.columns if table.kind == "table" else ():
            if column.likely_key:
                yield Notice(table.name, column.name, "key", "taken as the key: no value comes twice")


@dataclass
class NoticeCollector:
    """A collector of notices on one table, with the guesses that are reversed."""

    table: str
    reversals: frozenset[str] = frozenset()
    notices: list[Notice] = field(default_factory=list[Notice])

    def is_guess_reversed(self, guess: str) -> bool:
        """Whether a guess is reversed for this table."""
        return guess in self.reversals or f"{self.table}.{guess}" in self.reversals

    def add(self, kind: str, text: str, column: str = "", example: object = "", turned_by: str = "") -> None:
        """Add a notice; a notice on a guess gets the word that reverses the guess."""
        # A terminal or a page shows it in one line.
        cell = "".join(sign if sign.isprintable() else " " for sign in str(example)[: 2 * EXAMPLE_CHARACTERS])
        cell = " ".join(cell.split())
        cell = cell if len(cell) <= EXAMPLE_CHARACTERS else f"{cell[: EXAMPLE_CHARACTERS - 1]}…"
        turned_by = turned_by or (kind if kind in GUESSES else "")
        self.notices.append(Notice(self.table, column, kind, text, turned_by, cell))

    def add_kept_totals(self, text: str, example: object = "") -> None:
        """Add a notice on rows that may be totals and are kept."""
        self.add(KEPT_TOTALS, f"{text}: kept, so a sum may count twice", example=example, turned_by=_LEAVE_OUT)

    def rename_notice_columns(self, names: Mapping[str, str]) -> tuple[Notice, ...]:
        """Return the notices with columns renamed from the file's names to the given names."""
        return tuple(replace(notice, column=names.get(notice.column, notice.column)) for notice in self.notices)


def _compile_labels() -> tuple[str, str, str]:
    """Return the patterns in data/totals.toml: labels of totals, of means and of taxes."""
    content = files(__package__ or "").joinpath("data", "totals.toml").read_text(encoding="utf-8")
    patterns = {key: "|".join(map(re.escape, listed)) for key, listed in tomllib.loads(content).items()}
    measures = "|".join(f"(?P<{name}>{patterns[name]})" for name in _MEASURES)
    word = rf"({patterns['words']}|\S*(?:{patterns['endings']}))"
    totals = rf"{word}(?:[\s:(/.,-].*)?|.*[\s)/.-]{word}|.*(?:{patterns['signs']}).*|{patterns['labels']}"
    return totals, rf"(?:{measures})(?:[\s:(].*)?", rf"\b(?:{patterns['taxes']})(?!\w)"


_MEASURES: dict[str, Callable[[list[Decimal]], Decimal | int]] = {
    "means": lambda numbers: sum(numbers, Decimal()) / len(numbers),
    "minima": min,
    "maxima": max,
    "counts": len,
}
_TOTAL, _MEASURE, _TAX = (re.compile(pattern, re.IGNORECASE) for pattern in _compile_labels())
_LABEL = 30  # characters of the longest label of a total
_CHANCE = 10  # a row whose numbers, multiplied, are less may equal a sum by chance
_NO_CHANCE = 100  # one whose numbers, multiplied, are as much may be told without a label or another such row
_LAST = 10  # rows at a table's end that may be means and the like
_TYPICAL = 1_000  # rows that tell which column is the first one of texts
_FLOAT = Decimal("1e-9")  # such a difference is the computer's
_SEARCHED = 200_000  # cells of a table in which totals without a label are looked for
_TOLD = 9  # texts of rows that are told one by one
_DEEPEST = 4  # levels of rows above their parts
_COMPARED = 5_000_000  # cells of all pairs of totals; where there are more, their label is a category's name


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
    strays = _TotalRows(rows, others).find_totals_to_leave_out(noticing)
    headings = find_headings(rows, width, strays | others | likely_notes)
    if len({*filter(None, names)}) < width:
        noticing.add("names", "several columns have one name: all but the first are numbered")
    if headings:
        text = format_row_count(len(headings), "has", "have") + " one text alone, as headings do, and count as rows"
        noticing.add("headings", text, example=rows[headings[0]][0])
    if names and (at := find_second_header(rows)) is not None and at not in header_rows | notes:
        noticing.add("tables", "an empty row parts the table: another one may begin below it", example=rows[at][0])
    for kind, places, phrases in (
        ("headers", header_rows, ("repeats the header", "repeat the header")),
        ("headers", titles, ("above a repeated header is a title", "above repeated headers are titles")),
        ("headers", pages, ("numbers a page", "number pages")),
        ("footnotes", notes, ("below the table is a note", "below the table are notes")),
        ("footnotes", likely_notes, (_LIKELY_NOTE.format("has"), _LIKELY_NOTE.format("have"))),
    ):
        is_turned = noticing.is_guess_reversed(kind)
        if places:
            text = format_row_count(len(places), *phrases) + _format_decision(is_turned, kept=places is likely_notes)
            example = next(filter(is_filled, rows[min(places)]), "") if places in (notes, likely_notes, titles) else ""
            noticing.add(kind, text, example=example)
        strays |= places if is_turned == (places is likely_notes) else set[int]()
    return strays


def fetch_rows_with_totals(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[ColumnSchema], scan: str
) -> list[tuple[Any, ...]]:
    """Return a table's rows if a cell is labelled as a total; an empty list for a large table."""
    import duckdb  # which a process that opens no files may lack

    text = f"left({{}}, {_LABEL + 1})"
    casts = dict.fromkeys(("DATE", "TIMESTAMP"), "CAST({} AS VARCHAR)")
    casts |= {"VARCHAR": text, "JSON": text.format("({} ->> '$')")}
    forms = (casts.get(column.type, "{}" if column.kind == "number" else "NULL") for column in columns)
    cells = ", ".join(form.format(quote(column.name)) for form, column in zip(forms, columns, strict=True))
    try:
        condition = _make_label_condition(columns, f"{_TOTAL.pattern}|{_MEASURE.pattern}")
        sql = f"SELECT count(*), bool_or({condition}) FROM (SELECT * FROM {scan} LIMIT {LOOKED_AT + 1})"
        ((count, has_total),) = connection.execute(sql).fetchall()
        return connection.execute(f"SELECT {cells} FROM {scan}").fetchall() if has_total and count <= LOOKED_AT else []
    except duckdb.Error:  # too little memory
        return []


def _make_label_condition(columns: Sequence[ColumnSchema], pattern: str = _TOTAL.pattern) -> str:
    """Return SQL for whether a row has a label that matches a pattern, by default a total's."""
    label = literal(rf"(?i)[\s:*]*(?:{pattern})[\s:*]*")
    texts = (quote(column.name) for column in columns[:MOST_COLUMNS] if column.type == "VARCHAR")
    conditions = (f"length({cell}) <= {_LABEL} AND regexp_full_match({cell}, {label})" for cell in texts)
    return " OR ".join(conditions) or "false"


def make_kept_totals_condition(notices: Iterable[Notice], table: TableSchema) -> str:
    """Return SQL for a table's rows that may be totals and are kept; '' if no text tells them."""
    cells = [quote(column.name) for column in table.columns if column.type == "VARCHAR"]
    conditions, joined = [_make_label_condition(table.columns)], _make_joined_texts(table.columns)
    for notice in notices:
        if (notice.table, notice.kind) == (table.name, KEPT_TOTALS):
            start = literal(notice.example[: EXAMPLE_CHARACTERS - 1])
            matches = [f"left({cell}, {EXAMPLE_CHARACTERS - 1}) = {start}" for cell in cells]
            marks = [f"left({joined}, {EXAMPLE_CHARACTERS - 1}) = {start}", " OR ".join(matches)]
            marks = marks if notice.example else [f"coalesce(trim({cell}), '') = ''" for cell in cells[:1]]
            # If no row has the texts, or lacks one, none tells which rows these are.
            cases = (f"WHEN (SELECT bool_or({mark}) FROM {quote(table.name)}) THEN {mark}" for mark in marks)
            conditions.append(f"CASE {' '.join(cases)} ELSE true END")
    return f"coalesce({' OR '.join(conditions)}, false)" if cells else ""


def _make_joined_texts(columns: Sequence[ColumnSchema]) -> str:
    """Return SQL for the texts of a row as `_join_texts` joins them, spelt as an example is."""
    texts = (f"CAST({quote(column.name)} AS VARCHAR)" for column in reversed(columns) if column.kind != "number")
    return rf"trim(regexp_replace(concat_ws(' ', {', '.join(texts)}), '[\s\pZ\pC]+', ' ', 'g'))"


def format_row_count(count: int, singular: str, plural: str) -> str:
    """Return a phrase such as `3 rows repeat the header`."""
    return f"1 row {singular}" if count == 1 else f"{count:,} rows {plural}"


def _format_decision(is_turned: bool, *, kept: bool = False) -> str:
    return (": left out" if is_turned == kept else ": kept") + (", as you said" if is_turned else "")


_LEAVE_OUT = "leave them out in the question"
_LIKELY_NOTE = "at the end {} one text alone, as notes do"
_LABELLED = ("is labelled as a total", "are labelled as totals")
_MEASURED = (
    "is labelled as a mean, minimum, maximum or count and equals that of rows above",
    "are labelled as means, minima, maxima or counts and equal those of rows above",
)
_SUMS = ("is labelled as a total and equals", "are labelled as totals and equal")
_TOO_MANY = "too many to compare with the rows above"


def _find_total_word(cell: object) -> str:
    """Return the word by which a cell is the label of a total; '' if it is none."""
    short = cell.strip(" \t:*\u00a0") if isinstance(cell, str) and len(cell) <= _LABEL else ""
    match = _TOTAL.fullmatch(short)
    return (next(filter(None, match.groups()), short) if match else "").casefold()


class _TotalRows:
    """The rows that may be totals: by label, or because they equal a sum of rows above."""

    def __init__(self, rows: Sequence[Cells], strays: set[int]) -> None:
        self._rows = rows
        self._places = [at for at, row in enumerate(rows) if at not in strays and any(map(fold_cell, row))]
        labels = set(filter(_find_total_word, set(chain.from_iterable(rows))))
        self._labels = {
            at: next(cell for cell in rows[at] if cell in labels)
            for at in self._places
            if not labels.isdisjoint(rows[at])
        }
        self._blank = set[int]()  # rows without texts, if each is a total
        self._weak = set[int]()  # totals that one row alone, or zeros, would make
        self._strong = set[int]()  # totals of several rows, in all columns of numbers, that are no chance
        self._width = max((len(rows[at]) for at in self._places), default=0)

    def find_totals_to_leave_out(self, noticing: NoticeCollector) -> set[int]:
        """Return the positions of totals to leave out, and add notices on totals."""
        measures = self._find_measures(noticing)
        every, label_places = self._labels, self._labels.keys()
        is_small = len(self._rows) <= LOOKED_AT and self._width * len(label_places) ** 2 <= _COMPARED
        equal = self._find_labelled_totals() if is_small and label_places else {}
        match_count = len(equal.keys() & label_places)
        if is_small and match_count < max(1, len(label_places)) and self._width * len(self._places) <= _SEARCHED:
            guesses = self._guess_totals(label_places)
            # Rows that no label tells of are left out only if the sum of a labelled one has to leave them out.
            is_certain = len(guesses) > 1 or not guesses.keys().isdisjoint(self._blank | self._strong)
            if len(guesses.keys() & label_places) > match_count or (is_certain and not match_count):
                equal = guesses
        # The last row is above none of them.
        unnamed = equal.keys() & set(self._places[-1:]) - label_places
        sums = equal.keys() - unnamed if self._labels.keys() & equal.keys() else set[int]()
        other = self._select_placed_as_totals(set(filter(self._has_amount, label_places - equal.keys())))
        taxes = {
            at for before, at, after in self._iterate_neighbours() if before in sums and (after in sums or after < 0)
        }
        taxes = {at for at in taxes - sums if _TAX.search(" ".join(map(fold_cell, self._rows[at])))}
        is_turned = noticing.is_guess_reversed("totals")
        for places in filter(None, (sums, equal.keys() - sums)):
            rounding = max(equal[at] for at in places)
            about = " the sum of rows above" + (f" but for rounding ({rounding:f})" if rounding else "")
            phrases = [phrase + about for phrase in (_SUMS if places <= label_places else ("equals", "equal"))]
            if places is sums:
                text = format_row_count(len(places), *phrases) + _format_decision(is_turned)
                noticing.add("totals", text, example=self._labels.get(min(sums), ""))
            else:
                self._add_kept_rows(noticing, places, *phrases)
        if other:
            compared = "not the sum of several rows above" if is_small else _TOO_MANY
            noticing.add_kept_totals(f"{format_row_count(len(other), *_LABELLED)}, {compared}", every[min(other)])
        if taxes:
            text = format_row_count(len(taxes), "beside totals is tax", "beside totals are tax")
            noticing.add("totals", text + _format_decision(is_turned), example=self._rows[min(taxes)][0])
        if self._is_difference(sorted(sums - taxes)[-_LAST:]):
            noticing.add_kept_totals(
                "the last row equals the difference of two totals", _join_texts(self._rows[self._places[-1]])
            )
        parents = self._find_parents(equal.keys() | label_places) or self._find_parents(equal.keys() | other)
        self._add_kept_rows(noticing, parents, *(f"{verb} the sum of rows below" for verb in ("equals", "equal")))
        return sums | taxes | measures if not is_turned else set()

    def _iterate_neighbours(self) -> Iterator[tuple[int, int, int]]:
        """Yield each row's place between those before and after it; -1 where there is none."""
        return zip([-1, *self._places], self._places, [*self._places[1:], -1], strict=False)

    def _is_difference(self, totals: Sequence[int]) -> bool:
        """Whether the last row's numbers are one total's less another's, as a profit is."""
        if len(totals) < 2 or (last := self._places[-1]) in totals:
            return False
        for mark in ".,":
            numbers = [
                [parse_cell_number(cell, mark) or Decimal() for cell in self._rows[at]] for at in (last, *totals)
            ]
            result, *others = numbers
            pairs = ((one, less) for one in others for less in others if one is not less and any(result))
            if any(all(a - b == c for a, b, c in zip(one, less, result, strict=False)) for one, less in pairs):
                return True
        return False

    def _add_kept_rows(self, noticing: NoticeCollector, places: Collection[int], singular: str, plural: str) -> None:
        """Add a notice for the texts of each row that is kept; one for all rows if there are many."""
        counts = Counter(_join_texts(self._rows[at]) for at in sorted(places))
        for text, count in counts.items() if len(counts) <= _TOLD else [("", len(places))]:
            noticing.add_kept_totals(format_row_count(count, singular, plural), text)

    def _find_parents(self, without: Collection[int]) -> set[int]:
        """Return the rows that equal sums of rows below, if all others are parts of such sums."""
        places = [at for at in self._places if at not in without]
        for mark in ".," if self._width * len(places) <= _SEARCHED else "":
            cells = (islice(chain(self._rows[at], repeat(None)), 1, self._width) for at in places)
            numbers = ([parse_cell_number(cell, mark) or Decimal() for cell in row] for row in cells)
            rows = [pair for pair in zip(places, numbers, strict=True) if any(pair[1])]
            for depth in range(1, _DEEPEST):
                parents, end = set[int](), 0
                while end is not None and end < len(rows):
                    end = _find_end_of_parts(rows, end, depth, parents)
                is_large = any(abs(number) >= _CHANCE for at, numbers in rows if at in parents for number in numbers)
                if end and is_large and 1 < len(parents) < len(rows) - len(parents):
                    return parents
        return set()

    def _find_measures(self, noticing: NoticeCollector) -> set[int]:
        """Return the last rows if they are means and the like of rows above; add a notice on them."""
        names = {at: _name_measure(self._rows[at]) for at in self._places[-_LAST:]}
        last = [*takewhile(lambda at: names.get(at) or at in self._labels, reversed(self._places))]
        above = [at for at in self._places[: len(self._places) - len(last)] if at not in self._labels]
        is_small = self._width * len(above) <= _SEARCHED
        measures = {at for at in last if is_small and names.get(at) and self._is_measure(at, names[at], above)}
        self._places = [at for at in self._places if at not in measures]
        # A person may be called Max.
        if measures and (len(last) > 1 or names[min(measures)] == "means"):
            text = format_row_count(len(measures), *_MEASURED)
            noticing.add("totals", text + _format_decision(noticing.is_guess_reversed("totals")))
            return measures
        if measures:
            noticing.add_kept_totals("the last row may be the minimum, maximum or count of the rows above")
        return set()

    def _is_measure(self, at: int, name: str, above: Sequence[int]) -> bool:
        """Whether each number of a row is a measure of those above it."""

        def is_equal(place: int, number: Decimal, mark: str) -> bool:
            cells = (self._rows[other][place] for other in above if place < len(self._rows[other]))
            numbers = [value for cell in cells if (value := parse_cell_number(cell, mark)) is not None]
            digit = Decimal(1).scaleb(int(number.as_tuple().exponent))
            return len(numbers) > 1 and abs(_MEASURES[name](numbers) - number) <= digit / 2 + _FLOAT

        for mark in ".,":
            parsed_cells = ((place, parse_cell_number(cell, mark)) for place, cell in enumerate(self._rows[at]))
            cells = [(place, number) for place, number in parsed_cells if number is not None]
            if cells and all(is_equal(place, number, mark) for place, number in cells):
                return True
        return False

    def _guess_totals(self, label_places: Collection[int]) -> dict[int, Decimal]:
        """Return the rows that equal a sum of rows above, whether labelled or not."""

        def find() -> dict[int, Decimal]:
            candidates = (self._find_matching_totals(mark, guesses=True) for mark in ".,")
            return max(candidates, key=lambda candidate: (len(candidate.keys() & label_places), len(candidate)))

        self._blank = {at for at in self._places if not _find_texts(self._rows[at])}
        # Where only totals have no text, small ones are no chance.
        if 2 * len(self._blank) <= len(self._places) and self._blank <= (sums := find()).keys():
            return sums
        self._blank = set()
        return find()

    def _find_labelled_totals(self) -> dict[int, Decimal]:
        """Return the labelled rows that are totals; forget the labels of rows that are data."""
        every = self._labels
        equal, data = self._compare_labelled_rows()
        if data:
            # As data, they are among the rows whose sum a total is.
            self._labels = {at: label for at, label in every.items() if at not in data}
            second_pass, _ = self._compare_labelled_rows()
            if len(second_pass) >= len(equal):
                return second_pass
            self._labels = every
        return equal

    def _compare_labelled_rows(self) -> tuple[dict[int, Decimal], set[int]]:
        """Return the labelled rows that are totals, and those whose labels are data."""
        labels = {at: fold_cell(label) for at, label in self._labels.items()}
        words = {at: _find_total_word(label) for at, label in self._labels.items()}
        equal = max(map(self._find_matching_totals, ".,"), key=len)
        # A label of several rows that are no sums is a category of its column.
        label_counts = Counter(labels[at] for at in labels.keys() - equal.keys() if self._has_amount(at))
        categories = {at for at in labels if label_counts[labels[at]] > 1}
        # One row equals the one above, or zeros, by chance: another row has to show that its label is a total's.
        certain = {words[at] for at in words.keys() & equal.keys() - categories - self._weak}
        chance = {at for at in words.keys() & equal.keys() if words[at] not in certain}
        return {at: off for at, off in equal.items() if at not in categories | chance}, categories | chance

    def _select_placed_as_totals(self, places: set[int]) -> set[int]:
        """Return the rows that end a block, or have no text but one in the first column of texts."""
        if not places:
            return places
        texts = [_find_texts(self._rows[at]) for at in self._places[:_TYPICAL]]
        first = min(chain.from_iterable(texts), default=0)
        ends = places.difference(at - 1 for at in self._places)
        return ends | {at for at in places if _find_texts(self._rows[at]) == [first]}

    def _has_amount(self, at: int) -> bool:
        """Whether a row has a digit other than zero."""
        return any(sign.isdigit() and sign not in "00" for sign in "".join(map(str, self._rows[at])))

    def _find_matching_totals(self, mark: str, *, guesses: bool = False) -> dict[int, Decimal]:
        """Return the totals that equal a sum of rows above, each with its rounding difference.

        These are labelled rows and the last one; as guesses, other rows of large numbers too.
        """
        zero = Decimal()
        sums: dict[int, Decimal] = {}
        counts, digits = Counter[int](), Counter[int]()
        plain, starts = 0, [(0, dict(sums))]  # rows and sums up to places at which the rows of a total may begin
        totals: dict[int, Decimal] = {}
        rows = [self._rows[at] for at in (self._places if guesses else [*self._labels, *self._places[-1:]])]
        places = {place for row in rows for place, cell in enumerate(row) if parse_cell_number(cell, mark) is not None}
        rows = [self._rows[at] for at in self._places]
        # A sum of years says nothing, and a row of another year than the one above is no sum.
        years = {place for place in places if all(is_year(row[place]) for row in rows if place < len(row))}
        places, own = places - years, set[Decimal | None]()
        for at in self._places:
            row = self._rows[at]
            above, own = own, {parse_cell_number(row[place], mark) for place in years if place < len(row)} - {None}
            numbers = ((place, parse_cell_number(row[place], mark)) for place in places if place < len(row))
            cells = {place: number for place, number in numbers if number is not None}
            is_labelled = at in self._labels
            sizes = [*map(abs, cells.values())]
            is_large = max(sizes, default=0) >= _CHANCE or at in self._blank
            is_guess = (guesses or at == self._places[-1]) and not is_labelled and is_large
            # Each number may be rounded, up or down, by half of its last digit.
            limits = {p: Decimal(isqrt(counts[p]) + 1).scaleb(-digits[p]) / 2 if digits[p] else zero for p in cells}
            likely = starts if is_labelled else [starts[0], starts[-1]] if is_guess else []
            can_be_sum = cells and counts.keys() >= cells.keys() and own <= above
            for begin, start in reversed(likely) if can_be_sum else ():
                if is_guess and plain < begin + 2:
                    continue  # without a label the same number as above is no sum
                offs = ((abs(sums[p] - start.get(p, zero) - number), limits[p]) for p, number in cells.items())
                close = [off for off, _ in takewhile(lambda off: off[0] <= off[1], offs)]
                if len(close) == len(cells):
                    totals[at] = max((off for off in close if off > _FLOAT), default=zero)
                    self._weak |= {at} if plain < begin + 2 or not any(cells.values()) else set()
                    is_strong = plain > begin + 2 and cells.keys() == counts.keys() and prod(sizes) >= _NO_CHANCE
                    self._strong |= {at} if is_strong else set()
                    break
            if is_labelled or at in totals:
                starts.append((plain, dict(sums)))
                continue
            plain += bool(cells)
            for place, number in cells.items():
                sums[place] = sums.get(place, zero) + number
                counts[place] += 1
                digits[place] = max(digits[place], -int(number.as_tuple().exponent))
        return totals


def _find_end_of_parts(
    rows: Sequence[tuple[int, list[Decimal]]], start: int, depth: int, parents: set[int]
) -> int | None:
    """Return where the parts of a row end, and add it to `parents`; None if no rows below add up to it."""
    place, rest = rows[start]
    wholes = rest
    end: int | None = start + 1
    while depth and any(abs(part) > _FLOAT * max(1, abs(whole)) for part, whole in zip(rest, wholes, strict=True)):
        if end is None or end == len(rows):
            return None
        rest = [left - part for left, part in zip(rest, rows[end][1], strict=True)]
        end = _find_end_of_parts(rows, end, depth - 1, parents)
    parents |= {place} if depth else set()
    return end


def _find_texts(row: Cells) -> list[int]:
    """Return the places of a row's cells that hold neither nothing nor a number."""
    return [place for place, cell in enumerate(row) if fold_cell(cell) and parse_cell_number(cell, ".") is None]


def _join_texts(row: Cells) -> str:
    """Return the texts of a row as one, the last first: rows of a group share the first, which may be long."""
    return " ".join(str(row[place]) for place in reversed(_find_texts(row)))


def _name_measure(row: Cells) -> str:
    """Return the measure by which the first text of a row is labelled; '' if by none."""
    label = next((str(row[place]) for place in _find_texts(row)), "")
    match = _MEASURE.fullmatch(label.strip(" \t:*\u00a0")) if len(label) <= _LABEL else None
    return next((name for name, word in match.groupdict().items() if word), "") if match else ""


def leave_out_compared_total(
    connection: duckdb.DuckDBPyConnection, noticing: NoticeCollector, columns: Sequence[ColumnSchema], scan: str
) -> str:
    """Add notices on totals not compared yet; return the scan without those left out."""
    numbers = [f"CAST({quote(column.name)} AS DOUBLE)" for column in columns if column.kind == "number"]
    texts = [quote(column.name) for column in columns if column.type == "VARCHAR"]
    if not numbers:
        return scan
    sql = f"SELECT count(*), {', '.join(f'coalesce(sum({cell}), 0)' for cell in numbers)} FROM {scan}"
    ((rows, *sums),) = connection.execute(sql).fetchall()
    pairs = [(cell, f"CAST('{many}' AS DOUBLE)") for cell, many in zip(numbers, sums, strict=True)]
    equal = " AND ".join(f"coalesce(abs({many} - 2 * {cell}) <= {_FLOAT} * abs({cell}), true)" for cell, many in pairs)
    size = " * ".join(f"greatest(1, abs(coalesce({cell}, 0)))" for cell in numbers)
    total = f"({equal} AND {size} >= {_CHANCE})"
    is_labelled = _make_label_condition([column for column in columns if column.type == "VARCHAR"][:1])
    is_alone = " AND ".join(f"coalesce({cell}, '') = ''" for cell in texts[1:]) or "true"
    label_sql = f"coalesce(({is_labelled}) AND {is_alone} AND coalesce({', '.join(numbers)}) IS NOT NULL, false)"
    count_sql = f"count_if({total}), count_if({total} AND {label_sql}), count_if({label_sql} AND NOT {total})"
    sql = f"SELECT {count_sql}, any_value(coalesce({', '.join(texts) or 'NULL'})) FILTER ({total}) FROM {scan}"
    ((matches, label_matches, other_labels, example),) = connection.execute(sql).fetchall()
    is_turned, is_total = noticing.is_guess_reversed("totals"), matches == 1 and rows > (2 if texts else 3)
    example = "" if example is None else example
    if is_total and label_matches:
        text = "1 row is labelled as a total and equals the sum of all others"
        noticing.add("totals", text + _format_decision(is_turned), example=example)
    elif is_total:
        noticing.add_kept_totals("1 row equals the sum of all others", example)
    if other_labels:
        noticing.add_kept_totals(f"{format_row_count(other_labels, *_LABELLED)}, {_TOO_MANY}")
    return f"(SELECT * FROM {scan} WHERE NOT {total})" if is_total and label_matches and not is_turned else scan
