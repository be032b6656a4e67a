"""Frames as SQL of the database's engine, written and read back."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from sqlglot import exp

from ...tools.database.schema import ColumnSchema, Schema
from ...tools.errors import NotUnderstood, SQLParseError
from ...tools.sql import Query, write_exact_table_names
from ...tools.sql.dialects import get_dialect_rules
from ...tools.sql.join_path import find_joining_keys
from .frame import Aggregate, Column, Operand, Operator, Predicate, QueryFrame, Scalar

_COMPARISONS: Mapping[Operator, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "like": exp.Like,
}  # fmt: skip
_AGGREGATES: Mapping[Aggregate, type[exp.AggFunc]] = {
    "count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max,
}  # fmt: skip
_PRECISE = ("DOUBLE", "FLOAT", "REAL")
_OPERATORS: dict[type[exp.Expr], Operator] = {node: operator for operator, node in _COMPARISONS.items()}
_FUNCTIONS: dict[type[exp.Expr], Aggregate] = {node: name for name, node in _AGGREGATES.items()}
_NEGATIONS: dict[Operator, Operator] = {"like": "not like", "in": "not in", "null": "not null", "=": "!="}
_POSITIVE = {negated: positive for positive, negated in _NEGATIONS.items() if positive != "="}


def convert_frame_to_sql(frame: QueryFrame, schema: Schema, stems: Collection[str] = ()) -> str:
    """Convert a frame, the parsed form of a question, to SQL.

    Args:
        frame: The query.
        schema: The schema whose keys join the tables and whose engine runs the query.
        stems: The question's stems, which choose between two keys of the same tables.

    Raises:
        NotUnderstood: Its tables are not connected by keys.
    """
    query = _QueryBuilder(schema, frame, stems).query()
    return write_exact_table_names(query.sql(dialect=get_dialect_rules(schema.dialect).grammar, copy=False), schema)


def list_query_tables(frame: QueryFrame, schema: Schema) -> frozenset[str]:
    """Return all tables that a frame's query reads, including joined tables and subqueries."""
    tables = [table for query in frame.list_queries() for table in query.list_tables()]
    keys = [key for query in frame.list_queries() for key in find_joining_keys(schema, query.list_tables())]
    return frozenset([*tables, *(key.table for key in keys), *(key.ref_table for key in keys)])


