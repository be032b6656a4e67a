"""The typed meaning of a question: what a reading of it produces and what SQL is built from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Aggregate = Literal["", "count", "sum", "avg", "min", "max"]
Operator = Literal["=", "!=", ">", ">=", "<", "<=", "like", "not like", "between", "in", "not in", "null", "not null"]
SetOperator = Literal["intersect", "union", "except"]


@dataclass(frozen=True)
class Column:
    """A column of a table, both named as the schema spells them."""

    table: str
    name: str


@dataclass(frozen=True)
class Term:
    """A column or an aggregate of one; without a column, every row (`count(*)`) or every column (`*`)."""

    column: Column | None = None
    aggregate: Aggregate = ""
    distinct: bool = False


@dataclass(frozen=True)
class Condition:
    """A comparison of a term with a literal, a pair of them (`between`), a query, or nothing (`null`)."""

    term: Term
    operator: Operator
    value: Value = None

    def excludes(self, other: Condition) -> bool:
        """Whether no row can meet both: two values of one column, or bounds with nothing between them."""
        if self.operator.startswith("<"):
            return other.operator.startswith(">") and other.excludes(self)
        if self.term != other.term or isinstance(self.value, Frame) or isinstance(other.value, Frame):
            return False
        if isinstance(self.value, int | float) and isinstance(other.value, int | float) and self.operator[0] == ">":
            return other.operator[0] == "<" and self.value > other.value
        return self.operator == other.operator == "=" and self.value != other.value


@dataclass(frozen=True)
class Frame:
    """One query.

    Attributes:
        select: What is shown, in order.
        tables: Tables that must be joined even where none of their columns is used.
        where: Groups of conditions: one of each group holds.
        group: Grouping columns.
        having: Conditions on groups, all of which hold.
        order: Terms, each with whether it descends.
        limit: Number of rows; None for all.
        offset: Rows that are passed over before.
        distinct: Whether equal rows are shown once.
        combine: A set operation with a second query.
    """

    select: tuple[Term, ...] = ()
    tables: tuple[str, ...] = ()
    where: tuple[tuple[Condition, ...], ...] = ()
    group: tuple[Column, ...] = ()
    having: tuple[Condition, ...] = ()
    order: tuple[tuple[Term, bool], ...] = ()
    limit: int | None = None
    offset: int = 0
    distinct: bool = False
    combine: tuple[SetOperator, Frame] | None = None

    def columns(self) -> tuple[Column, ...]:
        """Every column that this query's own FROM has to offer, in order of appearance."""
        where = (condition.term for group in self.where for condition in group)
        terms = (*self.select, *where, *map(Term, self.group), *self._of_groups())
        return tuple(dict.fromkeys(term.column for term in terms if term.column is not None))

    def _of_groups(self) -> tuple[Term, ...]:
        return *(condition.term for condition in self.having), *(term for term, _ in self.order)

    def used(self) -> tuple[str, ...]:
        """Every table that FROM has to join, in order of appearance."""
        return tuple(dict.fromkeys([*(column.table for column in self.columns()), *self.tables]))

    def computed(self) -> bool:
        """Whether it gives one row of aggregates."""
        return not self.group and bool(self.select) and all(term.aggregate for term in self.select)

    def aggregates(self) -> bool:
        """Whether it shows, orders by or compares an aggregate."""
        return any(term.aggregate for term in (*self.select, *self._of_groups()))

    def nested(self) -> Iterator[Frame]:
        """This query and all that are inside it."""
        yield self
        inner = [c.value for group in (*self.where, self.having) for c in group if isinstance(c.value, Frame)]
        for one in (*inner, *([self.combine[1]] if self.combine else ())):
            yield from one.nested()

    def literals(self) -> tuple[Scalar, ...]:
        """Every number and text that this query and those inside it hold."""
        found: list[Value] = [one.limit for one in self.nested()]
        for one in self.nested():
            for condition in (*(c for group in one.where for c in group), *one.having):
                found += condition.value if isinstance(condition.value, tuple) else (condition.value,)
        return tuple(value for value in found if isinstance(value, int | float | str))

    def ranks(self) -> bool:
        """Whether this query or one inside it orders its rows or looks for a highest or lowest value."""
        return any(one.order or any(term.aggregate in ("min", "max") for term in one.select) for one in self.nested())

    def repeats(self) -> bool:
        """Whether all that it shows is what its conditions fix: the names of those that have one name."""
        fixed = {
            g[0].term for g in self.where if len(g) == 1 and g[0].operator == "=" and isinstance(g[0].value, Scalar)
        }
        return self.combine is None and bool(self.select) and fixed.issuperset(self.select)


Scalar: TypeAlias = int | float | str
Value: TypeAlias = Scalar | tuple[Scalar, Scalar] | Frame | None
