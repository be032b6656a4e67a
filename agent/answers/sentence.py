"""Fills the places of a model's sentence with the cells of a result.

The sentence was written before anybody saw the rows. So it is used only where whatever it claims of them is a cell or
is borne out by one; otherwise the program's own sentence stands.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal, get_args

from sqlglot import exp

from ...tools.database import Database
from ...tools.formats import ColumnFormat, find_measure, format_cell
from ...tools.sql import Query, read_query
from ...tools.words import LONE_NUMBER_WORDS, fold, words
from ..advice import with_fallback
from ..records import AnswerRecord, PlainCell, PlainResult
from .phrasing import TEXT_CHARACTERS, cut

LONGEST = 300  # characters of a sentence with its places

_GAP = "\0"  # stands for a place where the words around it are looked at
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
    r"|(?:plus|moins|m[áa]s|menos|pi[ùu]|meno|mais) d[ei]) (?=\d)|at least once\b|le(?:d|ads) to\b)",
    re.IGNORECASE,
)
"""A comparison with a number of the question or the query, as in `more than 5`, claims nothing new."""

_ALL_OF_THEM = re.compile(r"\ball of (?:them|these|those)\b", re.IGNORECASE)
_IN_ALL = re.compile(r"\bin all(?=\s*(?:[^\w\s]|$))", re.IGNORECASE)
_PRONOUN = re.compile(r"\bthe one (?=with|who|whose|that)\b", re.IGNORECASE)

_SPELLED = re.compile(r"[\u0e00-\u0eff\u2e80-\ud7ff]|[^\W_\u0e00-\u0eff\u2e80-\ud7ff]+")
_BREAKS = re.compile(r"\s*[\x00-\x1f\x7f-\x9f\u2028\u2029]+\s*")

Claim = Literal[
    "numbers", "amounts", "high", "low", "either", "times", "trends", "orders", "totals", "averages", "every"
]
_CLAIMS: tuple[Claim, ...] = get_args(Claim)
"""What words claim; see data/claims.toml."""


@dataclass(frozen=True)
class _Placeholder:
    """A placeholder in a sentence, with the result cell that it stands for."""

    row: int
    column: int  # -1 for the number of rows
    pick: str = ""  # how its row is chosen: first, last, max or min; empty for the only one
    by: int = -1  # the column that a largest or smallest value is of


@with_fallback("phrasing", None)
def fill_answer_sentence(
    answer: AnswerRecord, result: PlainResult, formats: Sequence[ColumnFormat], database: Database
) -> str | None:
    """Return an answer's sentence, filled with result cells; None if it cannot be used."""
    if answer.sentence is None or answer.sql is None:
        return None
    query = read_query(answer.sql, database.schema())
    return fill_sentence(answer.sentence.say, result, formats, answer.question, query) if query else None


def fill_sentence(
    say: str, result: PlainResult, formats: Sequence[ColumnFormat], question: str, query: Query
) -> str | None:
    """Fill the placeholders of a sentence; return None if the result does not support it.

    Args:
        say: The sentence, untrusted.
        result: The rows as the person may see them.
        formats: One per column, each with its locale.
        question: The question in the person's own words.
        query: The query that gave the result.
    """
    gapped = _PLACE.sub(_GAP, say)
    if not _is_plain_sentence(say, gapped) or _JOINED.search(gapped):
        return None
    found = [
        _resolve_placeholder(place[1], result, bool(query.order) or _has_example_phrase(say[: place.start()]))
        for place in _PLACE.finditer(say)
    ]
    places = [place for place in found if place is not None]
    if not places or len(places) < len(found):
        return None
    texts: list[str] = []
    counted = ColumnFormat("number", locale=formats[0].locale)
    forms = [counted if place.column < 0 else formats[place.column] for place in places]
    for place, form in zip(places, forms, strict=True):
        cell = result.row_count if place.column < 0 else result.rows[place.row][place.column]
        texts.append("" if cell is None else cut(_BREAKS.sub(" ", format_cell(cell, form)), TEXT_CHARACTERS))
    # A number in ORDER BY or GROUP BY is that of a column.
    literals = [
        each for each in query.tree.find_all(exp.Literal) if not isinstance(each.parent, exp.Ordered | exp.Group)
    ]
    given = " ".join([question, *(literal.name for literal in literals)])
    if not all(texts) or not _has_only_given_numbers(gapped, given) or _names_others(gapped, places, result, formats):
        return None
    named = f"{question} {' '.join(result.columns)}"
    measures = [number for number, form in enumerate(formats) if form.kind in ("number", "money", "percent")]
    labels = _find_labels(places, result, measures)
    claims = _find_sentence_claims(gapped, named)
    said = _find_sentence_claims(gapped, "")
    aggregates = said & {"totals", "averages", "every"}
    bounded = bool(labels or said & {"high", "low"})
    if not (
        _is_paired(places, labels, result, measures)
        and all(_is_supported(claim, places, result, query, measures) for claim in claims - aggregates)
        and all(_is_aggregate(each, places, result, query, measures, each in claims, bounded) for each in aggregates)
    ):
        return None
    hundredfold = any(isinstance(each.parent, exp.Mul) and each.name in ("100", "100.0") for each in literals)
    return _build_sentence(
        gapped, texts, forms, question, percent=hundredfold or "%" in question, given=f"{named} {query.tree.sql()}"
    )


