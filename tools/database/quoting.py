"""Names in SQL: how each dialect compares, reserves and quotes them."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Case = Literal["ignored", "lower", "upper", "exact"]
"""What an unquoted name means: any spelling, its lower or upper case, or just what is written."""

ENGINE_NAMES = {
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "mysql": "MySQL",
    "spark": "Spark",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "trino": "Trino",
    "clickhouse": "ClickHouse",
}
"""What the engines of each dialect are called."""

_CASE: dict[str, Case] = {"postgres": "lower", "snowflake": "upper", "clickhouse": "exact"}
_TABLES_EXACT = frozenset({"mysql", "bigquery", "clickhouse"})
_BACK_TICKS = frozenset({"mysql", "spark", "bigquery"})
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN: dict[Case, re.Pattern[str]] = {
    "ignored": re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z"),
    "lower": re.compile(r"[a-z_][a-z0-9_]*\Z"),
    "upper": re.compile(r"[A-Z_][A-Z0-9_]*\Z"),
    "exact": re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z"),
}

# What SQLite cannot do without quotes; the engine takes its other keywords as names.
_SQLITE_RESERVED = frozenset(
    """add all alter and as autoincrement between case check collate commit constraint create default deferrable delete
    distinct drop else escape except exists foreign from group having if in index insert intersect into is isnull join
    limit not notnull null on or order primary references select set table then to transaction union unique update
    using values when where""".split()  # noqa: SIM905 - read as a sentence
)
# PostgreSQL's manual, appendix C: reserved, and reserved but for functions and types.
_POSTGRES_RESERVED = frozenset(
    """all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
    column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
    from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
    localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
    returning right select session_user similar some symmetric system_user table tablesample then to trailing true
    union unique user using variadic verbose when where window with""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Naming:
    """The rules of names in one dialect.

    Attributes:
        dialect: By sqlglot's name.
        mark: The character that names are quoted with.
        case: What an unquoted name means.
        tables_exact: Whether tables' names keep their spelling even where that of columns does not count.
        reserved: Words, in lower case, that are no names unless they are quoted.
    """

    dialect: str
    mark: str
    case: Case
    tables_exact: bool
    reserved: frozenset[str]

    def key(self, name: str, in_quotes: bool = True) -> str:
        """What names are compared by: two that mean the same thing have the same key.

        Args:
            name: As written, without quotes; as declared for the name of a table or column in a schema.
            in_quotes: Whether it stands in quotes, as a declared name would have to.
        """
        if self.case == "ignored" or (self.case == "lower" and not in_quotes):
            return name.translate(_ASCII_LOWER)
        return name.upper() if self.case == "upper" and not in_quotes else name

    def quoted(self, name: str) -> str:
        """A name in quotes."""
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def is_plain(self, name: str) -> bool:
        """Whether a query may write a declared name without quotes."""
        return _PLAIN[self.case].match(name) is not None and name.lower() not in self.reserved

    def written(self, name: str) -> str:
        """A declared name as a query has to write it: in quotes only where it needs them."""
        return name if self.is_plain(name) else self.quoted(name)


@lru_cache(maxsize=64)
def naming(dialect: str = "sqlite") -> Naming:
    """The rules of a dialect's names; for one that is not known, those of a dialect that ignores case."""
    mark = "`" if dialect in _BACK_TICKS else '"'
    return Naming(dialect, mark, _CASE.get(dialect, "ignored"), dialect in _TABLES_EXACT, _reserved(dialect))


def quoted(name: str, dialect: str = "sqlite") -> str:
    """A name as an SQL identifier in quotes."""
    return naming(dialect).quoted(name)


def literal(text: str) -> str:
    """A text as an SQL literal, where a backslash is a character like others."""
    return "'" + text.replace("'", "''") + "'"


def engine_name(dialect: str) -> str:
    """What people call the engines that read a dialect."""
    return ENGINE_NAMES.get(dialect, dialect or "the database")


def _reserved(dialect: str) -> frozenset[str]:
    if dialect == "sqlite":
        return _SQLITE_RESERVED
    # sqlglot takes a while to import, and whoever only reads SQLite has no need of it here.
    from sqlglot.dialects.dialect import Dialect

    known = Dialect.get(dialect)
    listed: set[str] = known.generator_class.RESERVED_KEYWORDS if known is not None else set()
    return _SQLITE_RESERVED | _POSTGRES_RESERVED | {word.lower() for word in listed}
