"""The meaning of a question as frozen data, its follow-ups, and a plain sentence for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ...tools.errors import NotUnderstood
from ...tools.words import split_name_into_words

Aggregate = Literal["", "count", "sum", "avg", "min", "max"]
Operator = Literal["=", "!=", ">", ">=", "<", "<=", "like", "not like", "between", "in", "not in", "null", "not null"]


@dataclass(frozen=True)
class Column:
    """A column of a table, with both names as the schema spells them."""

    table: str
    name: str


@dataclass(frozen=True)
class Operand:
    """A column, or an aggregate of a column; without a column, all rows or all columns."""

    column: Column | None = None
    aggregate: Aggregate = ""
    distinct: bool = False


@dataclass(frozen=True)
class Predicate:
    """A comparison of a term with a literal, a pair of literals, a query, or nothing."""

    term: Operand
    operator: Operator
    value: Value = None

    def excludes(self, other: Predicate) -> bool:
        """Whether no row can meet both predicates: two values of one column, or disjoint bounds."""
        if self.operator.startswith("<"):
            return other.operator.startswith(">") and other.excludes(self)
        if self.term != other.term or isinstance(self.value, QueryFrame) or isinstance(other.value, QueryFrame):
            return False
        if isinstance(self.value, int | float) and isinstance(other.value, int | float) and self.operator[0] == ">":
            return other.operator[0] == "<" and self.value > other.value
        return self.operator == other.operator == "=" and self.value != other.value


Group = tuple[Predicate, ...]
"""Conditions of which one holds."""


@dataclass(frozen=True)
class QueryFrame:
    """A query as structured data, independent of SQL.

    Attributes:
        select: What is shown, in order.
        tables: Tables that must be joined even where none of their columns is used.
        where: Groups of conditions: one of each group holds.
        group: Grouping columns.
        having: Conditions on groups, all of which hold.
        order: Terms, each with whether it descends.
        limit: Number of rows; None for all.
        distinct: Whether equal rows are shown once.
        also: A query that must give the same rows too.
    """

    select: tuple[Operand, ...] = ()
    tables: tuple[str, ...] = ()
    where: tuple[Group, ...] = ()
    group: tuple[Column, ...] = ()
    having: Group = ()
    order: tuple[tuple[Operand, bool], ...] = ()
    limit: int | None = None
    distinct: bool = False
    also: QueryFrame | None = None

    def columns(self) -> tuple[Column, ...]:
        """Return every column that the query itself uses, in order of appearance."""
        where = (condition.term for group in self.where for condition in group)
        terms = (*self.select, *where, *map(Operand, self.group), *self._list_having_and_order_terms())
        return tuple(dict.fromkeys(term.column for term in terms if term.column is not None))

    def _list_having_and_order_terms(self) -> tuple[Operand, ...]:
        return *(condition.term for condition in self.having), *(term for term, _ in self.order)

    def list_tables(self) -> tuple[str, ...]:
        """Return every table that FROM has to join, in order of appearance."""
        return tuple(dict.fromkeys([*(column.table for column in self.columns()), *self.tables]))

    def has_single_aggregate_row(self) -> bool:
        """Whether the query returns one row of aggregates."""
        return not self.group and bool(self.select) and all(term.aggregate for term in self.select)

    def has_aggregates(self) -> bool:
        """Whether the query shows, sorts by or compares an aggregate."""
        return any(term.aggregate for term in (*self.select, *self._list_having_and_order_terms()))

    def list_queries(self) -> Iterator[QueryFrame]:
        """Yield this query and every query inside it."""
        yield self
        inner = [c.value for group in (*self.where, self.having) for c in group if isinstance(c.value, QueryFrame)]
        for query in (*inner, *([self.also] if self.also else ())):
            yield from query.list_queries()

    def list_literals(self) -> tuple[Scalar, ...]:
        """Return every number and text in this query and in the queries inside it."""
        values: list[Value] = [query.limit for query in self.list_queries()]
        for query in self.list_queries():
            for condition in (*(c for group in query.where for c in group), *query.having):
                values += condition.value if isinstance(condition.value, tuple) else (condition.value,)
        return tuple(value for value in values if isinstance(value, int | float | str))

    def is_ranking_query(self) -> bool:
        """Whether this query or an inner query sorts rows or looks for a highest or lowest value."""
        return any(q.order or any(term.aggregate in ("min", "max") for term in q.select) for q in self.list_queries())

    def shows_only_fixed_columns(self) -> bool:
        """Whether the query shows only columns that its conditions already fix."""
        terms = {
            g[0].term for g in self.where if len(g) == 1 and g[0].operator == "=" and isinstance(g[0].value, Scalar)
        }
        return self.also is None and bool(self.select) and terms.issuperset(self.select)


Scalar: TypeAlias = int | float | str
Value: TypeAlias = Scalar | tuple[Scalar, Scalar] | QueryFrame | None


def match_key(frame: QueryFrame, key: Column) -> Predicate:
    """Return the condition that a row's key is among the keys of a query's rows."""
    return Predicate(Operand(key), "in", replace(frame, select=(Operand(key),)))


def count_keys(frame: QueryFrame, key: Column) -> QueryFrame:
    """Return a query that counts the keys of another query's rows."""
    return QueryFrame((Operand(key, "count", True),), (key.table,), ((match_key(frame, key),),))


