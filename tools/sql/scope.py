"""Scopes of a query: its SELECTs, their sources, references, and facts about single nodes.

They are shared by all readers of a statement, so that only `resolve` fills them in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
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


READ_KINDS: tuple[ReferenceKind, ...] = ("column", "alias", "rowid", "string", "star", "output")
"""Kinds of which it is known what they read."""

_NONE: Mapping[str, Any] = MappingProxyType({})

_FILTERING = ("", "INNER", "CROSS", "STRAIGHT_JOIN", "SEMI")
"""Joins whose ON every row fulfils."""


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A source of a FROM clause: a table, CTE, sub-query or table function."""

    name: str  # the name by which columns are qualified, folded; empty for a sub-query without alias
    base_name: str  # the table's or CTE's own name, folded; empty for a sub-query
    # The schema's table; None for a CTE, sub-query, table function, or a table that the schema lacks.
    table: TableSchema | None
    columns: Mapping[str, str] | None  # folded name to name as declared; None where they are not known
    node: exp.Expr  # the expression in FROM
    known: bool = True  # False for a table name that is neither in the schema nor a CTE
    query: exp.Expr | None = None  # the sub-query or CTE behind it
    join: exp.Join | None = None  # the join that brought it in; None for the first
    optional: bool = False  # whether rows of FROM may lack it, such as after a LEFT JOIN
    # Folded names of columns merged with those of sources before it (USING, NATURAL).
    using: frozenset[str] = frozenset()
    # Folded names of columns that another source's stand for where no table is named.
    merged: frozenset[str] = frozenset()
    # Each of these columns, with the source whose column it must equal.
    using_partners: tuple[tuple[str, QuerySource], ...] = ()
    texts: frozenset[str] = frozenset()  # texts, lower case and without blanks, of result columns that have no name
    # The table's columns by the names that the alias gives them, as in `AS t (a, b)`.
    column_aliases: Mapping[str, str] = field(default_factory=lambda: _NONE)

    def get_declared_column_name(self, column: str) -> str:
        """Return the declared name of a column that an alias of the table may rename."""
        return self.column_aliases.get(column, column)

    @property
    def unqualified_columns(self) -> Set[str]:
        """The folded names of the columns that mean this source even without a table name."""
        return (self.columns or {}).keys() - self.merged

    @property
    def side(self) -> str:
        """The side of the join that adds this source: LEFT, RIGHT, FULL, or empty."""
        return self.join.side if self.join is not None else ""

    @property
    def is_filtering(self) -> bool:
        """Whether all rows of FROM meet the ON of the join that adds this source."""
        return self.join is not None and not self.optional and self.join.side + self.join.kind in _FILTERING

    @property
    def identifier(self) -> exp.Expr:
        """The expression of the name that qualifies columns of this source."""
        alias = self.node.args.get("alias")
        return alias.this if alias and alias.this else self.node.this

    @property
    def table_names(self) -> tuple[str, str]:
        """The lower-case name of a table, with schema and without; the alias of a sub-query."""
        parts = (self.node.parts if isinstance(self.node, exp.Table) else []) or [self.identifier]
        return ".".join(part.name.lower() for part in parts), parts[-1].name.lower()

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
        return self.has_right_or_full_join or source.optional

    def is_merged_column(self, column: str) -> bool:
        """Whether a RIGHT or FULL join merges a USING column from both sides."""
        return self.has_right_or_full_join and any(column in source.using for source in self.sources)

    def is_full_join_key(self, node: exp.Column) -> bool:
        """Whether a column is named without a table and merged by a FULL join with USING."""
        is_full = not node.table and any(source.side == "FULL" for source in self.sources)
        return is_full and self.is_merged_column(fold(node.name))


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


SETS = (exp.Explode, exp.ExplodingGenerateSeries, exp.Unnest, exp.UDTF)
_ROW_FUNCTIONS = re.compile(
    r"^(unnest|flatten|generate_|explode|inline|regexp_matches|range$)|_(each|keys|elements|to_table|recordset|array_text)",
    re.IGNORECASE,
)

_UNTYPED_AGGREGATES = frozenset({"total", "string_agg", "median", "percentile", "percentile_cont", "percentile_disc"})


def is_aggregate_call(node: exp.Expr) -> bool:
    """Whether an expression is an aggregate call, even of a function unknown to sqlglot."""
    is_untyped = isinstance(node, exp.Anonymous) and node.name.lower() in _UNTYPED_AGGREGATES
    return is_untyped or isinstance(node, exp.AggFunc)


