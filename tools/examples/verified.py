"""A question that was answered before, word for word or with other values: its verified query, with those values."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from sqlglot.tokenizer_core import Token, TokenType

from ..database.schema import Schema
from ..errors import SQLParseError
from ..sql import Query
from ..sql.dialects import quote_text
from ..sql.literals import searched_literals
from ..words import Word, words
from .example import Example

Spelt = Callable[[str, str, str], str | None]
"""How a column spells a text, `(table, column, text)`; None where it does not hold it."""

_POLITE = frozenset(
    ["please", "can", "could", "you", "show", "give", "tell", "me", "us", "i", "want", "to", "see", "need", "know"]
)
"""What may stand before a question without changing what is asked."""
_SMALL = frozenset(["please", "a", "an", "the"])
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
    the query does not name stays as it is, so it must be the same in both questions.

    Args:
        question: Self-contained.
        candidates: Verified questions, the most similar first.
        schema: Of the database.
        spelt: What its columns hold.
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
        found = next((one for one in same if " ".join(one.question.split()).casefold() == literal), same[0])
        return Verified(found, found.sql)
    for example in candidates:
        if found := _with_values(asked, question, example, schema, spelt):
            return found
    return None


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
    return tuple(map(_form, said))


def _form(word: Word) -> str:
    """Return a word without its plural: stems are too coarse where nobody looks again (orders, ordered)."""
    plural = len(word.folded) > 3 and word.folded.endswith("s") and not word.folded.endswith("ss")
    return word.folded[:-1] if plural else word.folded


def _with_values(
    asked: Sequence[Word], question: str, example: Example, schema: Schema, spelt: Spelt
) -> Verified | None:
    told = _said(example.question)
    # Reading the query costs most: words of its question that the new one lacks must stand in it as constants.
    known, text = set(_forms(asked)), example.sql.casefold()
    if max(len(told), len(asked)) > _LONGEST:
        return None
    if any(_form(word) not in known and word.text.casefold() not in text for word in told):
        return None
    slots = _slots(example, told, schema)
    if not 0 < len(slots) <= _SLOTS:
        return None
    pattern: list[str | _Slot] = []
    forms, place = _forms(told), 0
    while place < len(forms):
        slot = next((slot for slot in reversed(slots) if forms[place : place + len(slot.words)] == slot.words), None)
        pattern.append(slot or forms[place])
        place += len(slot.words) if slot else 1
    changes: list[tuple[_Slot, str]] = []
    for slot, span in _match(pattern, asked) or ():
        if _forms(span) == slot.words:
            continue
        now = _value(question[span[0].start : span[-1].end], slot, spelt)
        if now is None:
            return None
        changes.append((slot, now))
    if not changes:
        return None
    return Verified(example, _spliced(example.sql, changes, schema.dialect), tuple((s.text, now) for s, now in changes))


def _slots(example: Example, told: Sequence[Word], schema: Schema) -> list[_Slot]:
    """Return the constants of a query that its question names just once."""
    try:
        query = Query.of(example.sql, schema.dialect, schema)
    except SQLParseError:
        return []
    if query.sql != example.sql.strip().strip(";").strip():
        return []
    places: dict[str, list[tuple[str, str]]] = {}
    for literal in searched_literals(example.sql, schema, _Anything()):
        places.setdefault(literal.text, []).append((literal.table, literal.column))
    forms = _forms(told)
    found: dict[tuple[bool, str], list[Token]] = {}
    for token in query.tokens:
        if token.token_type in (TokenType.STRING, TokenType.NUMBER):
            found.setdefault((token.token_type == TokenType.STRING, token.text), []).append(token)
    slots: list[_Slot] = []
    for (is_text, text), tokens in found.items():
        own = tuple(places.get(text.casefold(), ())) if is_text else ()
        spoken = _forms(words(text))
        said = sum(forms[i : i + len(spoken)] == spoken for i in range(len(forms))) if spoken else 0
        numeric = not is_text and bool(_NUMBER.fullmatch(text))
        if said == 1 and (numeric or own):
            slots.append(_Slot(text, spoken, tuple(tokens), own))
    numbers = [slot.words for slot in slots]
    return [slot for slot in slots if numbers.count(slot.words) == 1]


class _Anything:
    """Contents that hold everything: only the columns count that a query compares."""

    def holds(self, table: str, column: str, text: str) -> bool:
        return True

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        return False

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ()


def _match(pattern: Sequence[str | _Slot], asked: Sequence[Word]) -> list[tuple[_Slot, tuple[Word, ...]]] | None:
    """Return the words of a question that stand for each slot, if all others are those of the pattern."""
    if not pattern:
        return [] if not asked else None
    first, rest = pattern[0], pattern[1:]
    if isinstance(first, str):
        return _match(rest, asked[1:]) if asked and _form(asked[0]) == first else None
    for length in range(1, min(len(asked), 6) + 1):
        found = _match(rest, asked[length:])
        if found is not None:
            return [(first, tuple(asked[:length])), *found]
    return None


def _value(text: str, slot: _Slot, spelt: Spelt) -> str | None:
    """Return the new value as the query must have it; None if it may not stand there."""
    if not slot.places:
        return text if _NUMBER.fullmatch(text) else None
    spellings = {spelt(table, column, text) for table, column in slot.places}
    return spellings.pop() if len(spellings) == 1 else None


def _spliced(sql: str, changes: Sequence[tuple[_Slot, str]], dialect: str) -> str:
    sql = sql.strip().strip(";").strip()
    edits = [(token, now, bool(slot.places)) for slot, now in changes for token in slot.tokens]
    for token, now, is_text in sorted(edits, key=lambda edit: -edit[0].start):
        sql = sql[: token.start] + (quote_text(now, dialect) if is_text else now) + sql[token.end + 1 :]
    return sql
