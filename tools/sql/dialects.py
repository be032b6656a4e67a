"""Rules of dialects for reading queries, and the spelling of names and texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from ..database.dialects import grammar_of
from ..database.quoting import Naming, engine_name, naming_of
from ..database.schema import Schema
from ..words import listed_words

Clause = Literal["select", "from", "where", "group", "having", "order", "window", "limit"]

_EVERYWHERE: frozenset[Clause] = frozenset({"select", "from", "where", "group", "having", "order", "window", "limit"})

_BACKSLASH = frozenset({"mysql", "bigquery", "spark", "clickhouse"})
"""Dialects whose string literals have escapes."""

KEYWORDS = listed_words(
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
class Rules:
    """The rules by which one dialect reads a query."""

    name: str  # by sqlglot's name
    engine: str  # what its engines are called
    naming: Naming  # how it compares and quotes names
    grammar: Dialect  # sqlglot's tokenizer, parser and generator
    words_as_text: bool = False  # whether a double-quoted word that names no column is a text
    expressions_as_names: bool = True  # whether a result column without a name is named by its expression's text
    hidden: frozenset[str] = frozenset()  # folded names of columns that every table has, but no schema lists
    aliases: frozenset[Clause] = _EVERYWHERE  # clauses in which a result column's alias may be used
    system: tuple[str, ...] = ()  # how names of tables begin that every database has
    loose_groups: bool = False  # whether columns may stand beside aggregates without being grouped by
    loose_types: bool = False  # whether text may be compared with numbers, and added up

    def key(self, identifier: exp.Expr | None) -> str:
        """Return the key by which a written name is compared; empty for None."""
        if identifier is None:
            return ""
        return self.naming.key(identifier.name, in_quotes=bool(identifier.args.get("quoted")))

    def spell_name(self, name: str) -> str:
        """Return a declared name as advice spells it."""
        return name if self.is_sqlite else self.naming.write_name(name)

    def spell_table(self, table: str, schema: Schema) -> str:
        """Return a table's name as advice spells it."""
        return ".".join(map(self.spell_name, schema.path(table)))

    @property
    def is_sqlite(self) -> bool:
        """Whether the dialect is SQLite's."""
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
def rules_of(dialect: str = "sqlite") -> Rules:
    """Return the rules of a dialect; standard SQL if it is unknown."""
    return Rules(dialect, engine_name(dialect), naming_of(dialect), grammar_of(dialect), **_RULES.get(dialect, {}))


def fold(name: str) -> str:
    """Return the name in lower case as SQLite compares names, ASCII letters only."""
    return naming_of("sqlite").key(name)


def squeeze(text: str) -> str:
    """Return a text without spacing and case, for comparisons."""
    return "".join(fold(text).split())


def quote_name(key: str, rules: Naming) -> str:
    """Return a name's key as regular SQL spells it, quoted only if it needs quotes."""
    if key.lower() in KEYWORDS or not rules.is_plain(key):
        return rules.quote(key)
    return key.lower() if rules.case == "upper" else key


def quote_text(text: str, dialect: str = "sqlite") -> str:
    """Write a text as a string literal."""
    if dialect in _BACKSLASH:
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"