def count_rows(frame: QueryFrame, key: Column | None) -> QueryFrame:
    """Return a query that counts the rows, or the groups, of another query.

    Args:
        frame: Any frame.
        key: The column that identifies the rows of its first table.

    Raises:
        NotUnderstood: The rows cannot be counted without a key, and there is none.
    """
    alone = len(frame.select) == 1 and frame.distinct
    of = frame.group[0] if frame.group else frame.select[0].column if alone else None
    if not (frame.having or frame.limit or frame.also):
        return replace(frame, select=(Operand(of, "count", of is not None),), order=(), group=(), distinct=False)
    if (key := of or key) is None:
        raise NotUnderstood(f"Nothing tells the rows of {frame.list_tables()[0]} apart, so I cannot count these.")
    return count_keys(frame, key)


def intersect(frame: QueryFrame, condition: Predicate, key: Column | None) -> QueryFrame:
    """Return a query for rows that also meet a condition which contradicts the query's own.

    Args:
        frame: Any frame.
        condition: The other condition, on a term that the frame compares too.
        key: The column that identifies the rows of its first table, if they are counted.
    """
    count = frame.select[0] if len(frame.select) == 1 and frame.select[0].aggregate == "count" else None
    if count and (key := count.column or key):
        other = match_key(QueryFrame(tables=frame.tables, where=((condition,),)), key)
        return replace(frame, select=(Operand(key, "count", True),), where=(*frame.where, (other,)))
    groups = (
        g for g in frame.where if not (len(g) == 1 and g[0].term == condition.term and isinstance(g[0].value, Scalar))
    )
    also = QueryFrame(frame.select, frame.tables, (*groups, (condition,)), frame.group, frame.having)
    return replace(frame, order=(), limit=None, also=also)


def add_conditions(frame: QueryFrame, where: Iterable[Group], *, swap: bool = False) -> QueryFrame:
    """Return a query with more conditions; new conditions replace contradicting old ones.

    Args:
        frame: Any frame.
        where: Groups of conditions to add.
        swap: Whether a new condition replaces any old one on its column, not only one that it contradicts.
    """
    new_groups = tuple(where)
    old_groups = (old for old in frame.where if not any(_replaces_old_condition(new, old, swap) for new in new_groups))
    return replace(frame, where=tuple(dict.fromkeys((*old_groups, *new_groups))))


def _replaces_old_condition(new: Group, old: Group, swap: bool) -> bool:
    if {c.term for c in new} != {c.term for c in old}:
        return False
    equals = any(c.operator in ("=", "like") for c in (*new, *old))
    return swap or equals or {c.operator for c in new} == {c.operator for c in old}


_AGGREGATES = {"sum": "the total {}", "avg": "the average {}", "min": "the lowest {}", "max": "the highest {}"}
_OPERATORS = {
    "=": "is", "!=": "is not", ">": "is more than", ">=": "is at least", "<": "is less than", "<=": "is at most",
    "like": "is like", "not like": "is not like", "in": "is among", "not in": "is not among",
    "null": "is missing", "not null": "is not missing",
}  # fmt: skip


def format_query_as_sentence(frame: QueryFrame) -> str:
    """Return a sentence that asks for a query: "Give me ..." (CREDIT-SQL 3.1)."""
    return f"Give me {_phrase_query(frame)}."


def _phrase_query(frame: QueryFrame) -> str:
    tables = frame.list_tables()
    subject = " and ".join(_phrase_term(term, tables) for term in frame.select) or "everything"
    phrases = [f"the different values of {subject}" if frame.distinct else subject]
    # A table that is only counted is named by that already.
    counted_alone = tables[-1:] if frame.select[:1] == (Operand(None, "count"),) else ()
    subjects = [table for table in tables if (table,) != counted_alone]
    if subjects:
        phrases.append("of " + " with ".join(_spell_name(table) for table in subjects))
    if frame.group:
        phrases.append("for each " + " and ".join(_spell_name(column.name) for column in frame.group))
    conditions = [" or ".join(_phrase_condition(c, tables) for c in group) for group in frame.where]
    conditions += [_phrase_condition(condition, tables) for condition in frame.having]
    if conditions:
        phrases.append("where " + " and ".join(conditions))
    sentence = " ".join(phrases)
    if frame.order:
        keys = " and ".join(f"{_phrase_term(t, tables)} from {'highest' if d else 'lowest'}" for t, d in frame.order)
        sentence += f", sorted by {keys}"
    if frame.limit is not None:
        sentence += ", only the first" if frame.limit == 1 else f", only the first {frame.limit}"
    return f"{sentence}, that are also in: {_phrase_query(frame.also)}" if frame.also else sentence


def _phrase_term(term: Operand, tables: tuple[str, ...]) -> str:
    if term.column is None:
        if term.aggregate != "count":
            return "everything"
        return f"the number of {_spell_name(tables[-1])}" if tables else "the number of rows"
    name = _spell_name(term.column.name)
    if term.aggregate == "count":
        return f"the number of {'different ' if term.distinct else ''}{name}"
    form = _AGGREGATES.get(term.aggregate, "the {}")
    return f"the {name}" if term.aggregate == "sum" and name.startswith("total") else form.format(name)


def _spell_name(name: str) -> str:
    return " ".join(split_name_into_words(name)) or name


def _phrase_condition(condition: Predicate, tables: tuple[str, ...]) -> str:
    term = _phrase_term(condition.term, tables)
    if condition.operator == "between":
        low, high = condition.value if isinstance(condition.value, tuple) else ("", "")
        return f"{term} is between {low} and {high}"
    value = condition.value
    text = _phrase_query(value) if isinstance(value, QueryFrame) else f"'{value}'" if isinstance(value, str) else value
    return f"{term} {_OPERATORS[condition.operator]} {'' if text is None else text}".rstrip()
