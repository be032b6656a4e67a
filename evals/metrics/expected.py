"""What an accepted query gives, and which other results give the same answer: order, ties, and ties cut by a LIMIT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ...tools.database.database import Database
from ...tools.database.table import Cell, Limits, Table
from ...tools.errors import QueryError, SQLParseError
from ...tools.results import same_result
from ...tools.sql.parse import parse


@dataclass(frozen=True)
class Ordering:
    """How a gold query orders.

    Attributes:
        ordered: Whether its outermost level has an ORDER BY; one in a subquery or a window says nothing.
        with_keys: The query with its sort keys as further output columns; empty where they cannot be added.
        keys: How many were added.
        unlimited: `with_keys` without the limit; empty where there is none, or rows are skipped before it.
    """

    ordered: bool
    with_keys: str = ""
    keys: int = 0
    unlimited: str = ""


def ordering(gold: str, dialect: str = "sqlite") -> Ordering:
    """Reads a gold query's order; one that sqlglot cannot read counts as unordered."""
    try:
        tree = parse(gold, dialect).tree
    except SQLParseError:
        return Ordering(False)
    order = tree.args.get("order")
    # An order that chance decides is none.
    if not isinstance(order, exp.Order) or order.expressions[0].find(exp.Rand):
        return Ordering(False)
    # DISTINCT and compounds would have the keys take part in what they compare.
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return Ordering(True)
    keys = [_key(item, tree) for item in order.expressions]
    if any(key is None for key in keys):
        return Ordering(True)
    keyed = tree.copy()
    keyed.set("expressions", [*keyed.expressions, *(key.copy() for key in keys if key is not None)])
    unlimited = keyed.copy()
    unlimited.set("limit", None)
    cut = bool(tree.args.get("limit")) and not tree.args.get("offset")
    return Ordering(True, keyed.sql(dialect), len(keys), unlimited.sql(dialect) if cut else "")


def ties(gold: Table, keyed: Table, keys: int) -> Sequence[tuple[object, ...]] | None:
    """A label for each gold row, by its sort keys; None where the query with keys gives other rows than the gold."""
    if [row[:-keys] for row in keyed.rows] != list(gold.rows):
        return None
    return [row[-keys:] for row in keyed.rows]


def _key(item: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """What an ORDER BY item sorts by, as it may stand in the SELECT list; None for what cannot."""
    key = item.this if isinstance(item, exp.Ordered) else item
    if isinstance(key, exp.Literal) and key.is_int:
        place = int(key.name)
        columns = select.expressions
        starred = any(column.is_star for column in columns)
        return None if starred or not 1 <= place <= len(columns) else columns[place - 1].unalias()
    if isinstance(key, exp.Column) and not key.table:
        for column in select.expressions:
            if isinstance(column, exp.Alias) and column.alias.lower() == key.name.lower():
                return column.this
    return key


_Row = tuple[Cell, ...]

CANDIDATES = 1_000
"""Rows past the gold's that are looked at; of a tie with more of them, the others do not count as right."""


@dataclass(frozen=True)
class Cutoff:
    """A tie at a gold query's limit.

    Attributes:
        rows: The gold's rows before the tie.
        tied: All rows of the tie, among them those that the gold gave.
        ties: A label for each gold row, by its sort keys.
    """

    rows: Sequence[_Row]
    tied: Sequence[_Row]
    ties: Sequence[tuple[object, ...]]

    @classmethod
    def of(cls, ties: Sequence[tuple[object, ...]], unlimited: Table) -> Cutoff | None:
        """The tie that the gold's last row is in; None where the limit leaves none of its rows out.

        Args:
            ties: A label for each gold row, its sort keys.
            unlimited: The gold without its limit, with the sort keys as last columns; perhaps cut off further down.
        """
        keys = len(ties[-1])
        before = sum(label != ties[-1] for label in ties)
        tied = [row[:-keys] for row in unlimited.rows if row[-keys:] == ties[-1]]
        if len(tied) <= len(ties) - before:
            return None
        return cls([row[:-keys] for row in unlimited.rows[:before]], tied, ties)

    def allows(self, table: Table) -> bool:
        """Whether a result is the gold's but for other rows of the tie."""
        return any(
            same_result([*self.rows, *chosen], table, ordered=True, ties=self.ties) for chosen in self._choices(table)
        )

    def _choices(self, table: Table) -> Iterator[Sequence[_Row]]:
        """Rows of the tie that the result may contain: each alone, or those that it does contain."""
        wanted = len(self.ties) - len(self.rows)
        if wanted == 1:
            yield from ([row] for row in self.tied)
            return
        there = Counter(self.tied) & Counter(table.rows)
        if there.total() >= wanted:
            yield list(there.elements())[:wanted]


GOLD_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)

OTHER_RESULT = "it gives another result each time it runs"
_BY_CHANCE = re.compile(r"\brandom(blob)?\s*\(", re.IGNORECASE)
_TRIALS = 8
"""How often a query that calls RANDOM is run again, to see whether its result is another."""


class Unfit(QueryError):
    """A query that runs, but cannot be judged by.

    What to do: use a gold query with fewer rows, or one whose result is always the same.
    """


@dataclass(frozen=True)
class Expected:
    """An accepted query's result.

    Attributes:
        table: Its rows.
        order: Whether and by what they are ordered.
        tied: A label for each row, by its sort keys; None where they are unknown.
        cutoff: The tie that its LIMIT cuts through, if any.
    """

    table: Table
    order: Ordering
    tied: Sequence[tuple[object, ...]] | None = None
    cutoff: Cutoff | None = None

    def allows(self, table: Table) -> bool:
        """Whether a result gives the same answer."""
        if same_result(self.table, table, self.order.ordered, self.tied):
            return True
        return self.cutoff is not None and self.cutoff.allows(table)


def expected(database: Database, sql: str, limits: Limits = GOLD_LIMITS) -> Expected:
    """Runs an accepted query.

    Raises:
        Unfit: Its result is too large, or another each time.
        QueryError: It does not run.
    """
    table = database.execute(sql, limits)
    if table.truncated:
        raise Unfit(f"a result of more than {limits.rows:,} rows is too large", "too_large")
    found = _ordered(database, table, sql, limits)
    for _ in range(_TRIALS if _BY_CHANCE.search(sql) else 0):
        if not found.allows(database.execute(sql, limits)):
            raise Unfit(OTHER_RESULT)
    return found


def _ordered(database: Database, table: Table, sql: str, limits: Limits) -> Expected:
    order = ordering(sql, database.dialect)
    if not order.with_keys or not table.rows:
        return Expected(table, order)
    try:
        tied = ties(table, database.execute(order.with_keys, limits), order.keys)
        if tied is None or not order.unlimited:
            return Expected(table, order, tied)
        most = replace(limits, rows=len(table.rows) + CANDIDATES)
        return Expected(table, order, tied, Cutoff.of(tied, database.execute(order.unlimited, most)))
    except QueryError:
        return Expected(table, order)
