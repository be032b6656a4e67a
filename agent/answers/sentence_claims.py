"""The claims of a model's sentence, each held against the rows or the part of the query that bears it out.

That the question has a word is no proof: whoever asks for the most is told a lie by `the most` beside the least.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise, takewhile

from sqlglot import exp

from ...tools.formats import ColumnFormat, FormatKind
from ...tools.sql import Query
from ...tools.words import fold
from ..records import PlainCell, PlainResult
from .sentence_words import GAP, PERIODS, STOPS, Claim, GivenWords, SentenceWords, compile_phrases, read_number_words

DATE = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?", re.DOTALL)

_PERIODS: dict[FormatKind, str] = {"year": "year", "month": "month", "date": "day", "minute": "hour", "second": "hour"}
_PERIOD_SIGNS = {"%H": "hour", "%d|day": "day", "%W": "week", r"%m|\b\d{4}-\d\d": "month", r"%Y|\b[12]\d{3}\b": "year"}
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentTime)
_RANKING = (exp.RowNumber, exp.Rank, exp.DenseRank)

_ENDS: dict[str, type[exp.Expr]] = {"max": exp.Max, "min": exp.Min}
_OTHER: dict[str, str] = {"max": "min", "min": "max"}

_PICKS: dict[Claim, set[str]] = {
    "high": {"max"}, "low": {"min"}, "either": {"max", "min"}, "degree": {"max"}, "late": {"max"}, "early": {"min"}
}  # fmt: skip
"""The ends that claims are of which say why some rows are named and others are not."""

_BOUNDS = {"over": ">", "under": "<", "from": ">=", "to": "<="}
_OPERATORS = {exp.GT: (">", "<"), exp.GTE: (">=", "<="), exp.LT: ("<", ">"), exp.LTE: ("<=", ">="), exp.EQ: ("=", "=")}
_BEHIND = re.compile(r"\s?((?:[^\W\d_]+\s(?:de\s)?(?=[\d\0]))?)(\d(?:[\d.,-]*\d)?|\0|[^\W\d_]+)")
_BEFORE = re.compile(r"()((?<!\w)\d(?:[\d.,]*\d)?|\0)\s$")
_YEAR = re.compile(r"(\d{4})(?:-(\d\d(?:-\d\d)?).*)?", re.DOTALL)


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
class ClaimedTable:
    """A result with its query, by which claims are checked."""

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
        values = values or [cell for cell in cells if isinstance(cell, str) and DATE.fullmatch(cell)]
        # What is missing may be the smallest: nothing sold is NULL in many a query.
        missing = cells.count(None) if pick == "max" else 0
        if not values or len(values) + missing < self.result.row_count:
            return ()
        best: PlainCell = max(values) if pick == "max" else min(values)
        return tuple(number for number, cell in enumerate(cells) if cell == best)

    def find_output(self, column: int) -> exp.Expr:
        """Return the expression of a column; the whole query if it is not known."""
        selects: list[exp.Expr] = self.query.tree.selects if isinstance(self.query.tree, exp.Query) else []
        return selects[column] if len(selects) == len(self.result.columns) else self.query.tree

    def is_of(self, column: int, kind: str) -> bool:
        """Whether a column's name has a word of a kind."""
        return GivenWords.of_names([self.result.columns[column]]).has_kind(kind)

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
        is_age = by_time and is_number and GivenWords.of_names([term.name]).has_kind("year")
        if by_time == is_number and not is_age:
            return ""
        return "max" if bool(self.query.order[0].args.get("desc")) != is_age else "min"

    def find_kept_ends(self) -> set[str]:
        """Return the ends of which a condition, a window or a subquery keeps only the rows."""
        tree = self.query.tree
        picks = {end for end, kind in _ENDS.items() if any(_is_nested(each, tree) for each in tree.find_all(kind))}
        for each in tree.find_all(exp.Ordered):
            window, select = each.find_ancestor(exp.Window), each.find_ancestor(exp.Select)
            if (
                isinstance(window.this, _RANKING)
                if window
                else select and select is not tree and select.args.get("limit")
            ):
                picks.add("max" if each.args.get("desc") else "min")
        return picks


