"""A question that was answered before, word for word or with other values: its verified query, with those values."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ..database.schema import Schema
from ..sql import Query
from ..sql.dialects import quote_text
from ..sql.parse import analysis_or
from ..sql.query import plain_text
from ..words import Word, listed_words, words
from .example import Example

Spelt = Callable[[str, str, str], str | None]
"""How a column spells a text, `(table, column, text)`; None where it does not hold it."""

_POLITE = listed_words("please can could you show give tell me us i want to see need know")
"""What may stand before a question without changing what is asked."""
_SMALL = listed_words("please a an the")
"""What may stand anywhere in it."""

_LONGEST, _SLOTS = 80, 4
"""Words of a question, and values in it, up to which values are changed."""

_TELLING = frozenset("&%#*@/\\‰!")
"""Punctuation that is more than that, inside a question."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Verified:
    """A verified question, and its query with the values of another one: `changed` has each `(before, now)`."""

    example: Example
    sql: str
    changed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Slot:
    """A constant of the query that the question names, compared with the columns in `places`; none for a number."""

    text: str
    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    places: tuple[tuple[str, str], ...]


def answered_by(question: str, candidates: Iterable[Example], schema: Schema, spelt: Spelt) -> Verified | None:
    """Return the first verified question that asks the same, or the same of other values; None if none does.

    Values count as others only where the query compares a column with the one, and that column holds the other. What
    the query does not name stays as it is, so it must be the same in both questions. The question is self-contained;
    of the candidates, the most similar stand first.
    """
    asked, signs = _said(question), _signs(question)
    kinds = [sign for sign, _ in signs]
    candidates = [example for example in candidates if [sign for sign, _ in _signs(example.question)] == kinds]
    same = [
        example
        for example in candidates
        if _forms(asked) == _forms(_said(example.question)) and _signs(example.question) == signs
    ]
    if same:
        literal = " ".join(question.split()).casefold()
        # Of several, the one that is spelt alike.
        found = min(same, key=lambda one: " ".join(one.question.split()).casefold() != literal)
        return Verified(found, found.sql)
    with_values = (_with_values(asked, question, example, schema, spelt) for example in candidates)
    return next(filter(None, with_values), None)


def _said(question: str) -> tuple[Word, ...]:
    said = [word for word in words(question) if word.folded not in _SMALL or _is_name(word)]
    return tuple(dropwhile(lambda word: word.folded in _POLITE and not _is_name(word), said))


def _is_name(word: Word) -> bool:
    """Whether a word is polite in lower case alone: US, grade A."""
    return word.text.isupper() and word.folded != "i" and (len(word.text) > 1 or word.start > 0)


def _signs(question: str) -> list[tuple[str, int]]:
    """Return what changes a question's meaning and is no word, with how many words stand before it.

    Such are operators, brackets, dashes, currencies and other symbols (`>=`, `C++`, `A-`), but no punctuation of
    sentences.
    """
    question = question.rstrip("!").strip()
    starts = [word.start for word in _said(question)]
    return [
        (sign, bisect(starts, place))
        for place, sign in enumerate(question)
        if sign in _TELLING or unicodedata.category(sign) in ("Ps", "Pe", "Pd", "Pc", "Sm", "Sc", "Sk", "So", "No")
    ]


def _forms(said: Sequence[Word]) -> tuple[str, ...]:
    """Return words without their plurals: stems are too coarse where nobody looks again (orders, ordered)."""
    return tuple(re.sub(r"(?<=..[^s])s\Z", "", word.folded) for word in said)


def _with_values(
    asked: Sequence[Word], question: str, example: Example, schema: Schema, spelt: Spelt
) -> Verified | None:
    told = _said(example.question)
    forms = _forms(told)
    # Reading the query costs most: words of its question that the new one lacks must stand in it as constants.
    known, text = set(_forms(asked)), example.sql.casefold()
    if max(len(told), len(asked)) > _LONGEST:
        return None
    if any(form not in known and word.text.casefold() not in text for word, form in zip(told, forms, strict=True)):
        return None
    slots = _slots(example, forms, schema)
    if not 0 < len(slots) <= _SLOTS:
        return None
    parts: list[str] = []
    places: list[_Slot] = []
    start = 0
    while start < len(forms):
        slot = next((slot for slot in reversed(slots) if forms[start : start + len(slot.words)] == slot.words), None)
        places += [slot] if slot else []
        parts.append(r"([^\0]+(?:\0[^\0]+){0,5}?)" if slot else re.escape(forms[start]))
        start += len(slot.words) if slot else 1
    said = "\0".join(_forms(asked))
    matched = re.fullmatch("\0".join(parts), said)
    changes: list[tuple[_Slot, str]] = []
    for slot, (first, end) in zip(places, matched.regs[1:] if matched else (), strict=False):
        if tuple(said[first:end].split("\0")) == slot.words:
            continue
        first, last = said.count("\0", 0, first), said.count("\0", 0, end)
        now = question[asked[first].start : asked[last].end]
        spellings = {spelt(*place, now) for place in slot.places} or {now if _NUMBER.fullmatch(now) else None}
        if len(spellings) > 1 or (value := spellings.pop()) is None:
            return None
        changes.append((slot, value))
    if not changes:
        return None
    return Verified(example, _spliced(example.sql, changes, schema.dialect), tuple((s.text, now) for s, now in changes))


@analysis_or(())
def _slots(example: Example, forms: tuple[str, ...], schema: Schema) -> Sequence[_Slot]:
    """Return the constants of a query that its question names just once."""
    query = Query.of(example.sql, schema.dialect, schema)
    if query.sql != example.sql.strip().strip(";").strip():
        return ()
    places: dict[str, list[tuple[str, str]]] = {}
    comparisons = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
    for node in (node for scope in query.scopes for node in query.own(scope, *comparisons)):
        for column, operand in () if isinstance(node.parent, exp.Escape) else query.operands(node):
            if isinstance(text := query.literal(operand), str):
                places.setdefault(plain_text(text), []).append(column.item)
    found: dict[tuple[bool, str], list[Token]] = {}
    for token in query.tokens:
        if token.token_type in (TokenType.STRING, TokenType.NUMBER):
            found.setdefault((token.token_type == TokenType.STRING, token.text), []).append(token)
    slots: list[_Slot] = []
    for (is_text, text), tokens in found.items():
        own = tuple(places.get(text.casefold(), ())) if is_text else ()
        spoken = _forms(words(text))
        times = sum(forms[i : i + len(spoken)] == spoken for i in range(len(forms))) if spoken else 0
        if times == 1 and (own or (not is_text and _NUMBER.fullmatch(text))):
            slots.append(_Slot(text, spoken, tuple(tokens), own))
    said_by = Counter(slot.words for slot in slots)
    return [slot for slot in slots if said_by[slot.words] == 1]


def _spliced(sql: str, changes: Sequence[tuple[_Slot, str]], dialect: str) -> str:
    sql = sql.strip().strip(";").strip()
    edits = [(token, now, bool(slot.places)) for slot, now in changes for token in slot.tokens]
    for token, now, is_text in sorted(edits, key=lambda edit: -edit[0].start):
        sql = sql[: token.start] + (quote_text(now, dialect) if is_text else now) + sql[token.end + 1 :]
    return sql
