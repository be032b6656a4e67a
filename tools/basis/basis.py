"""The record of what an answer rests on, and how a query gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ..database.schema import Schema
from ..sql.conditions import base_column, limit_count, split
from ..sql.explain.phrases import plain_name
from ..sql.explain.query import Explainer
from ..sql.items import items_of
from ..sql.parse import parse
from ..sql.resolve import resolve
from ..sql.scope import Resolution, Scope
from ..sql.untrusted import analysis
from ..values.match import ValueMatch
from .conditions import conditions_of, own_scopes
from .dates import DateUse, date_use
from .filters import Filter, filters_of
from .grain import Duplicates, grain_of

Origin = Literal["verified", "definition", "generated", "offline", "edited"]
"""Where a query comes from: a person has verified it, a definition has its SQL, a model or the offline translator
wrote it, or a person edited it."""

_CUT_TIES = "rows that tie with the last one are cut as they come"


@dataclass(frozen=True)
class Basis:
    """What an answer rests on.

    Attributes:
        origin: Where its query comes from.
        tables: The tables that the query reads, as the schema spells them, in the order of the schema.
        date: The date column that the answer uses, and which of its dates; None if the tables have no dates.
        filters: The conditions that rows must meet, each with the words of the question behind it.
        grain: What one row of the result stands for, such as `one row per order line`; empty if that is unknown.
        duplicates: Whether equal rows are `kept` or `removed`, or cannot occur (`none`).
        nulls: How missing values are treated, one clause each.
        ties: How rows that tie for the last place shown are treated; empty if nothing is cut.
        cut: What was cut off the result; empty if it is complete.
        definitions: Names of the definitions that the query uses.
        assumed: How the query reads what the question leaves open, one clause each.
        readings: What other readings would change, in one line; empty if they change nothing, or there are none.
    """

    origin: Origin = "generated"
    tables: tuple[str, ...] = ()
    date: DateUse | None = None
    filters: tuple[Filter, ...] = ()
    grain: str = ""
    duplicates: Duplicates = "kept"
    nulls: tuple[str, ...] = ()
    ties: str = ""
    cut: str = ""
    definitions: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    readings: str = ""

    def text(self) -> str:
        """It in about three lines of plain words."""
        from .text import basis_text

        return basis_text(self)


@analysis
def basis_of(
    sql: str, schema: Schema, question: str, mentions: Sequence[ValueMatch] = (), *, origin: Origin = "generated"
) -> Basis:
    """What a query says of itself; what only its result and the data can say is added by whoever has them.

    Args:
        sql: A query that ran, in the schema's dialect.
        schema: Everything that whoever asked may read, as far as it may leave.
        question: In the person's words, with what was said beside it.
        mentions: Database values that the question mentions.
        origin: Where the query comes from.

    Raises:
        SQLParseError: It cannot be read.
    """
    tree = parse(sql, schema.dialect).tree
    resolution = resolve(tree, schema)
    explainer = Explainer(resolution, schema.foreign_keys)
    used = items_of(resolution).tables
    grain, duplicates = grain_of(tree, resolution)
    conditions, outer = conditions_of(tree, resolution), next(iter(own_scopes(tree, resolution)), None)
    date, ranged = date_use(conditions, resolution)
    count = limit_count(tree)
    whole = grain == "a single row" and tree.args.get("offset") is None and (count is None or count.name != "0")
    return Basis(
        origin=origin,
        tables=tuple(table.name for table in schema.tables if table.name in used),
        date=date,
        filters=filters_of(conditions, outer, resolution, explainer.speaker, question, mentions, ranged),
        grain=grain,
        duplicates=duplicates,
        nulls=tuple(_nulls(outer, resolution)) if outer is not None else (),
        ties="" if whole else _ties(tree),
        cut="" if whole else _cut(tree),
    )


def _nulls(scope: Scope, resolution: Resolution) -> list[str]:
    """What becomes of missing values in the SELECT that gives the rows."""
    found: dict[str, None] = {}
    for node in scope.select.find_all(exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max):
        if node.find_ancestor(exp.Select) is scope.select and (name := _lacking(node.this, scope, resolution)):
            found[f"missing {name} is not counted"] = None
    where = scope.select.args.get("where")
    # Under OR, or within anything else, such a condition may fail and the row still be in.
    for part in split(where.this) if where is not None else ():
        inner = part.this.unnest() if isinstance(part, exp.Not) else part
        negative = inner is not part or isinstance(part, exp.NEQ) or part.args.get("negate")
        # NOT IN (SELECT ...) lets every row through where there are none.
        tested = isinstance(inner, exp.In | exp.Like | exp.NEQ) and inner.args.get("query") is None
        if negative and tested and (name := _lacking(inner.this, scope, resolution)):
            found[f"rows whose {name} is missing are out"] = None
    return list(found)


def _lacking(node: exp.Expr | None, scope: Scope, resolution: Resolution) -> str:
    """The name of a column of which values are missing; empty for anything else."""
    node = node.expressions[0] if isinstance(node, exp.Distinct) and len(node.expressions) == 1 else node
    found = base_column(node, resolution) if node is not None else None
    return plain_name(found[1].name) if found and found[0].owner is scope and found[1].nulls is True else ""


def _options(tree: exp.Expr) -> tuple[bool, bool]:
    """Whether a bound of rows keeps ties, and whether it is a percentage."""
    options = tree.args["limit"].args.get("limit_options")
    return (bool(options.args.get("with_ties")), bool(options.args.get("percent"))) if options else (False, False)


def _ties(tree: exp.Expr) -> str:
    if limit_count(tree) is None or tree.args.get("order") is None:
        return ""
    return "rows that tie with the last one are in" if _options(tree)[0] else _CUT_TIES


def _cut(tree: exp.Expr) -> str:
    count, offset = limit_count(tree), tree.args.get("offset")
    left = offset.expression if offset is not None else None
    if not isinstance(count, exp.Literal) or _options(tree)[1] or not isinstance(left, exp.Literal | None):
        return ""
    ordered, skipped = tree.args.get("order") is not None, left.name if left is not None else "0"
    if skipped == "0":
        rows = "the first row" if count.name == "1" else f"the first {count.name} rows"
    elif ordered and count.is_int and left is not None and left.is_int:
        first, last = int(skipped) + 1, int(skipped) + int(count.name)
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
    else:
        rows = f"the first {count.name} rows after {skipped} others"
    return rows if ordered else rows.replace("the first", "any") + ", in no order"
