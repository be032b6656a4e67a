"""Names as SQLite reads and writes them."""

from __future__ import annotations

import re
import string

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")

KEYWORDS = frozenset(
    """abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade
    case cast check collate column commit conflict constraint create cross current current_date current_time
    current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape
    except exclude exclusive exists explain fail filter first following for foreign from full generated glob group
    groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key
    last left like limit match materialized natural no not nothing notnull null nulls of offset on or order others
    outer over partition plan pragma preceding primary query raise range recursive references regexp reindex release
    rename replace restrict returning right rollback row rows savepoint select set table temp temporary then ties to
    transaction trigger unbounded union unique update using vacuum values view virtual when where window with
    without""".split()  # noqa: SIM905 - a hundred and fifty quoted words read worse
)
"""SQLite's keywords, lower case. A name among them is quoted, also where SQLite would let it pass."""


def fold(name: str) -> str:
    """Lower case as SQLite compares names: ASCII letters only."""
    return name.translate(_ASCII_LOWER)


def squeeze(text: str) -> str:
    """Text to compare with, whatever its spacing and case."""
    return "".join(fold(text).split())


def quote_name(name: str) -> str:
    """A name as regular SQL writes it: lower case, in double quotes only where it needs them."""
    folded = fold(name)
    if _PLAIN.match(folded) and folded not in KEYWORDS:
        return folded
    return '"' + folded.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"
