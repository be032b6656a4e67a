"""Rows that may be totals: by their label, or because they equal a sum of other rows."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import chain, takewhile
from math import isqrt, prod

from .notices import LOOKED_AT, MISSING, NoticeCollector, format_decision, format_row_count
from .parts import find_sums_by_layout, find_sums_of_groups
from .rows import Cells, find_texts, fold_cell, is_filled, is_year, parse_cell_number
from .total_labels import MEASURES, TAX, find_total_word, fold_group, is_total_label, name_measure

CHANCE = 10  # a row whose numbers, multiplied, are less may equal a sum by chance
_NO_CHANCE = 100  # one whose numbers, multiplied, are as much may be told without a label or another such row
_LAST = 10  # rows at a table's end that may be means and the like
_BELOW = 3  # rows below the only total that may be a target, the year before, a difference and the like
_TYPICAL = 1_000  # rows that tell which column is the first one of texts
FLOAT = Decimal("1e-9")  # such a difference is the computer's
_SEARCHED = 200_000  # cells of a table in which totals without a label are looked for
_TOLD = 9  # texts of rows that are told one by one
_COMPARED = 5_000_000  # cells of all pairs of totals; where there are more, their label is a category's name
LABELLED = ("is labelled as a total", "are labelled as totals")
_MEASURED = (
    "is labelled as a mean, minimum, maximum, count or the like and equals that of rows above",
    "are labelled as means, minima, maxima, counts or the like and equal those of rows above",
)
_NOT_MEASURED = tuple(f"{verb} labelled as a mean or the like, not that of the rows above" for verb in ("is", "are"))
_NAMES = ("minima", "maxima", "counts")  # a person may be called Max
_SUMS = ("is labelled as a total and equals", "are labelled as totals and equal")
TOO_MANY = "too many to compare with the rows above"


class TotalRows:
    """The rows that may be totals: by label, or because they equal a sum of rows above."""

    def __init__(self, header: Cells, rows: Sequence[Cells], strays: set[int]) -> None:
        self._rows = rows
        self._places = [at for at, row in enumerate(rows) if at not in strays and any(map(fold_cell, row))]
        labels = set(filter(find_total_word, set(chain.from_iterable(rows))))
        self._labels = {
            at: next(cell for cell in rows[at] if cell in labels)
            for at in self._places
            if not labels.isdisjoint(rows[at])
        }
        # Rows that only a total can be called like; the others may be data, as a film is.
        self._certain = self._find_certain_labels(header)
        self._blank = set[int]()  # rows without texts, if each is a total
        self._weak = set[int]()  # totals that one row alone, or zeros, would make
        self._strong = set[int]()  # totals of several rows, in all columns of numbers, that are no chance
        self._kept: list[tuple[str, str]] = []  # what is told of totals that are kept, with examples
        self._kept_places = set[int]()
        self._width = max((len(rows[at]) for at in self._places), default=0)

    def find_totals_to_leave_out(self, noticing: NoticeCollector) -> set[int]:
        """Return the positions of totals to leave out, and add notices on totals."""
        measures = self._find_measures(noticing)
        every = self._labels
        label_places = every.keys()
        is_small = len(self._rows) <= LOOKED_AT and self._width * len(label_places) ** 2 <= _COMPARED
        equal = self._find_labelled_totals() if is_small and label_places else {}
        if is_small and not label_places <= self._certain:
            # A row that only has a total's word is among the rows of a sum, unless it is one.
            found, self._labels = self._labels, {at: every[at] for at in sorted(self._certain)}
            others = self._find_labelled_totals() if self._labels else {}
            if len(others.keys() & self._certain) > len(equal.keys() & self._certain):
                equal = others
            else:
                self._labels = {at: label for at, label in found.items() if at in self._certain | equal.keys()}
        label_places = label_places & (self._certain | equal.keys())
        match_count = len(equal.keys() & label_places)
        is_searched = self._width * len(self._places) <= _SEARCHED
        if is_small and is_searched and match_count < max(1, len(label_places)):
            guesses = self._guess_totals(label_places)
            # Rows that no label tells of are left out only if the sum of a labelled one has to leave them out.
            is_certain = not guesses.keys().isdisjoint(self._blank | self._strong)
            if len(guesses.keys() & label_places) > match_count or (is_certain and not match_count):
                equal = guesses
        groups, is_above = find_sums_of_groups(self._rows, self._places) if is_searched else (set[int](), False)
        if is_above:
            # Where all rows are parts of sums, those are totals, whatever they are called.
            equal = dict.fromkeys(sorted(groups), Decimal())
            label_places, self._certain = label_places & groups, self._certain | (every.keys() & groups)
        # The last row is above none of them.
        named = self._certain & label_places
        unnamed = equal.keys() & set(self._places[-1:]) - label_places
        sums = equal.keys() - unnamed - (label_places - named) if named & equal.keys() else set[int]()
        sums -= set(filter(self._is_filled_in, sums))
        others = set(filter(self._has_amount, named - equal.keys() - groups))
        labels = {fold_cell(self._labels.get(at)) for at in sums} - {""}
        alike = {at for at in others if fold_cell(self._labels.get(at)) in labels}
        other = self._select_placed_as_totals(others) | alike
        taxes = {
            at for before, at, after in self._iterate_neighbours() if before in sums and (after in sums or after < 0)
        }
        taxes = {at for at in taxes - sums if TAX.search(" ".join(map(fold_cell, self._rows[at])))}
        is_turned = noticing.is_guess_reversed("totals")
        for places in filter(None, (sums, equal.keys() - sums)):
            rounding = max(equal[at] for at in places)
            about = " the sum of rows above" + (f" but for rounding ({rounding:f})" if rounding else "")
            phrases = [phrase + about for phrase in (_SUMS if places <= named else ("equals", "equal"))]
            if places is sums:
                text = format_row_count(len(places), *phrases) + format_decision(is_turned)
                noticing.add("totals", text, example=self._labels.get(min(sums)) or _join_texts(self._rows[min(sums)]))
            else:
                self._add_kept_rows(places, *phrases)
        if other:
            compared = "not the sum of several rows above" if is_small else TOO_MANY
            self._add_kept_rows(other, *(f"{phrase}, {compared}" for phrase in LABELLED))
        if taxes:
            text = format_row_count(len(taxes), "beside totals is tax", "beside totals are tax")
            noticing.add("totals", text + format_decision(is_turned), example=self._rows[min(taxes)][0])
        if self._is_difference(sorted(sums - taxes)[-_LAST:]):
            noticing.add_kept_totals(
                "the last row equals the difference of two totals", _join_texts(self._rows[self._places[-1]])
            )
        told = equal.keys() | label_places | groups
        below = {at for at in self._places if len(sums) == 1 and at > max(sums)} - taxes
        if len(below) <= _BELOW and below.isdisjoint(told):
            phrases = (f"{verb} below the total that is left out" for verb in ("stands", "stand"))
            self._add_kept_rows(below, *phrases)
        if is_searched:
            groups |= find_sums_by_layout(self._rows, [at for at in self._places if at not in told])
            phrases = (f"{verb} the sum of other rows" for verb in ("equals", "equal"))
            self._add_kept_rows(groups - equal.keys(), *phrases)
        left_out = sums | taxes | measures
        for text, example in self._kept:
            noticing.add_kept_totals(text, example, can_be_turned=not left_out)
        return left_out if not is_turned else self._kept_places if not left_out else set()

    def _find_certain_labels(self, header: Cells) -> set[int]:
        """Return the rows labelled as a total alone, or of a period, a kind or a group of rows."""
        certain = {at for at, label in self._labels.items() if is_total_label(str(label), ())}
        if certain == self._labels.keys():
            return certain
        rows = (self._rows[at] for at in self._places if at not in self._labels)
        # A section's name stands alone, a group's beside what belongs to it.
        grouped = (row for row in rows if len(find_texts(row)) > 1 or sum(map(is_filled, row)) == 1)
        groups = {*map(fold_group, chain(header, *grouped))} - {""}
        return {
            at
            for at, label in self._labels.items()
            if at in certain or (is_total_label(str(label), groups) and not self._is_filled_in(at))
        }

    def _is_filled_in(self, at: int) -> bool:
        """Whether a row has texts, such as a city, that no row beside it has."""
        place = bisect_left(self._places, at)
        beside = [self._rows[other] for other in self._places[max(0, place - 1) : place + 2] if other != at]
        own = [
            cell
            for column, cell in enumerate(self._rows[at])
            if isinstance(cell, str)
            and any(map(str.isalpha, cell))
            and parse_cell_number(cell, ",") is parse_cell_number(cell, ".") is None
            and cell.strip() not in MISSING
            and all(row[column : column + 1] != [cell] for row in map(list, beside))
        ]
        labels = sum(1 for cell in own if find_total_word(cell)) or bool(own)
        return len(own) > labels

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

    def _add_kept_rows(self, places: Collection[int], singular: str, plural: str) -> None:
        """Note what is told of each row that is kept, by its texts; one notice for all rows if there are many."""
        self._kept_places.update(places)
        counts = Counter(_join_texts(self._rows[at]) for at in sorted(places))
        for text, count in counts.items() if len(counts) <= _TOLD else [("", len(places))]:
            self._kept.append((format_row_count(count, singular, plural), text))

    def _find_measures(self, noticing: NoticeCollector) -> set[int]:
        """Return the last rows if they are means and the like of rows above; add a notice on them."""
        names = {at: name_measure(self._rows[at]) for at in self._places[-_LAST:]}
        last = [*takewhile(lambda at: names.get(at) or at in self._labels, reversed(self._places))]
        above = [at for at in self._places[: len(self._places) - len(last)] if at not in self._labels]
        is_small = self._width * len(above) <= _SEARCHED
        measures = {at for at in last if is_small and names.get(at) and self._is_measure(at, names[at], above)}
        self._places = [at for at in self._places if at not in measures]
        if is_small and (means := self._find_group_means(measures)):
            self._places = [at for at in self._places if at not in means]
            self._add_kept_rows(means, *(f"{verb} the mean of a group of rows" for verb in ("equals", "equal")))
        others = {at for at in set(last) - measures if name_measure(self._rows[at], is_alone=True) not in ("", *_NAMES)}
        if is_small and others:
            self._places = [at for at in self._places if at not in others]
            self._add_kept_rows(others, *_NOT_MEASURED)
        if measures and (len(last) > 1 or names[min(measures)] not in _NAMES):
            text = format_row_count(len(measures), *_MEASURED)
            noticing.add("totals", text + format_decision(noticing.is_guess_reversed("totals")))
            return measures
        if measures:
            noticing.add_kept_totals("the last row may be the minimum, maximum or count of the rows above")
        return set()

    def _find_group_means(self, without: Collection[int]) -> set[int]:
        """Return the rows that are a group's mean by name, as `East Average`, and by value."""
        groups: dict[str, list[int]] = {}
        for at in self._places:
            texts = find_texts(self._rows[at]) if at not in self._labels and at not in without else []
            for place in texts if len(texts) > 1 else ():
                groups.setdefault(fold_group(self._rows[at][place]), []).append(at)
        found = set[int]()
        for at in self._places:
            name, _, word = next((str(self._rows[at][p]) for p in find_texts(self._rows[at])), "").rpartition(" ")
            above = groups.get(fold_group(name), []) if name_measure([word]) == "means" else []
            found |= {at} if above and self._is_measure(at, "means", above) else set[int]()
        return found

    def _is_measure(self, at: int, name: str, above: Sequence[int]) -> bool:
        """Whether each number of a row is a measure of those above it."""

        def is_equal(place: int, number: Decimal, mark: str) -> bool:
            cells = (self._rows[other][place] for other in above if place < len(self._rows[other]))
            numbers = [value for cell in cells if (value := parse_cell_number(cell, mark)) is not None]
            digit = Decimal(1).scaleb(int(number.as_tuple().exponent))
            return len(numbers) > 1 and any(
                abs(measure(numbers) - number) <= digit / 2 + FLOAT for measure in MEASURES[name]
            )

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

        self._blank = {at for at in self._places if not find_texts(self._rows[at])}
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
        words = {at: find_total_word(label) for at, label in self._labels.items()}
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
        texts = [find_texts(self._rows[at]) for at in self._places[:_TYPICAL]]
        first = min(chain.from_iterable(texts), default=0)
        ends = places.difference(at - 1 for at in self._places)
        return ends | {at for at in places if find_texts(self._rows[at]) == [first]}

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
            is_large = max(sizes, default=0) >= CHANCE or at in self._blank
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
                    totals[at] = max((off for off in close if off > FLOAT), default=zero)
                    self._weak |= {at} if plain < begin + 2 or not any(cells.values()) else set()
                    is_strong = plain > begin + 2 and cells.keys() == counts.keys() and prod(sizes) >= _NO_CHANCE
                    self._strong |= {at} if is_strong else set()
                    break
            if is_labelled or at in totals:
                starts.append((plain, dict(sums)))
                continue
            plain += any(cells.values())
            for place, number in cells.items():
                sums[place] = sums.get(place, zero) + number
                counts[place] += 1
                digits[place] = max(digits[place], -int(number.as_tuple().exponent))
        return totals


def _join_texts(row: Cells) -> str:
    """Return the texts of a row as one, the last first: a group's rows share the first."""
    return " ".join(str(row[place]) for place in reversed(find_texts(row)))
