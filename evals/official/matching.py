"""Exact set match without values (EM): clauses compared as sets, columns up to foreign keys, DISTINCT passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from .query import ColumnUnit, Condition, Conditions, Order, Output, Query, ValueUnit

Clause = Literal["select", "where", "group", "order", "and/or", "IUEN", "keywords", "from"]
"""What queries are compared by; IUEN is INTERSECT, UNION, EXCEPT and what follows them."""


def exact_set_match(predicted: Query | None, gold: Query, foreign_keys: Mapping[str, str]) -> bool:
    """Whether two queries have the same clauses.

    Args:
        predicted: None if it could not be read: compared as an empty query.
        gold: As read from the gold SQL.
        foreign_keys: What each foreign-key column stands for (`read_foreign_key_maps`).
    """
    return next(_differences(*_both(predicted, gold, foreign_keys)), None) is None


def differing_clauses(predicted: Query | None, gold: Query, foreign_keys: Mapping[str, str]) -> tuple[Clause, ...]:
    """The clauses for which two queries don't match (CREDIT-SQL 5.7, figure 7); none where they match exactly."""
    return tuple(_differences(*_both(predicted, gold, foreign_keys)))


def _both(predicted: Query | None, gold: Query, foreign_keys: Mapping[str, str]) -> tuple[Query, Query]:
    return _normalised(predicted or Query(), foreign_keys), _normalised(gold, foreign_keys)


def nested_queries(query: Query) -> list[Query]:
    """Queries that conditions compare with, and the combined one; those in FROM are not counted."""
    values = [value for condition in query.conditions for value in (condition.first, condition.second)]
    nested = [value for value in values if isinstance(value, Query)]
    return nested + ([query.combined[1]] if query.combined else [])


def _normalised(query: Query, foreign_keys: Mapping[str, str]) -> Query:
    tables = frozenset(table for table in query.tables if isinstance(table, str))
    same = {column: first for column, first in foreign_keys.items() if column.partition(".")[0] in tables}
    return _columns_mapped(_without_values(query), same)


def _without_values(query: Query) -> Query:
    """Constants and compared columns struck out, in nested queries too, except those in FROM."""
    combined = query.combined
    return replace(
        query,
        joins=_conditions_without_values(query.joins),
        where=_conditions_without_values(query.where),
        having=_conditions_without_values(query.having),
        combined=(combined[0], _without_values(combined[1])) if combined else None,
    )


def _conditions_without_values(conditions: Conditions) -> Conditions:
    return conditions._replace(units=tuple(map(_condition_without_values, conditions.units)))


def _condition_without_values(condition: Condition) -> Condition:
    first, second = condition.first, condition.second
    return condition._replace(
        first=_without_values(first) if isinstance(first, Query) else None,
        second=_without_values(second) if isinstance(second, Query) else None,
    )


def _columns_mapped(query: Query, same: Mapping[str, str]) -> Query:
    """Foreign-key columns replaced and DISTINCT struck out.

    `same` holds for the tables of the outermost query, also where a combined query has others; queries inside
    conditions and FROM keep their columns and their DISTINCT.
    """
    order, combined = query.order, query.combined
    return replace(
        query,
        distinct=None,
        joins=_map_conditions(query.joins, same),
        outputs=tuple(Output(output.aggregate, _map_value(output.unit, same)) for output in query.outputs),
        where=_map_conditions(query.where, same),
        group=tuple(_map_column(unit, same) for unit in query.group),
        having=_map_conditions(query.having, same),
        order=Order(order.direction, tuple(_map_value(unit, same) for unit in order.units)) if order else None,
        combined=(combined[0], _columns_mapped(combined[1], same)) if combined else None,
    )


def _map_conditions(conditions: Conditions, same: Mapping[str, str]) -> Conditions:
    units = tuple(condition._replace(unit=_map_value(condition.unit, same)) for condition in conditions.units)
    return conditions._replace(units=units)


def _map_value(unit: ValueUnit, same: Mapping[str, str]) -> ValueUnit:
    right = _map_column(unit.right, same) if unit.right else None
    return ValueUnit(unit.operator, _map_column(unit.left, same), right)


def _map_column(unit: ColumnUnit, same: Mapping[str, str]) -> ColumnUnit:
    return ColumnUnit(unit.aggregate, same.get(unit.column, unit.column), None)


def _differences(predicted: Query, gold: Query) -> Iterator[Clause]:
    if not _same_items(predicted.outputs, gold.outputs):
        yield "select"
    if not _same_items(predicted.where.units, gold.where.units):
        yield "where"
    if not _same_grouping(predicted, gold):
        yield "group"
    if not _same_order(predicted, gold):
        yield "order"
    if set(predicted.where.words) != set(gold.where.words):
        yield "and/or"
    if not _same_combination(predicted.combined, gold.combined):
        yield "IUEN"
    if _keywords(predicted) != _keywords(gold):
        yield "keywords"
    if gold.tables and not _same_items(predicted.tables, gold.tables):
        yield "from"


def _same_items(left: Iterable[Hashable], right: Iterable[Hashable]) -> bool:
    return Counter(left) == Counter(right)


def _same_grouping(predicted: Query, gold: Query) -> bool:
    """Columns as a set by bare name; then, with their tables, in order, together with HAVING."""
    if not _same_items(map(_bare, predicted.group), map(_bare, gold.group)):
        return False
    if not gold.group:
        return True
    columns = [unit.column for unit in predicted.group], [unit.column for unit in gold.group]
    return columns[0] == columns[1] and predicted.having == gold.having


def _bare(unit: ColumnUnit) -> str:
    return unit.column.split(".")[1] if "." in unit.column else unit.column


def _same_order(predicted: Query, gold: Query) -> bool:
    """LIMIT is compared only where there is an ORDER BY; elsewhere by the keywords."""
    if predicted.order is None or gold.order is None:
        return predicted.order is gold.order
    return predicted.order == gold.order and predicted.limit == gold.limit


def _same_combination(predicted: tuple[str, Query] | None, gold: tuple[str, Query] | None) -> bool:
    if predicted is None or gold is None:
        return predicted is gold
    return predicted[0] == gold[0] and next(_differences(predicted[1], gold[1]), None) is None


def _keywords(query: Query) -> set[str]:
    present = {
        "where": query.where.units,
        "group": query.group,
        "having": query.having.units,
        "order": query.order,
        "limit": query.limit,
        "or": "or" in query.words,
        "not": any(condition.negated for condition in query.conditions),
        "in": any(condition.operator == "in" for condition in query.conditions),
        "like": any(condition.operator == "like" for condition in query.conditions),
    }
    words = {word for word, found in present.items() if found}
    if query.order is not None:
        words.add(query.order.direction)
    if query.combined is not None:
        words.add(query.combined[0])
    return words
