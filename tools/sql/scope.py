"""Scopes of a query: its SELECTs, their sources, and resolved references.

They are shared by all readers of a statement, so that only `resolve` fills them in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from sqlglot import exp

from ..database.schema import TableSchema
from ..derived import locked_cached_property
from .dialects import Clause, DialectRules, fold

SourceColumn = tuple[int, str]
"""A source's identity and a folded column name."""

ReferenceKind = Literal[
    "column",
    "alias",
    "output",
    "rowid",
    "string",
    "star",
    "open",
    "text_name",
    "unknown",
    "ambiguous",
    "unknown_source",
]
"""What a column expression turned out to be.

- `column`: a column of its source; `star`: `table.*`; `rowid`: a column that no schema lists, as SQLite's unseen key.
- `alias`: a result column's alias; `output`: a result column of a compound query, in its ORDER BY.
- `string`: a double-quoted word that is no column, where the dialect takes that for a text.
- `open`: it may belong to a source whose columns are not known.
- `text_name`: a sub-query's column that has no name but its expression's text, as in `"count(*)"`.
- `unknown`, `ambiguous`, `unknown_source`: the database refuses it.
"""


_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A source of a FROM clause: a table, CTE, sub-query or table function."""

    name: str  # the name by which columns are qualified, folded; empty for a sub-query without alias
    own: str  # the table's or CTE's own name, folded; empty for a sub-query
    # The schema's table; None for a CTE, sub-query, table function, or a table that the schema lacks.
    table: TableSchema | None
    columns: Mapping[str, str] | None  # folded name to name as declared; None where they are not known
    node: exp.Expr  # the expression in FROM
    known: bool = True  # False for a table name that is neither in the schema nor a CTE
    query: exp.Expr | None = None  # the sub-query or CTE behind it
    join: exp.Join | None = None  # the join that brought it in; None for the first
    # Folded names of columns merged with those of sources before it (USING, NATURAL).
    using: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()  # texts, lower case and without blanks, of result columns that have no name
    # The table's columns by the names that the alias gives them, as in `AS t (a, b)`.
    renamed: Mapping[str, str] = field(default_factory=lambda: _NONE)

    def get_declared_column_name(self, column: str) -> str:
        """Return the declared name of a column that an alias of the table may rename."""
        return self.renamed.get(column, column)

    @property
    def side(self) -> str:
        """The side of the join that adds this source: LEFT, RIGHT, FULL, or empty."""
        return self.join.side if self.join is not None else ""

    @property
    def label(self) -> str:
        """The name that qualifies columns of this source, as the query spells it."""
        return self.node.alias_or_name or "the sub-query"


@dataclass(frozen=True, eq=False)
class Scope:
    """The scope of a SELECT, with its sources, aliases and output names."""

    select: exp.Select
    parent: Scope | None  # the enclosing SELECT, where names are looked up next; None at the top
    sources: tuple[QuerySource, ...] = ()  # in FROM order
    # Folded result aliases and their expressions.
    aliases: Mapping[str, exp.Expr] = field(default_factory=lambda: _NONE)
    # Result column names, None for one that has none; None altogether if not known.
    outputs: tuple[str | None, ...] | None = None

    @locked_cached_property
    def nodes(self) -> tuple[exp.Expr, ...]:
        """The expressions in the SELECT, without those in sub-queries."""
        return tuple(self.select.walk(prune=lambda node: node is not self.select and isinstance(node, exp.Select)))

    @property
    def tables(self) -> list[tuple[QuerySource, TableSchema]]:
        """The sources that are tables of the schema, each with the table's schema."""
        return [(source, source.table) for source in self.sources if source.table is not None]

    @property
    def has_only_listed_sources(self) -> bool:
        """Whether all rows of FROM come from `sources`: no table-valued function, no LATERAL."""
        joins = self.select.args.get("joins") or ()
        return len(self.sources) == len(joins) + 1 and not self.select.args.get("laterals")

    @property
    def has_right_or_full_join(self) -> bool:
        """Whether a RIGHT or FULL join keeps rows without a match in earlier sources."""
        return any(source.side in ("RIGHT", "FULL") for source in self.sources)

    def is_source_optional(self, source: QuerySource) -> bool:
        """Whether rows of FROM may lack a source, such as after a LEFT JOIN."""
        return self.has_right_or_full_join or bool(source.side)

    def is_merged_column(self, column: str) -> bool:
        """Whether a RIGHT or FULL join merges a USING column from both sides."""
        return self.has_right_or_full_join and any(column in source.using for source in self.sources)


def iterate_enclosing_scopes(scope: Scope | None) -> Iterator[Scope]:
    """Yield a scope and the scopes that enclose it, from the inside out."""
    while scope is not None:
        yield scope
        scope = scope.parent


@dataclass(frozen=True, eq=False)
class Reference:
    """A column expression of a query, with the source or alias that it refers to."""

    node: exp.Column
    scope: Scope | None  # the SELECT in which it stands; None in the ORDER BY of a compound
    clause: Clause
    kind: ReferenceKind
    owner: Scope | None = None  # the scope whose source or alias it names; an outer one for a correlated reference
    source: QuerySource | None = None
    column: str = ""  # the column's name as declared, or the name as written
    candidates: tuple[QuerySource, ...] = ()  # for `ambiguous`, the sources that hold it

    @property
    def place(self) -> SourceColumn:
        """The identity of the column: the id of the source and the folded column name."""
        return id(self.source), fold(self.column)


@dataclass(frozen=True)
class NameResolution:
    """All scopes and references of a query, in order."""

    scopes: tuple[Scope, ...]
    references: tuple[Reference, ...]
    rules: DialectRules
