"""The comparisons of a model's sentence, each held against the rows and the query's order.

As a model writes, it knows what its query is about. Which row leads, what rose, and which number is whose it does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby, pairwise, takewhile
from typing import Literal

from sqlglot import exp

from ...tools.labels import make_word_pattern, read_languages
from ...tools.sql import Query
from ...tools.sql.query import ENDS
from ...tools.words import (
    LONE_NUMBER_WORDS,
    STOP_WORDS,
    fold,
    humanize_name,
    match_time,
    split_name,
    stem_name,
    stem_word,
)
from ..records import PlainCell, PlainResult

GAP = "\0"
"""Stands for a place where the words around it are looked at."""

Ranking = Literal["high", "low", "best", "worst", "late", "early"]
_RANKINGS: dict[Ranking, str] = {
    "high": "max",
    "low": "min",
    "best": "max",
    "worst": "min",
    "late": "max",
    "early": "min",
}
"""Words that say why some rows are named and others are not, and the end that they are of."""

_TIMES: tuple[Ranking, ...] = ("late", "early")
_OPPOSITES: dict[str, str] = {"max": "min", "min": "max"}
_CONDITIONS = {
    "bounds": (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between),
    "exclusions": (exp.NEQ, exp.Not, exp.Except),
    "ranks": (exp.Offset, exp.Window),
}
"""The parts of a query that a phrase of a kind tells: `more than 5`, `cities other than Rome`, `second`."""
_WRAPPERS = (exp.Max, exp.Min, exp.Cast, exp.Coalesce, exp.Date)  # of dates, they give dates
_AGES, _YEAR = {"age", "ages", "old", "years"}, re.compile(r"(?:year|jahr)$", re.IGNORECASE)

_STOPS = frozenset(",;:.!?()[]…–—。、，：；！？।॥؟")
_ASIAN = re.compile(r"[\u2e80-\u9fff]")
_SUMS = ("sums", "averages", "each")
_MEANS, _TOTALS = (exp.Avg, exp.Median, exp.PercentileCont), (exp.Sum, exp.Count)
_RATIOS = (exp.Div, exp.Window, exp.Query)
"""Parts of an output for which no function alone tells what it computes."""


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
class ResultWithQuery:
    """A result with its query, by which comparisons are checked."""

    result: PlainResult
    query: Query
    measures: tuple[int, ...]  # the columns with numbers that are no names

    @property
    def has_single_row(self) -> bool:
        """Whether the result has exactly one row and is not truncated."""
        return self.result.row_count == 1 and not self.result.truncated

    @property
    def is_at_limit(self) -> bool:
        """Whether it has as many rows as a LIMIT lets through."""
        limits = (each.name for each in self.query.find(exp.Literal) if isinstance(each.parent, exp.Limit | exp.Fetch))
        return str(self.result.row_count) in limits

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
        """Return which extreme of a number, or of a time, comes first; empty if unordered."""
        if not self.query.order or self.query.offset is not None:
            return ""
        term, columns = self.query.order[0].this, self.result.columns
        while isinstance(term, _WRAPPERS):
            term = term.this
        places = find_columns_by_name(term.name, columns)
        if isinstance(term, exp.Literal):
            places = [int(term.name) - 1] if term.is_int and int(term.name) <= len(columns) else []
        column, is_plain = self.query.column(term), by_time and isinstance(term, exp.Column)
        is_number = places[0] in self.measures if places else column.schema.kind == "number" if column else not is_plain
        is_number = is_number and not (by_time and _YEAR.search(term.name))
        # The oldest is of the greatest age, and of the first date.
        is_age = by_time and is_number and not _AGES.isdisjoint(split_name(term.name))
        if by_time == is_number and not is_age:
            return ""
        return "max" if bool(self.query.order[0].args.get("desc")) != is_age else "min"

    def find_extremes(self, place: Placeholder, *, by_time: bool = False) -> set[str]:
        """Return whether a placeholder's value or row is the largest, the smallest, both or neither."""
        query, order, rows = self.query, self.find_order(by_time=by_time), self.result.rows
        if place.column < 0:
            return set()
        kept, is_number = {*query.filtered_extremes}, place.by in self.measures
        if self.has_single_row:
            selects: list[exp.Expr] = query.tree.selects if isinstance(query.tree, exp.Query) else []
            output = selects[place.column] if len(selects) == len(self.result.columns) else None
            own = {end for end, kind in ENDS.items() if output and output.find(kind)}
            return own or kept | ({order} - {""} if query.order else {end for end in ENDS if query.find(ENDS[end])})
        if query.limit is not None:  # what it cuts off may be larger or smaller
            return {order} - {""} if place.row == 0 and place.pick in (order, "first", "") else set()
        if place.pick in _OPPOSITES:
            is_age = by_time and is_number and self._is_age(place.by)
            return kept | ({_OPPOSITES[place.pick]} if is_age else {place.pick} if by_time != is_number else set[str]())
        if place.pick and order:
            beside = rows[(1 if place.pick == "first" else -2) % len(rows)]  # itself in a result of which more was cut
            tied = bool(self.measures) and all(rows[place.row][each] == beside[each] for each in self.measures)
            return kept if tied and not by_time else kept | {order if place.pick == "first" else _OPPOSITES[order]}
        columns = filter(self._is_time_or_age, range(len(self.result.columns))) if by_time else self.measures
        extremes = [(pick, each) for each in columns for pick in ENDS if not self.result.truncated]
        return kept | {
            _OPPOSITES[pick] if by_time and self._is_age(each) else pick
            for pick, each in extremes
            if self.find_extreme_rows(each, pick) == place.rows
        }

    def holds_times(self, column: int) -> bool:
        """Whether a column that is no measure holds dates, years or keys."""
        cells = [row[column] for row in self.result.rows if row[column] is not None]
        return all(isinstance(cell, int) or match_time(str(cell), "month") for cell in cells)

    def _is_age(self, column: int) -> bool:
        return not _AGES.isdisjoint(split_name(self.result.columns[column]))

    def _is_time_or_age(self, column: int) -> bool:
        """Whether a column holds dates, years or ages."""
        cells = [row[column] for row in self.result.rows if row[column] is not None]
        are_dates = bool(cells) and all(isinstance(cell, str) and match_time(cell, "month") for cell in cells)
        return are_dates or self._is_age(column) or bool(_YEAR.search(self.result.columns[column]))


