"""Fills the places of a model's sentence with the cells of a result.

The sentence was written before anybody saw the rows. Its numbers and names are cells, or those of the question and the
query, and what it compares is held against the rows; its other words are the model's, as the query is. Where
one of these does not hold, the program's own sentence stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import chain

from sqlglot import exp

from ...tools.database import Database
from ...tools.formats import ColumnFormat, find_babel_locale, format_cell
from ...tools.labels import find_language, is_listed_word, join_names, read_languages, spell_out_scales
from ...tools.measures import find_measure
from ...tools.sql import Query, read_query
from ...tools.values import ValueMatch
from ...tools.values.match import WHOLE, get_schema_name_stems
from ...tools.words import (
    ISO_TIME,
    end_sentence,
    fold,
    humanize_name,
    make_singular,
    split_name,
    stems,
    words,
)
from ..advice import with_fallback
from ..records import AnswerRecord, Attempt, PlainResult
from .phrasing import ROWS_IN_WORDS, TEXT_CHARACTERS, cut
from .sentence_comparisons import (
    GAP,
    ComparingSentence,
    Placeholder,
    ResultWithQuery,
    compile_phrases,
    find_columns_by_name,
    read_number_words,
)

LONGEST = 300  # characters of a sentence with its places

_PLACEHOLDER = re.compile(r"\{([^{}]{1,200})\}")
_PICK = re.compile(r"(?P<column>.+?)(?:@(?P<by>.+))?\.(?P<pick>first|last|max|min)", re.IGNORECASE)
_MARKUP = re.compile(
    r"[<>\[\]{}|\\`*@#=^~‰]|://|\bwww\.|[\w\0]\.[^\W\d_]{2}|[a-z]:[^\W\d_]|\bdot (?:com|net|org|[a-z]{2})\b"
    r"|\b(?:mailto|tel|sms|javascript|data):\S",
    re.IGNORECASE,
)
"""Signs of markup, of links and of addresses: many a front end makes a link of `example.com` or `mailto:ada`."""

_JOINED = re.compile(
    r"\0[a-zA-Z]|\0\s[kKmMbBgGtT](?!\w)|[\0\d][.,'’:/·٫٬]?\0|\0[.,'’:/·٫٬]?\d|(?<!\w)(?:[-−+±]\s?|–)\0|\0\s?\+"
    r"|(?<!\d)\d{1,3}\s\0|\0\s\d{3}(?!\d)"
)
"""What would make another value of a cell: a letter behind it (12k), digits or a cell beside it, a sign before it."""

_PERCENT = re.compile(r"\s?(?:%|(?:per|pour|por) ?(?:cent|ciento|cento)\b|Prozent\b|процент\w*)", re.IGNORECASE)
_NUMBER, _RUN = re.compile(r"\d+(?:[.,:/'’-]\d+)*"), re.compile(r"\d+")
_CURRENCY_BEFORE = re.compile(r"(?<!\w)(?:US\s)?([^\W\d_]{3,})\s?$")
_UNIT_AFTER = re.compile(r"^\s?(?:US\s)?([^\W\d_]+(?:/[a-z])?)(?!\w)")
_YEARS_AGO = re.compile(r"\s?(?:years?|Jahren?|ans|años|anni|anos|jaar|лет)$", re.IGNORECASE)
_NOUN = re.compile(r"\s(?!\w+\(\w+\))[^\W\d_]{3}")
"""What is said of many, as in `{n} customers have`, is not said of one; `{n} customer(s)` and `{n} and` are."""
_MARKS = re.compile(r"[.,'’]")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
_ROMAN = re.compile(r"(?<!\w)(?:[IVX]{2,}|(?=\w{3})M*(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?!\w)")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_PRONOUN = re.compile(
    r"\b(?:the one (?=with|who|whose|that|which)|(?:first|last|other|the only|former|latter|next) one)\b|一番", re.I
)

_SPELLED_WORD = re.compile(r"[\u0e00-\u0eff\u2e80-\ud7ff]|[^\W_\u0e00-\u0eff\u2e80-\ud7ff]+")
_BOUNDS = (exp.Between, exp.GT, exp.GTE, exp.LT, exp.LTE)
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029][\s\x00-\x1f\x7f-\x9f]*")


@with_fallback("phrasing", None)
def fill_answer_sentence(
    answer: AnswerRecord, result: PlainResult, formats: Sequence[ColumnFormat], database: Database
) -> str | None:
    """Return an answer's sentence, filled with result cells; None if it cannot be used."""
    if answer.sentence is None or answer.sql is None:
        return None
    query = read_query(answer.sql, database.schema())
    say, question, meant = answer.sentence.say, answer.question, answer.rephrased
    return fill_sentence(say, result, formats, question, query, meant=meant) if query else None


