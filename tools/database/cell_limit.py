"""How long a value may be for one statement, so that no single step of it runs for long.

A query can be interrupted between rows, not inside a function call or in a row's straight run of expressions. The
work of most functions grows with the length of their argument, so a row's work stays below length of a value times
length of the statement. Some functions compare two values character by character; where both may be long, their work
is the product of the lengths. Values are held to a length that keeps either below a few seconds.
"""

from __future__ import annotations

import re
from math import isqrt

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

# Characters looked at in a row, and pairs of characters compared in it: about four seconds each.
_LINEAR_WORK = 4_000_000_000
_PRODUCT_WORK = 1_500_000_000
LIKE_PATTERN_LENGTH = 1_000

_PRODUCT_NAMES = ("like", "glob", "trim", "replace", "instr")
_PRODUCT_CALL = re.compile(r"""(?:\b(?:instr|replace|[lr]?trim)\b|["`\[](?:instr|replace|[lr]?trim)["`\]])\s*""", re.I)
_COMPUTED_PATTERN = re.compile(r"""\b(?:like|glob)\b(?!\s*['"])""", re.I)


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
    try:
        tree = parse_one(sql, dialect="sqlite")
    except (SqlglotError, RecursionError):
        return calls
    plain = 0
    for node in tree.find_all(exp.Trim, exp.StrPosition, exp.Replace):
        compared = node.args.get("substr") if isinstance(node, exp.StrPosition) else node.args.get("expression")
        plain += compared is None or isinstance(compared, exp.Literal)
    return max(0, calls - plain)
