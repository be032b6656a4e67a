"""Frames as SQL of the database's engine, written and read back."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from sqlglot import exp

from ...tools.database.schema import ColumnSchema, Schema
from ...tools.errors import NotUnderstood, SQLParseError
from ...tools.linking.join_path import join_path
from ...tools.sql import Query, spell_tables
from ...tools.sql.dialects import rules_of
from .frame import Aggregate, Column, Frame, Operand, Operator, Predicate, Scalar

_COMPARISONS: Mapping[Operator, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "like": exp.Like,
}  # fmt: skip
_AGGREGATES: Mapping[Aggregate, type[exp.AggFunc]] = {
    "count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max,
}  # fmt: skip
_PRECISE = ("DOUBLE", "FLOAT", "REAL")
_OPERATORS: dict[type[exp.Expr], Operator] = {node: operator for operator, node in _COMPARISONS.items()}
_FUNCTIONS: dict[type[exp.Expr], Aggregate] = {node: name for name, node in _AGGREGATES.items()}
_NEGATED: dict[Operator, Operator] = {"like": "not like", "in": "not in", "null": "not null", "=": "!="}
_POSITIVE = {negated: positive for positive, negated in _NEGATED.items() if positive != "="}


def write_sql(frame: Frame, schema: Schema, stems: Collection[str] = ()) -> str:
    """Write a frame as SQL.

    Args:
        frame: The query.
        schema: The schema whose keys join the tables and whose engine runs the query.
        stems: The question's stems, which choose between two keys of the same tables.

    Raises:
        NotUnderstood: Its tables are not connected by keys.
    """
    query = _Builder(schema, frame, stems).query()
    return spell_tables(query.sql(dialect=rules_of(schema.dialect).grammar, copy=False), schema)


def list_joined_tables(frame: Frame, schema: Schema) -> frozenset[str]:
    """Return every table of a frame's query, connecting tables and inner queries included."""
    used = [table for one in frame.list_queries() for table in one.list_tables()]
    keys = [key for one in frame.list_queries() for key in join_path(schema, one.list_tables())]
    return frozenset([*used, *(key.table for key in keys), *(key.ref_table for key in keys)])


