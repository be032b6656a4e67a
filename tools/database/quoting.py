"""Names in SQL: how each dialect compares, reserves and quotes them."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal

Case = Literal["ignored", "lower", "upper", "exact"]
"""What an unquoted name means: any spelling, its lower or upper case, or just what is written."""

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class NamingRules:
    """The rules for names in one SQL dialect.

    Attributes:
        dialect: By sqlglot's name.
        mark: The character that names are quoted with.
        case: What an unquoted name means.
        tables_exact: Whether tables' names keep their spelling even where that of columns does not count.
        reserved_words: Words, in lower case, that are no names unless they are quoted.
    """

    dialect: str
    mark: str
    case: Case
    tables_exact: bool
    reserved_words: frozenset[str]

    def key(self, name: str, in_quotes: bool = True) -> str:
        """Return the key by which names are compared; names with equal keys are the same.

        A name is given without its quotes; one of a schema is compared as if it stood in them.
        """
        if self.case == "ignored" or (self.case == "lower" and not in_quotes):
            return name.translate(_ASCII_LOWER)
        return name.upper() if self.case == "upper" and not in_quotes else name

    def quote(self, name: str) -> str:
        """Return a name in the dialect's quotes."""
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def can_be_unquoted(self, name: str) -> bool:
        """Whether a query may write a declared name without quotes."""
        same_case = self.case == "ignored" or self.key(name, in_quotes=False) == name
        return same_case and _PLAIN_NAME.match(name) is not None and name.lower() not in self.reserved_words

    def quote_name_if_needed(self, name: str) -> str:
        """Return a declared name as SQL, in quotes if necessary."""
        return name if self.can_be_unquoted(name) else self.quote(name)

    def format_table_path(self, path: Iterable[str]) -> str:
        """Return a table's name as SQL, with the parts of its path joined by dots."""
        return ".".join(map(self.quote_name_if_needed, path))


@lru_cache(maxsize=64)
def get_naming_rules(dialect: str = "sqlite") -> NamingRules:
    """Return the naming rules of a dialect; an unknown dialect ignores case."""
    rules = _read_dialect_data().get(dialect, {})
    words = frozenset(_read_dialect_data()["sqlite"]["reserved"].split())
    if dialect != "sqlite":
        # sqlglot takes a while to import, and whoever only reads SQLite has no need of it here.
        from sqlglot.dialects.dialect import Dialect

        grammar = Dialect.get(dialect)
        keywords: set[str] = grammar.generator_class.RESERVED_KEYWORDS if grammar is not None else set()
        words = words.union(_read_dialect_data()["postgres"]["reserved"].split(), map(str.lower, keywords))
    exact = rules.get("tables_exact", False)
    return NamingRules(dialect, rules.get("mark", '"'), rules.get("case", "ignored"), exact, words)


def quote(name: str, dialect: str = "sqlite") -> str:
    """Return a name as an SQL identifier in quotes."""
    return get_naming_rules(dialect).quote(name)


def unquote(word: str) -> str:
    """Return a name without quotes, even single ones: SQLite takes 'city' for a column."""
    if word[0] in "\"'`":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word[1:-1] if word[0] == "[" else word


def literal(text: str) -> str:
    """Return a text as an SQL literal for dialects in which a backslash is a plain character."""
    return "'" + text.replace("'", "''") + "'"


def get_engine_name(dialect: str) -> str:
    """Return the usual name of the engines that use a dialect."""
    return _read_dialect_data().get(dialect, {}).get("engine") or dialect or "the database"


@cache
def _read_dialect_data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__ or "").joinpath("data", "names.toml").read_text(encoding="utf-8"))
