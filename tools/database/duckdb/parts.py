"""Rows that are sums of others by a table's layout: by group, indented, by period, or by year."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from math import prod

from .rows import MONTH, Cells, find_texts, fold_cell, is_year, parse_cell_number

_FLOAT = Decimal("1e-9")  # such a difference is the computer's
_NO_CHANCE = 100  # an entity whose numbers, multiplied, are less may equal the others by chance
_NO_CHANCE_OF_GROUPS = 300  # so may the sums of groups, all multiplied
_DEEPEST = 4  # levels of rows above or below their parts
# What rows of months, quarters, halves and whole years are called, each coarser than those before.
_PERIODS = [
    re.compile(rf"[\d\W]*(?:{names})[\d\W]*", re.IGNORECASE)
    for names in (
        MONTH,
        "q|qtr|quarter|quartal|trimestre|trim|trimester|kwartaal|kvartal|kwartał|квартал|四半期|季度|分기",
        "h|hy|half|half[- ]?year|halbjahr|hj|semester|semestre|halfjaar|halvår|półrocze|полугодие|半期|上期|下期|半年",
        "y|fy|year|full year|whole year|jahr|gesamtjahr|année|exercice|año|anno|ano|jaar|år|rok|год|年度|全年|年",
    )
]
_Row = tuple[int, dict[int, Decimal]]


def find_sums_by_layout(rows: Sequence[Cells], places: Sequence[int]) -> set[int]:
    """Return the places of rows that are sums: of indented rows, of periods, of entities."""
    found = set[int]()
    for numbers, years in _read_numbers(rows, places):
        for find in (_find_above_indented, _find_periods, _find_entities):
            found |= find(rows, numbers, years)
    return found


def find_sums_of_groups(rows: Sequence[Cells], places: Sequence[int]) -> tuple[set[int], bool]:
    """Return the rows that are sums of groups, and whether of those above; none unless all others are parts."""
    for numbers, _ in _read_numbers(rows, places):
        for is_above, ordered in enumerate((numbers, numbers[::-1])):
            for depth in range(1, _DEEPEST):
                # The sum of all may stand at the other end than the groups' sums do.
                for parts in (ordered, ordered[:-1]):
                    found, tops, end = dict[int, int](), list[_Row](), 0
                    while end is not None and end < len(parts):
                        tops.append(parts[end])
                        end = _find_end_of_parts(parts, end, depth, found)
                    whole = ordered[len(parts) :]
                    if not end or not all(_are_equal(cells, _add_up(tops)) for _, cells in whole):
                        continue
                    sums = {*found, *(at for at, _ in whole)}
                    group_count = sum(1 for level in found.values() if level == 1)
                    size = prod(abs(number) for at, cells in ordered if at in sums for number in cells.values())
                    if len(found) > 1 and group_count < len(ordered) - len(sums) and size >= _NO_CHANCE_OF_GROUPS:
                        return sums, bool(is_above)
    return set(), False


def _read_numbers(rows: Sequence[Cells], places: Sequence[int]) -> Iterator[tuple[list[_Row], set[int]]]:
    """Yield rows with their numbers other than years and zero, and the columns of years, for each decimal mark."""
    places = [at for at in places if len(rows[at]) == len(rows[places[0]])]
    width = len(rows[places[0]]) if places else 0
    years = {place for place in range(width) if all(is_year(rows[at][place]) for at in places)}
    names = {0} if any(0 in find_texts(rows[at]) for at in places) else set[int]()
    for mark in ".,":
        parsed = ((at, [parse_cell_number(cell, mark) for cell in rows[at]]) for at in places)
        numbers = (
            (at, {p: number for p, number in enumerate(cells) if number and p not in years | names})
            for at, cells in parsed
        )
        yield [row for row in numbers if row[1]], years


def _find_end_of_parts(rows: Sequence[_Row], start: int, depth: int, found: dict[int, int]) -> int | None:
    """Return where a row's parts end, and add its depth to `found`; None if it has no parts."""
    at, cells = rows[start]
    rest: dict[int, Decimal] = defaultdict(Decimal, cells)
    end: int | None = start + 1
    while depth and any(abs(rest[p]) > _FLOAT * max(1, abs(cells.get(p, 0))) for p in rest):
        if end is None or end == len(rows):
            return None
        for place, number in rows[end][1].items():
            rest[place] -= number
        end = _find_end_of_parts(rows, end, depth - 1, found)
    found |= {at: depth} if depth else {}
    return end


