"""Whether a revision answers another question than the one that was asked.

Everything else that tells attempts apart can be better by chance: another question's query runs, gives rows, and is in
perfect form. What gives it away is that it forgets what the question names, or looks for what nobody has named. The
rules were found on Spider train: of 6,904 gold queries 31 would give way to another question's, with them 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from ..tools.errors import SQLParseError
from ..tools.sql import parse_select
from .records import Attempt

LIKELY = 0.5
"""Probability from which the question is taken to ask for a schema item: more likely than not."""

SMALL = 10
"""Numbers up to here are written in words, or not at all: they need not be in the question."""

STEM = 4
"""Letters in which a text and a word of the question have to agree: "French" is no reason to doubt 'Francophone'."""

_VALUES = frozenset({"expression", "expressions", "low", "high"})
"""Where a condition has what a column is compared with."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class _Constants:
    """What a query compares with: texts, case and wildcards aside, and numbers as they are written."""

    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


def strays(attempt: Attempt, than: Attempt, said: str) -> bool:
    """Whether an attempt strays from the question where the one before it does not.

    Args:
        attempt: The revision.
        than: What it would replace.
        said: The person's words, in this turn and before, and the database values that they mention.
    """
    if set(than.named) - set(attempt.named):
        return True
    own, other = _constants(attempt.sql), _constants(than.sql)
    return _forgets(own, other, said) or _invents(own, other, said.casefold())


def _forgets(own: _Constants, other: _Constants, said: str) -> bool:
    """A text that the other one looks for, in whatever spelling, or a number that was said."""
    if any(not _akin(text, own.texts) for text in other.texts):
        return True
    return bool((other.numbers - own.numbers) & set(_NUMBER.findall(said)))


def _invents(own: _Constants, other: _Constants, said: str) -> bool:
    """One more text than the other one has, or a number, that nobody has named."""
    if len(own.texts) > len(other.texts):
        stems = {word[:STEM] for word in _WORD.findall(said)}
        new = (text for text in own.texts if text not in said and not _akin(text, other.texts))
        if any(not any(word[:STEM] in stems for word in _WORD.findall(text)) for text in new):
            return True
    return any(float(number) > SMALL and number not in said for number in own.numbers - other.numbers)


def _akin(text: str, texts: frozenset[str]) -> bool:
    return any(text in other or other in text for other in texts)


@lru_cache(maxsize=256)
def _constants(sql: str) -> _Constants:
    try:
        tree = parse_select(sql)
    except SQLParseError:
        return _Constants()
    literals = list(tree.find_all(exp.Literal))
    texts = [str(literal.this) for literal in literals if literal.is_string]
    # SQLite reads "Paris" in double quotes as a text where there is no such column.
    texts += [column.name for column in tree.find_all(exp.Column) if _may_be_text(column)]
    plain = (text.strip("% ").casefold() for text in texts)
    numbers = (str(literal.this) for literal in literals if not literal.is_string)
    return _Constants(frozenset(filter(None, plain)), frozenset(filter(_NUMBER.fullmatch, numbers)))


def _may_be_text(column: exp.Column) -> bool:
    quoted = bool(column.this.args.get("quoted")) and not column.table
    return quoted and isinstance(column.parent, exp.Predicate) and column.arg_key in _VALUES
