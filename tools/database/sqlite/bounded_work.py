"""Limits on each step of a statement, so that it can always be interrupted.

A query can be interrupted between rows, not inside a function call or in a row's straight run of expressions. The
work of most functions grows with the length of their argument, so a row's work stays below length of a value times
length of the statement. Some functions compare two values character by character; where both may be long, their work
is the product of the lengths. Values are held to a length that keeps either below a few seconds. One function,
printf, counts up to whatever number its format gives, so that the format must be written out in the statement. Many
window functions in one SELECT take long even to compile, which nothing can interrupt: their number is limited.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import isqrt

from ...errors import QueryRejected, ResultTooLarge
from ..quoting import unquote
from .functions import FULL_TEXT_FUNCTIONS
from .tokens import BEFORE_TABLE, split_words

# Characters that may be searched for in a full-text table.
_SEARCH_LENGTH = 1_000
# Bytes of a value where one may be searched for in a way that can't be told from a comparison.
_COMPARED_LENGTH = 8_000

_OPERATORS = frozenset("|-+*/%&<>")
_SIGNS = frozenset("|-+*/%&<>=!,(.~")
_BEFORE_NAME = frozenset(
    "select distinct from join where and or on having case when then else as".split()  # noqa: SIM905
)
_BEFORE_BY = frozenset({"order", "group", "partition"})
_CLAUSES = frozenset({"select", "from", "where", "group", "having", "order", "on", "limit", "values", "window"})


def _can_search_computed_text(tokens: list[str], tables: Collection[str]) -> bool:
    """Whether a statement may search full-text tables for a computed value."""
    has_name = False
    for position, (word, following) in enumerate(pairwise(tokens)):
        is_call = (
            following == "("
            and unquote(word) in ("match", *tables)
            and (not (position and tokens[position - 1] in ("with", "recursive")))
        )
        if is_call or (word == "match" and _is_match_operator(tokens, position)):
            start = position + (2 if following == "(" else 1)
            has_name |= _is_search_text_quoted_name(tokens[start : start + 2])
    return has_name or _is_full_text_name_compared(tokens, tables)


def _is_match_operator(tokens: list[str], position: int) -> bool:
    """Whether MATCH at a position is an operator between two operands, not a name."""
    before = tokens[position - 1] if position else ""
    is_sort_term = before == "by" and position > 1 and tokens[position - 2] in _BEFORE_BY
    is_cte_name = position + 1 < len(tokens) and tokens[position + 1] == "as"
    return not (is_cte_name or is_sort_term or not before or before in _BEFORE_NAME or before in _SIGNS)


def _is_search_text_quoted_name(text: list[str]) -> bool:
    """Whether the search text is a name in double quotes; raise an error if it is computed."""
    # Such a name stands for a text if there is no such column.
    if not text or text[0][0] not in "'\"" or (len(text) > 1 and text[1][0] in _OPERATORS):
        raise QueryRejected("write what to search for in a full-text table as one text in single quotes after MATCH")
    if len(text[0]) > _SEARCH_LENGTH:
        raise ResultTooLarge(
            f"the text to search for has {len(text[0]):,} characters; the limit is {_SEARCH_LENGTH:,} after MATCH"
        )
    return text[0][0] == '"'


def _is_full_text_name_compared(tokens: list[str], tables: Collection[str]) -> bool:
    """Whether the name of a full-text table is used as the name of its hidden column."""
    # FTS5 searches in it with = as well.
    clauses = [""]
    for index, word in enumerate(tokens):
        if word == "(":
            clauses.append("")
        elif word == ")" and len(clauses) > 1:
            clauses.pop()
        elif word == "join" or word in _CLAUSES:
            clauses[-1] = "from" if word == "join" else word
        elif unquote(word) in tables and clauses[-1] != "from":
            argument = index > 1 and tokens[index - 1] == "(" and unquote(tokens[index - 2]) in FULL_TEXT_FUNCTIONS
            following = tokens[index + 1] if index + 1 < len(tokens) else ""
            if not (argument or following in (".", "match", "(")):
                return True
    return False


MANY = 1_000_000_000
"""What is counted no further."""


def count_word_with_ctes_expanded(tokens: list[str], target: str) -> int:
    """Return how often a word occurs once all CTEs are expanded, up to `MANY`.

    SQLite compiles such an expression anew for every mention of it, so that a few lines can take hours to compile; and
    what it compiles, it can't be interrupted in.

    Expressions that share a name count as one, and those that mention each other in a cycle as `MANY`: rather too
    much than too little.
    """
    positions = _find_cte_positions(tokens)
    name_positions = frozenset(positions.values())
    names_by_opening = {opening: unquote(tokens[place]) for opening, place in positions.items()}
    # None is the statement outside of them all.
    counts: Counter[str | None] = Counter()
    mentions: dict[str | None, Counter[str]] = {name: Counter() for name in (None, *names_by_opening.values())}
    names: list[str | None] = [None]
    for position, word in enumerate(tokens):
        if word == "(":
            names.append(names_by_opening.get(position, names[-1]))
        elif word == ")" and len(names) > 1:
            names.pop()
        elif word == target:
            counts[names[-1]] += 1
        elif position not in name_positions and tokens[position - 1] in BEFORE_TABLE and unquote(word) in mentions:
            mentions[names[-1]][unquote(word)] += 1
    sizes: dict[str | None, int] = {}
    graph = TopologicalSorter({name: uses.keys() - {name} for name, uses in mentions.items()})
    try:
        for name in graph.static_order():
            uses = sum(number * sizes[other] for other, number in mentions[name].items() if other != name)
            sizes[name] = min(MANY, counts[name] + uses)
    except CycleError:
        return MANY
    return min(MANY, counts.total() - counts[None] + sizes[None])


def _find_cte_positions(tokens: list[str]) -> dict[int, int]:
    """Return the positions of CTE names by the positions at which the CTE bodies open."""
    name_positions: dict[int, int] = {}
    stack: list[int] = []
    opening: dict[int, int] = {}
    for position, word in enumerate(tokens):
        if word == "(":
            stack.append(position)
            before = position - 1
            if before > 0 and tokens[before] == "materialized":
                before -= 2 if tokens[before - 1] == "not" else 1
            if before > 0 and tokens[before] == "as":
                name = before - 1
                name = opening.get(name, 0) - 1 if tokens[name] == ")" else name
                if name >= 0:
                    name_positions[position] = name
        elif word == ")" and stack:
            opening[position] = stack.pop()
    return name_positions


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


def compute_value_limit(sql: str, cell_bytes: int, full_text: Collection[str] = ()) -> int:
    """Return the maximum size in bytes of a value in a statement, up to `cell_bytes`.

    Raises:
        ResultTooLarge: The statement itself is too long, or has too many window functions.
        QueryRejected: It calls printf or format with a format that could count to any number, or searches full-text
            tables, whose names are given in lower case, for what is not written out.
    """
    if len(sql) > STATEMENT_LENGTH:
        raise ResultTooLarge(f"the statement has {len(sql):,} characters; the limit is {STATEMENT_LENGTH:,}")
    limit = min(cell_bytes, _LINEAR_WORK // max(1, len(sql)))
    # Most statements name none of these, and this is on every query's path.
    lower_sql = sql.lower()
    if not full_text and not any(name in lower_sql for name in _NAMES):
        return limit
    tokens = split_words(sql)
    _check_printf_formats(tokens)
    windows = tokens.count("over")
    if windows > _WINDOWS or (windows and count_word_with_ctes_expanded(tokens, "over") > _EXPANDED_WINDOWS):
        raise ResultTooLarge(f"the statement has too many window functions (OVER); the limit is {_WINDOWS}")
    if full_text and _can_search_computed_text(tokens, full_text):
        limit = min(limit, _COMPARED_LENGTH)
    patterns = sum(unquote(word) in _PATTERNS and following[0] != "'" for word, following in pairwise(tokens))
    if patterns:
        limit = min(limit, _PRODUCT_WORK // (LIKE_PATTERN_LENGTH * patterns))
    calls = _count_calls_with_computed_arguments(tokens)
    if calls:
        limit = min(limit, isqrt(_PRODUCT_WORK // calls))
    return limit


def _check_printf_formats(tokens: list[str]) -> None:
    # In double quotes it may be a column's name, with any format behind it.
    for position, (word, following) in enumerate(pairwise(tokens)):
        if following == "(" and unquote(word) in _FORMATS:
            arguments = tokens[position + 2 : position + 4]
            if len(arguments) < 2 or not _SAFE_FORMAT.fullmatch(arguments[0]) or arguments[1] not in (",", ")"):
                raise QueryRejected(
                    "printf() and format() need their format written as a text in single quotes, without * and with"
                    " widths below 10000"
                )


def _count_calls_with_computed_arguments(tokens: list[str]) -> int:
    """Count the calls of functions such as replace() and trim() with a computed second argument."""
    count = 0
    # Of each open bracket: whether it is one of these functions', and where its arguments start.
    brackets: list[tuple[bool, list[int]]] = []
    for position, word in enumerate(tokens):
        if word == "(":
            is_call = position > 0 and unquote(tokens[position - 1]) in _PRODUCTS
            brackets.append((is_call, [position + 1]))
        elif word in (",", ")") and brackets:
            is_product, starts = brackets[-1]
            is_written = position - starts[-1] == 1 and tokens[starts[-1]][0] == "'"
            count += is_product and len(starts) == 2 and not is_written
            starts.append(position + 1)
            if word == ")":
                brackets.pop()
    return count
