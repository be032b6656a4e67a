"""Rules of dialects: how queries are read, names and texts spelled; notes for models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from ..database.dialects import get_sqlglot_dialect
from ..database.quoting import NamingRules, get_engine_name, get_naming_rules
from ..database.schema import Schema
from ..words import make_word_set

Clause = Literal["select", "from", "where", "group", "having", "order", "window", "limit"]

_EVERYWHERE: frozenset[Clause] = frozenset({"select", "from", "where", "group", "having", "order", "window", "limit"})

_BACKSLASH = frozenset({"mysql", "bigquery", "spark", "clickhouse"})
"""Dialects whose string literals have escapes."""

KEYWORDS = make_word_set(
    """abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade
    case cast check collate column commit conflict constraint create cross current current_date current_time
    current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape
    except exclude exclusive exists explain fail filter first following for foreign from full generated glob group
    groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join key
    last left like limit match materialized natural no not nothing notnull null nulls of offset on or order others
    outer over partition plan pragma preceding primary query raise range recursive references regexp reindex release
    rename replace restrict returning right rollback row rows savepoint select set table temp temporary then ties to
    transaction trigger unbounded union unique update using vacuum values view virtual when where window with
    without"""
)
"""SQLite's keywords, lower case. A name among them is quoted, also where SQLite would let it pass."""


@dataclass(frozen=True)
class DialectRules:
    """The rules by which a dialect reads names, aliases, groups and types in a query."""

    name: str  # by sqlglot's name
    engine: str  # what its engines are called
    naming: NamingRules  # how it compares and quotes names
    grammar: Dialect  # sqlglot's tokenizer, parser and generator
    words_as_text: bool = False  # whether a double-quoted word that names no column is a text
    expressions_as_names: bool = True  # whether a result column without a name is named by its expression's text
    hidden: frozenset[str] = frozenset()  # folded names of columns that every table has, but no schema lists
    aliases: frozenset[Clause] = _EVERYWHERE  # clauses in which a result column's alias may be used
    system: tuple[str, ...] = ()  # how names of tables begin that every database has
    loose_groups: bool = False  # whether columns may stand beside aggregates without being grouped by
    loose_types: bool = False  # whether text may be compared with numbers, and added up

    def key(self, identifier: exp.Expr | None) -> str:
        """Return the normalized name of an identifier, for comparison; empty for None."""
        if identifier is None:
            return ""
        return self.naming.key(identifier.name, in_quotes=bool(identifier.args.get("quoted")))

    def spell_name(self, name: str) -> str:
        """Return a declared name as it is spelled in suggestions to the user."""
        return name if self.is_sqlite else self.naming.quote_name_if_needed(name)

    def spell_table(self, table: str, schema: Schema) -> str:
        """Return a table's name as it is spelled in suggestions to the user."""
        return ".".join(map(self.spell_name, schema.path(table)))

    @property
    def is_sqlite(self) -> bool:
        """Whether the dialect is that of SQLite."""
        return self.name == "sqlite"


_RULES: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {
        "words_as_text": True,
        "hidden": frozenset({"rowid", "oid", "_rowid_"}),
        "aliases": _EVERYWHERE - {"select"},
        "system": ("sqlite_", "pragma_"),
        "loose_groups": True,
        "loose_types": True,
    },
    "postgres": {
        "expressions_as_names": False,
        "hidden": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
        "aliases": frozenset({"group", "order"}),
        "system": ("pg_",),
    },
    "mysql": {"aliases": frozenset({"group", "having", "order"}), "loose_groups": True, "loose_types": True},
    "duckdb": {"hidden": frozenset({"rowid"}), "system": ("duckdb_", "pragma_", "sqlite_", "pg_")},
}
"""By dialect: what differs from standard SQL, as it is read here."""


@lru_cache(maxsize=64)
def get_dialect_rules(dialect: str = "sqlite") -> DialectRules:
    """Return the rules of a dialect; standard SQL if it is unknown."""
    return DialectRules(
        dialect,
        get_engine_name(dialect),
        get_naming_rules(dialect),
        get_sqlglot_dialect(dialect),
        **_RULES.get(dialect, {}),
    )


def fold(name: str) -> str:
    """Return a name in lower case as SQLite compares names, ASCII letters only."""
    return get_naming_rules("sqlite").key(name)


def remove_spaces_and_case(text: str) -> str:
    """Return a text in lower case without whitespace, for comparison."""
    return "".join(fold(text).split())


def quote_regular_name(key: str, rules: NamingRules) -> str:
    """Return a normalized name as regular SQL spells it, quoted only if necessary."""
    if key.lower() in KEYWORDS or not rules.can_be_unquoted(key):
        return rules.quote(key)
    return key.lower() if rules.case == "upper" else key


