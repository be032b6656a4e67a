"""Which table every name in a query stands for, by SQLite's own rules.

sqlglot's optimizer qualifies columns by standard SQL's rules; SQLite's differ where benchmark queries live: a
double-quoted word that is no column is a string, WHERE and GROUP BY may name a result column's alias, `rowid` exists
unseen. What is resolved here is the ground that regularisation, checks, explanations and schema usage stand on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from .names import fold

Clause = Literal["select", "from", "where", "group", "having", "order", "window", "limit"]
ReferenceKind = Literal[
    "column", "alias", "rowid", "string", "star", "open", "unknown", "ambiguous", "unknown_source", "output"
]
"""What a column expression turned out to be.

`column`: a column of `source`. `alias`: a result column's alias. `output`: a compound query's result column.
`rowid`: SQLite's unseen key. `string`: a double-quoted word that is no column. `star`: `table.*`. `open`: it may belong to a
source whose columns are not known. `unknown`, `ambiguous`, `unknown_source`: SQLite would refuse it.
"""

_ROWID = frozenset({"rowid", "oid", "_rowid_"})
_CLAUSES: dict[str, Clause] = {
    "expressions": "select",
    "where": "where",
    "group": "group",
    "having": "having",
    "order": "order",
    "windows": "window",
    "limit": "limit",
    "offset": "limit",
}


@dataclass(eq=False)
class Source:
    """One thing that a FROM clause reads.

    Attributes:
        name: The name by which columns are qualified, folded; empty for a sub-query without alias.
        own: The table's or CTE's own name, folded; empty for a sub-query.
        table: The schema's table; None for a CTE, sub-query, table function, or a table that the schema lacks.
        columns: Folded name to name as declared; None where they are not known.
        node: The `Table` or `Subquery` expression.
        using: Folded names of columns merged with those of sources before it (USING, NATURAL).
        known: False for a table name that is neither in the schema nor a CTE.
        query: Scopes of the sub-query or CTE behind it, outermost first.
    """

    name: str
    own: str
    table: TableSchema | None
    columns: dict[str, str] | None
    node: exp.Expr
    using: frozenset[str] = frozenset()
    known: bool = True
    query: exp.Expr | None = None


@dataclass(eq=False)
class Scope:
    """One SELECT with what it reads.

    Attributes:
        select: Its expression.
        parent: The enclosing SELECT, where names are looked up next; None at the top and inside a CTE.
        sources: In FROM order.
        aliases: Folded result aliases and their expressions.
        outputs: Result column names, None for one that has no plain name; None altogether if not known.
    """

    select: exp.Select
    parent: Scope | None
    sources: list[Source] = field(default_factory=list)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    outputs: list[str | None] | None = None

    @property
    def outer_joined(self) -> bool:
        """Whether a RIGHT or FULL join makes USING columns belong to neither side alone."""
        return any(join.side in ("RIGHT", "FULL") for join in self.select.args.get("joins") or ())


@dataclass(eq=False)
class Reference:
    """One column expression, resolved.

    Attributes:
        node: The `Column` expression.
        scope: The SELECT in which it stands; None in a place that belongs to none.
        clause: Where in that SELECT.
        kind: What it is.
        owner: The scope whose source or alias it names; an outer one for a correlated reference.
        source: The source it belongs to.
        column: The column's name as declared, or the alias.
        candidates: For `ambiguous`, the sources that hold it.
    """

    node: exp.Column
    scope: Scope | None
    clause: Clause
    kind: ReferenceKind
    owner: Scope | None = None
    source: Source | None = None
    column: str = ""
    candidates: tuple[Source, ...] = ()


@dataclass
class Resolution:
    """All scopes and references of a query, in the order in which they were met."""

    scopes: list[Scope] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)

    def of(self, scope: Scope) -> Iterator[Reference]:
        """References that stand directly in that scope."""
        return (reference for reference in self.references if reference.scope is scope)


@dataclass
class _Shape:
    """What a query offers to whoever reads it: its result columns' names, and its SELECTs from left to right."""

    outputs: list[str | None] | None
    arms: list[Scope]


@dataclass
class _CTE:
    outputs: list[str | None] | None
    node: exp.Expr


def resolve(tree: exp.Expr, schema: Schema) -> Resolution:
    """Resolves every name of a query against a schema.

    Args:
        tree: What `parse_select` gave.
        schema: The database's schema, or the part that the query may use.
    """
    resolver = _Resolver(schema)
    resolver.query(tree, None, {})
    return resolver.found


