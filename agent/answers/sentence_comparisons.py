"""The comparisons of a model's sentence, each held against the rows and the query's order.

As a model writes, it knows what its query is about. Which row leads, what rose, and which number is whose it does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby, pairwise
from typing import Literal

from sqlglot import exp

from ...tools.labels import make_word_pattern, read_languages
from ...tools.sql import Query
from ...tools.sql.query import ENDS
from ...tools.words import LONE_NUMBER_WORDS, fold, humanize_name, match_time
from ..records import PlainCell, PlainResult

GAP = "\0"
"""Stands for a place where the words around it are looked at."""

Ranking = Literal["high", "low", "either", "late", "early"]
_RANKINGS: dict[Ranking, set[str]] = {
    "high": {"max"},
    "low": {"min"},
    "either": {"max", "min"},
    "late": {"max"},
    "early": {"min"},
}
"""Words that say why some rows are named and others are not, and the ends that they are of."""

_OTHER: dict[str, str] = {"max": "min", "min": "max"}
_CONDITIONS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_AGES = re.compile(r"age|ages|old|years?")

_STOPS = frozenset(",;:.!?()[]…–—。、，：；！？।॥؟")
_ASIAN = re.compile(r"[\u2e80-\u9fff]")
_PATTERNS = {"letters", "told", "answers", "bounds", "examples"}  # the kinds that are no lists of words


@dataclass(frozen=True)
class Placeholder:
    """A placeholder in a sentence, with the result cells that it stands for."""

    rows: tuple[int, ...]  # several for a list, and where several tie for the largest or smallest value
    column: int  # -1 for the number of rows
    pick: str = ""  # how its rows are chosen: first, last, max or min; empty for the only one, and for a list
    by: int = -1  # the column that a largest or smallest value is of

    @property
    def row(self) -> int:
        """The first of its rows."""
        return self.rows[0]

    @property
    def is_list(self) -> bool:
        """Whether it lists a column."""
        return not self.pick and len(self.rows) > 1


@dataclass(frozen=True)
class QueryResult:
    """A result with its query, by which comparisons are checked."""

    result: PlainResult
    query: Query
    measures: tuple[int, ...]  # the columns with numbers that are no names

    @property
    def has_single_row(self) -> bool:
        """Whether the result has exactly one row and is not truncated."""
        return self.result.row_count == 1 and not self.result.truncated

    def find_extreme_rows(self, column: int, pick: str) -> tuple[int, ...]:
        """Return the numbers of the rows with the largest or smallest value of a column."""
        cells = [row[column] for row in self.result.rows]
        values = [cell for cell in cells if isinstance(cell, int | float)]
        values = values or [cell for cell in cells if isinstance(cell, str) and match_time(cell, "month")]
        # What is missing may be the smallest: nothing sold is NULL in many a query.
        missing = cells.count(None) if pick == "max" else 0
        if not values or len(values) + missing < self.result.row_count:
            return ()
        best: PlainCell = max(values) if pick == "max" else min(values)
        return tuple(number for number, cell in enumerate(cells) if cell == best)

    def find_order(self, *, by_time: bool = False) -> str:
        """Return which end of a number, or with `by_time` of a time, comes first; empty without such an order."""
        if not self.query.order:
            return ""
        term, columns = self.query.order[0].this, self.result.columns
        found = find_columns_by_name(term.name, columns)
        if isinstance(term, exp.Literal):
            found = [int(term.name) - 1] if term.is_int and int(term.name) <= len(columns) else []
        column, is_plain = self.query.column(term), by_time and isinstance(term, exp.Column)
        is_number = found[0] in self.measures if found else column.schema.kind == "number" if column else not is_plain
        # The oldest is of the greatest age, and of the first date.
        is_age = by_time and is_number and _is_age(term.name)
        if by_time == is_number and not is_age:
            return ""
        return "max" if bool(self.query.order[0].args.get("desc")) != is_age else "min"

    def find_ends(self, place: Placeholder, *, by_time: bool = False) -> set[str]:
        """Return whether a placeholder stands for the largest or smallest value, or for its row."""
        query, order, rows = self.query, self.find_order(by_time=by_time), self.result.rows
        if place.column < 0:
            return set()
        kept, is_number = {*query.kept_ends}, place.by in self.measures
        if self.has_single_row:
            selects: list[exp.Expr] = query.tree.selects if isinstance(query.tree, exp.Query) else []
            output = selects[place.column] if len(selects) == len(self.result.columns) else None
            own = {end for end, kind in ENDS.items() if output and output.find(kind)}
            return own or kept | ({order} - {""} if query.order else {end for end in ENDS if query.find(ENDS[end])})
        if query.limit is not None:  # what it cuts off may be larger or smaller
            return {order} - {""} if place.row == 0 and place.pick in (order, "first", "") else set()
        if place.pick in _OTHER:
            is_age = by_time and is_number and _is_age(self.result.columns[place.by])
            return kept | ({_OTHER[place.pick]} if is_age else {place.pick} if by_time != is_number else set[str]())
        if place.pick and order:
            beside = rows[(1 if place.pick == "first" else -2) % len(rows)]  # itself in a result of which more was cut
            tied = bool(self.measures) and all(rows[place.row][each] == beside[each] for each in self.measures)
            return kept if tied and not by_time else kept | {order if place.pick == "first" else _OTHER[order]}
        found = [(pick, each) for pick in ENDS for each in self.measures if not self.result.truncated]
        return kept | {pick for pick, each in found if self.find_extreme_rows(each, pick) == place.rows}


def _is_age(name: str) -> bool:
    return any(_AGES.fullmatch(word) for word in _list_words(humanize_name(name)))


def find_columns_by_name(name: str, columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns with a name; compare only letters and digits."""
    wanted, *known = ("".join(filter(str.isalnum, each.casefold())) for each in (name, *columns))
    return [number for number, each in enumerate(known) if wanted and each == wanted]


