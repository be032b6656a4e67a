"""Keeping full-text searches short: what is searched for is parsed, and mostly searched, in a single step."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from ...errors import QueryRejected, ResultTooLarge
from .functions import FULL_TEXT_FUNCTIONS
from .tokens import unquoted

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
    """Whether a statement may search for a value that nobody can see in it.

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
        called = following == "(" and unquoted(word) in ("match", *searched) and _is_call(read, position)
        if called or (word == "match" and _is_operator(read, position)):
            start = position + (2 if following == "(" else 1)
            named |= _check_searched(read[start : start + 2])
    return named or _is_compared(read, searched)


def _is_call(read: list[str], position: int) -> bool:
    """Whether a name before a bracket is no table's with a list of columns, as in WITH."""
    return not (position and read[position - 1] in ("with", "recursive"))


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