def fill_sentence(
    say: str,
    result: PlainResult,
    formats: Sequence[ColumnFormat],
    question: str,
    query: Query,
    *,
    meant: str = "",
) -> str | None:
    """Fill the placeholders of a sentence; return None if the result does not support it.

    Args:
        say: The sentence, untrusted.
        result: The rows as the person may see them.
        formats: One per column, each with its locale.
        question: The question in the person's own words.
        query: The query that gave the result.
        meant: The question written anew, with the times of earlier turns.
    """
    template = _PLACEHOLDER.sub(GAP, say)
    if not _is_plain_sentence(say, template) or _JOINED.search(template):
        return None
    measures = [number for number, form in enumerate(formats) if form.kind in ("number", "money", "percent")]
    table = ResultWithQuery(result, query, tuple(measures))
    examples = compile_phrases("examples")
    matches = [
        _resolve_placeholder(placeholder[1], table, example=examples.search(say, 0, placeholder.start()) is not None)
        for placeholder in _PLACEHOLDER.finditer(say)
    ]
    placeholders = [place for place in matches if place is not None]
    if not placeholders or len(placeholders) < len(matches):
        return None
    # A LIMIT that the question does not name may have cut the rows.
    named_numbers = {str(read_number_words()[0].get(word.folded, word.folded)) for word in words(question)}
    is_cut = table.is_at_limit and str(result.row_count) not in named_numbers
    if is_cut and any(place.column < 0 for place in placeholders):
        return None
    texts: list[str] = []
    count_format = ColumnFormat("number", locale=formats[0].locale)
    forms = [count_format if place.column < 0 else formats[place.column] for place in placeholders]
    for place, form in zip(placeholders, forms, strict=True):
        cells = [result.row_count if place.column < 0 else result.rows[row][place.column] for row in place.rows]
        cells = cells if place.is_list else [*dict.fromkeys(cells)]
        cells = ["" if cell is None else _BREAKS.sub(" ", format_cell(cell, form)) for cell in cells]
        names = [cut(cell, TEXT_CHARACTERS) for cell in cells]
        texts.append(join_names(names, ROWS_IN_WORDS, f"{question} {template}") if all(names) else "")
    # A number in ORDER BY or GROUP BY is that of a column.
    literals = [each for each in query.find(exp.Literal) if not isinstance(each.parent, exp.Ordered | exp.Group)]
    # The question's `top 5` is not what a LIMIT 10 lets through.
    known_text = " ".join(["" if table.is_at_limit else question, *(literal.name for literal in literals)])
    exact_text = " ".join(
        [question, meant, *(each.name for each in literals if query.ancestor(each, *_BOUNDS) is None)]
    )
    language = find_language(template) or find_language(f"{question} {template}")
    named_rows = _find_named_rows(template, result, formats)
    placed_rows = {row for place in placeholders if place.column >= 0 for row in place.rows}
    names = [
        *(humanize_name(each.name) for each in query.find(exp.Identifier)),
        *(literal.name for literal in literals),
        *named_rows,
    ]
    sentence = ComparingSentence(examples.sub(" ", template), language, names, placeholders, table, question, is_cut)
    if not (
        all(texts)
        and _has_only_source_numbers(template, known_text, language, " ".join(map(humanize_name, result.columns)))
        and all(placed_rows <= rows or name in known_text for name, rows in named_rows.items())
        and _has_only_known_times(template, exact_text, language)
        and sentence.is_supported()
    ):
        return None
    columns = ["" if place.column < 0 else result.columns[place.column] for place in placeholders]
    is_percent = any(isinstance(each.parent, exp.Mul) and each.name in ("100", "100.0") for each in literals)
    cells, known = [*zip(texts, forms, columns, strict=True)], f"{question} {query.tree.sql()}"
    return _build_sentence(template, cells, known, percent=is_percent or "%" in question)


