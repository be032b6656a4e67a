"""Whether the order of a gold query's rows counts, and which of its rows are tied in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ...tools.database.table import Table
from ...tools.errors import SQLParseError
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