class _Resolver:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.found = Resolution()

    def query(self, node: exp.Expr, parent: Scope | None, ctes: dict[str, _CTE]) -> _Shape:
        """Resolves a query expression of any kind and everything in it."""
        ctes = self._with(node, parent, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, parent, ctes)
        if isinstance(node, exp.SetOperation):
            return self._compound(node, parent, ctes)
        if isinstance(node, exp.Subquery | exp.Paren):
            shape = self.query(node.this, parent, ctes)
            self._tail(node, shape, parent, ctes)
            return shape
        for child in node.iter_expressions():
            self._walk(child, parent, "select", ctes)
        if isinstance(node, exp.Values) and node.expressions:
            width = len(node.expressions[0].expressions)
            return _Shape([f"column{index + 1}" for index in range(width)], [])
        return _Shape(None, [])

    def _with(self, node: exp.Expr, parent: Scope | None, ctes: dict[str, _CTE]) -> dict[str, _CTE]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        ctes = dict(ctes)
        for cte in clause.expressions:
            declared = [column.name for column in cte.args["alias"].columns]
            entry = _CTE(list(declared) if declared else None, cte.this)
            ctes[fold(cte.alias)] = entry
            inner = cte.this
            if not declared and isinstance(inner, exp.SetOperation):
                entry.outputs = _plain_outputs(inner)
            shape = self.query(inner, parent, ctes)
            if not declared:
                entry.outputs = shape.outputs
        return ctes

    def _compound(self, node: exp.SetOperation, parent: Scope | None, ctes: dict[str, _CTE]) -> _Shape:
        left = self.query(node.this, parent, ctes)
        right = self.query(node.expression, parent, ctes)
        shape = _Shape(left.outputs, left.arms + right.arms)
        self._tail(node, shape, parent, ctes)
        return shape

    def _tail(self, node: exp.Expr, shape: _Shape, parent: Scope | None, ctes: dict[str, _CTE]) -> None:
        """ORDER BY and LIMIT of a compound: terms name result columns, or match one of its SELECTs' expressions."""
        names = {fold(name) for arm in shape.arms for name in arm.outputs or () if name}
        for key in ("order", "limit", "offset"):
            clause = node.args.get(key)
            for column in clause.find_all(exp.Column) if clause else ():
                if not column.table and fold(column.name) in names:
                    self._record(Reference(column, None, "order", "output", column=column.name))
                    continue
                found = [self._lookup(column, arm, "order") for arm in shape.arms]
                good = [one for one in found if one.kind in ("column", "alias", "rowid", "open")]
                chosen = (good or found or [Reference(column, parent, "order", "unknown", column=column.name)])[0]
                chosen.scope = None
                self._record(chosen)

    def _select(self, node: exp.Select, parent: Scope | None, ctes: dict[str, _CTE]) -> _Shape:
        scope = Scope(node, parent)
        self.found.scopes.append(scope)
        start = node.args.get("from_")
        if start is not None:
            self._source(start.this, scope, parent, ctes)
        for join in node.args.get("joins") or ():
            self._join(join, scope, parent, ctes)
        for item in node.expressions:
            if isinstance(item, exp.Alias):
                scope.aliases.setdefault(fold(item.alias), item.this)
        scope.outputs = _outputs(node, scope)
        for join in node.find_all(exp.Join) if node.args.get("joins") or start is not None else ():
            if join.args.get("on") is not None and join.find_ancestor(exp.Select) is node:
                self._walk(join.args["on"], scope, "from", ctes)
        for key, clause in _CLAUSES.items():
            value = node.args.get(key)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self._walk(part, scope, clause, ctes)
        return _Shape(scope.outputs, [scope])

    def _join(self, join: exp.Join, scope: Scope, parent: Scope | None, ctes: dict[str, _CTE]) -> None:
        before = list(scope.sources)
        self._source(join.this, scope, parent, ctes)
        added = scope.sources[len(before) :]
        names = {fold(name.name) for name in join.args.get("using") or ()}
        if join.method == "NATURAL":
            here = {name for source in before for name in source.columns or ()}
            names = {name for source in added for name in source.columns or () if name in here}
        for source in added:
            source.using = frozenset(names)

    def _source(self, node: exp.Expr, scope: Scope, parent: Scope | None, ctes: dict[str, _CTE]) -> None:
        if isinstance(node, exp.Table):
            scope.sources.append(self._table(node, scope, ctes))
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self._source(node.this, scope, parent, ctes)
        elif isinstance(node, exp.Subquery | exp.Values):
            shape = self.query(node, parent, ctes)
            inner = node.this if isinstance(node, exp.Subquery) else node
            scope.sources.append(Source(fold(node.alias), "", None, _named(shape.outputs), node, query=inner))
        else:
            self._walk(node, scope, "from", ctes)
            scope.sources.append(Source(fold(node.alias_or_name), "", None, None, node))
        for join in node.args.get("joins") or ():
            self._join(join, scope, parent, ctes)

    def _table(self, node: exp.Table, scope: Scope, ctes: dict[str, _CTE]) -> Source:
        own = fold(node.name)
        visible = fold(node.alias) or own
        if not isinstance(node.this, exp.Identifier):
            for argument in node.this.expressions:
                self._walk(argument, scope, "from", ctes)
            return Source(visible or fold(node.this.name), fold(node.this.name), None, None, node)
        if own in ctes and not node.args.get("db"):
            cte = ctes[own]
            return Source(visible, own, None, _named(cte.outputs), node, query=cte.node)
        table = self.schema.table(own)
        if table is None:
            return Source(visible, own, None, None, node, known=own.startswith(("sqlite_", "pragma_")))
        columns = {fold(column.name): column.name for column in table.columns}
        return Source(visible, own, table, columns, node)

    def _walk(self, node: exp.Expr, scope: Scope | None, clause: Clause, ctes: dict[str, _CTE]) -> None:
        if isinstance(node, exp.Query):
            self.query(node, scope, ctes)
        elif isinstance(node, exp.Column):
            self._record(self._lookup(node, scope, clause))
        else:
            for child in node.iter_expressions():
                self._walk(child, scope, clause, ctes)

    def _record(self, reference: Reference) -> None:
        self.found.references.append(reference)

    def _lookup(self, node: exp.Column, scope: Scope | None, clause: Clause) -> Reference:
        name = fold(node.name)
        if isinstance(node.this, exp.Star):
            return self._lookup_star(node, scope, clause)
        if node.table:
            return _lookup_qualified(node, name, scope, clause)
        alias_first = clause == "order" and isinstance(node.parent, exp.Ordered)
        level = scope
        while level is not None:
            if alias_first and level is scope and name in level.aliases:
                return Reference(node, scope, clause, "alias", level, column=node.name)
            reference = _lookup_in(node, name, level, scope, clause)
            if reference is not None:
                return reference
            if name in level.aliases and (level is not scope or clause not in ("select", "from")):
                return Reference(node, scope, clause, "alias", level, column=node.name)
            level = level.parent
        if node.this.args.get("quoted") and not _in_brackets(node):
            return Reference(node, scope, clause, "string", column=node.name)
        return Reference(node, scope, clause, "unknown", column=node.name)

    def _lookup_star(self, node: exp.Column, scope: Scope | None, clause: Clause) -> Reference:
        for source in scope.sources if scope else ():
            if source.name == fold(node.table):
                return Reference(node, scope, clause, "star", scope, source, "*")
        return Reference(node, scope, clause, "unknown_source", column="*")


