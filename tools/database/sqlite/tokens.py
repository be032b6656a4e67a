"""A statement's words as SQLite reads them.

A full SQL parser is of no use for checks that guard something: where it reads a comment or a quote differently than
SQLite does, a statement can be written that passes the check and does something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..quoting import unquote

# Texts, quoted names, comments, words and signs, by the rules of SQLite's own tokenizer. Every character beyond ASCII
# may be part of a word, but a byte order mark that doesn't continue one is a space, as in `using <BOM>(`.
_TOKEN = re.compile(
    r"""('(?:[^']|'')*(?:'|\Z)|"(?:[^"]|"")*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z))
    |--[^\n]*|/\*.*?(?:\*/|\Z)|\ufeff|([A-Za-z0-9_$\x80-\U0010ffff]+|\S)""",
    re.DOTALL | re.VERBOSE,
)
BEFORE_TABLE = frozenset({"from", "join", "in", ",", "(", "."})
"""Words and signs after which a table's name stands, among others."""


def split_words(sql: str) -> list[str]:
    """Return a statement's words, signs and quoted texts, in lower case, without comments."""
    return [(quotation or bare).lower() for quotation, bare in _TOKEN.findall(sql) if quotation or bare]


def find_words(sql: str) -> Iterator[tuple[int, int, str]]:
    """Yield the lower-case words of a statement, each with its start and end position."""
    for match in _TOKEN.finditer(sql):
        if word := match[1] or match[2]:
            yield match.start(), match.end(), word.lower()


def find_using_columns(tokens: list[str]) -> Iterator[str]:
    """Yield the column names in JOIN ... USING clauses."""
    inside = False
    for before, word in pairwise(tokens):
        inside = (inside or (before == "using" and word == "(")) and word != ")"
        if inside:
            yield unquote(word)


def find_possible_table_names(sql: str) -> Iterator[str]:
    """Yield the names in a statement that may be tables, unquoted and in lower case."""
    before = ""
    for word in split_words(sql):
        # A text stands for a table's name where one has to stand, and only there: elsewhere it is a value.
        if word[0] != "'" or before in BEFORE_TABLE:
            yield unquote(word)
        before = word
