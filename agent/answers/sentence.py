"""Fills the places of a model's sentence with the cells of a result.

The sentence was written before anybody saw the rows. So each word of it is one of the question, the query or the
schema's names, or one that is known to claim nothing, or its claim is borne out by the rows; otherwise the program's
own sentence stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal

from sqlglot import exp

from ...tools.database import Database
from ...tools.formats import ColumnFormat, FormatKind, find_measure, format_cell
from ...tools.labels import find_language, join_names
from ...tools.sql import Query, read_query
from ...tools.words import fold, humanize_name, words
from ..advice import with_fallback
from ..records import AnswerRecord, PlainCell, PlainResult
from .phrasing import ROWS_IN_WORDS, TEXT_CHARACTERS, cut
from .sentence_words import (
    GAP,
    PERIODS,
    Claim,
    GivenWords,
    SentenceWords,
    compile_examples,
    is_listed,
    read_number_words,
)

LONGEST = 300  # characters of a sentence with its places

_PLACE = re.compile(r"\{([^{}]{1,200})\}")
_PICK = re.compile(r"(?P<column>.+?)(?:@(?P<by>.+))?\.(?P<pick>first|last|max|min)", re.IGNORECASE)
_MARKUP = re.compile(
    r"[<>\[\]{}|\\`*@#=^~‰]|://|\bwww\.|[\w\0]\.[^\W\d_]{2}|[a-z]:[^\W\d_]|\bdot (?:com|net|org|[a-z]{2})\b"
    r"|\b(?:mailto|tel|sms|javascript|data):\S",
    re.IGNORECASE,
)
"""Signs of markup, of links and of addresses: many a front end makes a link of `example.com` or `mailto:ada`."""

_JOINED = re.compile(
    r"\0[a-zA-Z]|\0\s[kKmMbBgGtT](?!\w)|[\0\d][.,'’:/·٫٬]?\0|\0[.,'’:/·٫٬]?\d|(?<!\w)(?:[-−+±]\s?|–)\0"
    r"|(?<!\d)\d{1,3}\s\0|\0\s\d{3}(?!\d)"
)
"""What would make another value of a cell: a letter behind it (12k), digits or a cell beside it, a sign before it."""

_PERCENT = re.compile(r"\s?(?:%|(?:per|pour|por) ?(?:cent|ciento|cento)\b|Prozent\b|процент\w*)", re.IGNORECASE)
_NUMBER, _RUN = re.compile(r"\d+(?:[.,:/'’-]\d+)*"), re.compile(r"\d+")
_CURRENCY_BEFORE = re.compile(r"(?<!\w)(?:US\s)?([^\W\d_]{3,})\s?$")
_UNIT_AFTER = re.compile(r"^\s?(?:US\s)?([^\W\d_]+(?:/[a-z])?)(?!\w)")
_NOUN = re.compile(r"\s[^\W\d_]{3}")
"""What is said of many, as in `{n} customers have`, is not said of one."""
_MARKS = re.compile(r"[.,'’]")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
_ROMAN = re.compile(r"(?<!\w)[IVX]{2,}(?!\w)")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?", re.DOTALL)
_CONDITION = re.compile(
    r"\b(?:(?:at (?:least|most)|au (?:moins|plus)|al menos|\w+ (?:than|als|dan|чем)"
    r"|(?:plus|moins|m[áa]s|menos|pi[ùu]|meno|mais|mayor(?:es)?|menor(?:es)?) (?:d[ei]|que|a)"
    r"|(?:sup|inf)[ée]rieure?s? à|over|above|below|under|über|unter|больше|меньше|более|менее|свыше) (?=\d)"
    r"|at least once\b|le(?:d|ads) to\b)|(?:超过|大于|小于|高于|低于) ?(?=\d)",
    re.IGNORECASE,
)
"""A comparison with a number of the question or the query, as in `more than 5`, claims nothing new."""

_IN_ALL = re.compile(r"\bin all(?=\s*(?:[^\w\s]|$))", re.IGNORECASE)
_PRONOUN = re.compile(r"\bthe one (?=with|who|whose|that)\b", re.IGNORECASE)

_SPELLED = re.compile(r"[\u0e00-\u0eff\u2e80-\ud7ff]|[^\W_\u0e00-\u0eff\u2e80-\ud7ff]+")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029][\s\x00-\x1f\x7f-\x9f]*")

_PERIODS: dict[FormatKind, str] = {"year": "year", "month": "month", "date": "day", "minute": "hour", "second": "hour"}
_PERIOD_SIGNS = {
    "%H": "hour",
    "%d|day": "day",
    "%W": "week",
    r"%m|\b\d{4}-\d\d": "month",
    r"%Y|\b[12]\d{3}\b": "year",
}
_DENIALS = (exp.Not, exp.NEQ, exp.Is, exp.Except)
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentTime)

_RANKS: frozenset[Claim] = frozenset(("high", "low", "either", "degree", "times"))
"""Claims that say why some rows are named and others are not."""


@dataclass(frozen=True)
class _Placeholder:
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
class _Table:
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
        values = {number: cell for number, row in enumerate(self.result.rows) if (cell := row[column]) is not None}
        numbers = [cell for cell in values.values() if isinstance(cell, int | float)]
        dates = [cell for cell in values.values() if isinstance(cell, str) and _DATE.fullmatch(cell)]
        # What is missing may be the smallest: nothing sold is NULL in many a query.
        if not values or (pick == "min" and len(values) < self.result.row_count):
            return ()
        if len(numbers) == len(values):
            best: PlainCell = max(numbers) if pick == "max" else min(numbers)
        elif len(dates) == len(values):
            best = max(dates) if pick == "max" else min(dates)
        else:
            return ()
        return tuple(number for number, cell in values.items() if cell == best)

    @property
    def has_order_of_values(self) -> bool:
        """Whether the query orders its rows by something else than a sum or a count, or looks for an end."""
        if not self.query.order:
            return self.query.tree.find(exp.Max, exp.Min) is not None
        term = self.query.order[0].this
        found, outputs = self.find_ordering_columns(), self.find_outputs()
        return (outputs[found[0]] if found and outputs else term).find(exp.Sum, exp.Count, exp.Avg) is None

    def find_outputs(self) -> list[exp.Expr]:
        """Return the expressions of the columns; none if they are not known."""
        selects: list[exp.Expr] = self.query.tree.selects if isinstance(self.query.tree, exp.Query) else []
        return selects if len(selects) == len(self.result.columns) else []

    def find_ordering_columns(self) -> list[int]:
        """Return the positions of the columns that the query may order its rows by first."""
        term = self.query.order[0].this
        if isinstance(term, exp.Literal):
            return [int(term.name) - 1] if term.is_int and int(term.name) <= len(self.result.columns) else []
        return _find_columns_by_name(term.name, self.result.columns)

    def find_order(self) -> Literal["", "max", "min"]:
        """Return whether the largest or the smallest of a number comes first; empty without such an order."""
        if not self.query.order:
            return ""
        first = self.query.order[0]
        found = self.find_ordering_columns()
        column = self.query.column(first.this) if isinstance(first.this, exp.Column) else None
        by_number = (
            found[0] in self.measures
            if found
            else first.this.find(exp.AggFunc) is not None or (column is not None and column.schema.kind == "number")
        )
        return "" if not by_number else "max" if first.args.get("desc") else "min"


@with_fallback("phrasing", None)
def fill_answer_sentence(
    answer: AnswerRecord, result: PlainResult, formats: Sequence[ColumnFormat], database: Database
) -> str | None:
    """Return an answer's sentence, filled with result cells; None if it cannot be used."""
    if answer.sentence is None or answer.sql is None:
        return None
    query = read_query(answer.sql, database.schema())
    asked, meant = answer.question, answer.rephrased
    return fill_sentence(answer.sentence.say, result, formats, asked, query, meant) if query else None