class _QueryBuilder:
    """A builder of the SQL syntax tree of a frame."""

    def __init__(self, schema: Schema, frame: QueryFrame, stems: Collection[str]) -> None:
        self.schema = schema
        self.stems = stems
        self.frame = frame
        self.tables = frame.list_tables() or (schema.tables[0].name,)
        self.path = find_joining_keys(schema, self.tables, stems)
        self.rules = get_dialect_rules(schema.dialect)

    def query(self) -> exp.Query:
        """Build the syntax tree of the whole query."""
        frame = self.frame
        query = exp.select(*(self._build_output(term) for term in frame.select or (Operand(),)))
        query = self._add_from_and_joins(query)
        if frame.distinct:
            query = query.distinct(copy=False)
        groups = [exp.or_(*map(self._build_condition, group), copy=False) for group in frame.where]
        query = query.where(*groups, copy=False)
        if frame.group:
            query = query.group_by(*(self._build_column(column) for column in frame.group), copy=False)
        for condition in frame.having:
            query = query.having(self._build_condition(condition), copy=False)
        if frame.order:
            query = query.order_by(*(self._build_sort_key(term, descending) for term, descending in frame.order))
        if frame.limit is not None:
            query = query.limit(frame.limit, copy=False)
        if frame.also is not None:
            return exp.Intersect(this=query, expression=self._build_subquery(frame.also), distinct=True)
        return query

    def _build_subquery(self, frame: QueryFrame) -> exp.Query:
        return _QueryBuilder(self.schema, frame, self.stems).query()

    def _build_output(self, term: Operand) -> exp.Expr:
        """Return a result column or sort key, in MIN if the engine forbids ungrouped columns."""
        node, frame = self._build_operand(term), self.frame
        is_grouped = bool(frame.group) or any(operand.aggregate for operand in frame.select)
        bare = term.column is not None and not term.aggregate and term.column not in frame.group
        return exp.Min(this=node) if is_grouped and bare and not self.rules.is_sqlite else node

    def _build_sort_key(self, term: Operand, descending: bool) -> exp.Ordered:
        """Return a sort key; NULLs come last if only the first rows are wanted."""
        column = term.column and self.schema.column(term.column.table, term.column.name)
        last = self.frame.limit is not None and not descending and column is not None and column.nulls is True
        return exp.Ordered(this=self._build_output(term), desc=descending, nulls_first=not descending and not last)

    def _add_from_and_joins(self, query: exp.Select) -> exp.Select:
        inside = {self.tables[0]}
        query = query.from_(exp.Table(this=self._quote_name(self.tables[0])), copy=False)
        for key in self.path:
            new = key.ref_table if key.table in inside else key.table
            inside.add(new)
            pairs = zip(key.columns, key.ref_columns, strict=True)
            join_terms = [
                exp.EQ(this=self._build_qualified(key.table, col), expression=self._build_qualified(key.ref_table, ref))
                for col, ref in pairs
            ]
            query = query.join(exp.Table(this=self._quote_name(new)), on=exp.and_(*join_terms, copy=False), copy=False)
        outer_tables = [table for table in self.tables if table not in inside]
        if outer_tables:
            raise NotUnderstood(
                f"No keys connect {', '.join(outer_tables)} with {self.tables[0]}; ask about one of them at a time.",
                tuple(outer_tables),
            )
        return query

    def _quote_name(self, name: str) -> exp.Identifier:
        return exp.Identifier(this=name, quoted=not self.rules.naming.can_be_unquoted(name))

    def _build_qualified(self, table: str, column: str) -> exp.Column:
        return exp.Column(this=self._quote_name(column), table=self._quote_name(table))

    def _build_column(self, column: Column) -> exp.Column:
        return (
            self._build_qualified(column.table, column.name)
            if self.path
            else exp.Column(this=self._quote_name(column.name))
        )

    def _build_operand(self, term: Operand) -> exp.Expr:
        if term.column is None:
            if term.aggregate == "count":
                return exp.Count(this=exp.Star())
            owner = (self.frame.tables or self.tables)[0]
            has_joins = len(self.tables) > 1
            return exp.Column(this=exp.Star(), table=self._quote_name(owner)) if has_joins else exp.Star()
        inner: exp.Expr = self._build_column(term.column)
        if not term.aggregate:
            return inner
        column = self.schema.column(term.column.table, term.column.name)
        if term.distinct:
            inner = exp.Distinct(expressions=[inner])
        elif term.aggregate == "avg" and self.rules.name == "mysql" and column and column.type.upper() not in _PRECISE:
            inner = exp.cast(inner, "double")  # else four digits of a decimal number
        return _AGGREGATES[term.aggregate](this=inner)

    def _build_condition(self, condition: Predicate) -> exp.Expr:
        term, value = self._build_operand(condition.term), condition.value
        entry = condition.term.column and self.schema.column(condition.term.column.table, condition.term.column.name)
        column = None if self.rules.is_sqlite or condition.term.aggregate else entry
        operator = _POSITIVE.get(condition.operator, condition.operator)
        node: exp.Expr
        match operator:
            case "null":
                node = exp.Is(this=term, expression=exp.Null())
            case "between":
                assert isinstance(value, tuple)
                node = exp.Between(this=term, low=_build_value(value[0], column), high=_build_value(value[1], column))
            case "in":
                assert isinstance(value, QueryFrame)
                node = exp.In(this=term, query=exp.Subquery(this=self._build_subquery(value)))
            case "like":
                assert isinstance(value, str)
                # SQLite's looks at no case, and at numbers as texts.
                text = exp.cast(term, "text") if column is not None and column.kind != "text" else term
                node = (exp.Like if self.rules.is_sqlite else exp.ILike)(
                    this=text, expression=_build_value(value, None)
                )
            case _:
                if isinstance(value, QueryFrame):
                    other: exp.Expr = exp.Subquery(this=self._build_subquery(value))
                else:
                    assert isinstance(value, int | float | str)
                    other = _build_value(value, column)
                node = _COMPARISONS[condition.operator](this=term, expression=other)
        return node if operator == condition.operator else exp.Not(this=node)


def _build_value(value: Scalar, column: ColumnSchema | None) -> exp.Expr:
    """Return a value as an SQL literal of the column's type."""
    if column is not None and column.kind == "boolean" and value in (0, 1):
        return exp.Boolean(this=bool(value))
    if isinstance(value, str) or (column is not None and column.kind == "text"):
        return exp.Literal.string(str(value))
    return exp.Literal.number(value)


class _UnsupportedQueryError(Exception):
    """The error for a query that a frame cannot express."""


def read_sql(sql: str, schema: Schema) -> QueryFrame | None:
    """Parse a query into a frame; return None if a frame cannot express the query."""
    try:
        return _read_query(Query.of(sql, schema.dialect).tree, schema)
    except (SQLParseError, _UnsupportedQueryError):
        return None


def _read_query(query: exp.Expr, schema: Schema) -> QueryFrame:
    if isinstance(query, exp.Intersect):
        first = _read_query(query.this, schema)
        if first.also:
            raise _UnsupportedQueryError
        return replace(first, also=_read_query(query.expression, schema))
    if not isinstance(query, exp.Select) or query.args.get("with_") or query.args.get("offset"):
        raise _UnsupportedQueryError
    return _SelectParser(query, schema).build_frame()