def _lookup_in(node: exp.Column, name: str, level: Scope, scope: Scope | None, clause: Clause) -> Reference | None:
    """An unqualified name among one scope's sources; None if they don't have it."""
    holders = [source for source in level.sources if source.columns is not None and name in source.columns]
    distinct = [source for index, source in enumerate(holders) if index == 0 or name not in source.using]
    if len(distinct) > 1:
        return Reference(node, scope, clause, "ambiguous", level, distinct[0], node.name, tuple(distinct))
    if distinct:
        source = distinct[0]
        assert source.columns is not None
        return Reference(node, scope, clause, "column", level, source, source.columns[name])
    if any(source.columns is None or (source.table and source.table.kind == "virtual") for source in level.sources):
        return Reference(node, scope, clause, "open", level, column=node.name)
    if name in _ROWID and len(level.sources) == 1 and level.sources[0].table is not None:
        return Reference(node, scope, clause, "rowid", level, level.sources[0], name)
    return None


def _lookup_qualified(node: exp.Column, name: str, scope: Scope | None, clause: Clause) -> Reference:
    wanted = fold(node.table)
    level = scope
    while level is not None:
        named = [source for source in level.sources if source.name == wanted]
        holders = [source for source in named if source.columns is None or name in source.columns]
        if len(holders) > 1:
            return Reference(node, scope, clause, "ambiguous", level, holders[0], node.name, tuple(holders))
        if holders:
            source = holders[0]
            kind: ReferenceKind = "open" if source.columns is None else "column"
            declared = source.columns[name] if source.columns else node.name
            return Reference(node, scope, clause, kind, level, source, declared)
        if named:
            source = named[0]
            if name in _ROWID and source.table is not None:
                return Reference(node, scope, clause, "rowid", level, source, name)
            hidden = source.table is not None and source.table.kind == "virtual"
            return Reference(node, scope, clause, "open" if hidden else "unknown", level, source, node.name)
        level = level.parent
    return Reference(node, scope, clause, "unknown_source", column=node.name)


def _in_brackets(node: exp.Column) -> bool:
    """Whether a quoted name is in brackets or back-ticks, which never make a string."""
    return bool(node.this.meta.get("bracketed"))


def _named(outputs: list[str | None] | None) -> dict[str, str] | None:
    if outputs is None:
        return None
    named: dict[str, str] = {}
    for name in outputs:
        if name is not None:
            named.setdefault(fold(name), name)
    return named


def _outputs(node: exp.Select, scope: Scope) -> list[str | None] | None:
    names: list[str | None] = []
    for item in node.expressions:
        inner = item.unnest()
        if isinstance(item, exp.Alias):
            names.append(item.alias)
        elif isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            wanted = fold(inner.table) if isinstance(inner, exp.Column) else None
            for source in scope.sources:
                if wanted is not None and source.name != wanted:
                    continue
                if source.columns is None:
                    return None
                names.extend(n for key, n in source.columns.items() if wanted is not None or key not in source.using)
        else:
            names.append(inner.name if isinstance(inner, exp.Column) else None)
    return names


def _plain_outputs(node: exp.Expr) -> list[str | None] | None:
    """Result names of a recursive CTE's first SELECT, before it is resolved; None if a star stands in the way."""
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select) or any(item.is_star for item in node.expressions):
        return None
    return [item.output_name or None for item in node.expressions]