def quote_string_literal(text: str, dialect: str = "sqlite") -> str:
    """Return a text as a string literal of the dialect."""
    if dialect in _BACKSLASH:
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


_POSTGRES = (
    "Names without quotes are read in lower case: write a name with capitals or blanks in double quotes. Text stands in"
    " single quotes only.",
    "Every column of SELECT, HAVING and ORDER BY is grouped by or aggregated; HAVING and WHERE know no aliases.",
    "Dates: extract(year FROM d), date_trunc('month', d), to_char(d, 'YYYY-MM'), d - interval '1 year', current_date;"
    " one date minus another is a number of days.",
    "Whole numbers divide to a whole number: write a::numeric / b for a fraction, and nullif(b, 0) against division by"
    " zero, which is an error.",
    "LIKE tells capitals from small letters: use ILIKE. Types are not converted: compare text with text, and cast.",
    "Text: a || b, string_agg(x, ', '), strpos(text, part), substring(text FROM 1 FOR 3).",
    "LIMIT n OFFSET m; FETCH FIRST n ROWS WITH TIES after ORDER BY keeps ties. NULLs sort last, with DESC first.",
)
_MYSQL = (
    "Names with blanks or that are keywords stand in `back-ticks`; text in single quotes. Tables' names may depend on"
    " case, columns' do not.",
    "Dates: year(d), month(d), date_format(d, '%Y-%m'), d - INTERVAL 1 YEAR, curdate(); datediff(a, b) is a number of"
    " days.",
    "a / b of whole numbers is a decimal number: a DIV b is the whole part. Division by zero gives NULL.",
    "Text: concat(a, b), for || means OR; group_concat(x SEPARATOR ', '), instr(text, part). = and LIKE mostly ignore"
    " case.",
    "There is no FULL JOIN, no FILTER, no NULLS LAST, no :: cast: use UNION of LEFT and RIGHT JOIN, CASE inside the"
    " aggregate, x IS NULL in ORDER BY, CAST.",
)
_MYSQL_ONLY = (
    "Every column of SELECT is grouped by or aggregated. LIMIT has no WITH TIES: compare rank() in a sub-query.",
)
_MARIADB_ONLY = (
    "A column of SELECT that is neither grouped by nor aggregated is of any row: leave none. LIMIT has no WITH TIES:"
    " compare rank() in a sub-query.",
)
_DUCKDB = (
    "Names ignore case; those with blanks or that are keywords stand in double quotes, text in single quotes.",
    "Every column of SELECT is grouped by or aggregated; GROUP BY ALL groups by all that are not aggregated.",
    "Dates: year(d), date_trunc('month', d), strftime(d, '%Y-%m'), d - INTERVAL 1 YEAR, current_date,"
    " date_diff('day', a, b).",
    "a / b is a fraction, also of whole numbers: a // b is the whole part.",
    "LIKE tells capitals from small letters: use ILIKE. Text: a || b, string_agg(x, ', '), strpos(text, part).",
    "QUALIFY filters window functions: with rank() it keeps ties that LIMIT cuts. arg_max(x, y) is the x of the row"
    " with the greatest y.",
)
_SPARK = (
    "Names ignore case; those with blanks or that are keywords stand in `back-ticks`. Double quotes are for text, as"
    " are single ones.",
    "Every column of SELECT is grouped by or aggregated; GROUP BY ALL groups by all that are not aggregated.",
    "Dates: year(d), date_trunc('MONTH', d), date_format(d, 'yyyy-MM'), add_months(d, -12), d - INTERVAL '1' YEAR,"
    " current_date(); datediff(later, earlier) is a number of days.",
    "a / b is a fraction, also of whole numbers: a DIV b is the whole part. Division by zero and casts of what is no"
    " number are errors: write try_divide(a, b) and try_cast(x AS INT).",
    "LIKE tells capitals from small letters: use ILIKE. Text: concat(a, b), listagg(x, ', '), instr(text, part).",
    "LIMIT has no WITH TIES: compare rank() in a sub-query. max_by(x, y) is the x of the row with the greatest y. NULLs"
    " sort first, with DESC last.",
    "Read as little as possible: name the columns, and filter by the columns that a table is partitioned by.",
)


def dialect_notes(dialect: str, version: str = "") -> tuple[str, ...]:
    """Return notes for a model on an engine's SQL: quoting, case, dates, division, ties.

    None for SQLite, and for engines of which nothing is written down. The engine's version tells MariaDB from MySQL.
    """
    if dialect == "mysql":
        return _MYSQL + (_MARIADB_ONLY if "mariadb" in version.lower() else _MYSQL_ONLY)
    return {"postgres": _POSTGRES, "duckdb": _DUCKDB, "spark": _SPARK}.get(dialect, ())