def find_columns_by_name(name: str, columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns with a name; compare only letters and digits."""
    key, *keys = ("".join(filter(str.isalnum, text.casefold())) for text in (name, *columns))
    return [number for number, other in enumerate(keys) if key and other == key]


@dataclass(frozen=True)
class ComparingSentence:
    """A sentence with the cells of its placeholders, and its words that compare."""

    text: str  # with gaps for its places
    language: str  # empty for one without lists
    names: Iterable[str]  # texts with names and values: the words of `Top Gear` compare nothing
    places: Sequence[Placeholder]
    table: ResultWithQuery
    question: str = ""
    is_cut: bool = False  # whether a LIMIT that the question does not name may have cut the rows

    @cached_property
    def claims(self) -> str:
        """The text without the phrases that restate a condition of the query."""
        text = self.text
        for kind, conditions in _CONDITIONS.items():
            if self.table.query.find(*conditions):
                # `more than 5` restates a condition of the query, `more than {revenue.min}` does not.
                text = re.sub(rf"{compile_phrases(kind).pattern}(?!\s?{GAP})", " ", text, flags=re.IGNORECASE)
        return text

    @cached_property
    def words(self) -> list[str]:
        """The words that may express a comparison, with gaps and stops."""
        return [word for word in _list_words(self.claims) if word not in self._name_words]

    @cached_property
    def pieces(self) -> list[list[str]]:
        """Those words before, between and after the placeholders."""
        return _split_at_gaps(self.words)

    @cached_property
    def _name_words(self) -> set[str]:
        return set(_list_words(" ".join(self.names))) - _STOPS

    @cached_property
    def clauses(self) -> list[tuple[list[str], list[Placeholder]]]:
        """The words of each clause, including names, and its placeholders."""
        placeholders, text = iter(self.places), _list_words(self.claims)
        clauses = [list(group) for is_stop, group in groupby(text, _STOPS.__contains__) if not is_stop]
        return [
            ([word for word in clause if word != GAP], [next(placeholders) for word in clause if word == GAP])
            for clause in clauses
        ]

    @cached_property
    def labels(self) -> list[Placeholder]:
        """The placeholders that name a row; the ends of a span, as in `from May to July`, name none."""
        rows, measures = self.table.result.rows, self.table.measures
        labels = [place for place in self.places if place.column not in {-1, *measures} and not place.is_list]
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
        """The placeholders that stand for measured numbers."""
        return [placeholder for placeholder in self.places if placeholder.column in self.table.measures]

    def is_supported(self) -> bool:
        """Whether the rows and the query's order support all comparisons in the sentence."""
        # Yes or no is not known before there are rows, nor what all but one have.
        answers, exclusions = (compile_phrases(kind).pattern for kind in ("answers", "exclusions"))
        unknown = rf"\s*{answers}\s*[,.:;!—–-]|.*{exclusions}\s?{GAP}"
        known = self._name_words.union(_list_words(self.table.query.tree.sql(comments=False)), STOP_WORDS)
        return (
            not re.match(unknown, self.text, re.IGNORECASE)
            and not compile_phrases("ranks").search(self.claims)
            and all(
                known.issuperset(_list_words(guess[0])) for guess in compile_phrases("guesses").finditer(self.claims)
            )
            and self._names_own_columns()
            and self._matches_labels()
            and self._do_extremes_match_words()
            and self._fits_functions()
            # Neither `more than {name.last}` nor `{name.first} and {name.last} have the same` is known without rows.
            and not any(self._is_of_kind(word, "than") for piece in self.pieces[:-1] for word in piece[-2:])
            and not (len(self.labels) > 1 and self._has("same"))
            and self._tells_whose_numbers()
            and not (self.table.is_at_limit and self._has("alone"))
            and self._has_singular_verbs_for_one()
            and all(map(self._has_true_superlatives, _RANKINGS))
            and all(self._has_stated_direction(rises=kind == "rises") for kind in ("rises", "falls") if self._has(kind))
        )

    def _has_true_superlatives(self, ranking: Ranking) -> bool:
        """Whether the cells beside a superlative are the extremes, or in the rows of the extremes."""
        end, known = self._find_end(ranking), self._name_words
        if not self.table.measures and all(place.is_list or self.table.has_single_row for place in self.places):
            asked = _list_words(self.question)
            if {kind for kind in _RANKINGS if any(self._is_of_kind(word, kind) for word in asked)} == {ranking}:
                known = known.union(asked)  # all that came out is what was asked for
        for number, (words, _) in enumerate(self.clauses):
            if not any(word not in known and self._is_of_kind(word, ranking) for word in words):
                continue
            around = [placeholders for _, placeholders in (*self.clauses[number:], *self.clauses[number::-1])]
            near = next((cells for places in around if (cells := [each for each in places if each.column >= 0])), [])
            by_time = ranking in _TIMES
            told = ({place.column for place in places if place in self.numbers} for places in around)
            meant = self._find_measures(words) or next(filter(None, told), set[int]())
            if not by_time and not self._is_extreme_of_measure(meant, near, end):
                return False
            is_ordered = self.table.query.order and not self.table.query.filtered_extremes
            if is_ordered and any(placeholder.is_list for placeholder in near):
                # `from the lowest to the highest: {name}` tells the order.
                first: Ranking = next(each for word in self.words for each in _RANKINGS if self._is_of_kind(word, each))
                if self.table.find_order(by_time=by_time) == _OPPOSITES[self._find_end(first)]:
                    return False
                continue
            if not any(end in self.table.find_extremes(place, by_time=by_time) for place in near):
                return False
        return True

    def _find_end(self, ranking: Ranking) -> str:
        """Return the end that a ranking's words are of; what is best is what the question has ordered so."""
        order, asked = self.table.find_order(), _list_words(self.question)
        for kind in ("best", "worst") if ranking in ("best", "worst") and order else ():
            if any(self._is_of_kind(word, kind) for word in asked):
                return order if ranking == kind else _OPPOSITES[order]
        return _RANKINGS[ranking]

    def _is_extreme_of_measure(self, meant: set[int], near: Sequence[Placeholder], end: str) -> bool:
        """Whether the rows beside a superlative are an extreme of the measure that it is of, as in `most ports`."""
        table, numbers = self.table, {place.column for place in self.numbers}
        if table.has_single_row or len(table.measures) < 2:
            return True
        by = {place.by for place in near if place in self.labels and place.pick in _OPPOSITES}
        if by and not by & (numbers | meant):
            return False
        ends = [{*table.find_extreme_rows(column, end)} for column in meant]
        # What is best at is not known of several measures, if none is told.
        return any(
            rows.issuperset(place.rows)
            for rows in ends
            for place in near
            if place.column in meant or place in self.labels
        ) or not (meant or self._has("best") or self._has("worst"))

    def _find_measures(self, words: Iterable[str]) -> set[int]:
        """Return the measures that all words can be of that name one; empty if there are none."""
        names = {column: {*stem_name(name)} for column, name in enumerate(self.table.result.columns)}
        of_labels = set[str]().union(*(names.pop(column) for column in [*names] if column not in self.table.measures))
        named = [{column for column, own in names.items() if stem in own - of_labels} for stem in map(stem_word, words)]
        return set.intersection(*filter(None, named)) if any(named) else set()

    @cached_property
    def _functions(self) -> set[str]:
        """How the query computes the numbers: `averages`, `sums`, or empty where that is unclear."""
        tree, query = self.table.query.tree, self.table.query
        selects = tree.selects if isinstance(tree, exp.Select) else []
        if len(selects) != len(self.table.result.columns):
            return {""}
        outputs = [selects[place.column] for place in self.numbers]
        return {
            "averages" if _is_mean(each, query) else "sums" if each.find(*_TOTALS) and not each.find(*_RATIOS) else ""
            for each in outputs
        }

    def _fits_functions(self) -> bool:
        """Whether words such as `total`, `average` and `daily` are said of numbers that the query computes so."""
        known = _list_words(f"{self.question} {' '.join(map(humanize_name, self.table.result.columns))}")
        rates = compile_phrases("rates", self.language).finditer(self.text)
        units = [fold(next(filter(None, match.groups())))[:4] for match in rates]
        said = {kind for kind in ("averages", "sums") if self._has(kind)}
        if not all(any(word.startswith(unit) for word in known) for unit in units) or (
            self.table.has_single_row
            and not self.table.query.find(exp.Group)
            and any(self._is_of_kind(word, "each") for word in self.words if word not in known)
        ):
            said = {"averages"}
        return not self.numbers or "" in self._functions or ({"averages"} & said or said) <= self._functions

    def _names_own_columns(self) -> bool:
        """Whether no number stands where the words name another column: `price: {quantity}`, `{rows} sales`."""
        before, *pieces = _split_at_gaps(_list_words(self.claims))
        for place, following in zip(self.places, pieces, strict=True):
            if place in self.labels:
                before += following
                continue
            noun = [*takewhile(lambda word: word not in _STOPS | STOP_WORDS, following)][:2]
            clause = [*takewhile(lambda word: word not in _STOPS, following)]
            # The rows are what the noun behind their number says: `customers in {rows} countries` are no customers.
            named = self._find_measures(noun) or self._find_measures([] if place.column < 0 and noun else before)
            if named and place.column in {-1, *self.table.measures} - named:
                return False
            before = following[len(clause if len(clause) < len(following) else noun) :]
        # Of `Es gibt {rows} Kunden` nothing tells whether each row is one, or counts some.
        counts = self.table.measures and self.table.query.find(exp.Group) and self.table.query.find(exp.Count)
        stems = {stem for name in self.table.result.columns for stem in stem_name(name)}
        is_told = any(place.column >= 0 for place in self.places)
        return is_told or not counts or not stems.isdisjoint(map(stem_word, _list_words(self.text)))

    def _do_extremes_match_words(self) -> bool:
        """Whether words such as `highest` and `lowest` come in the order of their cells."""
        ends = [self.table.find_extremes(placeholder) for placeholder in self.places]
        kinds = {"high": "max", "low": "min"}.items()
        order = [
            end for end, _ in groupby(end for word in self.words for kind, end in kinds if self._is_of_kind(word, kind))
        ]
        picks = [pick for pick, _ in groupby(end_set.pop() for end_set in ends if len(end_set) == 1)]
        return min(len(set(order)), len(set(picks))) < 2 or picks[: len(order)] == order

    def _tells_whose_numbers(self) -> bool:
        """Whether numbers of some rows of several are told as theirs, and not as those of all."""
        table, picks = self.table, {place.pick for place in self.numbers}
        if table.has_single_row or any(map(self._has, _RANKINGS)):
            return True
        of_all = ("sums", "each") if self.labels and self._functions == {"averages"} else ("sums", "each", "averages")
        if any(map(self._has, of_all)):
            return not table.is_at_limit and (not self.numbers or {"min", "max"} <= picks)
        if {"min", "max"} <= picks or {"first", "last"} <= picks:
            return bool(self.labels) or not self.is_cut
        if (
            len({place.row for place in self.numbers}) != 1
            or len(self.places) > len(self.numbers)
            or self._has("alone")
        ):
            return True
        text = self.text.casefold()
        return any(str(cell).casefold() in text for cell in table.result.rows[self.numbers[0].row] if cell)

    def _has(self, kind: str) -> bool:
        return any(self._is_of_kind(word, kind) for word in self.words)

    def _has_singular_verbs_for_one(self) -> bool:
        """Whether no verb of one thing follows a placeholder that names several."""
        rows = self.table.result.rows
        return not any(
            any(self._is_of_kind(verb, "singular") for verb in following[:1])
            and len({rows[row][place.column] for row in place.rows}) > 1
            for place, following in zip(self.places, self.pieces[1:], strict=True)
        )

    def _is_of_kind(self, word: str, kind: str) -> bool:
        if kind == "high" and _compile_word_list(self.language, "degree").fullmatch(word):
            return not any(
                _compile_word_list(self.language, end).fullmatch(other) for other in self.words for end in _RANKINGS
            )
        return _compile_word_list(self.language, kind).fullmatch(word) is not None

    def _has_stated_direction(self, *, rises: bool) -> bool:
        """Whether the first and the last number rise or fall as the words say."""
        numbers, rows = self.numbers, self.table.result.rows
        if not numbers or self.table.find_order(by_time=True) != "min" or numbers[0].row >= numbers[-1].row:
            return False
        start, end = (rows[place.row][numbers[0].column] for place in (numbers[0], numbers[-1]))
        return (
            isinstance(start, int | float) and isinstance(end, int | float) and start != end and (start < end) == rises
        )

    def _names_other_end(self, number: int) -> bool:
        """Whether a number is told as the other end than the number before it, as in `and lowest at {n.min}`."""
        kind = {"max": "high", "min": "low"}.get(self.places[number].pick, "")
        is_after_number = self.places[number - 1] in self.numbers
        return is_after_number and any(self._is_of_kind(word, kind) for word in self.pieces[number])

    def _matches_labels(self) -> bool:
        """Whether each number belongs to the label before it, or to the label in the same position."""
        times = {label.column for label in self.labels if self.table.holds_times(label.column)}
        names = [label for label in self.labels if label.column not in times]
        return self._follow_labels(self.labels, {place.column for place in self.numbers}) and (
            not names or self._follow_labels(names, times)
        )

    def _follow_labels(self, labels: Sequence[Placeholder], columns: set[int]) -> bool:
        places, rows = self.places, self.table.result.rows
        has_list = any(placeholder.is_list for placeholder in places)
        groups, first = list(dict.fromkeys(label.rows for label in labels)), places.index(labels[0]) if labels else 0
        for column in columns if labels or has_list else ():
            numbers = [
                (number, place)
                for number, place in enumerate(places)
                if place.column == column and not (number and self._names_other_end(number))
            ]
            picks = {place.pick for number, place in numbers if number < first or not labels}
            if {"min", "max"} <= picks or {"first", "last"} <= picks:
                continue  # `from 3 to 70` before any label is said of all rows
            before = [next((item.rows for item in places[number::-1] if item in labels), None) for number, _ in numbers]
            cells = [rows[place.row][column] for _, place in numbers]
            if not any(
                len(row_sets) == len(cells)
                and all(
                    all(rows[row][column] == cell for row in match or (-1,)) and match
                    for match, cell in zip(row_sets, cells, strict=True)
                )
                for row_sets in (before, groups)
            ):
                return False
        return True


def _is_mean(output: exp.Expr, query: Query) -> bool:
    """Whether an output is an average, or a quotient of two aggregates that is no share in percent."""
    if output.find(*_MEANS):
        return True
    is_share = output.find(exp.Window, exp.Query) or any(
        float(each.name) == 100 for each in query.find(exp.Literal, within=output) if each.is_number
    )
    quotients = [] if is_share else query.find(exp.Div, within=output)
    return any(each.this.find(*_TOTALS) and each.expression.find(*_TOTALS) for each in quotients)


@cache
def compile_phrases(kind: str, language: str | None = None) -> re.Pattern[str]:
    """Return the pattern of a language's phrases of a kind, or of all languages'."""
    every = read_languages()
    lists = every.values() if language is None else [every.get(language, {})]
    phrases = "|".join(each[kind] for each in lists if kind in each) or "(?!)"
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)