def fill_sentence(
    say: str, result: PlainResult, formats: Sequence[ColumnFormat], question: str, query: Query, meant: str = ""
) -> str | None:
    """Fill the placeholders of a sentence; return None if the result does not support it.

    Args:
        say: The sentence, untrusted.
        result: The rows as the person may see them.
        formats: One per column, each with its locale.
        question: The question in the person's own words.
        query: The query that gave the result.
        meant: The question made self-contained by a model; it has the nouns of a question that leans on others.
    """
    gapped = _PLACE.sub(GAP, say)
    if not _is_plain_sentence(say, gapped) or _JOINED.search(gapped):
        return None
    measures = [number for number, form in enumerate(formats) if form.kind in ("number", "money", "percent")]
    table = _Table(result, query, tuple(measures))
    examples = compile_examples()
    found = [
        _resolve_placeholder(place[1], table, examples.search(say[: place.start()]) is not None)
        for place in _PLACE.finditer(say)
    ]
    places = [place for place in found if place is not None]
    if not places or len(places) < len(found):
        return None
    texts: list[str] = []
    counted = ColumnFormat("number", locale=formats[0].locale)
    forms = [counted if place.column < 0 else formats[place.column] for place in places]
    for place, form in zip(places, forms, strict=True):
        cells = [result.row_count if place.column < 0 else result.rows[row][place.column] for row in place.rows]
        cells = ["" if cell is None else _BREAKS.sub(" ", format_cell(cell, form)) for cell in dict.fromkeys(cells)]
        names = [cut(cell, TEXT_CHARACTERS) for cell in cells]
        texts.append(join_names(names, ROWS_IN_WORDS, f"{question} {gapped}") if all(names) else "")
    # A number in ORDER BY or GROUP BY is that of a column.
    literals = [
        each for each in query.tree.find_all(exp.Literal) if not isinstance(each.parent, exp.Ordered | exp.Group)
    ]
    given = " ".join([question, *(literal.name for literal in literals)])
    others = _find_named_rows(gapped, result, formats)
    asked = f"{question} {' '.join(map(humanize_name, result.columns))}"
    identifiers = (humanize_name(each.name) for each in query.tree.find_all(exp.Identifier))
    names = " ".join([*identifiers, *(literal.name for literal in literals), *others])
    told = _IN_ALL.sub(" overall ", _CONDITION.sub(" ", _PERCENT.sub(" ", gapped)))
    text = SentenceWords.read(examples.sub(" ", told), f"{asked} {meant}", names)
    placed = {row for place in places if place.column >= 0 for row in place.rows}
    if not (
        all(texts)
        and _has_only_given_numbers(gapped, given, text.language)
        and all(placed <= rows for rows in others.values())
        and text.are_known(with_short=not any(place.pick for place in places))
    ):
        return None
    labels, said, claims = _find_labels(places, table), text.find_claims(), text.find_claims(GivenWords.read(asked))
    aggregates = said & {"totals", "averages"}
    bounded = bool(labels or said & {"high", "low"}) or {"min", "max"} <= {place.pick for place in places}
    is_picked = bool(said & _RANKS) or text.has("ends") or examples.search(gapped) is not None
    if not (
        _is_paired(places, labels, table)
        and _are_nouns_asked(text, places, forms, table)
        and _are_times_given(text, places, formats, table)
        and (is_picked or _is_enumeration(places, labels, [*others.values()], table))
        and _is_followed_by_next(text, places, labels)
        and _is_said_of_every_row(text, places, labels, table)
        and all(_is_supported(claim, claims, places, table) for claim in claims - {"totals", "averages", "every"})
        and all(_is_aggregate(each, places, table, each in claims, bounded) for each in aggregates)
    ):
        return None
    hundredfold = any(isinstance(each.parent, exp.Mul) and each.name in ("100", "100.0") for each in literals)
    return _build_sentence(
        gapped, texts, forms, question, percent=hundredfold or "%" in question, given=f"{asked} {query.tree.sql()}"
    )