class _Builder:
    def __init__(self, schema: Schema, frame: Frame, stems: Collection[str]) -> None:
        self.schema = schema
        self.stems = stems
        self.frame = frame
        self.tables = frame.list_tables() or (schema.tables[0].name,)
        self.path = join_path(schema, self.tables, stems)
        self.rules = rules_of(schema.dialect)

    def query(self) -> exp.Query:
        frame = self.frame
        query = exp.select(*(self._show(term) for term in frame.select or (Operand(),)))
        query = self._add_joins(query)
        if frame.distinct:
            query = query.distinct(copy=False)
        groups = [exp.or_(*(self._condition(condition) for condition in group), copy=False) for group in frame.where]
        query = query.where(*groups, copy=False)
        if frame.group:
            query = query.group_by(*(self._column(column) for column in frame.group), copy=False)
        for condition in frame.having:
            query = query.having(self._condition(condition), copy=False)
        if frame.order:
            query = query.order_by(*(self._write_sort_key(term, descending) for term, descending in frame.order))
        if frame.limit is not None:
            query = query.limit(frame.limit, copy=False)
        if frame.also is not None:
            return exp.Intersect(this=query, expression=self._inner(frame.also), distinct=True)
        return query

    def _inner(self, frame: Frame) -> exp.Query:
        return _Builder(self.schema, frame, self.stems).query()

    def _show(self, term: Operand) -> exp.Expr:
        """Return a result column or sort key; only SQLite allows a column that is not grouped."""
        node, frame = self._term(term), self.frame
        grouped = bool(frame.group) or any(one.aggregate for one in frame.select)
        bare = term.column is not None and not term.aggregate and term.column not in frame.group
        return exp.Min(this=node) if grouped and bare and not self.rules.is_sqlite else node

    def _write_sort_key(self, term: Operand, descending: bool) -> exp.Ordered:
        """Return a sort key; missing values come last if only the first rows are wanted."""
        column = term.column and self.schema.column(term.column.table, term.column.name)
        last = self.frame.limit is not None and not descending and column is not None and column.nulls is True
        return exp.Ordered(this=self._show(term), desc=descending, nulls_first=not descending and not last)

    def _add_joins(self, query: exp.Select) -> exp.Select:
        inside = {self.tables[0]}
        query = query.from_(exp.Table(this=self._identifier(self.tables[0])), copy=False)
        for key in self.path:
            new = key.ref_table if key.table in inside else key.table
            inside.add(new)
            pairs = zip(key.columns, key.ref_columns, strict=True)
            on = [
                exp.EQ(this=self._name(key.table, own), expression=self._name(key.ref_table, ref)) for own, ref in pairs
            ]
            query = query.join(exp.Table(this=self._identifier(new)), on=exp.and_(*on, copy=False), copy=False)
        lost = [table for table in self.tables if table not in inside]
        if lost:
            raise NotUnderstood(
                f"No keys connect {', '.join(lost)} with {self.tables[0]}; ask about one of them at a time.",
                tuple(lost),
            )
        return query

    def _identifier(self, name: str) -> exp.Identifier:
        return exp.Identifier(this=name, quoted=not self.rules.naming.is_plain(name))

    def _name(self, table: str, column: str) -> exp.Column:
        return exp.Column(this=self._identifier(column), table=self._identifier(table))

    def _column(self, column: Column) -> exp.Column:
        return self._name(column.table, column.name) if self.path else exp.Column(this=self._identifier(column.name))

    def _term(self, term: Operand) -> exp.Expr:
        if term.column is None:
            if term.aggregate == "count":
                return exp.Count(this=exp.Star())
            owner = (self.frame.tables or self.tables)[0]
            several = len(self.tables) > 1
            return exp.Column(this=exp.Star(), table=self._identifier(owner)) if several else exp.Star()
        inner: exp.Expr = self._column(term.column)
        if not term.aggregate:
            return inner
        found = self.schema.column(term.column.table, term.column.name)
        if term.distinct:
            inner = exp.Distinct(expressions=[inner])
        elif term.aggregate == "avg" and self.rules.name == "mysql" and found and found.type.upper() not in _PRECISE:
            inner = exp.cast(inner, "double")  # else four digits of a decimal number
        return _AGGREGATES[term.aggregate](this=inner)

    def _condition(self, condition: Predicate) -> exp.Expr:
        term, value = self._term(condition.term), condition.value
        found = condition.term.column and self.schema.column(condition.term.column.table, condition.term.column.name)
        column = None if self.rules.is_sqlite or condition.term.aggregate else found
        operator = _POSITIVE.get(condition.operator, condition.operator)
        node: exp.Expr
        match operator:
            case "null":
                node = exp.Is(this=term, expression=exp.Null())
            case "between":
                assert isinstance(value, tuple)
                node = exp.Between(this=term, low=_literal(value[0], column), high=_literal(value[1], column))
            case "in":
                assert isinstance(value, Frame)
                node = exp.In(this=term, query=exp.Subquery(this=self._inner(value)))
            case "like":
                assert isinstance(value, str)
                # SQLite's looks at no case, and at numbers as texts.
                text = exp.cast(term, "text") if column is not None and column.kind != "text" else term
                node = (exp.Like if self.rules.is_sqlite else exp.ILike)(this=text, expression=_literal(value, None))
            case _:
                if isinstance(value, Frame):
                    other: exp.Expr = exp.Subquery(this=self._inner(value))
                else:
                    assert isinstance(value, int | float | str)
                    other = _literal(value, column)
                node = _COMPARISONS[condition.operator](this=term, expression=other)
        return node if operator == condition.operator else exp.Not(this=node)


def _literal(value: Scalar, column: ColumnSchema | None) -> exp.Expr:
    """Return a literal, converted to its column's type if the engine compares no other types."""
    if column is not None and column.kind == "boolean" and value in (0, 1):
        return exp.Boolean(this=bool(value))
    if isinstance(value, str) or (column is not None and column.kind == "text"):
        return exp.Literal.string(str(value))
    return exp.Literal.number(value)


class _Unreadable(Exception):
    """A query that a frame cannot express."""


def read_sql(sql: str, schema: Schema) -> Frame | None:
    """Return the frame of a query in the schema's dialect; None if a frame cannot express it."""
    try:
        return _read_frame(Query.of(sql, schema.dialect).tree, schema)
    except (SQLParseError, _Unreadable):
        return None


def _read_frame(query: exp.Expr, schema: Schema) -> Frame:
    if isinstance(query, exp.Intersect):
        left = _read_frame(query.this, schema)
        if left.also:
            raise _Unreadable
        return replace(left, also=_read_frame(query.expression, schema))
    if not isinstance(query, exp.Select) or query.args.get("with_") or query.args.get("offset"):
        raise _Unreadable
    return _Reader(query, schema).frame()


