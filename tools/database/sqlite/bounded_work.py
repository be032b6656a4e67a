"""Keeping every single step of a statement short, so that the statement can be interrupted.

A query can be interrupted between rows, not inside a function call or in a row's straight run of expressions. The
work of most functions grows with the length of their argument, so a row's work stays below length of a value times
length of the statement. Some functions compare two values character by character; where both may be long, their work
is the product of the lengths. Values are held to a length that keeps either below a few seconds. One function,
printf, counts up to whatever number its format gives, so that the format must be written out in the statement. Many
window functions in one SELECT take long even to compile, which nothing can interrupt: their number is limited.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from ...errors import QueryRejected, ResultTooLarge
from .expansion import expanded
from .search_work import COMPARED_LENGTH, compares_full_text
from .tokens import unquoted, words

STATEMENT_LENGTH = 100_000
LIKE_PATTERN_LENGTH = 1_000

# Characters looked at in a row, and pairs of characters compared in it: about four seconds each.
_LINEAR_WORK = 4_000_000_000
_PRODUCT_WORK = 1_500_000_000

_PRODUCTS = frozenset({"instr", "replace", "trim", "ltrim", "rtrim"})
_PATTERNS = frozenset({"like", "glob"})
_FORMATS = frozenset({"printf", "format"})
_NAMES = ("like", "glob", "trim", "replace", "instr", "printf", "format", "match", "over")
# Window functions written in a statement, and with its common table expressions written out.
_WINDOWS = 100
_EXPANDED_WINDOWS = 1_000
_SAFE_FORMAT = re.compile(r"'(?:[^*0-9]|[0-9]{1,4}(?![0-9]))*'")


def value_limit(sql: str, cell_bytes: int, full_text: Collection[str] = ()) -> int:
    """The most bytes that a value, read or computed, may have in a statement.

    Args:
        sql: The statement.
        cell_bytes: The limit that the caller set; the result is never more.
        full_text: The names of the database's full-text tables, in lower case.

    Raises:
        ResultTooLarge: The statement itself is too long, or has too many window functions.
        QueryRejected: It calls printf or format with a format that could count to any number, or searches full-text
            tables for what is not written out.
    """
    if len(sql) > STATEMENT_LENGTH:
        raise ResultTooLarge(f"the statement has {len(sql):,} characters: it may have {STATEMENT_LENGTH:,}")
    limit = min(cell_bytes, _LINEAR_WORK // max(1, len(sql)))
    # Most statements name none of these, and this is on every query's path.
    lowered = sql.lower()
    if not full_text and not any(name in lowered for name in _NAMES):
        return limit
    read = words(sql)
    _check_formats(read)
    _check_windows(read)
    if compares_full_text(read, full_text):
        limit = min(limit, COMPARED_LENGTH)
    patterns = sum(unquoted(word) in _PATTERNS and following[0] != "'" for word, following in pairwise(read))
    if patterns:
        limit = min(limit, _PRODUCT_WORK // (LIKE_PATTERN_LENGTH * patterns))
    calls = _computed_calls(read)
    if calls:
        limit = min(limit, isqrt(_PRODUCT_WORK // calls))
    return limit


def _check_formats(read: list[str]) -> None:
    for position, (word, following) in enumerate(pairwise(read)):
        if following == "(" and unquoted(word) in _FORMATS:
            written = read[position + 2 : position + 4]
            if len(written) < 2 or not _SAFE_FORMAT.fullmatch(written[0]) or written[1] not in (",", ")"):
                raise QueryRejected(
                    "printf() and format() need their format written as a text, without * and with widths below 10000"
                )


def _check_windows(read: list[str]) -> None:
    windows = read.count("over")
    if windows > _WINDOWS or (windows and expanded(read, "over") > _EXPANDED_WINDOWS):
        raise ResultTooLarge(f"the statement has too many window functions (OVER): it may have {_WINDOWS}")


@dataclass
class _Bracket:
    """An open bracket: whether it is one of the product functions' and where its present argument starts."""

    product: bool
    start: int
    argument: int = 0


def _computed_calls(read: list[str]) -> int:
    """How many calls of the product functions compare with something else than a text that is written out."""
    count = 0
    open_brackets: list[_Bracket] = []
    for position, word in enumerate(read):
        if word == "(":
            named = position > 0 and unquoted(read[position - 1]) in _PRODUCTS
            open_brackets.append(_Bracket(named, position + 1))
        elif word in (",", ")") and open_brackets:
            bracket = open_brackets[-1]
            written = position - bracket.start == 1 and read[bracket.start][0] == "'"
            count += bracket.product and bracket.argument == 1 and not written
            bracket.start, bracket.argument = position + 1, bracket.argument + 1
            if word == ")":
                open_brackets.pop()
    return count