@with_fallback("phrasing", False)
def names_other_value(
    attempt: Attempt, query: Query, known: str, find_values: Callable[[str], Sequence[ValueMatch]]
) -> bool:
    """Whether a sentence names a stored value that question, query and result lack.

    Args:
        attempt: The query with its result and its writer's sentence.
        query: The same query.
        known: The texts that may be repeated: the question, those before it, and definitions.
        find_values: Finds the stored values that a text mentions.
    """
    text = _PLACEHOLDER.sub(",", attempt.comments.say)
    filtered = {(literal.table, literal.column) for literal in attempt.literals}
    outputs = query.tree.selects if isinstance(query.tree, exp.Query) else []
    shown = {column.item for output in outputs if (column := query.column(output.unalias()))}
    patterns = [each.expression.name.casefold().split("%") for each in query.find(exp.Like, exp.ILike)]
    language = find_language(text) or find_language(f"{known} {text}")
    named = [
        match.value
        for match in (find_values(text) if filtered or shown else ())
        if match.how in WHOLE
        and (match.table, match.column) in (filtered if match.how == "inflection" else filtered | shown)
        and len(words(match.mention)) == len(words(match.value))
        # A word in small letters is no name that has capitals.
        and (match.mention == match.value or match.mention[0].isupper())
        and (match.value.isupper() or not all(is_listed_word(word.folded, language) for word in words(match.value)))
        and not any(all(part in match.value.casefold() for part in parts) for parts in patterns)
    ]
    if not named:
        return False
    rows = attempt.result.rows if attempt.result else ()
    cells = " ".join(cell for row in rows for cell in row if isinstance(cell, str))
    known_stems = {*stems(f"{known} {query.sql} {cells}"), *get_schema_name_stems(query.schema)}
    return not all(known_stems.issuperset(stems(value)) for value in named)


def is_harmless(text: str, source: str) -> bool:
    """Whether a model's words are one plain line whose numbers are 0, 1 or in `source`."""
    language = find_language(f"{source} {text}")
    # "Only those with at least one" and "the others with 0" are conditions, not figures.
    return _is_plain_sentence(text, text) and _has_only_source_numbers(text, f"{source} 0 1", language)


def _is_plain_sentence(say: str, template: str) -> bool:
    """Whether a sentence is one short line without control or invisible characters."""
    kinds = {unicodedata.category(mark) for mark in say if mark != "\N{ZERO WIDTH NON-JOINER}"}
    has_invisible = any(kind[0] == "C" or kind in ("Zl", "Zp") for kind in kinds)
    return 0 < len(say) <= LONGEST and not has_invisible and _MARKUP.search(template) is None


def _resolve_placeholder(inner: str, table: ResultWithQuery, *, example: bool) -> Placeholder | None:
    """Return the cells that a placeholder means; None if it is unknown or ambiguous."""
    result, inner = table.result, inner.strip()
    exact, pick_match = find_columns_by_name(inner, result.columns), _PICK.fullmatch(inner)
    if not exact and inner.lower() == "rows":
        return None if result.truncated or not result.rows else Placeholder((0,), -1)
    pick = "" if exact or pick_match is None else pick_match["pick"].lower()
    matches = find_columns_by_name(pick_match["column"], result.columns) if pick_match and not exact else exact
    by = find_columns_by_name(pick_match["by"], result.columns) if pick_match and pick_match["by"] else matches
    if len(matches) != 1 or len(by) != 1 or (by != matches and pick in ("first", "last")):
        return None
    column, cells = matches[0], [row[matches[0]] for row in result.rows]
    rows: tuple[int, ...] = ()
    if table.has_single_row:
        rows = (0,)
    elif pick in ("first", "last"):
        has_order = cells and (table.query.order or example) and not (pick == "last" and result.truncated)
        rows = (0 if pick == "first" else len(cells) - 1,) if has_order else ()
    elif not result.truncated:
        rows = table.find_extreme_rows(by[0], pick) if pick else tuple(range(len(cells)))
    values = len({cells[row] for row in rows})
    # Names may be listed if few of them are alike; of numbers only one can be meant.
    may_list = column not in table.measures and (pick or 2 * values > len(rows))
    return Placeholder(rows, column, pick, by[0]) if values == 1 or (values and may_list) else None