def is_harmless(text: str, given: str) -> bool:
    """Whether words of a model are one plain line with no number but those of the question or of a query."""
    return _is_plain_sentence(text, text) and _has_only_given_numbers(text, given)


def _is_plain_sentence(say: str, gapped: str) -> bool:
    """Whether a sentence is one short line without control or invisible characters."""
    kinds = {unicodedata.category(mark) for mark in say if mark != "\N{ZERO WIDTH NON-JOINER}"}
    unseen = any(kind[0] == "C" or kind in ("Zl", "Zp") for kind in kinds)
    return 0 < len(say) <= LONGEST and not unseen and _MARKUP.search(gapped) is None


def _resolve_placeholder(inner: str, result: PlainResult, ordered: bool) -> _Placeholder | None:
    """Return the cell that a placeholder means; None if it is unknown or ambiguous."""
    whole, parts = _find_columns_by_name(inner, result.columns), _PICK.fullmatch(inner.strip())
    if not whole and inner.strip().lower() == "rows":
        return None if result.truncated or not result.rows else _Placeholder(0, -1)
    pick = "" if whole or parts is None else parts["pick"].lower()
    found = _find_columns_by_name(parts["column"], result.columns) if parts and not whole else whole
    by = _find_columns_by_name(parts["by"], result.columns) if parts and parts["by"] else found
    if len(found) != 1 or len(by) != 1 or (by != found and pick in ("first", "last")):
        return None
    rows = [0] if _has_single_row(result) else []
    if not rows and pick in ("first", "last") and ordered and not (pick == "last" and result.truncated):
        rows = [0 if pick == "first" else result.row_count - 1][: result.row_count]
    elif not rows and pick in ("max", "min") and not result.truncated:
        rows = _find_extreme_rows(result, by[0], pick)
    return (
        _Placeholder(rows[0], found[0], pick, by[0]) if len({result.rows[row][found[0]] for row in rows}) == 1 else None
    )


def _has_example_phrase(before: str) -> bool:
    """Whether the words announce an example, as `for example` does."""
    return _load_claim_words().examples.search(before) is not None


def _has_single_row(result: PlainResult) -> bool:
    """Whether the result has exactly one row and is not truncated."""
    return result.row_count == 1 and not result.truncated