def _add_up(rows: Sequence[_Row]) -> dict[int, Decimal]:
    sums: dict[int, Decimal] = defaultdict(Decimal)
    for _, cells in rows:
        for place, number in cells.items():
            sums[place] += number
    return sums


def _are_equal(whole: dict[int, Decimal], sums: dict[int, Decimal]) -> bool:
    pairs = ((whole.get(place, Decimal()), sums.get(place, Decimal())) for place in {*whole, *sums})
    return all(abs(one - other) <= _FLOAT * max(1, abs(one)) for one, other in pairs)


def _label(row: Cells) -> str:
    """Return the first text of a row as it is written, or its first cell."""
    return str(next((row[place] for place in find_texts(row)), row[0] if row else ""))


def _find_above_indented(rows: Sequence[Cells], numbers: Sequence[_Row], _: set[int]) -> set[int]:
    depths = [len(label) - len(label.lstrip()) for label in (_label(rows[at]) for at, _ in numbers)]
    found = set[int]()
    for place, (at, cells) in enumerate(numbers if any(depths) else ()):
        below = range(place + 1, len(numbers))
        end = next((other for other in below if depths[other] <= depths[place]), len(numbers))
        inner = range(place + 1, end)
        parts = [numbers[other] for other in inner if depths[other] == depths[place + 1]]
        found |= {at} if len(parts) > 1 and _are_equal(cells, _add_up(parts)) else set()
    return found


def _find_periods(rows: Sequence[Cells], numbers: Sequence[_Row], _: set[int]) -> set[int]:
    levels = [
        next((level for level, names in enumerate(_PERIODS) if names.fullmatch(_label(rows[at]))), -1)
        for at, _ in numbers
    ]
    found = set[int]()
    for place, (at, cells) in enumerate(numbers):
        begin = next((other for other in range(place - 1, -1, -1) if levels[other] >= levels[place]), -1) + 1
        for level in range(levels[place]):
            parts = [numbers[other] for other in range(begin, place) if levels[other] == level]
            found |= {at} if len(parts) > 1 and _are_equal(cells, _add_up(parts)) else set()
    return found


def _find_entities(rows: Sequence[Cells], numbers: Sequence[_Row], years: set[int]) -> set[int]:
    dated = [
        year for year in years if all(parse_cell_number(row[year], ".") for row in (rows[at] for at, _ in numbers))
    ]
    texts = sorted({place for at, _ in numbers for place in find_texts(rows[at])}) if dated else []
    found = set[int]()
    for column in texts:
        groups: dict[tuple[object, ...], list[_Row]] = defaultdict(list)
        for at, cells in numbers:
            groups[tuple(rows[at][place] for place in (*dated, *texts) if place != column)].append((at, cells))
        # With the others, the whole is twice itself.
        doubles = {group: _add_up(parts) for group, parts in groups.items() if len(parts) > 2}
        wholes = {
            group: [at for at, cells in groups[group] if _are_equal({p: 2 * n for p, n in cells.items()}, doubled)]
            for group, doubled in doubles.items()
        }
        named = {fold_cell(rows[at][column]) for places in wholes.values() for at in places}
        members = ((group, at) for group, parts in groups.items() for at, _ in parts)
        occurs = {group for group, at in members if fold_cell(rows[at][column]) in named}
        size = sum(abs(number) for group in occurs for number in doubles.get(group, {}).values())
        is_each = len(named) == 1 and all(len(wholes.get(group, [])) == 1 for group in occurs)
        if is_each and len({group[: len(dated)] for group in occurs}) > 1 and size >= _NO_CHANCE:
            found |= set(chain.from_iterable(wholes.values()))
    return found