def _find_named_rows(template: str, result: PlainResult, formats: Sequence[ColumnFormat]) -> dict[str, set[int]]:
    """Return the rows of each name that the template has itself, as in `Rome has {n.first}`."""
    rows_by_name: dict[str, set[int]] = {}
    for number, row in enumerate(result.rows):
        for cell, form in zip(row, formats, strict=True):
            if isinstance(cell, str) and form.kind in ("text", "year"):
                rows_by_name.setdefault(cell, set()).add(number)
    text = _spell_words(template)
    text += " ".join(map(make_singular, text.split())) + " "  # cooks are those of the role `cook`
    folded_text = text.casefold()
    # Short names may be words: the state IN, the grade A.
    return {
        cell: rows
        for cell, rows in rows_by_name.items()
        if cell.strip()
        and ((name_text := _spell_words(cell)) in text or (len(cell) > 3 and name_text.casefold() in folded_text))
    }


def _spell_words(text: str) -> str:
    """Return the words of a text between spaces; single letters in scripts without spaces."""
    return f" {' '.join(_SPELLED_WORD.findall(unicodedata.normalize('NFC', text)))} "


def _has_only_source_numbers(template: str, source: str, language: str, columns: str = "") -> bool:
    """Whether each number in a sentence is in the question or query, or in a name of `columns`."""
    (values, number_words), composed = read_number_words(), compile_phrases("composed", language)
    template, source = (spell_out_scales(text, language) for text in (_PRONOUN.sub(" ", template), source))
    common = read_languages().get(language, {}).get("common", "").split()
    tokens = set(_NUMBER.findall(source))
    runs = {form for token in tokens for run in _split_number(token) for form in (run, run.lstrip("0"))}
    for token in {*_NUMBER.findall(template)} - tokens:
        parts = _split_number(token)
        if not parts or not runs.issuperset(parts):
            return False
    if not set(_ROMAN.findall(template)) <= set(_ROMAN.findall(source)):
        return False
    # Such as ½, Ⅳ or 三; those that are not in ASCII but decimal are among the tokens.
    if any(
        unicodedata.numeric(mark, None) is not None and not mark.isdecimal() and mark not in source for mark in template
    ):
        return False
    source_words = {word.folded for word in words(source)} | {word.stem for word in words(columns)}
    return not any(
        source_words.isdisjoint((word.folded, word.stem))
        and str(values.get(word.folded)) not in runs
        and (number_words.fullmatch(word.folded) or composed.fullmatch(word.text))
        and word.text.lower() not in common  # `due` is a number in Italian
        for word in words(_PERCENT.sub(" ", template))
    )


def _has_only_known_times(template: str, source: str, language: str) -> bool:
    """Whether each month, weekday or season in a sentence is in the question, or the query is for it."""
    known = _find_times(source, language) | _read_times(source)
    phrases = " ".join(match[0] for match in compile_phrases("times").finditer(template))
    return _find_times(template, language) <= known and set(stems(phrases)) <= set(stems(source))


def _read_times(text: str) -> set[tuple[str, int]]:
    """Return the months and weekdays of the dates in a text, and of numbers that may stand for them."""
    dates = [match for match in ISO_TIME.finditer(text) if match["month"]]
    times = {("month", int(match["month"])) for match in dates}
    with suppress(ValueError):
        times |= {("day", date.fromisoformat(match[0][:10]).weekday()) for match in dates if match["day"]}
    for number in map(int, re.findall(r"(?<![\w.,-])\d{1,2}(?![\w.,-])", text)):
        # Monday is 0, 1 or 2, as the engine counts.
        times |= {("month", number), *(("day", (number - first) % 7) for first in range(3) if number < 8)}
    return times


