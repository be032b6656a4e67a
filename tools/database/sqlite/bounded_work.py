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
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import isqrt

from ...errors import QueryRejected, ResultTooLarge
from .functions import FULL_TEXT_FUNCTIONS
from .tokens import unquoted, words

SEARCH_LENGTH = 1_000
"""Characters that may be searched for in a full-text table."""

COMPARED_LENGTH = 8_000
"""Bytes of a value where one may be searched for in a way that can't be told from a comparison."""

_CONTINUED = frozenset("|-+*/%&<>")
_SIGNS = frozenset("|-+*/%&<>=!,(.~")
_BEFORE_NAME = frozenset(
    "select distinct from join where and or on having case when then else as".split()  # noqa: SIM905
)
_BEFORE_BY = frozenset({"order", "group", "partition"})
_CLAUSES = frozenset({"select", "from", "where", "group", "having", "order", "on", "limit", "values", "window"})


def compares_full_text(read: list[str], searched: Collection[str]) -> bool:
    """Whether a statement may search for a value that nobody can see in it: most searches are a single step.

    Args:
        read: The statement's words.
        searched: The names of the database's full-text tables, in lower case.

    Raises:
        QueryRejected: What MATCH, or a full-text table in the form of a function, searches for is not written out.
        ResultTooLarge: It is too long.
    """
    if not searched:
        return False
    named = False
    for position, (word, following) in enumerate(pairwise(read)):
        called = (
            following == "("
            and unquoted(word) in ("match", *searched)
            and (not (position and read[position - 1] in ("with", "recursive")))
        )
        if called or (word == "match" and _is_operator(read, position)):
            start = position + (2 if following == "(" else 1)
            named |= _check_searched(read[start : start + 2])
    return named or _is_compared(read, searched)


def _is_operator(read: list[str], position: int) -> bool:
    """Whether MATCH stands between two operands; where a name has to stand, it is one."""
    before = read[position - 1] if position else ""
    ordered = before == "by" and position > 1 and read[position - 2] in _BEFORE_BY
    defined = position + 1 < len(read) and read[position + 1] == "as"
    return not (defined or ordered or not before or before in _BEFORE_NAME or before in _SIGNS)


def _check_searched(text: list[str]) -> bool:
    """Whether it is a name in double quotes, which stands for a text where there is no such column."""
    if not text or text[0][0] not in "'\"" or (len(text) > 1 and text[1][0] in _CONTINUED):
        raise QueryRejected("write what to search for in a full-text table as one text in single quotes after MATCH")
    if len(text[0]) > SEARCH_LENGTH:
        raise ResultTooLarge(
            f"the text to search for has {len(text[0]):,} characters: it may have {SEARCH_LENGTH:,} after MATCH"
        )
    return text[0][0] == '"'


def _is_compared(read: list[str], searched: Collection[str]) -> bool:
    """Whether a full-text table's name stands for its hidden column somewhere: FTS5 searches there with = as well."""
    clauses = [""]
    for position, word in enumerate(read):
        if word == "(":
            clauses.append("")
        elif word == ")" and len(clauses) > 1:
            clauses.pop()
        elif word == "join" or word in _CLAUSES:
            clauses[-1] = "from" if word == "join" else word
        elif unquoted(word) in searched and clauses[-1] != "from":
            argument = (
                position > 1 and read[position - 1] == "(" and unquoted(read[position - 2]) in FULL_TEXT_FUNCTIONS
            )
            following = read[position + 1] if position + 1 < len(read) else ""
            if not (argument or following in (".", "match", "(")):
                return True
    return False


MANY = 1_000_000_000
"""What is counted no further."""

_BEFORE_TABLE = frozenset({"from", "join", ",", "(", "in", "."})


@dataclass(eq=False)
class _Body:
    """What a query in brackets holds itself: how often the word that is counted, and which names it mentions."""

    own: int = 0
    mentions: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: _Body) -> None:
        self.own += other.own
        self.mentions.update(other.mentions)


def expanded(read: list[str], counted: str) -> int:
    """How often a word occurs in a statement once its common table expressions are written out, at most `MANY`.

    SQLite compiles such an expression anew for every mention of it, so that a few lines can take hours to compile; and
    what it compiles, it can't be interrupted in.

    Expressions that share a name count as one, and those that mention each other in a cycle as `MANY`: rather too
    much than too little.
    """
    places = _defined(read)
    declared = frozenset(places.values())
    defined = {opening: unquoted(read[place]) for opening, place in places.items()}
    bodies: dict[str, _Body] = {name: _Body() for name in defined.values()}
    whole = _Body()
    enclosing = [whole]
    names: list[str] = []
    for position, word in enumerate(read):
        if word == "(":
            names.append(defined.get(position, ""))
            enclosing.append(_Body())
        elif word == ")" and names:
            name, body = names.pop(), enclosing.pop()
            (bodies[name] if name else enclosing[-1]).add(body)
        elif word == counted:
            enclosing[-1].own += 1
        elif position not in declared and read[position - 1] in _BEFORE_TABLE and unquoted(word) in bodies:
            enclosing[-1].mentions[unquoted(word)] += 1
    for body in enclosing[1:]:
        whole.add(body)
    return min(MANY, sum(body.own for body in bodies.values()) + _written_out(whole, bodies))


def _written_out(whole: _Body, bodies: dict[str, _Body]) -> int:
    graph = {name: set(body.mentions) - {name} for name, body in bodies.items()}
    sizes: dict[str, int] = {}
    try:
        for name in TopologicalSorter(graph).static_order():
            sizes[name] = _size(bodies[name], name, sizes)
    except CycleError:
        return MANY
    return _size(whole, "", sizes)


def _size(body: _Body, name: str, sizes: dict[str, int]) -> int:
    mentioned = sum(number * sizes[other] for other, number in body.mentions.items() if other != name)
    return min(MANY, body.own + mentioned)


def _defined(read: list[str]) -> dict[int, int]:
    """Where the bodies of common table expressions open, and where their names stand."""
    defined: dict[int, int] = {}
    opened: list[int] = []
    opening: dict[int, int] = {}
    for position, word in enumerate(read):
        if word == "(":
            opened.append(position)
            before = position - 1
            if before > 0 and read[before] == "materialized":
                before -= 2 if read[before - 1] == "not" else 1
            if before > 0 and read[before] == "as":
                name = before - 1
                name = opening.get(name, 0) - 1 if read[name] == ")" else name
                if name >= 0:
                    defined[position] = name
        elif word == ")" and opened:
            opening[position] = opened.pop()
    return defined


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
