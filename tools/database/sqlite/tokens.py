"""A statement's words as SQLite would see them.

A full SQL parser is of no use for checks that guard something: where it reads a comment or a quote differently than
SQLite does, a statement can be written that passes the check and does something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

# Texts, quoted names, comments, words and signs, by the rules of SQLite's own tokenizer. Every character beyond ASCII
# may be part of a word, but a byte order mark that doesn't continue one is a space, as in `using <BOM>(`.
_TOKEN = re.compile(
    r"""('(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z))
    |--[^\n]*|/\*.*?(?:\*/|\Z)|\ufeff|([A-Za-z0-9_$\x80-\U0010ffff]+|\S)""",
    re.DOTALL | re.VERBOSE,
)
_BEFORE_TABLE = frozenset({"from", "join", "in", ",", "(", "."})


def words(sql: str) -> list[str]:
    """Words, signs, and texts and names in their quotes, in lower case; comments and spaces are left out."""
    return [(quoted or plain).lower() for quoted, plain in _TOKEN.findall(sql) if quoted or plain]


def tokens(sql: str) -> Iterator[tuple[int, int, str]]:
    """As `words`, each with where it starts and ends."""
    for found in _TOKEN.finditer(sql):
        if word := found[1] or found[2]:
            yield found.start(), found.end(), word.lower()


def name_length(sql: str) -> int:
    """How many characters the name takes that a text begins with."""
    found = _TOKEN.match(sql)
    return found.end() if found else 0


def first_word(read: list[str]) -> str:
    """The word that says what kind of statement this is; empty if there is none."""
    return next((word for word in read if word != ";"), "")


def names_after_using(read: list[str]) -> Iterator[str]:
    """The columns that JOIN ... USING names."""
    inside = False
    for before, word in pairwise(read):
        inside = (inside or (before == "using" and word == "(")) and word != ")"
        if inside:
            yield unquoted(word)


def named_tables(sql: str) -> Iterator[str]:
    """Every name in a statement that could be a table's, without quotes and in lower case, and rather too many.

    A text stands for a table's name where one has to stand, and only there: elsewhere it is a value.
    """
    before = ""
    for word in words(sql):
        if word[0] != "'" or before in _BEFORE_TABLE:
            yield unquoted(word)
        before = word


def unquoted(word: str) -> str:
    """A name without its quotes.

    A text may stand for a name: SQLite takes 'city' for a column where only a column makes sense.
    """
    if word[0] in "\"'`":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word[1:-1] if word[0] == "[" else word
