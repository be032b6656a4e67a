"""From SQL back to a frame, so that a follow-up can edit whatever query answered before."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ....tools.database.schema import Schema
from ....tools.errors import SQLParseError
from ....tools.sql.parse import parse_select
from .frame import Aggregate, Column, Condition, Frame, Operator, Scalar, SetOperator, Term, Value
from .operators import AGGREGATES, COMPARISONS, SET_OPERATIONS

_OPERATORS: dict[type[exp.Expr], Operator] = {node: operator for operator, node in COMPARISONS.items()}
_FUNCTIONS: dict[type[exp.Expr], Aggregate] = {node: name for name, node in AGGREGATES.items()}
_SET: dict[type[exp.Expr], SetOperator] = {node: operator for operator, node in SET_OPERATIONS.items()}
_NEGATED: dict[Operator, Operator] = {"like": "not like", "in": "not in", "null": "not null", "=": "!="}


class _Unreadable(Exception):
    """The query says something that a frame cannot."""


def read_sql(sql: str, schema: Schema) -> Frame | None:
    """The frame of a query; None where the query says what a frame cannot."""
    try:
        return _frame(parse_select(sql), schema)
    except (SQLParseError, _Unreadable):
        return None


def _frame(query: exp.Expr, schema: Schema) -> Frame:
    if isinstance(query, exp.SetOperation):
        left, right = _frame(query.this, schema), _frame(query.expression, schema)
        operator = _SET.get(type(query))
        if operator is None or left.combine:
            raise _Unreadable
        return replace(left, combine=(operator, right))
    if not isinstance(query, exp.Select) or query.args.get("with_"):
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
            table = schema.table(part.name) if isinstance(part, exp.Table) else None
            if table is None or table.name in self.tables:
                raise _Unreadable
            assert part is not None
            self.tables.append(table.name)
            self.aliases[part.alias_or_name.lower()] = table.name

    def frame(self) -> Frame:
        clauses = self.query.args
        limit, offset = clauses.get("limit"), clauses.get("offset")
        group, order = (clause.expressions if (clause := clauses.get(name)) else () for name in ("group", "order"))
        return Frame(
            select=tuple(self._term(item.unalias()) for item in self.query.expressions),
            tables=tuple(self.tables),
            where=tuple(self._any(part) for part in _parts(clauses.get("where"), exp.And)),
            group=tuple(self._column(item) for item in group),
            having=tuple(self._condition(part) for part in _parts(clauses.get("having"), exp.And)),
            order=tuple((self._term(item.this), bool(item.args.get("desc"))) for item in order),
            limit=int(limit.expression.name) if limit else None,
            offset=int(offset.expression.name) if offset else 0,
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

    def _term(self, node: exp.Expr) -> Term:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            return Term()
        aggregate = _FUNCTIONS.get(type(node))
        if aggregate is None:
            return Term(self._column(node))
        if isinstance(node.this, exp.Star):
            return Term(None, "count")
        if isinstance(node.this, exp.Distinct):
            return Term(self._column(node.this.expressions[0]), aggregate, True)
        return Term(self._column(node.this), aggregate)

    def _any(self, node: exp.Expr) -> tuple[Condition, ...]:
        return tuple(self._condition(part) for part in _parts(node, exp.Or))

    def _condition(self, node: exp.Expr) -> Condition:
        node = node.unnest()
        if isinstance(node, exp.Not):
            inner = self._condition(node.this)
            if inner.operator not in _NEGATED:
                raise _Unreadable
            return Condition(inner.term, _NEGATED[inner.operator], inner.value)
        if isinstance(node, exp.Between):
            return Condition(self._term(node.this), "between", (_scalar(node.args["low"]), _scalar(node.args["high"])))
        if isinstance(node, exp.In) and node.args.get("query"):
            return Condition(self._term(node.this), "in", _frame(node.args["query"].unnest(), self.schema))
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Condition(self._term(node.this), "null")
        operator = _OPERATORS.get(type(node))
        if operator is None:
            raise _Unreadable
        return Condition(self._term(node.this), operator, self._value(node.expression))

    def _value(self, node: exp.Expr) -> Value:
        if isinstance(node, exp.Subquery):
            return _frame(node.this, self.schema)
        return _scalar(node)


def _parts(node: exp.Expr | None, kind: type[exp.Connector]) -> list[exp.Expr]:
    """The operands of a chain of ANDs or ORs, however they are bracketed."""
    if node is None:
        return []
    node = node.this.unnest() if isinstance(node, exp.Where | exp.Having) else node.unnest()
    if not isinstance(node, kind):
        return [] if node is None else [node]
    return [part for side in (node.left, node.right) for part in _parts(side, kind)]


def _scalar(node: exp.Expr) -> Scalar:
    if isinstance(node, exp.Neg):
        value = _scalar(node.this)
        return value if isinstance(value, str) else -value
    if isinstance(node, exp.Column) and not node.table and node.this.args.get("quoted"):
        return node.name
    if not isinstance(node, exp.Literal):
        raise _Unreadable
    if node.is_string:
        return node.name
    return float(node.name) if "." in node.name else int(node.name)
