"""Spider's difficulty levels, counted on the gold query."""

from __future__ import annotations

from typing import Literal

from .matching import nested_queries
from .query import ColumnUnit, Query

Hardness = Literal["easy", "medium", "hard", "extra"]
LEVELS: tuple[Hardness, ...] = ("easy", "medium", "hard", "extra")


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
