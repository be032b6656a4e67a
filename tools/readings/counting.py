"""How many rows or how many different things, and things of which there are none."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..sql.conditions import base_column, conjuncts, limit_count
from ..sql.explain.phrases import plain_name
from ..sql.scope import Scope, Source
from ..stemming import plural
from ..values.schema_words import name_stems
from .query import Query, Rival, aggregates, column_of, parts, rows_of, things

_NEARLY_ALL = 0.9
"""Of a column with so many different values a row, whether rows or values are counted makes a small difference."""

_QUANTITY = frozenset({"quantity", "qty", "units", "pieces"})
_TRADED = ("sold", "sell", "sale", "ordered", "order", "bought", "buy", "shipped", "delivered", "purchased")
_AT_ALL = ("once", "ever", "never")
"""Words by which it counts that something happened, and not how often."""

_DIFFERENT = ("different", "distinct", "unique", "various")


def counts(query: Query) -> Iterator[Rival]:
    """Counts of rows for counts of different things, and the other way round."""
    scope = query.resolution.scopes[0] if query.resolution.scopes else None
    if scope is None or scope not in query.scopes or query.said.has(*_DIFFERENT):
        return
    counted = list(query.tree.find_all(exp.Count))
    if len(counted) != 1 or counted[0] not in aggregates(scope, exp.Count):
        return
    if (rival := _count(query, scope, counted[0])) is not None:
        yield rival


def _count(query: Query, scope: Scope, node: exp.Expr) -> Rival | None:
    inner = node.this
    if isinstance(inner, exp.Distinct):
        found = base_column(inner.expressions[0], query.resolution) if len(inner.expressions) == 1 else None
        return _each(query, scope, node, found[1], found[0].source) if found and found[0].source else None
    found = base_column(inner, query.resolution) if inner is not None else None
    source = found[0].source if found is not None else None
    if found is not None and source is not None and (table := source.table) is not None:
        column = found[1]
        if _is_key(table, column) and len(scope.sources) == 1:
            return None
        if not _counts(query, table, column):
            return None
        return _different(query, node, column_of(source, column.name), column, table)
    return _named(query, scope, node)


def _named(query: Query, scope: Scope, node: exp.Expr) -> Rival | None:
    """COUNT(*) over rows of another table than the one that the question counts."""
    rows = rows_of(query, scope)
    if rows is not None and rows.table is not None and query.said.counts(name_stems(things(rows.table))):
        return None
    for source in scope.sources:
        table = source.table
        if table is None or source is rows:
            continue
        key = table.primary_key
        if len(key) == 1 and query.said.counts(name_stems(things(table))):
            column = table.column(key[0])
            assert column is not None
            return _different(query, node, column_of(source, key[0]), column, table)
    if rows is None or rows.table is None:
        return None
    for column in rows.table.columns:
        if not _is_key(rows.table, column) and _counts(query, None, column) and (column.distinct or 3) > 2:
            return _different(query, node, column_of(rows, column.name), column, rows.table)
    return None


def _counts(query: Query, table: TableSchema | None, column: ColumnSchema) -> bool:
    """Whether the question counts what a column is of: `how many customers` for `customer_id`."""
    named = [part for part in name_stems(column.name) if part not in ("id", "code", "number", "no")]
    if table is not None and _is_key(table, column) and query.said.counts(name_stems(things(table))):
        return True
    return any(query.said.counts(named[start:]) for start in range(len(named)))


def _is_key(table: TableSchema | None, column: ColumnSchema) -> bool:
    return table is not None and table.primary_key == (column.name,)


def _different(query: Query, node: exp.Expr, of: exp.Expr, column: ColumnSchema, table: TableSchema) -> Rival:
    copy = query.copy()
    copy.of(node).set("this", exp.Distinct(expressions=[of]))
    what = things(table) if _is_key(table, column) else plural(plain_name(column.name).removesuffix(" id"))
    return Rival(
        "count", f"different {what}, each counted once", f"{what} are counted as often as they occur", copy.sql
    )


def _each(query: Query, scope: Scope, node: exp.Expr, column: ColumnSchema, source: Source) -> Rival | None:
    """Every occurrence for every different thing: units for products sold, rows for names that nearly tell them."""
    table = source.table
    if table is None:
        return None
    copy = query.copy()
    if len(scope.sources) == 1 and not _is_key(table, column) and column.kind == "text":
        if (column.distinct or 0) < _NEARLY_ALL * (table.row_count or 1) or column.distinct == table.row_count:
            return None
        copy.of(node).set("this", column_of(source, column.name))
        return Rival("count", "counting every row", "those of the same name are counted once", copy.sql)
    if not query.said.has(*_TRADED) or query.said.has(*_AT_ALL):
        return None
    for held in scope.sources:
        for other in held.table.columns if held.table is not None else ():
            if other.kind == "number" and parts(other.name) & _QUANTITY:
                copy.of(node).replace(exp.Sum(this=column_of(held, other.name)))
                return Rival("count", "counting every unit", "each is counted once, however many units", copy.sql)
    return None


_EACH = ("each", "every", "per", "by", "all", "for")
_SOME = ("having", "least", "any", "some", "with", "who", "that", "without", "no")


def zeros(query: Query) -> Iterator[Rival]:
    """Groups by a table, with those in which there is nothing: LEFT JOIN for INNER JOIN."""
    for scope in query.scopes:
        select = scope.select
        if scope.parent is not None or len(scope.sources) < 2 or select.args.get("group") is None:
            continue
        if any(source.table is None or (source.join and source.join.side) for source in scope.sources):
            continue
        if select.args.get("having") is not None or not _asks_for_all(query, scope):
            continue
        thing = _grouped(query, scope)
        if thing is not None and (rival := _with_none(query, scope, thing)) is not None:
            yield rival
            return


def _asks_for_all(query: Query, scope: Scope) -> bool:
    """Whether every group is asked for, or the least of them."""
    if not aggregates(scope, exp.Count, exp.Sum):
        return False
    order = scope.select.args.get("order")
    if scope.select.args.get("limit") is not None:
        return order is not None and not order.expressions[0].args.get("desc")
    asked = query.said
    return asked.has("each", "every", "per", "all") or bool({"by", "in"} & asked.words)


def _grouped(query: Query, scope: Scope) -> Source | None:
    """The one table by whose rows groups are made."""
    group = scope.select.args["group"]
    found: dict[int, Source] = {}
    for term in group.expressions:
        node = term.unnest()
        if isinstance(node, exp.Column) and (reference := query.resolution.at(node)) is not None:
            if reference.kind == "alias":
                reference = (
                    query.resolution.at(scope.aliases[reference.column.lower()].unnest())
                    if reference.column.lower() in scope.aliases
                    else None
                )
            if reference is not None and reference.source is not None and reference.kind == "column":
                found[id(reference.source)] = reference.source
                continue
        return None
    if len(found) != 1:
        return None
    thing = next(iter(found.values()))
    return thing if thing is not rows_of(query, scope) else None


def _with_none(query: Query, scope: Scope, thing: Source) -> Rival | None:
    """The query from its groups on, everything else joined where there is some.

    Only of the last of a chain of tables, which is there just where all before it are, is that as many as before.
    """
    chain = _chain(query, scope, thing)
    if not chain or thing.table is None or not _adds_up(query, scope, chain[-1][0]):
        return None
    copy = query.copy()
    select = copy.of(scope.select)
    conditions = {id(source): on for source, on in chain}
    kept: list[exp.Expr] = []
    for part in (part for part in conjuncts(scope) if isinstance(part.find_ancestor(exp.Where, exp.Join), exp.Where)):
        owner = _owner(scope, part)
        if owner is None:
            return None
        if owner is thing:
            kept.append(part.copy())
        else:
            conditions[id(owner)] = exp.and_(conditions[id(owner)], part.copy())
    last, on = chain[-1]
    name = last.node.alias_or_name.lower()
    key = next((column for column in on.find_all(exp.Column) if column.table.lower() == name), None)
    for node in aggregates(scope, exp.Count):
        if _counts_rows(node):
            if key is None:
                return None
            copy.of(node).set("this", key.copy())
    select.set("from_", exp.From(this=copy.of(thing.node).copy()))
    select.set(
        "joins",
        [exp.Join(this=copy.of(source.node).copy(), side="LEFT", on=conditions[id(source)]) for source, _ in chain],
    )
    select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    what, limit = things(thing.table), limit_count(scope.select)
    through = int(limit.name) if isinstance(limit, exp.Literal) and limit.is_int else 0
    return Rival("zeros", f"with {what} that have none", f"{what} that have none are left out", copy.sql, limit=through)


def _counts_rows(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Star) or node.this is None


def _adds_up(query: Query, scope: Scope, last: Source) -> bool:
    """Whether aggregates count rows, or count or add up columns of one source that are missing where it is."""
    for node in aggregates(scope):
        if not isinstance(node, exp.Count | exp.Sum):
            return False
        if isinstance(node, exp.Count) and _counts_rows(node):
            continue
        inner = node.this
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1:
                return False
            inner = inner.expressions[0]
        if any(not isinstance(part, (*_PLAIN, exp.Identifier)) for part in inner.walk()):
            return False
        columns = [query.resolution.at(column) for column in inner.find_all(exp.Column)]
        if not columns or any(found is None or found.source is not last for found in columns):
            return False
    return True


_PLAIN = (exp.Column, exp.Literal, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Div)
"""What gives NULL for NULL."""


def _chain(query: Query, scope: Scope, thing: Source) -> list[tuple[Source, exp.Expr]] | None:
    """The other tables, each joined by a pair of columns to the one before it alone, and on what."""
    left: list[tuple[frozenset[int], exp.Expr]] = []
    for source in scope.sources:
        on = source.join.args.get("on") if source.join is not None else None
        if source.using or (source.join is not None and not isinstance(on, exp.EQ)):
            return None
        if on is not None:
            ends = {
                id(reference.source)
                for column in on.find_all(exp.Column)
                if (reference := query.resolution.at(column)) is not None and reference.source is not None
            }
            left.append((frozenset(ends), on))
    end, ordered, placed = thing, list[tuple[Source, exp.Expr]](), {id(thing)}
    while left:
        joined = [one for one in left if id(end) in one[0]]
        if len(joined) != 1 or len(joined[0][0]) != 2:
            return None
        left.remove(joined[0])
        end = next(held for held in scope.sources if id(held) in joined[0][0] - {id(end)})
        if id(end) in placed:
            return None
        placed.add(id(end))
        ordered.append((end, joined[0][1].copy()))
    return ordered if len(placed) == len(scope.sources) else None


def _owner(scope: Scope, part: exp.Expr) -> Source | None:
    """The one source that a condition is about, by the names in it; None where it is about several."""
    if part.find(exp.Select) is not None:
        return None
    found: dict[int, Source] = {}
    for column in part.find_all(exp.Column):
        named = [
            source
            for source in scope.sources
            if source.columns is not None
            and (
                source.node.alias_or_name.lower() == column.table.lower()
                if column.table
                else column.name.lower() in source.columns
            )
        ]
        if len(named) != 1:
            return None
        found[id(named[0])] = named[0]
    return next(iter(found.values())) if len(found) == 1 else None