class _SelectParser:
    """A converter of a SELECT statement to a frame."""

    def __init__(self, query: exp.Select, schema: Schema) -> None:
        self.query = query
        self.schema = schema
        source = query.args.get("from_")
        parts = [source.this if source else None, *(join.this for join in query.args.get("joins") or ())]
        self.tables: list[str] = []
        self.aliases: dict[str, str] = {}
        for part in parts:
            full_name = ".".join(name.name for name in part.parts) if isinstance(part, exp.Table) else ""
            table = schema.table(full_name)
            if table is None or table.name in self.tables:
                raise _UnsupportedQueryError
            assert part is not None
            self.tables.append(table.name)
            self.aliases[part.alias_or_name.lower()] = table.name

    def build_frame(self) -> QueryFrame:
        clauses = self.query.args
        limit = _read_literal(clauses["limit"].expression) if clauses.get("limit") else None
        if not isinstance(limit, int | None):
            raise _UnsupportedQueryError
        group, order = (clause.expressions if (clause := clauses.get(name)) else () for name in ("group", "order"))
        groups = _split_operands(clauses.get("where"), exp.And)
        return QueryFrame(
            select=tuple(self._read_operand(item.unalias()) for item in self.query.expressions),
            tables=tuple(self.tables),
            where=tuple(tuple(map(self._read_condition, _split_operands(group, exp.Or))) for group in groups),
            group=tuple(self._read_column(item) for item in group),
            having=tuple(self._read_condition(part) for part in _split_operands(clauses.get("having"), exp.And)),
            order=tuple((self._read_operand(item.this), bool(item.args.get("desc"))) for item in order),
            limit=limit,
            distinct=bool(clauses.get("distinct")),
        )

    def _read_column(self, node: exp.Expr) -> Column:
        if not isinstance(node, exp.Column):
            raise _UnsupportedQueryError
        tables = [self.aliases.get(node.table.lower(), "")] if node.table else self.tables
        for table in tables:
            column = self.schema.column(table, node.name)
            if column is not None:
                return Column(table, column.name)
        raise _UnsupportedQueryError

    def _read_operand(self, node: exp.Expr) -> Operand:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            return Operand()
        aggregate = _FUNCTIONS.get(type(node))
        if aggregate is None:
            return Operand(self._read_column(node))
        if isinstance(node.this, exp.Star):
            return Operand(None, "count")
        if isinstance(node.this, exp.Distinct):
            return Operand(self._read_column(node.this.expressions[0]), aggregate, True)
        return Operand(self._read_column(node.this), aggregate)

    def _read_condition(self, node: exp.Expr) -> Predicate:
        node = node.unnest()
        if isinstance(node, exp.Not):
            inner = self._read_condition(node.this)
            if inner.operator not in _NEGATIONS:
                raise _UnsupportedQueryError
            return Predicate(inner.term, _NEGATIONS[inner.operator], inner.value)
        if isinstance(node, exp.Between):
            return Predicate(
                self._read_operand(node.this),
                "between",
                (_read_literal(node.args["low"]), _read_literal(node.args["high"])),
            )
        if isinstance(node, exp.In) and node.args.get("query"):
            return Predicate(self._read_operand(node.this), "in", _read_query(node.args["query"].unnest(), self.schema))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Predicate(self._read_operand(node.this), "null")
        if isinstance(node, exp.ILike | exp.Like):
            text, like = (part.this if isinstance(part, exp.Lower) else part for part in (node.this, node.expression))
            return Predicate(self._read_operand(text), "like", _read_literal(like))
        operator = _OPERATORS.get(type(node))
        if operator is None:
            raise _UnsupportedQueryError
        other = node.expression
        value = _read_query(other.this, self.schema) if isinstance(other, exp.Subquery) else _read_literal(other)
        return Predicate(self._read_operand(node.this), operator, value)


def _split_operands(node: exp.Expr | None, kind: type[exp.Connector]) -> list[exp.Expr]:
    """Return the operands of a chain of ANDs or ORs, ignoring parentheses."""
    if node is None:
        return []
    node = node.this.unnest() if isinstance(node, exp.Where | exp.Having) else node.unnest()
    if not isinstance(node, kind):
        return [] if node is None else [node]
    return [operand for side in (node.left, node.right) for operand in _split_operands(side, kind)]


def _read_literal(node: exp.Expr) -> Scalar:
    if isinstance(node, exp.Neg):
        value = _read_literal(node.this)
        return value if isinstance(value, str) else -value
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        return node.name
    if isinstance(node, exp.Boolean):
        return int(node.this)
    if not isinstance(node, exp.Literal):
        raise _UnsupportedQueryError
    if node.is_string:
        return node.name
    try:
        number = float(node.name)
        # No engine says infinity as Python does, and none counts so many.
        if not math.isfinite(number):
            raise _UnsupportedQueryError
        return int(node.name) if node.name.isdecimal() else number
    except ValueError:
        raise _UnsupportedQueryError from None