def _split_at_gaps(words: Iterable[str]) -> list[list[str]]:
    """Return the words between gaps."""
    return [piece.split() for piece in " ".join(words).split(GAP)]


@cache
def _compile_word_list(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of a language's folded words of a kind, and of the shared ones."""
    lists = read_languages()
    return re.compile(make_word_pattern(f"{lists.get(language, {}).get(kind, '')} {lists['others'].get(kind, '')}"))


@cache
def read_number_words() -> tuple[dict[str, int], re.Pattern[str]]:
    """Return the values of spelled numbers, and a pattern of all number words, in any language."""
    values, amounts = dict(LONE_NUMBER_WORDS), ""
    for lists in read_languages().values():
        numbers = [forms.split("/") for forms in lists.get("numbers", "").split()]
        values |= {fold(form): number for number, forms in enumerate(numbers) for form in forms if form != "_"}
        amounts += f" {lists.get('amounts', '')}"
    return values, re.compile(make_word_pattern(" ".join([*values, amounts])))


@cache
def _compile_asian() -> re.Pattern[str]:
    """Return the pattern of listed words in scripts that write no spaces."""
    asian_words = {
        word.strip("*")
        for lists in read_languages().values()
        for text in lists.values()
        if not re.search(r"[|(\[]", text)  # which patterns have
        for word in text.split()
    }
    return re.compile("|".join(sorted(filter(_ASIAN.match, asian_words), key=len, reverse=True)))


def _list_words(text: str) -> list[str]:
    """Return the folded words of a text, with gaps and stops; vowel signs belong to words."""
    pieces = (
        mark if unicodedata.category(mark)[0] in "LMN" else f" {mark} " if mark == GAP or mark in _STOPS else " "
        for mark in _compile_asian().sub(r" \g<0> ", text)
    )
    return [word if word == GAP or word in _STOPS else fold(word) for word in "".join(pieces).split()]
