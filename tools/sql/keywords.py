"""Names and texts as regular SQL writes them."""

from __future__ import annotations

from ..database.quoting import Naming, naming

_BACKSLASH = frozenset({"mysql", "bigquery", "spark", "clickhouse"})
"""Dialects whose string literals have escapes."""

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
    return naming("sqlite").key(name)


def squeeze(text: str) -> str:
    """Text to compare with, whatever its spacing and case."""
    return "".join(fold(text).split())


def quote_name(key: str, rules: Naming) -> str:
    """A name as regular SQL writes it: in quotes only where it needs them, keywords of SQLite always.

    Args:
        key: As `Naming.key` gives it.
        rules: Of the dialect.
    """
    if key.lower() in KEYWORDS or not rules.is_plain(key):
        return rules.quoted(key)
    return key.lower() if rules.case == "upper" else key


def quote_text(text: str, dialect: str = "sqlite") -> str:
    """A string literal."""
    if dialect in _BACKSLASH:
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"
