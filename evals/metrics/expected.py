"""What an accepted query gives, and which other results give the same answer: order, ties, and ties cut by a LIMIT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ...tools.database.database import Database
from ...tools.database.table import Cell, Limits, Table
from ...tools.errors import QueryError, SQLParseError
from ...tools.results import same_result
from ...tools.sql.parse import parse

CANDIDATES = 1_000
"""Rows past the gold's that are looked at; of a tie with more of them, the others do not count as right."""

GOLD_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)

OTHER_RESULT = "it gives another result each time it runs"
_BY_CHANCE = re.compile(r"\brandom(blob)?\s*\(", re.IGNORECASE)
_TRIALS = 8
"""How often a query that calls RANDOM is run again, to see whether its result is another."""

_Row = tuple[Cell, ...]


class Unfit(QueryError):
    """A query that runs, but cannot be judged by.

    What to do: use a gold query with fewer rows, or one whose result is always the same.
    """


@dataclass(frozen=True)
class Ordering:
    """How a gold query orders."""

    ordered: bool  # whether its outermost level has an ORDER BY; one in a subquery or a window says nothing
    with_keys: str = ""  # the query with its sort keys as further output columns; empty if they cannot be added
    keys: int = 0  # how many were added
    unlimited: str = ""  # `with_keys` without the limit; empty if there is none, or rows are skipped before it


def ordering(gold: str, dialect: str = "sqlite") -> Ordering:
    """Return how a gold query orders; one that sqlglot cannot read counts as unordered."""
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
    columns = tree.expressions
    named = {column.alias.lower(): column.this for column in reversed(columns) if isinstance(column, exp.Alias)}
    keyed = tree.copy()
    for item in order.expressions:
        key = item.this if isinstance(item, exp.Ordered) else item
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(key.name)
            if not 1 <= place <= len(columns) or any(column.is_star for column in columns):
                return Ordering(True)
            key = columns[place - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = named.get(key.name.lower(), key)
        keyed.append("expressions", key.copy())
    unlimited = keyed.copy()
    unlimited.set("limit", None)
    cut = bool(tree.args.get("limit")) and not tree.args.get("offset")
    return Ordering(True, keyed.sql(dialect), len(order.expressions), unlimited.sql(dialect) if cut else "")


@dataclass(frozen=True)
class Expected:
    """An accepted query's result."""

    table: Table  # its rows
    order: Ordering  # whether and by what they are ordered
    ties: Sequence[_Row] | None = None  # a label for each row, its sort keys; None if they are unknown
    # All rows of the tie that its LIMIT cuts through, among them those that it gave; empty if there is none.
    cut: Sequence[_Row] = ()

    def allows(self, table: Table) -> bool:
        """Whether a result gives the same answer, perhaps with other rows of the tie that is cut."""
        if same_result(self.table, table, self.order.ordered, self.ties):
            return True
        if not self.ties or not self.cut:
            return False
        before = [row for row, label in zip(self.table.rows, self.ties, strict=True) if label != self.ties[-1]]
        wanted = len(self.ties) - len(before)
        there = Counter(self.cut) & Counter(table.rows)
        # A single row may be any of the tie; of several, those count that the result does contain.
        chosen = [[row] for row in self.cut] if wanted == 1 else [list(there.elements())[:wanted]]
        return any(
            same_result([*before, *rows], table, ordered=True, ties=self.ties) for rows in chosen if len(rows) == wanted
        )


def expected(database: Database, sql: str, limits: Limits = GOLD_LIMITS) -> Expected:
    """Run an accepted query.

    Raises:
        Unfit: Its result is too large, or another each time.
        QueryError: It does not run.
    """
    table = database.execute(sql, limits)
    if table.truncated:
        raise Unfit(f"a result of more than {limits.rows:,} rows is too large", "too_large")
    order = ordering(sql, database.dialect)
    found = Expected(table, order)
    try:
        keyed = database.execute(order.with_keys, limits).rows if order.with_keys and table.rows else ()
        if keyed and [row[: -order.keys] for row in keyed] == list(table.rows):
            ties = [row[-order.keys :] for row in keyed]
            cut: list[_Row] = []
            if order.unlimited:
                past = database.execute(order.unlimited, replace(limits, rows=len(ties) + CANDIDATES)).rows
                cut = [row[: -order.keys] for row in past if row[-order.keys :] == ties[-1]]
            # The limit cuts through no tie if the gold has all of its rows.
            found = Expected(table, order, ties, cut if len(cut) > ties.count(ties[-1]) else ())
    except QueryError:
        pass  # then ties are unknown
    for _ in range(_TRIALS if _BY_CHANCE.search(sql) else 0):
        if not found.allows(database.execute(sql, limits)):
            raise Unfit(OTHER_RESULT)
    return found
