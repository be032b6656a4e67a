"""The official evaluator's view of a query: what it keeps of it, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


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