def _find_columns_by_name(name: str, columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns with a name; compare only letters and digits."""
    wanted, *known = ("".join(filter(str.isalnum, each.casefold())) for each in (name, *columns))
    return [number for number, each in enumerate(known) if wanted and each == wanted]


def _find_extreme_rows(result: PlainResult, column: int, pick: str) -> list[int]:
    """Return the numbers of the rows with the largest or smallest value of a column."""
    values = {number: cell for number, row in enumerate(result.rows) if (cell := row[column]) is not None}
    numbers = [cell for cell in values.values() if isinstance(cell, int | float)]
    dates = [cell for cell in values.values() if isinstance(cell, str) and _DATE.fullmatch(cell)]
    # What is missing may be the smallest: nothing sold is NULL in many a query.
    if not values or (pick == "min" and len(values) < result.row_count):
        return []
    if len(numbers) == len(values):
        best: PlainCell = max(numbers) if pick == "max" else min(numbers)
    elif len(dates) == len(values):
        best = max(dates) if pick == "max" else min(dates)
    else:
        return []
    return [number for number, cell in values.items() if cell == best]


# What the words claim


def _names_others(
    gapped: str, places: Sequence[_Placeholder], result: PlainResult, formats: Sequence[ColumnFormat]
) -> bool:
    """Whether words name a row that a place is not of, as in `Rome has {n.first}` where another city comes first."""
    placed = {place.row for place in places if place.column >= 0}
    named: dict[str, set[int]] = {}
    for column in (column for column, form in enumerate(formats) if form.kind == "text"):
        for number, row in enumerate(result.rows):
            named.setdefault(str(row[column] or ""), set()).add(number)
    said = _spell_words(gapped)
    folded = said.casefold()
    # Short names may be words: the state IN, the grade A.
    return any(
        not placed <= rows
        and cell.strip()
        and ((spelled := _spell_words(cell)) in said or (len(cell) > 3 and spelled.casefold() in folded))
        for cell, rows in named.items()
    )


def _spell_words(text: str) -> str:
    """Return the words of a text, each between spaces; in scripts that write none every letter is one."""
    return f" {' '.join(_SPELLED.findall(unicodedata.normalize('NFC', text)))} "


@dataclass(frozen=True)
class _ClaimWords:
    """Words that claim something about a result, in all languages."""

    values: Mapping[str, int]  # of spelled-out numbers
    patterns: Mapping[Claim, re.Pattern[str]]
    examples: re.Pattern[str]  # words that announce an example


@cache
def _load_claim_words() -> _ClaimWords:
    languages = tomllib.loads((files(__package__ or "") / "data" / "claims.toml").read_text("utf-8"))
    ordinary = _make_word_pattern(languages["en"]["ordinary"])
    values = dict(LONE_NUMBER_WORDS)
    spelled: dict[Claim, list[str]] = {claim: [] for claim in _CLAIMS}
    spelled["numbers"] += LONE_NUMBER_WORDS
    for language in languages.values():
        numbers = [one.split("/") for one in language.get("numbers", "").split()]
        values |= {fold(each): number for number, one in enumerate(numbers) for each in one if each != "_"}
        for claim, known in spelled.items():
            known.append(_make_word_pattern(language.get(claim, "").replace("/", " ").replace("_", "")))
    examples = "|".join(language["examples"] for language in languages.values() if "examples" in language)
    return _ClaimWords(
        values,
        {claim: re.compile(f"(?!(?:{ordinary})$)(?:{'|'.join(known)})") for claim, known in spelled.items()},
        re.compile(rf"(?<!\w)(?:{examples})(?!\w)", re.IGNORECASE),
    )


def _make_word_pattern(listed: str) -> str:
    """Return a regular expression of words; a `*` matches any letters."""
    return "|".join(r"\w*".join(map(fold, each.split("*"))) for each in listed.split())


def _has_only_given_numbers(gapped: str, given: str) -> bool:
    """Whether every number in a sentence is also in the question or the query."""
    claims = _load_claim_words()
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
        and str(claims.values.get(word.folded)) not in runs
        and any(claims.patterns[claim].fullmatch(word.folded) for claim in _CLAIMS[:2])
        for word in words(_CONDITION.sub(" ", _PRONOUN.sub(" ", gapped)))
    )


def _split_number(token: str) -> list[str]:
    """Return the numbers that a token gives: a date its parts, 1,000 the number 1000, and 3.5 nothing but itself."""
    if _GROUPED.fullmatch(token):
        return [_MARKS.sub("", token)]
    return [] if _DECIMAL.fullmatch(token) else _RUN.findall(token)


def _find_sentence_claims(gapped: str, named: str) -> set[Claim]:
    """Return the claims of a sentence that are not in the question or the column names."""
    patterns = _load_claim_words().patterns
    said = {form for word in words(named) for form in (word.folded, word.stem)}
    plain = _IN_ALL.sub(" overall ", _CONDITION.sub(" ", gapped))
    new = [word.folded for word in words(plain) if said.isdisjoint((word.folded, word.stem))]
    found: set[Claim] = {claim for claim in _CLAIMS[2:] if any(map(patterns[claim].fullmatch, new))}
    if _ALL_OF_THEM.search(gapped) and not _ALL_OF_THEM.search(named):
        found.add("trends")  # never borne out
    return found


def _is_supported(
    claim: Claim, places: Sequence[_Placeholder], result: PlainResult, query: Query, measures: Sequence[int]
) -> bool:
    """Whether the result supports a claim; a claim about a trend is never supported."""
    if claim == "times" and not _has_single_row(result):
        return any(place.pick for place in places)
    picks = {"high": ("max",), "low": ("min",), "either": ("max", "min"), "times": ("max", "min")}.get(claim, ())
    return any(
        _is_extreme(place, pick, result, query, measures) for place in places for pick in picks if place.column >= 0
    )


def _find_labels(places: Sequence[_Placeholder], result: PlainResult, measures: Sequence[int]) -> list[_Placeholder]:
    """Return the placeholders that name a row; the ends of a span, as in `from May to July`, name none."""
    labels = [place for place in places if place.column >= 0 and place.column not in measures]
    for start, end in pairwise(places):
        ends = [str(result.rows[each.row][each.column]) for each in (start, end) if each.column >= 0]
        if (
            start.column == end.column
            and (start.pick, end.pick) in (("first", "last"), ("min", "max"))
            and all(each.isdecimal() or _DATE.fullmatch(each) for each in ends)
        ):
            labels = [label for label in labels if label not in (start, end)]
    return labels


def _is_paired(
    places: Sequence[_Placeholder], labels: Sequence[_Placeholder], result: PlainResult, measures: Sequence[int]
) -> bool:
    """Whether the numbers beside labels are of the labels' rows: of the label before each, or in the same order."""
    named, first = list(dict.fromkeys(label.row for label in labels)), places.index(labels[0]) if labels else 0
    for column in {place.column for place in places if place.column in measures} if labels else ():
        found = [(number, place) for number, place in enumerate(places) if place.column == column]
        if {"min", "max"} <= {place.pick for number, place in found if number < first}:
            continue  # `from 3 to 70` before any label is said of all rows
        before = [next((each.row for each in places[number::-1] if each in labels), None) for number, _ in found]
        cells = [result.rows[place.row][column] for _, place in found]
        if not any(
            len(rows) == len(cells)
            and all(row is not None and result.rows[row][column] == cell for row, cell in zip(rows, cells, strict=True))
            for rows in (before, named)
        ):
            return False
    return True


def _is_aggregate(
    claim: Claim,
    places: Sequence[_Placeholder],
    result: PlainResult,
    query: Query,
    measures: Sequence[int],
    new: bool,
    bounded: bool,
) -> bool:
    """Whether the numbers beside a word such as `total` or `average` are one."""
    found = [place for place in places if place.column in measures]
    one_of_many = query.tree.args.get("group") and query.tree.args.get("limit")
    if not found or (claim == "totals" and any(place.column < 0 for place in places)):
        return True
    if not bounded and (one_of_many or not _has_single_row(result)):
        return False
    # A column of the database, or a result that a person asked for in these words, may be an average of its own.
    if not new or claim == "every" or (claim == "totals" and not _has_single_row(result)):
        return True
    kinds = (exp.Sum, exp.Count) if claim == "totals" else (exp.Avg, exp.Div, exp.Median, exp.PercentileCont)
    selects: list[exp.Expr] = query.tree.selects if isinstance(query.tree, exp.Query) else []
    columns = selects if len(selects) == len(result.columns) else []
    scopes = [columns[place.column] for place in found] if columns else []
    return any((scope if scope.find(exp.AggFunc) else query.tree).find(*kinds) for scope in scopes or [query.tree])


def _is_extreme(place: _Placeholder, pick: str, result: PlainResult, query: Query, measures: Sequence[int]) -> bool:
    """Whether a placeholder stands for the largest or smallest value, or for its row."""
    if _has_single_row(result):
        return bool(query.order) or query.tree.find(exp.Max if pick == "max" else exp.Min) is not None
    if place.pick in ("max", "min"):
        return place.pick == pick and place.by in measures
    if place.pick and query.order and _is_ordered_by_number(query.order[0].this, result, query, measures):
        return (pick == "max") == (bool(query.order[0].args.get("desc")) == (place.pick == "first"))
    return not result.truncated and any(_find_extreme_rows(result, column, pick) == [place.row] for column in measures)


def _is_ordered_by_number(term: exp.Expr, result: PlainResult, query: Query, measures: Sequence[int]) -> bool:
    """Whether a term by which the query orders its rows is a number."""
    if found := _find_columns_by_name(term.name, result.columns):
        return found[0] in measures
    column = query.column(term) if isinstance(term, exp.Column) else None
    return term.find(exp.AggFunc) is not None or (column is not None and column.schema.kind == "number")


def _build_sentence(
    gapped: str, texts: Sequence[str], forms: Sequence[ColumnFormat], question: str, *, percent: bool, given: str
) -> str | None:
    """Return the whole sentence; None if it gives a cell a wrong unit."""
    for sign in {mark for mark in gapped if unicodedata.category(mark) == "Sc" and mark not in question}:
        if any(sign in text for text in texts):
            gapped = re.sub(rf"(?<=\0)\s?{re.escape(sign)}|{re.escape(sign)}\s?(?=\0)", "", gapped)
        if sign in gapped:
            return None
    pieces = _strip_units(gapped.split(_GAP), forms, given)
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
    return text if text[-1] in ".!?…。！？" else f"{text}."


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