def is_harmless(text: str, given: str) -> bool:
    """Whether words of a model are one plain line with no number but those of the question or of a query."""
    return _is_plain_sentence(text, text) and _has_only_given_numbers(text, given, find_language(f"{given} {text}"))


def _is_plain_sentence(say: str, gapped: str) -> bool:
    """Whether a sentence is one short line without control or invisible characters."""
    kinds = {unicodedata.category(mark) for mark in say if mark != "\N{ZERO WIDTH NON-JOINER}"}
    unseen = any(kind[0] == "C" or kind in ("Zl", "Zp") for kind in kinds)
    return 0 < len(say) <= LONGEST and not unseen and _MARKUP.search(gapped) is None


def _resolve_placeholder(inner: str, table: _Table, example: bool) -> _Placeholder | None:
    """Return the cells that a placeholder means; None if it is unknown or ambiguous."""
    result, inner = table.result, inner.strip()
    whole, parts = _find_columns_by_name(inner, result.columns), _PICK.fullmatch(inner)
    if not whole and inner.lower() == "rows":
        return None if result.truncated or not result.rows else _Placeholder((0,), -1)
    pick = "" if whole or parts is None else parts["pick"].lower()
    found = _find_columns_by_name(parts["column"], result.columns) if parts and not whole else whole
    by = _find_columns_by_name(parts["by"], result.columns) if parts and parts["by"] else found
    if len(found) != 1 or len(by) != 1 or (by != found and pick in ("first", "last")):
        return None
    column, cells = found[0], [row[found[0]] for row in result.rows]
    rows: tuple[int, ...] = ()
    if table.has_single_row:
        rows = (0,)
    elif pick in ("first", "last"):
        known = cells and (table.query.order or example) and not (pick == "last" and result.truncated)
        rows = (0 if pick == "first" else len(cells) - 1,) if known else ()
    elif not result.truncated:
        rows = table.find_extreme_rows(by[0], pick) if pick else tuple(range(len(cells)))
    values = len({cells[row] for row in rows})
    # Names may be listed; of numbers only one can be meant.
    listed = column not in table.measures and (pick or values == len(rows))
    return _Placeholder(rows, column, pick, by[0]) if values == 1 or (values and listed) else None


