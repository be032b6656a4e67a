"""A query as the official evaluator sees it: exact set match without values (EM), and Spider's levels of difficulty.

EM compares clauses as sets, columns up to foreign keys, and passes over DISTINCT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias


class ColumnUnit(NamedTuple):
    """A column, possibly aggregated. `column` is `table.column` in lower case, or `*`.

    `distinct` is None once distinctness was struck out of the comparison.
    """

    aggregate: str
    column: str
    distinct: bool | None


class ValueUnit(NamedTuple):
    """A column, or two joined by an arithmetic operator (`none` for one alone)."""

    operator: str
    left: ColumnUnit
    right: ColumnUnit | None


class Output(NamedTuple):
    """One column of the SELECT list: an aggregate (`none` without) over a value unit."""

    aggregate: str
    unit: ValueUnit


Value: TypeAlias = "float | str | ColumnUnit | Query | None"


class Condition(NamedTuple):
    """One comparison; `second` is used by BETWEEN alone."""

    negated: bool
    operator: str
    unit: ValueUnit
    first: Value
    second: Value


class Conditions(NamedTuple):
    """Comparisons in order, and the `and`/`or` words between them in order: the tree they form is not kept."""

    units: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()


NO_CONDITIONS = Conditions()


class Order(NamedTuple):
    """ORDER BY. One direction for all: the last that was written wins."""

    direction: str
    units: tuple[ValueUnit, ...]


@dataclass(frozen=True)
class Query:
    """A SELECT. Every default together is what an unreadable prediction is compared as.

    Attributes:
        tables: Names in lower case, or queries.
        joins: The conditions of all ON clauses.
        limit: Whether there is a LIMIT; the number is not kept.
        combined: `intersect`, `union` or `except` and what follows it.
    """

    tables: tuple[str | Query, ...] = ()
    joins: Conditions = NO_CONDITIONS
    distinct: bool | None = False
    outputs: tuple[Output, ...] = ()
    where: Conditions = NO_CONDITIONS
    group: tuple[ColumnUnit, ...] = ()
    having: Conditions = NO_CONDITIONS
    order: Order | None = None
    limit: bool = False
    combined: tuple[str, Query] | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of ON, WHERE and HAVING."""
        return self.joins.units + self.where.units + self.having.units

    @property
    def words(self) -> tuple[str, ...]:
        """The `and` and `or` of ON, WHERE and HAVING."""
        return self.joins.words + self.where.words + self.having.words


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
    units = (unit._replace(first=_nested(unit.first), second=_nested(unit.second)) for unit in conditions.units)
    return conditions._replace(units=tuple(units))


def _nested(value: Value) -> Query | None:
    return _without_values(value) if isinstance(value, Query) else None


def _columns_mapped(query: Query, same: Mapping[str, str]) -> Query:
    """Foreign-key columns replaced and DISTINCT struck out.

    `same` holds for the tables of the outermost query, also where a combined query has others; queries inside
    conditions and FROM keep their columns and their DISTINCT.
    """
    combined = query.combined
    return replace(
        query,
        distinct=None,
        joins=_map_columns(query.joins, same),
        outputs=_map_columns(query.outputs, same),
        where=_map_columns(query.where, same),
        group=_map_columns(query.group, same),
        having=_map_columns(query.having, same),
        order=_map_columns(query.order, same),
        combined=(combined[0], _columns_mapped(combined[1], same)) if combined else None,
    )


def _map_columns(part: Any, same: Mapping[str, str]) -> Any:
    """Replace the columns of a part of a query."""
    if isinstance(part, ColumnUnit):
        return ColumnUnit(part.aggregate, same.get(part.column, part.column), None)
    if not isinstance(part, tuple):
        return part
    mapped = [_map_columns(one, same) for one in part]
    return type(part)(*mapped) if hasattr(part, "_fields") else tuple(mapped)


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


Hardness = Literal["easy", "medium", "hard", "extra"]


def hardness(gold: Query) -> Hardness:
    """The level that the numbers of clauses, nested queries and other features put a query at."""
    clauses, nested, others = _clauses(gold), len(nested_queries(gold)), _others(gold)
    if nested == 0:
        if clauses <= 1 and others == 0:
            return "easy"
        if (clauses <= 1 and others <= 2) or (clauses <= 2 and others < 2):
            return "medium"
        if (clauses <= 2 and others > 2) or (clauses == 3 and others <= 2):
            return "hard"
        return "extra"
    return "hard" if nested == 1 and clauses <= 1 and others == 0 else "extra"


def _clauses(gold: Query) -> int:
    """WHERE, GROUP BY, ORDER BY and LIMIT, each join, each OR and each LIKE."""
    present = [bool(gold.where.units), bool(gold.group), gold.order is not None, gold.limit]
    likes = sum(condition.operator == "like" for condition in gold.conditions)
    return sum(present) + max(len(gold.tables) - 1, 0) + gold.words.count("or") + likes


def _others(gold: Query) -> int:
    """How many of these are more than one: aggregates, outputs, WHERE conditions, GROUP BY columns."""
    where = len(gold.where.units) + len(gold.where.words)
    return sum(count > 1 for count in (_aggregates(gold), len(gold.outputs), where, len(gold.group)))


def _aggregates(gold: Query) -> int:
    """Aggregates as the official tool counts them.

    It looks at the first field of each condition, which is the negation: a NOT in WHERE or HAVING counts as an
    aggregate, a condition's own aggregate doesn't; each AND or OR of HAVING counts as well.
    """
    count = sum(output.aggregate != "none" for output in gold.outputs)
    count += sum(condition.negated for condition in gold.where.units + gold.having.units) + len(gold.having.words)
    order = gold.order.units if gold.order else ()
    units: list[ColumnUnit] = [*gold.group]
    for unit in order:
        units += [part for part in (unit.left, unit.right) if part is not None]
    return count + sum(unit.aggregate != "none" for unit in units)