def _find_times(text: str, language: str) -> set[tuple[str, int]]:
    """Return the months and weekdays that a text names."""
    names = _read_time_names(language)
    forms = ((word, (word.folded, word.folded.removesuffix("s"), f"{word.folded[:-1]}*")) for word in words(text))
    found = [(word, next(filter(None, map(names.get, keys)), None)) for word, keys in forms]
    return {time[:2] for word, time in found if time and (word.text[0].isupper() or not time[2])}


@cache
def _read_time_names(language: str) -> dict[str, tuple[str, int, bool]]:
    """Return months and weekdays by folded names, and whether they begin with a capital; of Cyrillic ones the stems."""
    names: dict[str, tuple[str, int, bool]] = {}
    for locale in map(find_babel_locale, sorted({"en", language or "en"})):
        for kind, by_context in (("month", locale.months), ("day", locale.days)):
            for forms in by_context.values():
                wide = list(forms["wide"].items())
                short = list(forms["abbreviated"].items()) if kind == "month" and wide[0][1][0].isupper() else []
                for number, name in [*wide, *short]:
                    key = fold(name)
                    stem = [f"{key[:-1]}*"] if len(key) > 3 and not key.isascii() else []
                    names |= {each: (kind, number, name[0].isupper()) for each in [key, *stem] if key.isalpha()}
    return names


def _split_number(token: str) -> list[str]:
    """Return the integers in a token: a date's parts, 1000 for 1,000, and none for 3.5."""
    if _GROUPED_NUMBER.fullmatch(token):
        return [_MARKS.sub("", token)]
    return [] if _DECIMAL.fullmatch(token) else _RUN.findall(token)


def _build_sentence(
    template: str, cells: Sequence[tuple[str, ColumnFormat, str]], known: str, *, percent: bool
) -> str | None:
    """Return the sentence with its cells, without units that these repeat; None if it gives one a wrong unit.

    Args:
        template: The sentence with gaps.
        cells: The text, format and column of each gap.
        known: The texts whose words and signs may stand beside a number.
        percent: Whether a share may be said in per cent.
    """
    texts = [text for text, _, _ in cells]
    for sign in {mark for mark in template if unicodedata.category(mark) == "Sc" and mark not in known}:
        if any(sign in text for text in texts):
            template = re.sub(rf"(?<=\0)\s?{re.escape(sign)}|{re.escape(sign)}\s?(?=\0)", "", template)
        if sign in template:
            return None
    pieces, known_words = template.split(GAP), {word.folded for word in words(known)}
    for number, (text, form, column) in enumerate(cells, 1):
        for index, pattern in ((number - 1, _CURRENCY_BEFORE), (number, _UNIT_AFTER)):
            word = pattern.search(pieces[index])
            measure = find_measure(word[1]) if word else ""
            if word is None or (index < number and not (len(measure) == 3 and measure.isupper())):
                continue  # `min {n}` is no minute
            is_named = measure in ("", "%") or fold(word[1]) in known_words or measure in split_name(column)[1:]
            if measure == form.measure != "":
                pieces[index] = pieces[index][: word.start()] + pieces[index][word.end() :]
            elif not is_named or (form.kind == "year" and _YEARS_AGO.match(word[0])):
                return None
        after = pieces[number]
        sign, is_many = _PERCENT.match(after), _NOUN.match(after) and not compile_phrases("joins").match(after, 1)
        if (text == "1" and form.kind == "number" and is_many) or (sign and form.kind != "percent" and not percent):
            return None
        if sign and form.kind == "percent":
            pieces[number] = after[sign.end() :]
    pairs = zip(texts, pieces[1:], texts[1:], strict=False)
    if any(piece.isspace() and f"{before[-1]}{after[0]}".isdigit() for before, piece, after in pairs):
        return None  # they read as one number, with a space between its thousands
    if "%" in "".join(pieces) and not percent and all(form.kind != "percent" for _, form, _ in cells):
        return None
    return end_sentence("".join(chain.from_iterable(zip(pieces, [*texts, ""], strict=True))).strip())