def _find_columns_by_name(name: str, columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns with a name; compare only letters and digits."""
    wanted, *known = ("".join(filter(str.isalnum, each.casefold())) for each in (name, *columns))
    return [number for number, each in enumerate(known) if wanted and each == wanted]


# What the words claim


def _find_named_rows(gapped: str, result: PlainResult, formats: Sequence[ColumnFormat]) -> dict[str, set[int]]:
    """Return the rows of each name that the words have themselves, as in `Rome has {n.first}`."""
    named: dict[str, set[int]] = {}
    for column in (column for column, form in enumerate(formats) if form.kind == "text"):
        for number, row in enumerate(result.rows):
            named.setdefault(str(row[column] or ""), set()).add(number)
    said = _spell_words(gapped)
    folded = said.casefold()
    # Short names may be words: the state IN, the grade A.
    return {
        cell: rows
        for cell, rows in named.items()
        if cell.strip()
        and ((spelled := _spell_words(cell)) in said or (len(cell) > 3 and spelled.casefold() in folded))
    }


def _spell_words(text: str) -> str:
    """Return the words of a text, each between spaces; in scripts that write none every letter is one."""
    return f" {' '.join(_SPELLED.findall(unicodedata.normalize('NFC', text)))} "


def _has_only_given_numbers(gapped: str, given: str, language: str) -> bool:
    """Whether every number in a sentence is also in the question or the query."""
    values, spelled = read_number_words()
    tokens = set(_NUMBER.findall(given))
    runs = {run for token in tokens for run in _split_number(token)}
    for token in _NUMBER.findall(gapped):
        plain = _MARKS.sub("", token)
        grouped = _GROUPED.fullmatch(token) is not None and plain in runs
        apart = plain == token and runs.issuperset(_RUN.findall(token))
        if not (token in tokens or grouped or apart):
            return False
    if not set(_ROMAN.findall(gapped)) <= set(_ROMAN.findall(given)):
        return False
    # Such as ½, Ⅳ or 三; those that are not in ASCII but decimal are among the tokens.
    if any(
        unicodedata.numeric(mark, None) is not None and not mark.isdecimal() and mark not in given for mark in gapped
    ):
        return False
    said = {word.folded for word in words(given)}
    return not any(
        word.folded not in said
        and str(values.get(word.folded)) not in runs
        and spelled.fullmatch(word.folded)
        and not is_listed(word.text, language, "neutral", *PERIODS)  # `due` is a number in Italian
        for word in words(_PRONOUN.sub(" ", _PERCENT.sub(" ", _CONDITION.sub(" ", gapped))))
    )


def _split_number(token: str) -> list[str]:
    """Return the numbers that a token gives: a date its parts, 1,000 the number 1000, and 3.5 nothing but itself."""
    if _GROUPED.fullmatch(token):
        return [_MARKS.sub("", token)]
    return [] if _DECIMAL.fullmatch(token) else _RUN.findall(token)


def _is_supported(claim: Claim, claims: set[Claim], places: Sequence[_Placeholder], table: _Table) -> bool:
    """Whether the result supports a claim."""
    if claim == "times":
        return any(place.pick for place in places) if not table.has_single_row else table.has_order_of_values
    if claim == "degree":  # `plus`, `самый`: of what, another word says, or else it is of the largest
        claim = "either" if claims & {"low", "either", "times"} else "high"
    picks = {"high": ("max",), "low": ("min",), "either": ("max", "min")}.get(claim, ())
    return any(_is_extreme(place, pick, table) for place in places for pick in picks if place.column >= 0)


def _are_nouns_asked(
    text: SentenceWords, places: Sequence[_Placeholder], forms: Sequence[ColumnFormat], table: _Table
) -> bool:
    """Whether what is counted, and what a rate is of, is named by the question or the result."""
    columns = table.result.columns
    measured = GivenWords.read(" ".join(humanize_name(columns[each]) for each in table.measures))
    labelled = GivenWords.read(
        " ".join(humanize_name(each) for n, each in enumerate(columns) if n not in table.measures)
    )
    tables = [humanize_name(each.name) for each in table.query.tree.find_all(exp.Table)]
    counted = GivenWords.read(tables[0] if len(tables) == 1 and not table.query.tree.find(exp.Group) else "")
    left = list(zip(places, forms, strict=True))
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


def _are_times_given(
    text: SentenceWords, places: Sequence[_Placeholder], formats: Sequence[ColumnFormat], table: _Table
) -> bool:
    """Whether periods, times relative to today and negations are those of the question, the query or the result."""
    tree = table.query.tree
    own = {_PERIODS[form.kind] for form in formats if form.kind in _PERIODS}
    columns = GivenWords.read(" ".join(map(humanize_name, table.result.columns)))
    own |= {period for period in PERIODS if columns.has_kind(period)}
    given = {period for sign, period in _PERIOD_SIGNS.items() if re.search(sign, text.named.text)}
    given |= own | {period for period in PERIODS if text.named.has_kind(period)}
    is_dated = tree.find(*_NOW) is not None or text.named.has("now", "en")
    is_denied, has_denials = text.asked.has_kind("negations"), tree.find(*_DENIALS) is not None
    for position, word in enumerate(text.words):
        if text.is_of(word, "now") and not (is_dated or text.asked.has(word, text.language)):
            return False
        # `There are not {n}` denies what is counted, and `{n} have not paid` says what the query looks for.
        of_place = GAP in text.words[position:] and GAP not in text.words[:position]
        if text.is_of(word, "negations") and not (is_denied or (has_denials and not of_place)):
            return False
    for position, period in text.list_periods():
        word, before = text.words[position], text.words[position - 1] if position else ""
        after, behind = (*text.words[position + 1 : position + 3], "", "")[:2]
        is_named = after == GAP or after.isdecimal() or (behind == GAP and not after.isalpha())
        relative = [each for each in (before, after) if text.is_of(each, "deictic")]
        if not (is_dated or is_named or all(text.asked.has(each, text.language) for each in relative)):
            return False
        counted = before == GAP and places[text.words[:position].count(GAP) - 1].column < 0
        is_rate = any(text.is_of(each, "rates") for each in (before, word)) and not is_named
        is_divided = period in own or tree.find(exp.Div, exp.Avg, exp.Group) is not None
        if period not in (own if counted and own else given) or (is_rate and not is_divided):
            return False
    return True


def _is_enumeration(
    places: Sequence[_Placeholder], labels: Sequence[_Placeholder], others: Sequence[set[int]], table: _Table
) -> bool:
    """Whether names that stand without numbers are those of all rows."""
    rows = table.result.rows
    named = {row for each in labels for row in each.rows if isinstance(rows[row][each.column], str)}.union(*others)
    whole = range(table.result.row_count)
    measured = any(place.column in table.measures for place in places)
    return not named or measured or named.issuperset(whole) or any(place.is_list for place in places)


def _is_followed_by_next(text: SentenceWords, places: Sequence[_Placeholder], labels: Sequence[_Placeholder]) -> bool:
    """Whether a name that is said to follow another is that of the next row."""
    for position in (position for position, word in enumerate(text.words) if text.is_of(word, "follows")):
        number = text.words[:position].count(GAP)
        if GAP in text.words[position + 1 : position + 4] and places[number] in labels:
            before = [place for place in places[:number] if place in labels]
            if not before or places[number].row != before[-1].row + len(before[-1].rows):
                return False
    return True


def _is_said_of_every_row(
    text: SentenceWords, places: Sequence[_Placeholder], labels: Sequence[_Placeholder], table: _Table
) -> bool:
    """Whether the numbers in a clause about all rows are those of all: equal, or the smallest and the largest."""
    left = list(places)
    for clause in text.list_clauses():
        found = [left.pop(0) for word in clause if word == GAP]
        before_label = takewhile(lambda place: place not in labels, found)
        numbers = [place for place in before_label if place.column in table.measures]
        varied = any(len({row[place.column] for row in table.result.rows}) > 1 for place in numbers)
        spanned = {"min", "max"} <= {place.pick for place in numbers}
        if varied and not spanned and any(text.is_of(word, "every") for word in clause):
            return False
    return True


def _find_labels(places: Sequence[_Placeholder], table: _Table) -> list[_Placeholder]:
    """Return the placeholders that name a row; the ends of a span, as in `from May to July`, name none."""
    labels = [
        place for place in places if place.column >= 0 and place.column not in table.measures and not place.is_list
    ]
    for start, end in pairwise(places):
        ends = [str(table.result.rows[each.row][each.column]) for each in (start, end) if each.column >= 0]
        if (
            start.column == end.column
            and (start.pick, end.pick) in (("first", "last"), ("min", "max"))
            and all(each.isdecimal() or _DATE.fullmatch(each) for each in ends)
        ):
            labels = [label for label in labels if label not in (start, end)]
    return labels


def _is_paired(places: Sequence[_Placeholder], labels: Sequence[_Placeholder], table: _Table) -> bool:
    """Whether the numbers beside labels are of the labels' rows: of the label before each, or in the same order."""
    rows, listed = table.result.rows, any(place.is_list for place in places)
    named, first = list(dict.fromkeys(label.rows for label in labels)), places.index(labels[0]) if labels else 0
    for column in {place.column for place in places if place.column in table.measures} if labels or listed else ():
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


def _is_aggregate(claim: Claim, places: Sequence[_Placeholder], table: _Table, new: bool, bounded: bool) -> bool:
    """Whether the numbers beside a word such as `total` or `average` are one."""
    found, tree = [place for place in places if place.column in table.measures], table.query.tree
    one_of_many = tree.args.get("group") and tree.args.get("limit")
    if not found or (claim == "totals" and any(place.column < 0 for place in places)):
        return True
    if not bounded and (one_of_many or not table.has_single_row):
        return False
    # A column of the database, or a result that a person asked for in these words, may be an average of its own.
    if not new or (claim == "totals" and not table.has_single_row):
        return True
    kinds = (exp.Sum, exp.Count) if claim == "totals" else (exp.Avg, exp.Div, exp.Median, exp.PercentileCont)
    outputs = table.find_outputs()
    scopes = [outputs[place.column] for place in found] if outputs else []
    return any((scope if scope.find(exp.AggFunc) else tree).find(*kinds) for scope in scopes or [tree])


def _is_extreme(place: _Placeholder, pick: str, table: _Table) -> bool:
    """Whether a placeholder stands for the largest or smallest value, or for its row."""
    query, order, rows = table.query, table.find_order(), table.result.rows
    if table.has_single_row:
        return (
            (order or ("" if table.find_ordering_columns() else pick)) == pick
            if query.order
            else query.tree.find(exp.Max if pick == "max" else exp.Min) is not None
        )
    if query.limit is not None:  # what it cuts off may be larger or smaller
        return order == pick and place.row == 0 and place.pick in (pick, "first")
    if place.pick in ("max", "min"):
        return place.pick == pick and place.by in table.measures
    if place.pick and order:
        beside = rows[1 if place.pick == "first" else -2]
        tied = bool(table.measures) and all(rows[place.row][each] == beside[each] for each in table.measures)
        return (order == pick) == (place.pick == "first") and not tied
    return not table.result.truncated and any(
        table.find_extreme_rows(column, pick) == place.rows for column in table.measures
    )


def _build_sentence(
    gapped: str, texts: Sequence[str], forms: Sequence[ColumnFormat], question: str, *, percent: bool, given: str
) -> str | None:
    """Return the whole sentence; None if it gives a cell a wrong unit."""
    for sign in {mark for mark in gapped if unicodedata.category(mark) == "Sc" and mark not in question}:
        if any(sign in text for text in texts):
            gapped = re.sub(rf"(?<=\0)\s?{re.escape(sign)}|{re.escape(sign)}\s?(?=\0)", "", gapped)
        if sign in gapped:
            return None
    pieces = _strip_units(gapped.split(GAP), forms, given)
    if pieces is None or any(text == "1" and _NOUN.match(piece) for text, piece in zip(texts, pieces[1:], strict=True)):
        return None
    text, *rest = pieces
    for piece, before, after in zip(rest, texts, texts[1:], strict=False):
        if piece.isspace() and before[-1].isdigit() and after[0].isdigit():
            return None  # they read as one number, with a space between its thousands
    for cell, form, piece in zip(texts, forms, rest, strict=True):
        sign = _PERCENT.match(piece)
        if sign and form.kind == "percent":
            piece = piece[sign.end() :]
        elif sign and not percent:
            return None
        text += cell + piece
    if "%" in gapped and not percent and "percent" not in {form.kind for form in forms}:
        return None
    return text if text[-1] in ".!?…。！？।॥؟۔" else f"{text}."


def _strip_units(pieces: list[str], forms: Sequence[ColumnFormat], given: str) -> list[str] | None:
    """Return the texts around cells without units that the cells have themselves; None if a unit is another one."""
    said = {word.folded for word in words(given)}
    for number, form in enumerate(forms):
        for place, pattern in ((number, _CURRENCY_BEFORE), (number + 1, _UNIT_AFTER)):
            word = pattern.search(pieces[place])
            measure = find_measure(word[1]) if word else ""
            if place == number and not (len(measure) == 3 and measure.isupper()):
                continue  # `min {n}` is no minute
            if word and measure == form.measure != "":
                pieces[place] = pieces[place][: word.start()] + pieces[place][word.end() :]
            elif word and measure not in ("", "%") and fold(word[1]) not in said:
                return None
    return pieces
