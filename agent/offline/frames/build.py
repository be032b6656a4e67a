"""From a frame to SQL: joins by the cheapest foreign-key tree, and a sqlglot tree."""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlglot import exp

from ....tools.database.schema import Schema
from ....tools.errors import NotUnderstood
from ....tools.linking.join_path import join_path
from ....tools.sql.keywords import KEYWORDS
from .frame import Column, Condition, Frame, Scalar, Term, Value
from .operators import AGGREGATES, COMPARISONS, SET_OPERATIONS

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def build(frame: Frame, schema: Schema, stems: Collection[str] = ()) -> exp.Query:
    """The query that a frame means.

    Args:
        frame: What is asked.
        schema: Whose keys join its tables.
        stems: Those of the question, which tell two keys between the same tables apart.

    Raises:
        NotUnderstood: Its tables are not connected by keys.
    """
    return _Builder(schema, frame, stems).query()


def joined(frame: Frame, schema: Schema) -> frozenset[str]:
    """Every table of a frame's query, those that only connect others and those of inner queries included."""
    used = [table for one in frame.nested() for table in one.used()]
    keys = [key for one in frame.nested() for key in join_path(schema, one.used())]
    return frozenset([*used, *(key.table for key in keys), *(key.ref_table for key in keys)])


class _Builder:
    def __init__(self, schema: Schema, frame: Frame, stems: Collection[str]) -> None:
        self.schema = schema
        self.stems = stems
        self.frame = frame
        self.tables = frame.used() or (schema.tables[0].name,)
        self.path = join_path(schema, self.tables, stems)

    def query(self) -> exp.Query:
        frame = self.frame
        query = exp.select(*(self._term(term) for term in frame.select or (Term(),)))
        query = self._joined(query)
        if frame.distinct:
            query = query.distinct(copy=False)
        groups = [exp.or_(*(self._condition(condition) for condition in group), copy=False) for group in frame.where]
        query = query.where(*groups, copy=False)
        if frame.group:
            query = query.group_by(*(self._column(column) for column in frame.group), copy=False)
        for condition in frame.having:
            query = query.having(self._condition(condition), copy=False)
        if frame.order:
            query = query.order_by(*(self._ordered(term, descending) for term, descending in frame.order))
        if frame.limit is not None:
            query = query.limit(frame.limit, copy=False)
        if frame.offset:
            query = query.offset(frame.offset, copy=False)
        if frame.combine is not None:
            operator, other = frame.combine
            return SET_OPERATIONS[operator](this=query, expression=build(other, self.schema, self.stems), distinct=True)
        return query

    def _ordered(self, term: Term, descending: bool) -> exp.Ordered:
        """A sort key; where only the first rows are wanted, what is missing is not the least."""
        column = term.column and self.schema.column(term.column.table, term.column.name)
        last = self.frame.limit is not None and not descending and column is not None and column.nulls is True
        return exp.Ordered(this=self._term(term), desc=descending, nulls_first=not descending and not last)

    def _joined(self, query: exp.Select) -> exp.Select:
        inside = {self.tables[0]}
        query = query.from_(_table(self.tables[0]), copy=False)
        for key in self.path:
            new = key.ref_table if key.table in inside else key.table
            inside.add(new)
            pairs = zip(key.columns, key.ref_columns, strict=True)
            on = [exp.EQ(this=_name(key.table, own), expression=_name(key.ref_table, ref)) for own, ref in pairs]
            query = query.join(_table(new), on=exp.and_(*on, copy=False), copy=False)
        lost = [table for table in self.tables if table not in inside]
        if lost:
            raise NotUnderstood(
                f"No keys connect {', '.join(lost)} with {self.tables[0]}; ask about one of them at a time.",
                tuple(lost),
            )
        return query

    def _column(self, column: Column) -> exp.Column:
        return _name(column.table, column.name) if self.path else exp.Column(this=_identifier(column.name))

    def _term(self, term: Term) -> exp.Expr:
        if term.column is None:
            return exp.Count(this=exp.Star()) if term.aggregate == "count" else self._star()
        inner: exp.Expr = self._column(term.column)
        if not term.aggregate:
            return inner
        if term.distinct:
            inner = exp.Distinct(expressions=[inner])
        return AGGREGATES[term.aggregate](this=inner)

    def _star(self) -> exp.Expr:
        if len(self.tables) < 2:
            return exp.Star()
        return exp.Column(
            this=exp.Star(), table=_identifier(self.frame.tables[0] if self.frame.tables else self.tables[0])
        )

    def _condition(self, condition: Condition) -> exp.Expr:
        term, value = self._term(condition.term), condition.value
        match condition.operator:
            case "null":
                return exp.Is(this=term, expression=exp.Null())
            case "not null":
                return exp.Not(this=exp.Is(this=term, expression=exp.Null()))
            case "between":
                assert isinstance(value, tuple)
                return exp.Between(this=term, low=_literal(value[0]), high=_literal(value[1]))
            case "in" | "not in":
                assert isinstance(value, Frame)
                inside = exp.In(this=term, query=exp.Subquery(this=build(value, self.schema, self.stems)))
                return inside if condition.operator == "in" else exp.Not(this=inside)
            case operator:
                made = COMPARISONS["like" if operator == "not like" else operator]
                compared = made(this=term, expression=self._value(value))
                return exp.Not(this=compared) if operator == "not like" else compared

    def _value(self, value: Value) -> exp.Expr:
        if isinstance(value, Frame):
            return exp.Subquery(this=build(value, self.schema, self.stems))
        assert isinstance(value, int | float | str)
        return _literal(value)


def _literal(value: Scalar) -> exp.Expr:
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(value)


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=not _PLAIN.match(name) or name.lower() in KEYWORDS)


def _table(name: str) -> exp.Table:
    return exp.Table(this=_identifier(name))


def _name(table: str, column: str) -> exp.Column:
    return exp.Column(this=_identifier(column), table=_identifier(table))