@dataclass(frozen=True)
class ComparingSentence:
    """A sentence with the cells of its places, and the words of it that compare."""

    text: str  # with gaps for its places
    language: str  # empty for one without lists
    names: Iterable[str]  # texts with names and values: the words of `Top Gear` compare nothing
    places: Sequence[Placeholder]
    table: QueryResult

    @cached_property
    def words(self) -> list[str]:
        """The words that may compare, with gaps and stops."""
        text, named = self.text, set(_list_words(" ".join(self.names)))
        if self.table.query.find(*_CONDITIONS):
            # `more than 5` tells a condition of the query, `more than {revenue.min}` does not.
            text = re.sub(rf"{compile_phrases('bounds').pattern}(?!\s?{GAP})", " ", text, flags=re.IGNORECASE)
        return [word for word in _list_words(text) if word not in named]

    @cached_property
    def clauses(self) -> list[tuple[list[str], list[Placeholder]]]:
        """The words of each clause, and its placeholders."""
        left = iter(self.places)
        clauses = [list(group) for is_stop, group in groupby(self.words, _STOPS.__contains__) if not is_stop]
        return [
            ([word for word in clause if word != GAP], [next(left) for word in clause if word == GAP])
            for clause in clauses
        ]

    @cached_property
    def labels(self) -> list[Placeholder]:
        """The placeholders that name a row; the ends of a span, as in `from May to July`, name none."""
        rows, measures = self.table.result.rows, self.table.measures
        labels = [place for place in self.places if place.column >= 0 and place.column not in measures]
        labels = [place for place in labels if not place.is_list]
        for start, end in pairwise(self.places):
            ends = [str(rows[each.row][each.column]) for each in (start, end) if each.column >= 0]
            if (
                start.column == end.column
                and (start.pick, end.pick) in (("first", "last"), ("min", "max"))
                and all(each.isdecimal() or match_time(each, "month") for each in ends)
            ):
                labels = [label for label in labels if label not in (start, end)]
        return labels

    @cached_property
    def numbers(self) -> list[Placeholder]:
        """The placeholders with numbers that are no names."""
        return [place for place in self.places if place.column in self.table.measures]

    def is_borne_out(self) -> bool:
        """Whether the rows and the query's order bear out all that the sentence compares."""
        # Yes or no is not known before there are rows.
        is_answer = re.match(rf"\s*{compile_phrases('answers').pattern}\s*[,.:;!—–-]", self.text, re.IGNORECASE)
        return (
            not is_answer
            and self._is_paired()
            and self._are_ends_in_order()
            and self._is_no_false_sum()
            and all(map(self._is_rank, _RANKINGS))
            and all(
                self._has_direction(rises=kind == "rises")
                for kind in ("rises", "falls")
                if any(self._is_of(word, kind) for word in self.words)
            )
        )

    def _is_rank(self, ranking: Ranking) -> bool:
        """Whether the cells beside a superlative are the largest or smallest, or of their rows."""
        named = False
        for number, (words, _) in enumerate(self.clauses):
            if not any(self._is_of(word, ranking) for word in words):
                continue
            around = [places for _, places in (*self.clauses[number:], *self.clauses[number::-1])]
            near = next((cells for places in around if (cells := [each for each in places if each.column >= 0])), [])
            ordered = self.table.query.order and not self.table.query.kept_ends
            if ordered and any(place.is_list for place in near):
                continue  # `from the lowest to the highest: {name}` tells the order
            ends = [self.table.find_ends(place, by_time=ranking in ("late", "early")) for place in near]
            # Named first, the best are those that the query puts first; after them the worst may be named.
            order = {self.table.find_order()} - {""} if ranking == "either" and not named else set[str]()
            if (order or _RANKINGS[ranking]).isdisjoint(set[str]().union(*ends)):
                return False
            named = True
        return True

    def _are_ends_in_order(self) -> bool:
        """Whether words for the largest and the smallest have their cells in the same order, not exchanged."""
        ends = [self.table.find_ends(place) for place in self.places]
        kinds = {"high": "max", "low": "min"}
        said = [end for word in self.words for kind, end in kinds.items() if self._is_of(word, kind)]
        told = [end for end, _ in groupby(said)]
        picks = [pick for pick, _ in groupby(each.pop() for each in ends if len(each) == 1)]
        return min(len(set(told)), len(set(picks))) < 2 or picks[: len(told)] == told

    def _is_no_false_sum(self) -> bool:
        """Whether no number that is one row's of several stands beside a word such as `total` or `each`."""
        claims = {kind for word in self.words for kind in _RANKINGS if self._is_of(word, kind)}
        picks = {place.pick for place in self.numbers}
        if self.table.has_single_row or claims or {"min", "max"} <= picks:
            return True  # the highest total; from 3 to 70 in all
        return not (self.numbers and any(self._is_of(word, "sums") for word in self.words))

    def _is_of(self, word: str, kind: str) -> bool:
        if kind == "high" and is_listed(word, self.language, "degree"):
            return not any(is_listed(each, self.language, end) for each in self.words for end in _RANKINGS)
        return is_listed(word, self.language, kind)

    def _has_direction(self, *, rises: bool) -> bool:
        """Whether the first and the last number rise or fall as the words say."""
        numbers, rows = self.numbers, self.table.result.rows
        if not numbers or self.table.find_order(by_time=True) != "min" or numbers[0].row >= numbers[-1].row:
            return False
        start, end = (float(str(rows[place.row][place.column])) for place in (numbers[0], numbers[-1]))
        return start != end and (start < end) == rises

    def _says_end(self, number: int) -> bool:
        """Whether the words before a place say which end its number is, as in `{month@n.max} and lowest at {n.min}`."""
        gaps = [position for position, word in enumerate(self.words) if word == GAP]
        kinds = {"max": "high", "min": "low"}.get(self.places[number].pick, "")
        return any(self._is_of(word, kinds) for word in self.words[gaps[number - 1] : gaps[number]])

    def _is_paired(self) -> bool:
        """Whether the numbers beside labels are of the labels' rows: of the one before each, or in the same order."""
        places, labels, rows = self.places, self.labels, self.table.result.rows
        listed = any(place.is_list for place in places)
        named, first = list(dict.fromkeys(label.rows for label in labels)), places.index(labels[0]) if labels else 0
        for column in {place.column for place in self.numbers} if labels or listed else ():
            found = [
                (number, place)
                for number, place in enumerate(places)
                if place.column == column and not (number and self._says_end(number))
            ]
            if {"min", "max"} <= {place.pick for number, place in found if number < first or not labels}:
                continue  # `from 3 to 70` before any label is said of all rows
            before = [next((each.rows for each in places[number::-1] if each in labels), None) for number, _ in found]
            cells = [rows[place.row][column] for _, place in found]
            if not any(
                len(labelled) == len(cells)
                and all(
                    all(rows[row][column] == cell for row in each or (-1,)) and each
                    for each, cell in zip(labelled, cells, strict=True)
                )
                for labelled in (before, named)
            ):
                return False
        return True


