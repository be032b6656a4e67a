"""The analysis of a statement: its tree, its resolved names, and what follows from them.

It knows the schema, and nothing of a question or of what a database holds. `Query.of` remembers its latest readings, so
that checks, readings, explanations and the like share one, and everything is derived only when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeVar

from sqlglot import exp

from ..database.dialects import REMEMBERED_LENGTH
from ..database.schema import ColumnSchema, Schema, TableSchema
from ..derived import LOCK, cache_in_first_argument, locked_cached_property
from .dialects import Clause, fold
from .parse import ParsedQuery, guard_nesting_depth, parse, return_default_if_unparsable
from .resolve import resolve
from .scope import (
    NameResolution,
    QuerySource,
    Reference,
    Scope,
    SourceColumn,
    find_counted_conditions,
    get_join_conditions,
    get_limit_count,
    is_aggregate_call,
    is_source_key_bound,
    iterate_enclosing_scopes,
    normalize_constant_text,
    split_at_and,
)

N = TypeVar("N", bound=exp.Expr)

ALL_COLUMNS = "*"
"""Stands for all columns of a table in `UsedSchemaItems.columns` (Track-SQL's all-column intent)."""

_ROLE_OF: Mapping[Clause, str] = {
    "select": "shown",
    "where": "filtered",
    "having": "filtered",
    "group": "grouped",
    "order": "ordered",
    "from": "joined",
}
ROLES = tuple(dict.fromkeys(_ROLE_OF.values()))  # what a query does with a column

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_VALUES = {"expression", "expressions", "low", "high"}  # where a condition has what a column is compared with
_RANKS = (exp.Order, exp.Max, exp.Min, exp.RowNumber, exp.All)
_COMPARED = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Like, exp.ILike)
_FIRST_ROWS = (exp.RowNumber, exp.Rank, exp.DenseRank)

ENDS: Mapping[str, type[exp.Expr]] = {"max": exp.Max, "min": exp.Min}  # the aggregates that give the extremes


@dataclass(frozen=True)
class TableColumn:
    """A column expression of a query that refers to a column of a table."""

    node: exp.Column
    clause: Clause
    scope: Scope  # the SELECT that reads the table; an enclosing one for a correlated reference
    source: QuerySource
    table: TableSchema
    schema: ColumnSchema

    @property
    def is_filtered_or_grouped(self) -> bool:
        """Whether the SELECT filters or groups by this column, apart from tests for NULL."""
        select, node = self.scope.select, self.node.parent
        if isinstance(node, exp.Is) or self.clause in ("where", "group"):
            return not isinstance(node, exp.Is)
        while node is not None and node is not select and not is_aggregate_call(node):
            node = node.parent
        return node is select and self.clause == "select" and select.args.get("group") is not None

    @property
    def is_primary_key(self) -> bool:
        """Whether this column alone is the primary key of the table."""
        return self.table.primary_key == (self.schema.name,)

    @property
    def item(self) -> tuple[str, str]:
        """The name of the table and the name of the column."""
        return self.table.name, self.schema.name

    @property
    def place(self) -> SourceColumn:
        """The identity of the column: the id of the source and the folded column name."""
        return id(self.source), fold(self.schema.name)


@dataclass(frozen=True)
class QueryCondition:
    """A single condition of a query, one of those that AND connects."""

    node: exp.Expr
    scope: Scope
    # Its clause; `counted` if an aggregate counts only rows that fulfil it.
    clause: Literal["where", "on", "qualify", "having", "counted"]
    source: QuerySource | None = None  # the source that its ON brought in

    @property
    def is_required(self) -> bool:
        """Whether every row must meet the condition: in WHERE, or in ON of an inner join."""
        return self.clause == "where" if self.source is None else self.source.is_filtering


@dataclass(frozen=True)
class UsedSchemaItems:
    """The tables and columns of the schema that a query uses."""

    tables: frozenset[str] = frozenset()  # names as the schema spells them
    # `(table, column)`; the column is `*` for `SELECT *` and `table.*` (not for `count(*)`).
    columns: frozenset[tuple[str, str]] = frozenset()
    roles: frozenset[tuple[str, str, str]] = frozenset()  # table, column and one of `ROLES`
    selects: int = 0  # how many SELECTs it has