class _Reader:
    def __init__(self, query: exp.Select, schema: Schema) -> None:
        self.query = query
        self.schema = schema
        source = query.args.get("from_")
        parts = [source.this if source else None, *(join.this for join in query.args.get("joins") or ())]
        self.tables: list[str] = []
        self.aliases: dict[str, str] = {}
        for part in parts:
            named = ".".join(name.name for name in part.parts) if isinstance(part, exp.Table) else ""
            table = schema.table(named)
            if table is None or table.name in self.tables:
                raise _Unreadable
            assert part is not None
            self.tables.append(table.name)
            self.aliases[part.alias_or_name.lower()] = table.name

    def frame(self) -> Frame:
        clauses = self.query.args
        limit = _read_scalar(clauses["limit"].expression) if clauses.get("limit") else None
        if not isinstance(limit, int | None):
            raise _Unreadable
        group, order = (clause.expressions if (clause := clauses.get(name)) else () for name in ("group", "order"))
        groups = _split_operands(clauses.get("where"), exp.And)
        return Frame(
            select=tuple(self._term(item.unalias()) for item in self.query.expressions),
            tables=tuple(self.tables),
            where=tuple(tuple(map(self._condition, _split_operands(group, exp.Or))) for group in groups),
            group=tuple(self._column(item) for item in group),
            having=tuple(self._condition(part) for part in _split_operands(clauses.get("having"), exp.And)),
            order=tuple((self._term(item.this), bool(item.args.get("desc"))) for item in order),
            limit=limit,
            distinct=bool(clauses.get("distinct")),
        )

    def _column(self, node: exp.Expr) -> Column:
        if not isinstance(node, exp.Column):
            raise _Unreadable
        tables = [self.aliases.get(node.table.lower(), "")] if node.table else self.tables
        for table in tables:
            found = self.schema.column(table, node.name)
            if found is not None:
                return Column(table, found.name)
        raise _Unreadable

    def _term(self, node: exp.Expr) -> Operand:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            return Operand()
        aggregate = _FUNCTIONS.get(type(node))
        if aggregate is None:
            return Operand(self._column(node))
        if isinstance(node.this, exp.Star):
            return Operand(None, "count")
        if isinstance(node.this, exp.Distinct):
            return Operand(self._column(node.this.expressions[0]), aggregate, True)
        return Operand(self._column(node.this), aggregate)

    def _condition(self, node: exp.Expr) -> Predicate:
        node = node.unnest()
        if isinstance(node, exp.Not):
            inner = self._condition(node.this)
            if inner.operator not in _NEGATED:
                raise _Unreadable
            return Predicate(inner.term, _NEGATED[inner.operator], inner.value)
        if isinstance(node, exp.Between):
            return Predicate(
                self._term(node.this), "between", (_read_scalar(node.args["low"]), _read_scalar(node.args["high"]))
            )
        if isinstance(node, exp.In) and node.args.get("query"):
            return Predicate(self._term(node.this), "in", _read_frame(node.args["query"].unnest(), self.schema))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Predicate(self._term(node.this), "null")
        if isinstance(node, exp.ILike | exp.Like):
            text, like = (part.this if isinstance(part, exp.Lower) else part for part in (node.this, node.expression))
            return Predicate(self._term(text), "like", _read_scalar(like))
        operator = _OPERATORS.get(type(node))
        if operator is None:
            raise _Unreadable
        other = node.expression
        value = _read_frame(other.this, self.schema) if isinstance(other, exp.Subquery) else _read_scalar(other)
        return Predicate(self._term(node.this), operator, value)


def _split_operands(node: exp.Expr | None, kind: type[exp.Connector]) -> list[exp.Expr]:
    """Return the operands of a chain of ANDs or ORs, ignoring brackets."""
    if node is None:
        return []
    node = node.this.unnest() if isinstance(node, exp.Where | exp.Having) else node.unnest()
    if not isinstance(node, kind):
        return [] if node is None else [node]
    return [part for side in (node.left, node.right) for part in _split_operands(side, kind)]


def _read_scalar(node: exp.Expr) -> Scalar:
    if isinstance(node, exp.Neg):
        value = _read_scalar(node.this)
        return value if isinstance(value, str) else -value
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        return node.name
    if isinstance(node, exp.Boolean):
        return int(node.this)
    if not isinstance(node, exp.Literal):
        raise _Unreadable
    if node.is_string:
        return node.name
    try:
        number = float(node.name)
        # No engine says infinity as Python does, and none counts so many.
        if not math.isfinite(number):
            raise _Unreadable
        return int(node.name) if node.name.isdecimal() else number
    except ValueError:
        raise _Unreadable from None