@cache
def compile_phrases(kind: str) -> re.Pattern[str]:
    """Return the pattern of all languages' phrases of a kind."""
    phrases = "|".join(each[kind] for each in read_languages().values() if kind in each)
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


def is_listed(word: str, language: str, kind: str) -> bool:
    """Whether a word is of a kind in a language; in one without lists, if it is listed for all of these."""
    return _compile_listed(language, kind).fullmatch(fold(word)) is not None


@cache
def _compile_listed(language: str, kind: str) -> re.Pattern[str]:
    return re.compile(make_word_pattern(read_languages()[language or "others"].get(kind, "")))


@cache
def read_number_words() -> tuple[dict[str, int], re.Pattern[str]]:
    """Return the values of spelled numbers, and the pattern of all words for numbers, of any language."""
    values, amounts = dict(LONE_NUMBER_WORDS), ""
    for listed in read_languages().values():
        numbers = [one.split("/") for one in listed.get("numbers", "").split()]
        values |= {fold(each): number for number, one in enumerate(numbers) for each in one if each != "_"}
        amounts += f" {listed.get('amounts', '')}"
    return values, re.compile(make_word_pattern(" ".join([*values, amounts])))


@cache
def _compile_asian() -> re.Pattern[str]:
    """Return the pattern of listed words in scripts that write no spaces."""
    listed = {
        word.strip("*")
        for each in read_languages().values()
        for kind in each.keys() - _PATTERNS
        for word in each[kind].split()
    }
    return re.compile("|".join(sorted(filter(_ASIAN.match, listed), key=len, reverse=True)))


def _list_words(text: str) -> list[str]:
    """Return the folded words of a text with its gaps and stops; signs of vowels belong to words."""
    spaced = (
        mark if unicodedata.category(mark)[0] in "LMN" else f" {mark} " if mark == GAP or mark in _STOPS else " "
        for mark in _compile_asian().sub(r" \g<0> ", text)
    )
    return [word if word == GAP or word in _STOPS else fold(word) for word in "".join(spaced).split()]
