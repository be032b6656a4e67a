"""What a query will cost, as its engine's plan tells before it runs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from .dialects import parse_statement


@dataclass(frozen=True)
class Estimate:
    """What the engine expects of a query. It is based on statistics, which can be wrong by orders of magnitude.

    Attributes:
        rows: Rows that are read from tables and rows that joins produce, over all steps of the plan.
        bytes: Size of the columns that the query needs, in the rows that are read; None if the engine does not say.
        private: Whether the figures reveal rows that the session may not read. Such figures are compared with caps, but
            shown to nobody.
    """

    rows: int
    bytes: int | None = None
    private: bool = False


def within_limit(estimate: Estimate, sql: str, dialect: str, rows: int) -> Estimate:
    """The estimate of a query that only takes the first rows of one table, which no engine reads to its end.

    Plans tell of a step as if it were run to its end. Of whatever filters, joins, sorts or groups, nobody knows how
    soon its first rows are found, and the estimate stays.

    Args:
        estimate: Of the whole.
        sql: The query.
        dialect: By sqlglot's name.
        rows: Rows that are fetched at most.
    """
    try:
        tree = parse_statement(sql, dialect)
    except (SqlglotError, RecursionError):
        return estimate
    if not isinstance(tree, exp.Select) or not _only_takes(tree):
        return estimate
    most = rows
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    if isinstance(limit, exp.Limit):
        most = min(most, _number(limit.expression))
    taken = most + (_number(offset.expression) if isinstance(offset, exp.Offset) else 0)
    if estimate.rows <= taken:
        return estimate
    part = None if estimate.bytes is None else round(estimate.bytes * taken / estimate.rows)
    return replace(estimate, rows=taken, bytes=part)


def _only_takes(tree: exp.Select) -> bool:
    used = {name for name, value in tree.args.items() if value} - {"kind", "expressions", "from_", "limit", "offset"}
    tables = list(tree.find_all(exp.Table))
    computed = tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.Distinct, exp.Unnest, exp.Anonymous)
    return not used and len(tables) == 1 and isinstance(tables[0].this, exp.Identifier) and computed is None


def _number(node: exp.Expr | None) -> int:
    if isinstance(node, exp.Literal) and node.is_int:
        return int(node.this)
    return 2**63
