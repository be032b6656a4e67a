"""Readings that count rows or distinct things, or add groups with a count of zero."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..sql.query import Query, TableColumn, argument_of, limit_count
from ..sql.scope import Scope, Source
from ..words import listed_words, name_stems, plain_name, plural
from .reading import Reading, Rival, make_column, name_rows, split_name

_NEARLY_ALL = 0.9
"""Of a column with so many different values a row, whether rows or values are counted makes a small difference."""

_QUANTITY = listed_words("quantity qty units pieces")
_TRADED = ("sold", "sell", "sale", "ordered", "order", "bought", "buy", "shipped", "delivered", "purchased")
_AT_ALL = ("once", "ever", "never")
"""Words by which it counts that something happened, and not how often."""

_DIFFERENT = ("different", "distinct", "unique", "various")


def count_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield counts of rows for counts of distinct things, and the reverse."""
    query = reading.query
    scope = query.scopes[0] if query.scopes else None
    if scope is None or scope not in reading.scopes or reading.context.has(*_DIFFERENT):
        return
    counted = list(query.tree.find_all(exp.Count))
    if len(counted) != 1 or counted[0] not in query.aggregates(scope, exp.Count):
        return
    if (rival := _count_otherwise(reading, scope, counted[0])) is not None:
        yield rival


def _count_otherwise(reading: Reading, scope: Scope, node: exp.Expr) -> Rival | None:
    inner, query = node.this, reading.query
    if isinstance(inner, exp.Distinct):
        column = query.column(inner.expressions[0]) if len(inner.expressions) == 1 else None
        return _count_each(reading, scope, node, column) if column is not None else None
    column = query.column(inner)
    if column is None:
        return _count_named(reading, scope, node)
    if _is_key(column.table, column.schema) and len(scope.sources) == 1:
        return None
    if not _is_counted(reading, column.table, column.schema):
        return None
    return _count_distinct(query, node, column.source, column.table, column.schema)


def _count_named(reading: Reading, scope: Scope, node: exp.Expr) -> Rival | None:
    """Return a distinct count of the table that the question counts, for COUNT(*)."""
    rows, context, query = reading.query.counted_source(scope), reading.context, reading.query
    if rows is not None and rows.table is not None and context.counts(name_stems(name_rows(rows.table))):
        return None
    for source, table in scope.tables:
        key = table.column(table.primary_key[0]) if len(table.primary_key) == 1 and source is not rows else None
        if key is not None and context.counts(name_stems(name_rows(table))):
            return _count_distinct(query, node, source, table, key)
    if rows is None or rows.table is None:
        return None
    own, keys = name_stems(rows.table.name), query.schema.foreign_keys
    others = {name for key in keys if key.table == rows.table.name != key.ref_table for name in key.columns}
    for column in rows.table.columns:
        # A flight's number and an employee's manager are no other things than the rows are.
        thing = (_named_parts(column) or [column.name.lower()])[-1]  # `emp` of `manager_emp_id`
        same = column.name not in others and any(part.startswith(thing) for part in own)
        if same or _is_key(rows.table, column):
            continue
        if _is_counted(reading, None, column) and (column.distinct or 3) > 2:
            return _count_distinct(query, node, rows, rows.table, column)
    return None


def _is_counted(reading: Reading, table: TableSchema | None, column: ColumnSchema) -> bool:
    """Whether the question counts the things of a column, as customers of `customer_id`."""
    named = _named_parts(column)
    if table is not None and _is_key(table, column) and reading.context.counts(name_stems(name_rows(table))):
        return True
    return any(reading.context.counts(named[start:]) for start in range(len(named)))


def _named_parts(column: ColumnSchema) -> list[str]:
    return [part for part in name_stems(column.name) if part not in ("id", "code", "number", "no")]


def _is_key(table: TableSchema, column: ColumnSchema) -> bool:
    return table.primary_key == (column.name,)


def _count_distinct(query: Query, node: exp.Expr, source: Source, table: TableSchema, column: ColumnSchema) -> Rival:
    edit = query.edit()
    edit.of(node).set("this", exp.Distinct(expressions=[make_column(source, column.name)]))
    what = name_rows(table) if _is_key(table, column) else plural(plain_name(column.name).removesuffix(" id"))
    return Rival(
        "count", f"different {what}, each counted once", f"{what} are counted as often as they occur", edit.sql
    )


def _count_each(reading: Reading, scope: Scope, node: exp.Expr, column: TableColumn) -> Rival | None:
    """Return a reading that counts every occurrence instead of distinct values."""
    table, counted, edit = column.table, column.schema, reading.query.edit()
    if len(scope.sources) == 1 and not _is_key(table, counted) and counted.kind == "text":
        if (counted.distinct or 0) < _NEARLY_ALL * (table.row_count or 1) or counted.distinct == table.row_count:
            return None
        edit.of(node).set("this", make_column(column.source, counted.name))
        return Rival("count", "counting every row", "those of the same name are counted once", edit.sql)
    if not reading.context.has(*_TRADED) or reading.context.has(*_AT_ALL):
        return None
    for source, table in scope.tables:
        for other in table.columns:
            if other.kind == "number" and split_name(other.name) & _QUANTITY:
                edit.of(node).replace(exp.Sum(this=make_column(source, other.name)))
                return Rival("count", "counting every unit", "each is counted once, however many units", edit.sql)
    return None