def returns_several_rows(node: exp.Expr) -> bool:
    """Whether a function call returns several rows for one input row."""
    return isinstance(node, SETS) or (isinstance(node, exp.Anonymous) and bool(_ROW_FUNCTIONS.search(node.name)))


def get_argument(aggregate: exp.Expr) -> exp.Expr | None:
    """Return the argument of an aggregate call, even of an unknown one, without a DISTINCT."""
    node = next(iter(aggregate.expressions), None) if isinstance(aggregate, exp.Anonymous) else aggregate.this
    return node.expressions[0] if isinstance(node, exp.Distinct) and len(node.expressions) == 1 else node


def split_at_and(condition: exp.Expr | None) -> list[exp.Expr]:
    """Split a condition or clause into the parts that AND connects; [] for None."""
    parts: list[exp.Expr] = []
    stack = [condition] if condition is not None else []
    while stack:
        part = stack.pop().unnest()
        if isinstance(part, exp.Where | exp.Having | exp.Qualify):
            stack.append(part.this)
        elif isinstance(part, exp.And):
            stack += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def get_join_conditions(source: QuerySource) -> list[exp.Expr]:
    """Return the conditions of the ON clause that joins a source, split at AND."""
    return split_at_and(source.join and source.join.args.get("on"))


def get_limit_count(query: exp.Expr) -> exp.Expr | None:
    """Return the row count in LIMIT or FETCH FIRST, or None."""
    limit = query.args.get("limit")
    return limit and (limit.args.get("expression") or limit.args.get("count"))


def write_without_tables(node: exp.Expr) -> str:
    """Write an expression as SQL without table names, needless parentheses and quotes."""
    copy = node.unnest().copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    for table in copy.find_all(exp.Table):
        table.set("alias", None)
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("quoted", False)
        identifier.set("this", str(identifier.this).lower())
    for inner in list(copy.find_all(exp.Paren)):
        if isinstance(inner.this, exp.Column | exp.Literal):
            inner.replace(inner.this)
    return copy.sql()


def select_from(source: exp.Expr, *outputs: exp.Expr) -> exp.Select:
    """Return a SELECT of the given expressions from a source; neither is copied."""
    return exp.select(*outputs, copy=False).from_(source, copy=False)


def copy_source_node(source: QuerySource) -> exp.Expr:
    node = source.node.copy()
    node.set("joins", None)
    return node


def copy_select_with_outputs(select: exp.Select, outputs: Sequence[exp.Expr]) -> exp.Select:
    """Return a SELECT with the same FROM and WHERE and other outputs, named `c0`, `c1` etc."""
    bare = exp.Select(expressions=[exp.alias_(output, f"c{place}") for place, output in enumerate(outputs)])
    for part in ("from_", "joins", "where"):
        value = select.args.get(part)
        bare.set(part, [item.copy() for item in value] if isinstance(value, list) else value and value.copy())
    return bare


def restrict_aggregates(tree: exp.Expr, condition: exp.Expr) -> bool:
    """Make aggregates count only rows that meet a condition; return whether any exist."""
    aggregates = [node for node in tree.find_all(exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None]
    for node in aggregates:
        value = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        argument = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
        value.replace(exp.Case().when(condition.copy(), argument))
    return bool(aggregates)


def normalize_constant_text(text: str) -> str:
    """Return a text constant case-folded, without wildcards and spaces at the ends."""
    return text.strip("% ").casefold()


def find_counted_conditions(inner: exp.Expr, select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions on rows in an aggregate: of CASE or IF, or a summed condition."""
    inner = inner.unnest()
    if isinstance(inner, exp.Predicate | exp.Connector):
        yield inner
    for branch in inner.find_all(exp.If):
        if branch.find_ancestor(exp.Select) is select:
            simple = isinstance(branch.parent, exp.Case) and branch.parent.this is not None
            yield from [branch.parent] if simple and branch.parent else split_at_and(branch.this)


def is_source_key_bound(source: QuerySource, bound: Collection[SourceColumn]) -> bool:
    """Whether the bound columns include the whole key of a source."""
    key = source.table.key if source.table is not None else ()
    return bool(key) and all((id(source), fold(column)) in bound for column in key)
