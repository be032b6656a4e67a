"""Whether a revision answers another question than the one that was asked.

Every other measure of an attempt can be better by chance: another question's query runs, gives rows, and is in perfect
form. It is recognised because it omits what the question names, or looks for what nobody has named. The rules were
found on Spider train; `evals.lab bench revisions` counts what they preserve there.
"""

from __future__ import annotations

import re

from ...tools.sql import Constants, constants, form
from ..records import Attempt
from .aliases import may_match
from .spoken_numbers import spoken_numbers

LIKELY = 0.5
"""Probability from which the question is taken to ask for a schema item: more likely than not."""

SMALL = 10
"""Numbers up to here are written in words, or not at all: they need not be in the question."""

STEM = 4
"""Letters in which a text and a word of the question agree where one is an inflection of the other."""

_WORD = re.compile(r"\w+")
_ONE_OF_EACH = re.compile(r"\b(?:distinct|different|unique|unduplicated|without (?:duplicates|repetition))\b", re.I)
_EXTREME = re.compile(
    r"\b(?:most|least|top|first|last|[a-z]+est|sort(?:ed)?|order(?:ed)?|rank(?:ed)?|(?:a|de)scending|alphabetical(?:ly)?)\b",
    re.I,
)
_NEGATIVE = re.compile(r"\b(?:not|never|without|except|excluding|neither|nor|no|none|other than)\b|n['’]t\b", re.I)


def departs(attempt: Attempt, previous: Attempt, words: str) -> bool:
    """Whether an attempt departs from the question where the one before it does not.

    Args:
        attempt: The revision.
        previous: What it would replace.
        words: The person's words, in this turn and before, and the database values that they mention.
    """
    if set(previous.named) - set(attempt.named):
        return True
    given_up, found = _corrected(attempt, previous)
    own, other = constants(attempt.sql, attempt.dialect), constants(previous.sql, previous.dialect)
    return _omits(own, other, given_up, words) or _invents(own, other, found, words)


def returns_less(attempt: Attempt, previous: Attempt) -> bool:
    """Whether an attempt gives fewer columns, or reverses a comparison or an order."""
    own, other = form(attempt.sql, attempt.dialect), form(previous.sql, previous.dialect)
    return own.gives_less(other) or own.turns_round(other)


def computes_the_same(attempt: Attempt, previous: Attempt) -> bool:
    """Whether an attempt adds up, averages, counts ... all that the one before it does, wherever in the query."""
    return form(previous.sql, previous.dialect).aggregates <= form(attempt.sql, attempt.dialect).aggregates


def drops_request(attempt: Attempt, previous: Attempt, words: str) -> bool:
    """Whether an attempt lacks a DISTINCT, an order or a negation that was asked for and that the one before it has."""
    own, other = form(attempt.sql, attempt.dialect), form(previous.sql, previous.dialect)
    if other.distinct and not own.one_of_each and _ONE_OF_EACH.search(words):
        return True
    if other.orders and not own.extreme and _EXTREME.search(words):
        return True
    return other.negative and not own.negative and _NEGATIVE.search(words) is not None


def _corrected(attempt: Attempt, previous: Attempt) -> tuple[frozenset[str], frozenset[str]]:
    """Texts that no row has, given up for what some row has in the same column; and what replaced them.

    The question's own words are the wrong ones then: "the USA", where the database has `United States`. That counts
    where the query found nothing and the two could be the same thing; no text is known to mean another that is unlike
    it, and no number another number.
    """
    if not _found_nothing(previous):
        return frozenset(), frozenset()
    held = {text.text for text in previous.literals if text.held}
    missed = [text for text in previous.literals if not text.held and text.text not in held]
    new = [text for text in attempt.literals if text.held and text not in previous.literals]
    pairs = [
        (old.text, found.text)
        for old in missed
        for found in new
        if (old.table, old.column) == (found.table, found.column) and may_match(old.text, found.text)
    ]
    return frozenset(old for old, _ in pairs), frozenset(found for _, found in pairs)


def _found_nothing(attempt: Attempt) -> bool:
    """It gave no rows, or one that counts or sums up none."""
    result = attempt.result
    return result is None or not result.rows or (result.row_count == 1 and not any(result.rows[0]))


def _omits(own: Constants, other: Constants, given_up: frozenset[str], words: str) -> bool:
    """A text that the other one looks for, in whatever spelling, or a number that the person named."""
    if any(not own.looks_for(text) for text in other.texts - given_up):
        return True
    return bool((other.numbers - own.numbers - given_up) & spoken_numbers(words))


def _invents(own: Constants, other: Constants, found: frozenset[str], words: str) -> bool:
    """One more text than the other one has, or a number, that nobody has named."""
    folded = words.casefold()
    if len(own.texts) > len(other.texts):
        stems = {word[:STEM] for word in _WORD.findall(folded)}
        new = (text for text in own.texts - found if text not in folded and not other.looks_for(text))
        if any(not any(word[:STEM] in stems for word in _WORD.findall(text)) for text in new):
            return True
    numbers = spoken_numbers(words)
    return any(
        float(number) > SMALL and number not in folded and number not in numbers
        for number in own.numbers - other.numbers - found
    )