@dataclass(frozen=True)
class QueryConstants:
    """The text and number constants of a query."""

    texts: frozenset[str] = frozenset()  # casefolded, without wildcards at their ends
    numbers: frozenset[str] = frozenset()  # as they are written

    def has_matching_constant(self, text: str) -> bool:
        """Whether a text equals a number, or contains or is part of one of the text constants."""
        text = text.casefold()
        return text in self.numbers or any(text in other or other in text for other in self.texts)


@dataclass(frozen=True, eq=False)
class Query(ParsedQuery):
    """A parsed query with its analysis. It may be shared: change a copy from `edit`.

    What it hands out cannot be changed, except the trees, which would be too slow to freeze: the tests look whether
    they are as they were parsed.
    """

    schema: Schema
    # With the node, so that no other one gets its number.
    _texts: dict[int, tuple[exp.Expr, str]] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(sql: str, dialect: str, schema: Schema | None = None) -> Query:
        """Return the cached analysis of a query; without a schema, no tables are known."""
        analyze = _read_cached if len(sql) <= REMEMBERED_LENGTH else _read_long_cached
        with LOCK:  # of threads that ask first for a text, one reads it
            return analyze(sql, dialect, None if schema is None else _SchemaKey(schema))

    def edit(self) -> QueryCopy:
        """Return a copy of the query that may be changed."""
        return QueryCopy(self)

    def text(self, node: exp.Expr) -> str:
        """Return an expression of the query as SQL text, cached."""
        if id(node) not in self._texts:
            self._texts[id(node)] = node, node.sql(dialect=self.rules.grammar)
        return self._texts[id(node)][1]

    @locked_cached_property
    def _nodes(self) -> tuple[exp.Expr, ...]:
        return tuple(self.tree.walk())

    def find(self, *kinds: type[N], within: exp.Expr | None = None) -> list[N]:
        """Return the expressions of these kinds in the statement or a part of it, outermost first."""
        return [node for node in (self._nodes if within is None else within.walk()) if isinstance(node, kinds)]

    # Names

    @locked_cached_property
    @guard_nesting_depth
    def resolution(self) -> NameResolution:
        """The scopes and the resolved column references of the query."""
        return resolve(self.tree, self.schema, self.rules)

    @cache_in_first_argument
    @guard_nesting_depth
    def resolve_among(self, tables: tuple[str, ...] = ()) -> tuple[Reference, ...]:
        """Return the outermost SELECT's references, as if the schema's tables were in its FROM.

        Columns of `tables` come before those of others. What is nothing by the dialect's rules is taken in any case.
        """

        def misfit(reference: Reference) -> tuple[bool, bool]:
            table = reference.source and reference.source.table
            return reference.kind != "column", table is None or table.name not in tables

        loose = replace(self.rules, naming=replace(self.rules.naming, case="ignored"))
        rules = dict.fromkeys((self.rules, loose))
        readings = (resolve(self.tree, self.schema, naming_rules, tables).references for naming_rules in rules)
        choices = (min(both, key=misfit) for both in zip(*readings, strict=True))
        by_node = {id(ref.node): ref for ref in choices if ref.scope is not None and ref.scope.select is self.tree}
        return tuple(by_node[id(node)] for node in self.find(exp.Column) if id(node) in by_node)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes of all SELECTs, those of a CTE before the queries that read the CTE."""
        return self.resolution.scopes

    @locked_cached_property
    def _references_by_node(self) -> dict[int, Reference]:
        return {id(reference.node): reference for reference in self.resolution.references}

    def reference(self, node: exp.Expr) -> Reference | None:
        """Return the resolved reference of a `Column` expression; None for other expressions."""
        return self._references_by_node.get(id(node))

    @locked_cached_property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns of tables that the query names, in order of reference."""
        columns: list[TableColumn] = []
        for reference in self.resolution.references:
            source, owner = reference.source, reference.owner
            if reference.kind == "column" and owner is not None and source is not None and source.table is not None:
                column = source.table.column(source.get_declared_column_name(reference.column))
                if column is not None:
                    columns.append(TableColumn(reference.node, reference.clause, owner, source, source.table, column))
        return tuple(columns)

    @locked_cached_property
    def _columns_by_node(self) -> dict[int, TableColumn]:
        return {id(c.node): c for c in self.columns if len(c.scope.sources) < 2 or not c.scope.is_full_join_key(c.node)}

    def column(self, node: exp.Expr | None) -> TableColumn | None:
        """Return the table column that an expression refers to; None if it is not a column."""
        return self._columns_by_node.get(id(node.unnest())) if node is not None else None

    def list_scope_columns(self, scope: Scope, within: exp.Expr | None = None) -> list[TableColumn]:
        """Return the columns that refer to sources of a SELECT, only those in `within` if given."""
        columns = self.columns if within is None else map(self.column, self.find(exp.Column, within=within))
        return [column for column in columns if column is not None and column.scope is scope]

    def find_sources(self, node: exp.Expr, scope: Scope) -> list[QuerySource]:
        """Return the sources of a SELECT that an expression names, with repetitions."""
        refs = map(self.reference, self.find(exp.Column, within=node))
        return [ref.source for ref in refs if ref is not None and ref.owner is scope and ref.source is not None]

    def map_visible_sources(self, node: exp.Expr) -> dict[str, tuple[QuerySource, bool]]:
        """Return the sources that an expression can name; True marks those of its own SELECT."""
        start = self.find_scope(node.parent_select or node)
        sources = [(source, scope is start) for scope in iterate_enclosing_scopes(start) for source in scope.sources]
        # An inner source hides those further out.
        return {source.name: (source, is_own) for source, is_own in reversed(sources) if source.name}

    def literal(self, node: exp.Expr) -> str | float | None:
        """Return the value of a text or number literal; None for any other expression."""
        node = node.unnest()
        if isinstance(node, exp.Neg):
            value = self.literal(node.this)
            return -value if isinstance(value, float) else None
        if node.is_string or isinstance(node, exp.RawString):
            return node.name
        if isinstance(node, exp.Literal):
            try:
                return float(node.name)
            except ValueError:
                return None
        reference = self.reference(node)
        return reference.column if reference is not None and reference.kind == "string" else None

    def list_column_comparisons(self, node: exp.Expr) -> list[tuple[TableColumn, exp.Expr]]:
        """Return pairs of a comparison's column and an expression that it is compared with."""
        column, others = self.column(node.this), [node.expression]
        if isinstance(node, exp.In):
            others = node.expressions
        elif isinstance(node, exp.Between):
            others = [node.args["low"], node.args["high"]]
        elif column is None:
            column, others = self.column(node.expression), [node.this]
        return [] if column is None else [(column, other) for other in others]

    @locked_cached_property
    def tables(self) -> Mapping[str, TableSchema]:
        """The schema's tables that the query reads, by name."""
        return MappingProxyType({table.name: table for scope in self.scopes for _, table in scope.tables})

    @locked_cached_property
    def usage(self) -> UsedSchemaItems:
        """The tables and columns that the query names, sub-queries included."""
        columns = {column.item for column in self.columns}
        stars = [reference.source for reference in self.resolution.references if reference.kind == "star"]
        for scope in self.scopes:
            if any(isinstance(item, exp.Star) for item in scope.select.expressions):
                stars += scope.sources
            # USING and NATURAL compare columns on both sides.
            for name in (name for source in scope.sources for name in source.using):
                columns_named = ((table, table.column(name)) for _, table in scope.tables)
                columns.update((table.name, column.name) for table, column in columns_named if column)
        columns.update((source.table.name, ALL_COLUMNS) for source in stars if source and source.table)
        roles = ((*column.item, _ROLE_OF[column.clause]) for column in self.columns if column.clause in _ROLE_OF)
        return UsedSchemaItems(frozenset(self.tables), frozenset(columns), frozenset(roles), len(self.scopes))

    @locked_cached_property
    def constants(self) -> QueryConstants:
        """The texts and numbers in the query's conditions."""
        literals = self.find(exp.Literal)
        texts = [str(literal.this) for literal in literals if literal.is_string]
        if self.rules.words_as_text:  # SQLite reads "Paris" as a text if there is no such column
            texts += [node.name for node in self.list_compared_words()]
        numbers = (str(literal.this) for literal in literals if not literal.is_string)
        plain = filter(None, map(normalize_constant_text, texts))
        return QueryConstants(frozenset(plain), frozenset(filter(_NUMBER.fullmatch, numbers)))

    def list_compared_words(self) -> list[exp.Column]:
        """Return the quoted words that columns are compared with; elsewhere they may be names."""
        operands = (node for node in self.find(exp.Column) if isinstance(node.parent, exp.Predicate))
        words = (node for node in operands if node.this.args.get("quoted") and not node.table)
        return [node for node in words if node.arg_key in _VALUES]

    # SELECTs and what belongs to them

    @locked_cached_property
    def _scopes_by_select(self) -> dict[int, Scope]:
        return {id(scope.select): scope for scope in self.scopes}

    def find_scope(self, select: exp.Expr) -> Scope | None:
        """Return the scope of a SELECT; None for any other expression."""
        return self._scopes_by_select.get(id(select))

    @locked_cached_property
    def nested_select_chain(self) -> tuple[Scope, ...]:
        """The outer SELECT, then each that is the only source of the previous; () for a UNION."""
        scopes: list[Scope] = []
        query: exp.Expr | None = self.tree
        while query is not None and (scope := self.find_scope(query.unnest())) is not None and scope not in scopes:
            scopes.append(scope)
            query = scope.sources[0].query if len(scope.sources) == 1 and scope.has_only_listed_sources else None
        return tuple(scopes)

    @property
    def result_scopes(self) -> list[Scope]:
        """The scopes of the SELECTs that produce the result, without those of unread CTEs."""
        scopes, trees = list[Scope](), [self.tree]
        for tree in trees:
            for node in tree.walk(prune=lambda node: isinstance(node, exp.CTE)):
                if (scope := self.find_scope(node)) is not None and scope not in scopes:
                    scopes.append(scope)
                    trees += [source.query for source in scope.sources if source.query is not None]
        return scopes

    def find_in(self, scope: Scope, *kinds: type[N]) -> list[N]:
        """Return the expressions of these kinds in a SELECT, without those in sub-queries."""
        return [node for node in scope.nodes if isinstance(node, kinds)]

    def ancestor(self, node: exp.Expr, *kinds: type[N]) -> N | None:
        """Return the nearest enclosing expression of these kinds within the SELECT, or None."""
        ancestor = node.find_ancestor(*kinds, exp.Select)
        return ancestor if isinstance(ancestor, kinds) else None

    def list_enclosing(self, node: exp.Expr) -> list[exp.Expr]:
        """Return an expression and all that enclose it in the statement, from the inside out."""
        nodes = [node]
        while (parent := nodes[-1].parent) is not None:
            nodes.append(parent)
        return nodes

    def find_aggregates(self, scope: Scope, *kinds: type[exp.Expr]) -> list[exp.Expr]:
        """Return the aggregate calls in a SELECT, without sub-queries and window functions."""
        calls = (fn for fn in self.find_in(scope, *(kinds or (exp.AggFunc, exp.Anonymous))) if is_aggregate_call(fn))
        parents = ((node, node.parent.parent if isinstance(node.parent, exp.Filter) else node.parent) for node in calls)
        return [node for node, around in parents if not isinstance(around, exp.Window)]

    def resolve_order_or_group_term(self, term: exp.Expr, scope: Scope) -> exp.Expr:
        """Return the expression that a GROUP BY or ORDER BY number or alias refers to."""
        node, outputs = term.unnest(), scope.select.expressions
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(outputs):
            return outputs[int(node.name) - 1].unalias()
        reference = self.reference(node)
        if reference is not None and reference.kind == "alias" and reference.owner is not None:
            return reference.owner.aliases[self.rules.key(reference.node.this)]
        return node

    def resolve_group_by_terms(self, scope: Scope) -> list[exp.Expr] | None:
        """Return the resolved GROUP BY terms; None without GROUP BY or with grouping sets."""
        group = scope.select.args.get("group")
        if group is None or group.args.get("totals") or group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
            return None
        return [self.resolve_order_or_group_term(term, scope).unnest() for term in group.expressions] or None

    @locked_cached_property
    def comparisons(self) -> tuple[tuple[exp.Expr, Scope], ...]:
        """The comparisons by =, !=, IN and LIKE without ESCAPE, each with its SELECT."""
        comparisons = ((node, scope) for scope in self.scopes for node in self.find_in(scope, *_COMPARED))
        return tuple(pair for pair in comparisons if not isinstance(pair[0].parent, exp.Escape))

    # Conditions

    @cache_in_first_argument
    def conditions(self, scope: Scope) -> tuple[QueryCondition, ...]:
        """Return the conditions of a SELECT in the order of its clauses."""
        return tuple(self._iterate_conditions(scope))

    def list_required_conditions(self, scope: Scope) -> list[exp.Expr]:
        """Return the conditions of a SELECT that every row must meet."""
        return [condition.node for condition in self.conditions(scope) if condition.is_required]

    def holds(self, condition: QueryCondition) -> bool:
        """Whether every row, or every group, of the query's result meets a condition."""
        if condition.scope not in self.nested_select_chain or condition.clause == "counted":
            return False
        return condition.source is None or condition.source.is_filtering

    def _iterate_conditions(self, scope: Scope) -> Iterator[QueryCondition]:
        args = scope.select.args
        yield from (QueryCondition(part, scope, "where") for part in split_at_and(args.get("where")))
        for source in scope.sources:
            yield from (QueryCondition(part, scope, "on", source) for part in get_join_conditions(source))
        yield from (QueryCondition(part, scope, "qualify") for part in split_at_and(args.get("qualify")))
        yield from (QueryCondition(part, scope, "having") for part in split_at_and(args.get("having")))
        for node in self.find_in(scope, exp.Filter, exp.Func):
            if isinstance(node, exp.Filter):
                yield from (QueryCondition(part, scope, "counted") for part in split_at_and(node.expression.this))
            elif is_aggregate_call(node) and isinstance(node.this, exp.Expr):
                yield from (
                    QueryCondition(part, scope, "counted") for part in find_counted_conditions(node.this, scope.select)
                )

    # What FROM gives

    def find_single_values(self, scope: Scope, source: QuerySource) -> list[tuple[SourceColumn, int]]:
        """Return the columns with one value per row of a source, and the source that sets each."""
        order, present, given = [*map(id, scope.sources)], {id(source)}, list[tuple[SourceColumn, int]]()
        for condition in reversed(self.conditions(scope)):  # a later join may tell that no row lacks an earlier source
            part, holds = condition.node, condition.is_required or id(condition.source) in present
            if condition.clause not in ("where", "on") or not isinstance(part, exp.EQ):
                continue
            ends = [self.reference(side.unnest()) for side in (part.left, part.right)]
            columns = [end.place for end in ends if end and end.owner is scope and end.kind in ("column", "rowid")]
            present.update(place for place, _ in columns if holds)
            # Where an outer join adds nothing to a row, its ON says nothing of the rest of the row.
            bound = [end for end in columns if holds or order.index(end[0]) >= order.index(id(condition.source))]
            if len(columns) == 2:
                given += [(end, other[0]) for end, other in (columns, columns[::-1]) if end in bound]
            elif any(self.literal(side) is not None for side in (part.left, part.right)):
                given += [(end, id(source)) for end in bound]
        for other in scope.sources:
            pairs = [((id(other), name), (id(near), name)) for name, near in other.using_partners]
            given += [(end, near[0]) for end, near in pairs]
            given += [(end, id(other)) for _, end in pairs if other.is_filtering or id(other) in present]
        return given

    def find_repeating_sources(self, source: QuerySource, scope: Scope) -> list[QuerySource]:
        """Return the other sources that may have several rows per row of `source`."""
        given, single, count = self.find_single_values(scope, source), [source], 0
        while len(single) > count:
            count, ids = len(single), set(map(id, single))
            bound = {end for end, giver in given if giver in ids}
            single += [other for other in scope.sources if id(other) not in ids and is_source_key_bound(other, bound)]
        return [other for other in scope.sources if other not in single]

    def find_unrepeated_source(self, scope: Scope) -> QuerySource | None:
        """Return a source whose rows the joins in FROM do not repeat, or None."""
        sure = (source for source in scope.sources if not scope.is_source_optional(source))
        return next((source for source in sure if not self.find_repeating_sources(source, scope)), None)

    def find_unreferenced_source(self, scope: Scope) -> QuerySource | None:
        """Return the only table in FROM that no other table refers to by a foreign key, or None."""
        keys = {(key.table, key.ref_table) for key in self.schema.foreign_keys}
        tables = scope.tables
        leading = [
            source
            for source, table in tables
            if not any((other.name, table.name) in keys for near, other in tables if near is not source)
        ]
        return leading[0] if len(leading) == 1 and len(tables) == len(scope.sources) else None

    # The rows of the result

    @property
    def order(self) -> tuple[exp.Expr, ...]:
        """The terms of the outermost ORDER BY."""
        order = self._find_statement_with_clause("order")
        return tuple(order.args["order"].expressions) if order is not None else ()

    @property
    def limit(self) -> exp.Expr | None:
        """The number of rows of LIMIT or FETCH FIRST; None if there is neither."""
        limited = self._find_statement_with_clause("limit")
        return None if limited is None else get_limit_count(limited)

    @property
    def ranks_rows(self) -> bool:
        """Whether the query orders or compares rows, as by ORDER BY, MAX, NOT EXISTS or ALL."""
        return bool(self.find(*_RANKS)) or any(isinstance(node.parent, exp.Not) for node in self.find(exp.Exists))

    @locked_cached_property
    def filtered_extremes(self) -> frozenset[str]:
        """The extremes (`max`, `min`) whose rows alone a sub-query or a window selects."""
        calls = ((end, node.find_ancestor(exp.Select)) for end, kind in ENDS.items() for node in self.find(kind))
        ends = {end for end, select in calls if select is not self.tree}
        for term in self.find(exp.Ordered):
            window, select = term.find_ancestor(exp.Window), term.find_ancestor(exp.Select)
            is_cut = select and select is not self.tree and select.args.get("limit")
            if isinstance(window.this, _FIRST_ROWS) if window else is_cut:
                ends.add("max" if term.args.get("desc") else "min")
        return frozenset(ends)

    @property
    def offset(self) -> exp.Expr | None:
        """The number of rows that OFFSET skips; None without one."""
        skipping = self._find_statement_with_clause("offset")
        return None if skipping is None else skipping.args["offset"].expression

    def has_limit_option(self, name: str) -> bool:
        """Whether the row limit has an option, such as `with_ties` or `percent`."""
        limited = self._find_statement_with_clause("limit")
        options = None if limited is None else limited.args["limit"].args.get("limit_options")
        return options is not None and bool(options.args.get(name))

    def _find_statement_with_clause(self, name: str) -> exp.Expr | None:
        """Return the statement, or the one inside parentheses, that has a clause; or None."""
        node: exp.Expr = self.tree
        while node.args.get(name) is None:
            if not isinstance(node, exp.Subquery):
                return None
            node = node.this
        return node