def zero_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield groups by a table with its empty groups: LEFT JOIN for INNER JOIN."""
    for scope in reading.scopes:
        select = scope.select
        if scope.parent is not None or len(scope.sources) < 2 or select.args.get("group") is None:
            continue
        if len(scope.tables) < len(scope.sources) or any(source.side for source in scope.sources):
            continue
        if select.args.get("having") is not None or not _asks_for_all(reading, scope):
            continue
        thing = _find_group(reading, scope)
        if thing is not None and (rival := _add_empty_groups(reading.query, scope, thing)) is not None:
            yield rival
            return


def _asks_for_all(reading: Reading, scope: Scope) -> bool:
    """Whether the question asks for every group, or for the smallest."""
    if not reading.query.aggregates(scope, exp.Count, exp.Sum):
        return False
    order = scope.select.args.get("order")
    if scope.select.args.get("limit") is not None:
        return order is not None and not order.expressions[0].args.get("desc")
    return reading.context.has("each", "every", "per", "all") or bool({"by", "in"} & reading.context.words)


def _find_group(reading: Reading, scope: Scope) -> Source | None:
    """Return the one table whose rows are the groups."""
    sources: dict[int, Source] = {}
    for term in scope.select.args["group"].expressions:
        is_name = isinstance(term.unnest(), exp.Column)
        column = reading.query.column(reading.query.resolve_term(term, scope)) if is_name else None
        if column is None:
            return None
        sources[id(column.source)] = column.source
    thing = next(iter(sources.values()), None)
    return thing if len(sources) == 1 and thing is not reading.query.counted_source(scope) else None


def _add_empty_groups(query: Query, scope: Scope, thing: Source) -> Rival | None:
    """Return the query with outer joins from the grouped table; None if that is unsafe.

    Only of the last of a chain of tables, which is there just where all before it are, is that as many as before.
    """
    chain = _chain_joins(query, scope, thing)
    if not chain or thing.table is None or not _adds_up(query, scope, chain[-1][0]):
        return None
    edit = query.edit()
    joins = {id(source): on for source, on in chain}
    conditions: list[exp.Expr] = []
    for part in (condition.node for condition in query.conditions(scope) if condition.clause == "where"):
        owner = _find_owner(query, part)
        if owner is None:
            return None
        if owner is thing:
            conditions.append(part.copy())
        else:
            joins[id(owner)] = exp.and_(joins[id(owner)], part.copy())
    last, on = chain[-1]
    name = last.node.alias_or_name.lower()
    key = next((column for column in on.find_all(exp.Column) if column.table.lower() == name), None)
    for node in query.aggregates(scope, exp.Count):
        if _counts_rows(node):
            if key is None:
                return None
            edit.of(node).set("this", key.copy())
    select = edit.of(scope.select)
    select.set("from_", exp.From(this=edit.of(thing.node).copy()))
    select.set(
        "joins",
        [exp.Join(this=edit.of(source.node).copy(), side="LEFT", on=joins[id(source)]) for source, _ in chain],
    )
    select.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    what, limit = name_rows(thing.table), limit_count(scope.select)
    through = int(limit.name) if isinstance(limit, exp.Literal) and limit.is_int else 0
    return Rival("zeros", f"with {what} that have none", f"{what} that have none are left out", edit.sql, limit=through)


def _counts_rows(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Star) or node.this is None


def _adds_up(query: Query, scope: Scope, last: Source) -> bool:
    """Whether aggregates count rows, or count or sum only columns of `last`."""
    for node in query.aggregates(scope):
        if not isinstance(node, exp.Count | exp.Sum):
            return False
        if isinstance(node, exp.Count) and _counts_rows(node):
            continue
        inner = argument_of(node)
        assert inner is not None
        if any(not isinstance(part, (*_PLAIN, exp.Identifier)) for part in inner.walk()):
            return False
        columns = [query.at(column) for column in inner.find_all(exp.Column)]
        if not columns or any(column is None or column.source is not last for column in columns):
            return False
    return True


_PLAIN = (exp.Column, exp.Literal, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Div)
"""What gives NULL for NULL."""


def _chain_joins(query: Query, scope: Scope, thing: Source) -> list[tuple[Source, exp.Expr]] | None:
    """Return the other sources as a chain of joins from `thing`; None if not a chain."""
    left: list[tuple[frozenset[int], exp.Expr]] = []
    for source in scope.sources:
        on = source.join.args.get("on") if source.join is not None else None
        if source.using or (source.join is not None and not isinstance(on, exp.EQ)):
            return None
        if on is not None:
            ends = map(query.at, on.find_all(exp.Column))
            left.append((frozenset(id(end.source) for end in ends if end is not None and end.source is not None), on))
    end, ordered, placed = thing, list[tuple[Source, exp.Expr]](), {id(thing)}
    while left:
        joined = [one for one in left if id(end) in one[0]]
        if len(joined) != 1 or len(joined[0][0]) != 2:
            return None
        left.remove(joined[0])
        end = next(source for source in scope.sources if id(source) in joined[0][0] - {id(end)})
        if id(end) in placed:
            return None
        placed.add(id(end))
        ordered.append((end, joined[0][1].copy()))
    return ordered if len(placed) == len(scope.sources) else None


def _find_owner(query: Query, part: exp.Expr) -> Source | None:
    """Return the one source of a condition; None for several, or with a sub-query."""
    columns = [] if part.find(exp.Select) is not None else list(part.find_all(exp.Column))
    references = [query.at(column) for column in columns]
    owners = {id(reference.source): reference.source for reference in references if reference is not None}
    return next(iter(owners.values())) if len(owners) == 1 else None
