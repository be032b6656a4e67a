"""Keeping every single step of a statement short, so that the statement can be interrupted.

A query can be interrupted between rows, not inside a function call or in a row's straight run of expressions. The
work of most functions grows with the length of their argument, so a row's work stays below length of a value times
length of the statement. Some functions compare two values character by character; where both may be long, their work
is the product of the lengths. Values are held to a length that keeps either below a few seconds. One function,
printf, counts up to whatever number its format gives, so that the format must be written out in the statement.
"""

from __future__ import annotations

import re
from math import isqrt

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ..errors import QueryRejected
from .words import words

# Characters looked at in a row, and pairs of characters compared in it: about four seconds each.
_LINEAR_WORK = 4_000_000_000
_PRODUCT_WORK = 1_500_000_000
LIKE_PATTERN_LENGTH = 1_000

_PRODUCT_NAMES = ("like", "glob", "trim", "replace", "instr")
_PRODUCT_CALL = re.compile(r"""\b(?:instr|replace|[lr]?trim)["`\]]?(?:\s|/\*.*?\*/|--[^\n]*\n)*\(""", re.I | re.S)
_COMPUTED_PATTERN = re.compile(r"""\b(?:like|glob)\b(?!\s*['"])""", re.I)

_QUESTIONS = ("select", "with", "values")
_FORMAT_CALL = re.compile(r"""\b(?:printf|format)["`\]]?(?:\s|/\*.*?\*/|--[^\n]*\n)*\(""", re.I | re.S)
_SAFE_FORMAT = re.compile(r"\s*'(?:[^'*0-9]|''|[0-9]{1,4}(?![0-9]))*'\s*[,)]")


def refuse_unbounded(sql: str) -> None:
    """Refuse a call of printf or format that could count to any number.

    Raises:
        QueryRejected: The format is computed, has a `*`, or a number of five digits.
    """
    for call in _FORMAT_CALL.finditer(sql):
        if not _SAFE_FORMAT.match(sql, call.end()):
            raise QueryRejected(
                "printf() and format() need their format written as a text, without * and with widths below 10000"
            )


def cell_limit(sql: str, cell_bytes: int) -> int:
    """The most bytes that a value, read or computed, may have in a statement.

    Args:
        sql: The statement.
        cell_bytes: The limit that the caller set; the result is never more.
    """
    limit = min(cell_bytes, _LINEAR_WORK // max(1, len(sql)))
    # Most statements name none of these, and this is on every query's path.
    lowered = sql.lower()
    if not any(name in lowered for name in _PRODUCT_NAMES):
        return limit
    patterns = len(_COMPUTED_PATTERN.findall(sql))
    if patterns:
        limit = min(limit, _PRODUCT_WORK // (LIKE_PATTERN_LENGTH * patterns))
    calls = len(_PRODUCT_CALL.findall(sql))
    if calls:
        computed = _computed_arguments(sql, calls)
        if computed:
            limit = min(limit, isqrt(_PRODUCT_WORK // computed))
    return limit


def _computed_arguments(sql: str, calls: int) -> int:
    """How many of the calls compare with something else than a literal; all of them if that can't be told."""
    read = words(sql)
    if read[0] not in _QUESTIONS or ";" in read[:-1]:
        return calls
    try:
        tree = parse_one(sql, dialect="sqlite")
    except (SqlglotError, RecursionError):
        return calls
    plain = 0
    for node in tree.find_all(exp.Trim, exp.StrPosition, exp.Replace):
        compared = node.args.get("substr") if isinstance(node, exp.StrPosition) else node.args.get("expression")
        plain += compared is None or isinstance(compared, exp.Literal)
    return max(0, calls - plain)