def _is_nested(node: exp.Expr, tree: exp.Expr) -> bool:
    return node.find_ancestor(exp.Select) is not tree


def find_columns_by_name(name: str, columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns with a name; compare only letters and digits."""
    wanted, *known = ("".join(filter(str.isalnum, each.casefold())) for each in (name, *columns))
    return [number for number, each in enumerate(known) if wanted and each == wanted]


@dataclass(frozen=True)
class ClaimedSentence:
    """A sentence with the cells of its places."""

    text: SentenceWords
    places: Sequence[Placeholder]
    forms: Sequence[ColumnFormat]  # one per place
    formats: Sequence[ColumnFormat]  # one per column of the result
    others: Sequence[set[int]]  # the rows of names that the words have themselves
    has_example: bool
    table: ClaimedTable

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
                and all(each.isdecimal() or DATE.fullmatch(each) for each in ends)
            ):
                labels = [label for label in labels if label not in (start, end)]
        return labels

    @cached_property
    def numbers(self) -> list[Placeholder]:
        """The placeholders with numbers that are no names."""
        return [place for place in self.places if place.column in self.table.measures]

    @cached_property
    def clauses(self) -> list[tuple[tuple[str, ...], list[Placeholder]]]:
        """The words of each clause, with its placeholders."""
        left = iter(self.places)
        return [(words, [next(left) for word in words if word == GAP]) for words in self.text.list_clauses()]

    @cached_property
    def claims(self) -> set[Claim]:
        """What the words claim."""
        return self.text.find_claims()

    @cached_property
    def spans(self) -> bool:
        """Whether it has the smallest and the largest number."""
        return {"min", "max"} <= {place.pick for place in self.numbers}


def is_borne_out(said: ClaimedSentence) -> bool:
    """Whether the result and the query bear out all that a sentence claims."""
    return all(check(said) for check in _CHECKS) and all(
        check(said, claim) for claim, check in _CLAIM_CHECKS.items() if claim in said.claims
    )


def take_bounds(gapped: str, places: Sequence[Placeholder], table: ClaimedTable) -> str | None:
    """Return a sentence without the comparisons that are the query's own, as `more than 5`; None if one is not."""
    bounds, told = list(_list_bounds(table.query.tree)), gapped
    known, sides = {_read_bound(*each) for each in bounds}, {sign[0] + value[:4] for sign, value in bounds}
    for match in reversed([*compile_phrases(*_BOUNDS).finditer(gapped)]):
        sign, end = _BOUNDS[match.lastgroup or ""], match.end()
        near = (_BEHIND.match(gapped, end), _BEFORE.search(gapped, 0, match.start()))
        found = next((each for each in near if each and _read_number(each[2])), None)
        number = _read_number(found[2]) if found else ""
        if found and number == GAP:  # `at least {fee.min}`; more than a cell nothing is known of
            place = places[gapped[: found.end()].count(GAP) - 1]
            if found[1] or place.column not in table.measures:
                continue
            if {">=": "min", "<=": "max"}.get(sign) not in _find_ends(place, table):
                return None
        elif found:
            fits = _read_bound(sign, number) in known or (sign, number) == (">=", "1")
            if not fits and not (found[1] and (sign[0] + number in sides or not _YEAR.fullmatch(number))):
                return None
            end = max(end, found.end())
        elif sign[0] not in sides:  # unlike `more than the average`, it says nothing of the query
            continue
        told = f"{told[: match.start()]} {told[end:]}"
    # A year that the query leaves out.
    ends = [(side, year) for side, year in known if isinstance(year, int)]
    years = [int(each) for each in re.findall(r"(?<!\d)[12]\d{3}(?!\d)", told)]
    return None if any(year < end if side == ">" else year > end for side, end in ends for year in years) else told


def _read_number(text: str) -> str:
    """Return the digits of a number, or the gap, that a text is; empty for another word."""
    number = str(read_number_words()[0].get(fold(text), "" if text.isalpha() else text))
    return re.sub(r"[.,](?=\d{3}(?!\d))", "", number)


def _list_bounds(tree: exp.Expr) -> Iterator[tuple[str, str]]:
    """Yield each comparison's sign with its constant, or with nothing if it compares columns."""
    for node in tree.find_all(exp.Between, *_OPERATORS):
        if isinstance(node, exp.Between):
            yield from ((">=", node.args["low"].name), ("<=", node.args["high"].name))
            continue
        for side, sign in zip((node.expression, node.this), _OPERATORS[type(node)], strict=True):
            literals = [] if side.find(exp.Column) else list(side.find_all(exp.Literal))
            if len(literals) == 1 or (side is node.expression and not literals):
                yield sign, literals[0].name if literals else ""


def _read_bound(sign: str, number: str) -> tuple[str, float | str]:
    """Return the first or the last year of a comparison, or else the comparison: after 2023 is since 2024."""
    year, rest = match.groups() if (match := _YEAR.fullmatch(number)) else ("", "")
    is_start, is_end = rest in (None, "01", "01-01"), rest in (None, "12", "12-31")
    if year and (is_start if sign in (">=", "<") else is_end and sign != "="):
        return sign[0], int(year) + {">": 1, "<": -1}.get(sign, 0)
    return (sign, float(number.replace(",", "."))) if re.fullmatch(r"\d+(?:[.,]\d+)?", number) else (sign, number)


def _find_ends(place: Placeholder, table: ClaimedTable, *, by_time: bool = False) -> set[str]:
    """Return whether a placeholder stands for the largest or smallest value, or for its row; nothing for neither."""
    query, order, rows = table.query, table.find_order(by_time=by_time), table.result.rows
    if place.column < 0:
        return set()
    kept, is_number = table.find_kept_ends(), place.by in table.measures
    if table.has_single_row:
        output = table.find_output(place.column)
        own = {end for end, kind in _ENDS.items() if output.find(kind)} if output is not query.tree else set[str]()
        ends = own or ({order} - {""} if query.order else {end for end, kind in _ENDS.items() if query.tree.find(kind)})
        return ends if own else kept | ends
    if query.limit is not None:  # what it cuts off may be larger or smaller
        return {order} - {""} if place.row == 0 and place.pick in (order, "first", "") else set()
    if place.pick in _OTHER:
        is_age = by_time and is_number and table.is_of(place.by, "year")
        return kept | ({_OTHER[place.pick]} if is_age else {place.pick} if by_time != is_number else set[str]())
    if place.pick and order:
        beside = rows[(1 if place.pick == "first" else -2) % len(rows)]  # itself in a result of which more was cut
        tied = bool(table.measures) and all(rows[place.row][each] == beside[each] for each in table.measures)
        return kept if tied and not by_time else kept | {order if place.pick == "first" else _OTHER[order]}
    found = [(pick, each) for pick in _ENDS for each in table.measures if not table.result.truncated]
    return kept | {pick for pick, each in found if table.find_extreme_rows(each, pick) == place.rows}


def _is_rank(said: ClaimedSentence, claim: Claim) -> bool:
    """Whether the cells beside a superlative are the largest or smallest, or of their rows."""
    if claim == "degree" and (said.claims & (_PICKS.keys() - {"degree", "high"}) or said.text.has("negations")):
        return True  # `plus`, `самый`: of what, another word says, or else it is of the largest
    for number, (words, _) in enumerate(said.clauses):
        around = [places for _, places in (*said.clauses[number:], *said.clauses[number::-1])]
        near = next((cells for places in around if (cells := [each for each in places if each.column >= 0])), [])
        ends = [_find_ends(place, said.table, by_time=claim in ("late", "early")) for place in near]
        if any(said.text.claims(word, claim) for word in words) and _PICKS[claim].isdisjoint(set[str]().union(*ends)):
            return False
    return True


def _are_ends_in_order(said: ClaimedSentence) -> bool:
    """Whether words for the largest and the smallest have their cells in the same order, not exchanged."""
    text, ends = said.text, [_find_ends(place, said.table) for place in said.places]
    claimed = ("max" if text.is_of(word, "high") else "min" for word in text.words if text.claims(word, "high", "low"))
    told = [pick for pick, _ in groupby(claimed)]
    picks = [pick for pick, _ in groupby(each.pop() for each in ends if len(each) == 1)]
    return min(len(set(told)), len(set(picks))) < 2 or picks[: len(told)] == told


def _has_direction(said: ClaimedSentence, claim: Claim) -> bool:
    """Whether the first and the last number rise or fall as the words say; a column's name, as `growth`, says none."""
    numbers, rows, columns = said.numbers, said.table.result.rows, said.table.result.columns
    names = GivenWords.of_names(columns[place.column] for place in numbers)
    if all(names.has(word, "en") for word in said.text.words if said.text.is_of(word, claim)):
        return True
    start, *_, end = [float(str(rows[place.row][place.column])) for place in numbers * 2] or (0, 0)
    in_order = said.table.find_order(by_time=True) == "min" and numbers and numbers[0].row < numbers[-1].row
    return bool(in_order) and start != end and (start < end) == (claim == "rises")


def _is_aggregate(said: ClaimedSentence, claim: Claim) -> bool:
    """Whether the numbers beside a word such as `total` or `average` are one."""
    table, tree = said.table, said.table.query.tree
    if not said.numbers or (claim == "totals" and any(place.column < 0 for place in said.places)):
        return True
    if not (said.labels or said.spans or said.claims & {"high", "low"}) and (
        not table.has_single_row or (tree.args.get("group") and tree.args.get("limit"))
    ):
        return False
    kinds = (exp.Sum, exp.Count) if claim == "totals" else (exp.Avg, exp.Div, exp.Median, exp.PercentileCont)
    if any(_is_nested(each, tree) for each in tree.find_all(*kinds)):
        return True
    for place in said.numbers:
        output = table.find_output(place.column)
        # A column of the database may be an average of its own.
        if output.find(*kinds) or (table.is_of(place.column, claim) and not output.find(exp.AggFunc)):
            return True
    return claim == "totals" and not table.has_single_row


def _is_said_of_every_row(said: ClaimedSentence, claim: Claim) -> bool:
    """Whether the numbers in a clause about all rows are those of all: equal, or the smallest and the largest."""
    is_filtered = said.table.query.tree.find(exp.Where, exp.Having) is not None
    is_asked, ranked = said.text.asked.has_kind("every", "whole"), claim == "whole" and said.claims & {"high", "low"}
    for places in (each for words, each in said.clauses if any(said.text.is_of(word, claim) for word in words)):
        before_label = takewhile(lambda place: place not in said.labels, places)
        numbers = [place for place in before_label if place.column in said.table.measures]
        varied = any(len({row[place.column] for row in said.table.result.rows}) > 1 for place in numbers)
        if (varied and not {"min", "max"} <= {each.pick for each in numbers}) or not (
            numbers or is_asked or not is_filtered
        ):
            return False  # these are not all that there are
        # One number of many rows is that of each only as an average, and that of all as a sum, too.
        found = [each for place in numbers for each in said.table.find_output(place.column).find_all(exp.AggFunc)]
        summed = claim == "whole" and all(isinstance(each, exp.Sum | exp.Count) for each in found)
        fits = not found or summed or ranked or "averages" in said.claims
        if said.table.has_single_row and not fits:
            return False
    return True


def _is_paired(said: ClaimedSentence) -> bool:
    """Whether the numbers beside labels are of the labels' rows: of the label before each, or in the same order."""
    places, labels, rows = said.places, said.labels, said.table.result.rows
    listed = any(place.is_list for place in places)
    named, first = list(dict.fromkeys(label.rows for label in labels)), places.index(labels[0]) if labels else 0
    for column in {place.column for place in said.numbers} if labels or listed else ():
        found = [(number, place) for number, place in enumerate(places) if place.column == column]
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


def _are_nouns_asked(said: ClaimedSentence) -> bool:
    """Whether what is counted, and what a rate is of, is named by the question or the result."""
    text, table = said.text, said.table
    columns, tree = table.result.columns, table.query.tree
    measured = GivenWords.of_names(columns[each] for each in table.measures)
    labelled = GivenWords.of_names(each for n, each in enumerate(columns) if n not in table.measures)
    tables = [each.name for each in tree.find_all(exp.Table)]
    counted = GivenWords.of_names(tables if len(tables) == 1 and not tree.find(exp.Group) else ())
    left = list(zip(said.places, said.forms, strict=True))
    for position, word in enumerate(text.words):
        place, form = left.pop(0) if word == GAP else (None, None)
        if place is None or form is None:
            if not text.is_of(word, "rates"):
                continue
        elif form.kind != "number" or form.unit:
            continue
        noun = text.find_noun(position)
        if noun and not (text.asked.has(noun, text.language) or counted.has(noun, text.language)):
            return False
        if place and place.column < 0 and measured.has(noun, "en") and labelled.forms and not labelled.has(noun, "en"):
            return False
    return True


def _are_times_given(said: ClaimedSentence) -> bool:
    """Whether periods, and times relative to today, are those of the question, the query or the result."""
    text, tree = said.text, said.table.query.tree
    own = {_PERIODS[form.kind] for form in said.formats if form.kind in _PERIODS}
    columns = GivenWords.of_names(said.table.result.columns)
    own |= {period for period in PERIODS if columns.has_kind(period)}
    given = {period for sign, period in _PERIOD_SIGNS.items() if re.search(sign, text.named.text)}
    given |= own | {period for period in PERIODS if text.named.has_kind(period)}
    is_dated = tree.find(*_NOW) is not None or text.named.has("now", "en")
    if any(text.is_of(word, "now") and not (is_dated or text.asked.has(word, text.language)) for word in text.words):
        return False
    for position, period in text.list_periods():
        word, before = text.words[position], text.words[position - 1] if position else ""
        after, behind = (*text.words[position + 1 : position + 3], "", "")[:2]
        is_named = after == GAP or after.isdecimal() or (behind == GAP and not after.isalpha())
        relative = [each for each in (before, after) if text.is_of(each, "deictic")]
        if not (is_dated or is_named or all(text.asked.has(each, text.language) for each in relative)):
            return False
        counted = before == GAP and said.places[text.words[:position].count(GAP) - 1].column < 0
        is_rate = any(text.is_of(each, "rates") for each in (before, word)) and not is_named
        is_divided = period in own or tree.find(exp.Div, exp.Avg, exp.Group) is not None
        # A month's number is none per year.
        if period not in (own if (counted or is_rate) and own else given) or (is_rate and not is_divided):
            return False
    return True


def _are_denials_given(said: ClaimedSentence) -> bool:
    """Whether what a sentence denies is what the question and the query leave out, and what it affirms is not."""
    text, language, tree = said.text, said.text.language, said.table.query.tree
    denials = list(_list_denials(tree))
    denied, affirmed = (GivenWords.of_names(name for name, each in denials if each == has) for has in (True, False))
    asked, own = (GivenWords.read(" ".join(text.list_denied(each))) for each in (text.question, text.words))
    negations = [position for position, word in enumerate(text.words) if text.is_of(word, "negations")]
    for word in filter(str.isalpha, text.words):
        is_known = text.is_of(word, "negations") or (text.is_of(word, "neutral") and (own.forms or len(word) <= 3))
        turned = asked.has(word, language) or (denied.has(word, language) and not affirmed.has(word, language))
        if turned and not (is_known or own.has(word, language)):
            return False
    has_denials = any(is_denied for _, is_denied in denials)
    is_told = any(asked.has(word, language) or denied.has(word, language) for word in own.forms)
    # `There are not {n}` denies what is counted, and `{n} have not paid` says what the query looks for.
    of_place = bool(negations) and GAP not in text.words[: negations[0]]
    is_affirmed = any(affirmed.has(word, language) for word in own.forms)
    fits = (is_told and (has_denials or not affirmed.text)) or (has_denials and not of_place and not affirmed.text)
    return not (negations or own.forms) or (fits and not is_affirmed)


def _list_denials(tree: exp.Expr) -> Iterator[tuple[str, bool]]:
    """Yield what conditions of a query look for or exclude: a column that is NULL, another table, or nothing named."""
    own = tree.find(exp.Table)
    for node in tree.find_all(exp.Is, exp.Exists, exp.In, exp.NEQ, exp.Like, exp.Except):
        is_null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
        negated = isinstance(node, exp.NEQ | exp.Except) or is_null or bool(node.args.get("negate"))
        tables = [] if isinstance(node, exp.Except) else [each.name for each in node.find_all(exp.Table)]
        names = [node.this.name] if is_null else [each for each in tables if own and each != own.name]
        is_denied = negated != isinstance(node.parent, exp.Not)
        yield from ((each, is_denied) for each in names or ([""] if is_denied else []))


def _is_enumeration(said: ClaimedSentence) -> bool:
    """Whether names that stand as if they were all are those of all rows."""
    words, labels, result = said.text.words, said.labels, said.table.result
    if not said.claims.isdisjoint(_PICKS) or said.text.has("ends") or said.has_example or said.spans:
        return True
    if said.numbers:
        named = {row for each in labels for row in each.rows}
        gaps = [position for position, word in enumerate(words) if word == GAP]
        ends = [gaps[number] for number, place in enumerate(said.places) if place in labels] or [0]
        joined = any(word in STOPS or said.text.is_of(word, "joins") for word in words[ends[0] : ends[-1]])
        named = named if joined and len(named) > 1 else set()
    else:
        texts = (row for each in labels for row in each.rows if isinstance(result.rows[row][each.column], str))
        named = set(texts).union(*said.others)
    return not named or named.issuperset(range(result.row_count)) or any(place.is_list for place in said.places)


def _is_followed_by_next(said: ClaimedSentence) -> bool:
    """Whether a name that is said to follow another is that of the next row."""
    text, places = said.text, said.places
    for position in (position for position, word in enumerate(text.words) if text.is_of(word, "follows")):
        number = text.words[:position].count(GAP)
        if GAP in text.words[position + 1 : position + 4] and places[number] in said.labels:
            before = [place for place in places[:number] if place in said.labels]
            if not before or places[number].row != before[-1].row + len(before[-1].rows):
                return False
    return True


_CHECKS: tuple[Callable[[ClaimedSentence], bool], ...] = (
    _is_paired,
    _are_nouns_asked,
    _are_times_given,
    _are_denials_given,
    _are_ends_in_order,
    _is_enumeration,
    _is_followed_by_next,
)
_CLAIM_CHECKS: Mapping[Claim, Callable[[ClaimedSentence, Claim], bool]] = {
    **dict.fromkeys(_PICKS, _is_rank),
    "rises": _has_direction,
    "falls": _has_direction,
    "totals": _is_aggregate,
    "averages": _is_aggregate,
    "every": _is_said_of_every_row,
    "whole": _is_said_of_every_row,
    "distinct": lambda said, _: said.table.query.tree.find(exp.Distinct, exp.Group) is not None,
}
