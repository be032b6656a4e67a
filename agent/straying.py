"""Whether a revision answers another question than the one that was asked.

Everything else that tells attempts apart can be better by chance: another question's query runs, gives rows, and is in
perfect form. What gives it away is that it forgets what the question names, or looks for what nobody has named. The
rules were found on Spider train; `tableturn bench revisions` counts what they keep there.
"""

from __future__ import annotations

import re

from ..tools.sql import Constants, constants, form
from .likeness import alike
from .records import Attempt
from .said import numbers_said

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


def strays(attempt: Attempt, than: Attempt, said: str) -> bool:
    """Whether an attempt strays from the question where the one before it does not.

    Args:
        attempt: The revision.
        than: What it would replace.
        said: The person's words, in this turn and before, and the database values that they mention.
    """
    if set(than.named) - set(attempt.named):
        return True
    given_up, found = _mended(attempt, than)
    own, other = constants(attempt.sql), constants(than.sql)
    return _forgets(own, other, given_up, said) or _invents(own, other, found, said)


def lessens(attempt: Attempt, than: Attempt) -> bool:
    """Whether an attempt gives fewer columns, or turns a comparison or an order round."""
    own, other = form(attempt.sql), form(than.sql)
    return own.gives_less(other) or own.turns_round(other)


def drops(attempt: Attempt, than: Attempt, said: str) -> bool:
    """Whether an attempt lacks a DISTINCT, an order or a negation that was asked for and that the one before it has."""
    own, other = form(attempt.sql), form(than.sql)
    if other.distinct and not own.one_of_each and _ONE_OF_EACH.search(said):
        return True
    if other.orders and not own.extreme and _EXTREME.search(said):
        return True
    return other.negative and not own.negative and _NEGATIVE.search(said) is not None


def _mended(attempt: Attempt, than: Attempt) -> tuple[frozenset[str], frozenset[str]]:
    """Texts that no row has, given up for what some row has in the same column; and what took their place.

    The question's own words are the wrong ones then: "the USA", where the database has `United States`. That counts
    where the query found nothing and the two could be the same thing; no text is known to mean another that is unlike
    it, and no number another number.
    """
    if not _found_nothing(than):
        return frozenset(), frozenset()
    held = {text.text for text in than.sought if text.held}
    missed = [text for text in than.sought if not text.held and text.text not in held]
    new = [text for text in attempt.sought if text.held and text not in than.sought]
    pairs = [
        (old.text, found.text)
        for old in missed
        for found in new
        if (old.table, old.column) == (found.table, found.column) and alike(old.text, found.text)
    ]
    return frozenset(old for old, _ in pairs), frozenset(found for _, found in pairs)


def _found_nothing(attempt: Attempt) -> bool:
    """It gave no rows, or one that counts or sums up none."""
    result = attempt.result
    return result is None or not result.rows or (result.row_count == 1 and not any(result.rows[0]))


def _forgets(own: Constants, other: Constants, given_up: frozenset[str], said: str) -> bool:
    """A text that the other one looks for, in whatever spelling, or a number that was said."""
    if any(not own.looks_for(text) for text in other.texts - given_up):
        return True
    return bool((other.numbers - own.numbers - given_up) & numbers_said(said))


def _invents(own: Constants, other: Constants, found: frozenset[str], said: str) -> bool:
    """One more text than the other one has, or a number, that nobody has named."""
    words = said.casefold()
    if len(own.texts) > len(other.texts):
        stems = {word[:STEM] for word in _WORD.findall(words)}
        new = (text for text in own.texts - found if text not in words and not other.looks_for(text))
        if any(not any(word[:STEM] in stems for word in _WORD.findall(text)) for text in new):
            return True
    numbers = numbers_said(said)
    return any(
        float(number) > SMALL and number not in words and number not in numbers
        for number in own.numbers - other.numbers - found
    )
