"""Which table every name in a query stands for, by SQLite's own rules.

sqlglot's optimizer qualifies columns by standard SQL's rules; SQLite's differ where benchmark queries live: a
double-quoted word that is no column is a string, WHERE and GROUP BY may name a result column's alias, `rowid` exists
unseen. What is resolved here is the ground that regularisation, checks, explanations and schema usage stand on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from ..database.schema import Schema
from .lookup import look_up
from .names import fold, squeeze
from .parse import SQLITE
from .scope import Clause, Reference, Resolution, Scope, Source

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


@dataclass
class _Shape:
    """What a query offers to whoever reads it.

    Attributes:
        outputs: Result columns' names; None if not known.
        texts: See `Source.texts`.
        arms: Its SELECTs from left to right.
    """

    outputs: list[str | None] | None = None
    texts: frozenset[str] = frozenset()
    arms: list[Scope] = field(default_factory=list)


@dataclass
class _CTE:
    node: exp.Expr
    shape: _Shape


_CTEs = dict[str, _CTE]


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

    def query(self, node: exp.Expr, parent: Scope | None, ctes: _CTEs) -> _Shape:
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
            return _Shape([f"column{index + 1}" for index in range(len(node.expressions[0].expressions))])
        return _Shape()

    def _with(self, node: exp.Expr, parent: Scope | None, ctes: _CTEs) -> _CTEs:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        ctes = dict(ctes)
        # A CTE may read itself and later ones: what can be known of each before it is resolved is registered first.
        entries = [
            (cte, _CTE(cte.this, _Shape(_declared(cte) or _outputs_before(cte.this)))) for cte in clause.expressions
        ]
        ctes.update((fold(cte.alias), entry) for cte, entry in entries)
        for cte, entry in entries:
            shape = self.query(cte.this, parent, ctes)
            entry.shape = _Shape(_declared(cte)) if _declared(cte) else shape
        return ctes

    def _compound(self, node: exp.SetOperation, parent: Scope | None, ctes: _CTEs) -> _Shape:
        chain: list[exp.SetOperation] = [node]
        while isinstance(chain[-1].this, exp.SetOperation) and chain[-1].this.args.get("with_") is None:
            chain.append(chain[-1].this)
        first = self.query(chain[-1].this, parent, ctes)
        shape = _Shape(first.outputs, first.texts, list(first.arms))
        for link in reversed(chain):
            shape.arms += self.query(link.expression, parent, ctes).arms
            self._tail(link, shape, parent, ctes)
        return shape

    def _tail(self, node: exp.Expr, shape: _Shape, parent: Scope | None, ctes: _CTEs) -> None:
        """ORDER BY and LIMIT of a compound: terms name result columns, or match one of its SELECTs' expressions."""
        names = {fold(name) for arm in shape.arms for name in arm.outputs or () if name}
        for key in ("order", "limit", "offset"):
            clause = node.args.get(key)
            for column in self._columns(clause, parent, ctes) if clause is not None else ():
                if not column.table and fold(column.name) in names:
                    self.found.references.append(Reference(column, None, "order", "output", column=column.name))
                    continue
                tried = [look_up(column, arm, "order") for arm in shape.arms]
                good = [one for one in tried if one.kind in ("column", "alias", "rowid", "open")]
                chosen = (good or tried or [look_up(column, parent, "order")])[0]
                chosen.scope = None
                self.found.references.append(chosen)

    def _select(self, node: exp.Select, parent: Scope | None, ctes: _CTEs) -> _Shape:
        scope = Scope(node, parent)
        self.found.scopes.append(scope)
        start = node.args.get("from_")
        if start is not None:
            self._source(start.this, scope, ctes, None)
        for join in node.args.get("joins") or ():
            self._join(join, scope, ctes)
        for item in node.expressions:
            if isinstance(item, exp.Alias):
                scope.aliases.setdefault(fold(item.alias), item.this)
        scope.outputs = _outputs(node, scope)
        for source in scope.sources:
            if source.join is not None and source.join.args.get("on") is not None:
                self._walk(source.join.args["on"], scope, "from", ctes)
        for key, clause in _CLAUSES.items():
            value = node.args.get(key)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self._walk(part, scope, clause, ctes)
        return _Shape(scope.outputs, _texts(node), [scope])

    def _join(self, join: exp.Join, scope: Scope, ctes: _CTEs) -> None:
        before = list(scope.sources)
        self._source(join.this, scope, ctes, join)
        added = scope.sources[len(before) :]
        names = {fold(name.name) for name in join.args.get("using") or ()}
        if join.method == "NATURAL":
            here = {name for source in before for name in source.columns or ()}
            names = {name for source in added for name in source.columns or () if name in here}
        for source in added:
            source.using |= names

    def _source(self, node: exp.Expr, scope: Scope, ctes: _CTEs, join: exp.Join | None) -> None:
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            self._source(node.this, scope, ctes, join)
        elif isinstance(node, exp.Table):
            source = self._table(node, scope, ctes)
            source.join = join
            scope.sources.append(source)
        elif isinstance(node, exp.Subquery | exp.Values):
            shape = self.query(node, scope.parent, ctes)
            inner = node.this if isinstance(node, exp.Subquery) else node
            name, columns = fold(node.alias), _named(shape.outputs)
            scope.sources.append(Source(name, "", None, columns, node, query=inner, join=join, texts=shape.texts))
        else:
            self._walk(node, scope, "from", ctes)
            scope.sources.append(Source(fold(node.alias_or_name), "", None, None, node, join=join))
        for nested in node.args.get("joins") or ():
            self._join(nested, scope, ctes)

    def _table(self, node: exp.Table, scope: Scope, ctes: _CTEs) -> Source:
        if not isinstance(node.this, exp.Identifier):
            for argument in node.this.expressions:
                self._walk(argument, scope, "from", ctes)
            own = fold(node.this.name)
            return Source(fold(node.alias) or own, own, None, None, node)
        own = fold(node.name)
        visible = fold(node.alias) or own
        if own in ctes and not node.args.get("db"):
            cte = ctes[own]
            columns = _named(cte.shape.outputs)
            return Source(visible, own, None, columns, node, query=cte.node, texts=cte.shape.texts)
        table = self.schema.table(own)
        if table is None:
            return Source(visible, own, None, None, node, known=own.startswith(("sqlite_", "pragma_")))
        return Source(visible, own, table, {fold(column.name): column.name for column in table.columns}, node)

    def _walk(self, node: exp.Expr, scope: Scope | None, clause: Clause, ctes: _CTEs) -> None:
        for column in self._columns(node, scope, ctes):
            self.found.references.append(look_up(column, scope, clause))

    def _columns(self, node: exp.Expr, scope: Scope | None, ctes: _CTEs) -> Iterator[exp.Column]:
        """Column expressions of an expression, in order; sub-queries met on the way are resolved."""
        stack = [node]
        while stack:
            top = stack.pop()
            if isinstance(top, exp.Query):
                self.query(top, scope, ctes)
            elif isinstance(top, exp.Column):
                yield top
            else:
                stack.extend(reversed(list(top.iter_expressions())))


def _declared(cte: exp.Expr) -> list[str | None]:
    return [column.name for column in cte.args["alias"].columns]


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
        elif isinstance(inner, exp.Star | exp.Column) and inner.is_star:
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


def _outputs_before(node: exp.Expr) -> list[str | None] | None:
    """Result names of a query's first SELECT before it is resolved; None if a star stands in the way."""
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select) or any(item.is_star for item in node.expressions):
        return None
    return [item.alias_or_name or None for item in node.expressions]


def _texts(node: exp.Select) -> frozenset[str]:
    if node.parent is None:
        return frozenset()
    unnamed = (item for item in node.expressions if not isinstance(item, exp.Alias | exp.Column | exp.Star))
    return frozenset(squeeze(item.sql(dialect=SQLITE)) for item in unnamed)