class QueryCopy:
    """A copy of a query that may be changed; `of(node)` returns the copy of a node."""

    def __init__(self, query: Query) -> None:
        self._grammar = query.rules.grammar
        self.tree = query.tree.copy()
        self._copies = {id(old): new for old, new in zip(query.find(exp.Expr), self.tree.walk(), strict=True)}

    def of(self, node: N) -> N:
        """Return the copy of an original node."""
        copy = self._copies[id(node)]
        assert isinstance(copy, type(node))
        return copy

    @property
    def sql(self) -> str:
        """The SQL of the changed copy."""
        return self.tree.sql(dialect=self._grammar, copy=False)


class _SchemaKey:
    """A schema as a cache key, hashed quickly by name, version and dialect."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return hash((self.schema.name, self.schema.version, self.schema.dialect))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SchemaKey) and (self.schema is other.schema or self.schema == other.schema)


def _analyze_query(sql: str, dialect: str, schema: _SchemaKey | None) -> Query:
    full_schema = Schema("", (), dialect=dialect) if schema is None else schema.schema
    return Query(**vars(parse(sql, dialect)), schema=full_schema)


_read_cached, _read_long_cached = lru_cache(128)(_analyze_query), lru_cache(8)(_analyze_query)


def qualify_column(column: exp.Column, item: tuple[str, str], schema: Schema) -> None:
    """Qualify a column expression with the item's table, and with the schema if needed."""
    names = (item[1], *schema.path(item[0])[::-1])
    for key, name in zip(("this", "table", "db"), names, strict=False):
        column.set(key, exp.to_identifier(name, quoted=True))


@return_default_if_unparsable(None)
def read_query(sql: str, schema: Schema) -> Query | None:
    """Return the analysis of a statement; None if it is empty or cannot be read."""
    query = Query.of(sql, schema.dialect, schema) if sql else None
    return query if query and query.resolution else None


@guard_nesting_depth
def find_used_schema_items(sql: str, schema: Schema) -> UsedSchemaItems:
    """Return the tables and columns of a schema that a query uses, sub-queries included."""
    return Query.of(sql, schema.dialect, schema).usage


@return_default_if_unparsable(QueryConstants())
def find_query_constants(sql: str, dialect: str = "sqlite") -> QueryConstants:
    """Return the constants of a query; none if it cannot be parsed."""
    return Query.of(sql, dialect).constants


@return_default_if_unparsable(False)
def is_ordered(sql: str, dialect: str = "sqlite") -> bool:
    """Whether the outermost query has an ORDER BY; False if it cannot be parsed."""
    return bool(Query.of(sql, dialect).order)
