"""The basis of an answer: a record, and how it is read from a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ..sql.parse import guard_nesting_depth
from ..sql.query import Query, get_argument
from ..sql.scope import Scope
from ..values.match import ValueMatch
from ..words import humanize_name, join_words
from .dates import MIDNIGHT, DateUse, find_date_use
from .filters import Filter, list_query_filters
from .grain import Duplicates, find_result_grain

Origin = Literal["verified", "definition", "generated", "offline", "edited"]
"""Where a query comes from: a person has verified it, a definition has its SQL, a model or the offline translator
wrote it, or a person edited it."""

_ORIGINS = {
    "verified": "A verified query",
    "definition": "A query by definition",
    "generated": "A generated query",
    "offline": "A query written without a model",
    "edited": "A query edited by a person",
}
_MOST = 4
_LEADS = {"rows": "only where", "groups": "only groups where", "part": "in parts of it only where"}
_CUT_TIES = "rows that tie with the last one are cut as they come"


@dataclass(frozen=True)
class Basis:
    """The basis of an answer: the query's origin, tables, dates, conditions and assumptions.

    Attributes:
        origin: Where its query comes from.
        tables: The tables that the query reads, as the schema spells them, in the order of the schema.
        date: The date column that the answer uses, and which of its dates; None if the tables have no dates.
        filters: The conditions that rows must meet, each with the words of the question behind it.
        grain: What one row of the result stands for, such as `one row per row of orders`; empty if that is unknown.
        duplicates: Whether equal rows are `kept` or `removed`, or cannot occur (`none`).
        nulls: How missing values are treated, one clause each.
        ties: How rows that tie for the last place shown are treated; empty if nothing is cut.
        cut: What was cut off the result; empty if it is complete.
        definitions: Names of the definitions that the query uses.
        assumed: How the query reads what the question leaves open, one clause each.
        readings: What other readings would change, in one line; empty if they change nothing, or there are none.
        counted: What was counted of rows left out or repeated, and hardly changes the answer, one clause each.
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
    counted: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the basis as about three lines of plain text."""
        tables = f" over {join_words([humanize_name(table) for table in self.tables])}" if self.tables else ""
        rows = f"{self.grain}, duplicates removed" if self.grain and self.duplicates == "removed" else self.grain
        first = "; ".join(filter(None, (f"{_ORIGINS[self.origin]}{tables}", rows, _describe_date_range(self))))
        second = [
            _format_filter_list(lead, [f for f in self.filters if _get_filter_group(f) == place])
            for place, lead in _LEADS.items()
        ]
        word = "definition" if len(self.definitions) == 1 else "definitions"
        remarks = [f"{word} used: {join_words(self.definitions)}"] if self.definitions else []
        remarks += [*self.nulls[:_MOST], *filter(None, (self.cut and f"shown: {self.cut}", self.ties))]
        remarks += self.counted[:_MOST]
        remarks += [f"assumed: {', '.join(self.assumed)}"] if self.assumed else []
        third = "; ".join(remarks)
        lines = [f"{line[:1].upper()}{line[1:]}." for line in (first, "; ".join(filter(None, second)), third) if line]
        return "\n".join([*lines, *([f"Other readings: {self.readings}"] if self.readings else [])])


@guard_nesting_depth
def build_query_basis(
    query: Query, question: str, mentions: Sequence[ValueMatch] = (), *, origin: Origin = "generated"
) -> Basis:
    """Build the part of an answer's basis that follows from the query itself.

    The query's schema is everything that whoever asked may read, as far as it may leave; the question has what was said
    beside.
    """
    grain, duplicates = find_result_grain(query)
    date, ranged = find_date_use(query)
    count = query.limit
    whole = grain == "a single row" and query.offset is None and (count is None or count.name != "0")
    return Basis(
        origin=origin,
        tables=tuple(table.name for table in query.schema.tables if table.name in query.tables),
        date=date,
        filters=list_query_filters(query, question, mentions, ranged),
        grain=grain,
        duplicates=duplicates,
        nulls=tuple(_describe_null_handling(query.nested_select_chain[0], query)) if query.nested_select_chain else (),
        ties="" if whole else _describe_tie_handling(query),
        cut="" if whole else _describe_row_limit(query),
    )


def _describe_null_handling(scope: Scope, query: Query) -> list[str]:
    """Describe how the SELECT that gives the rows treats missing values."""
    clauses: dict[str, None] = {}
    for node in query.own(scope, exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max):
        if name := _find_nullable_column_name(get_argument(node), scope, query):
            clauses[f"missing {name} is not counted"] = None
    # Under OR, or within anything else, such a condition may fail and the row still be in.
    for part in (condition.node for condition in query.conditions(scope) if condition.clause == "where"):
        inner = part.this.unnest() if isinstance(part, exp.Not) else part
        negative = inner is not part or isinstance(part, exp.NEQ) or part.args.get("negate")
        # NOT IN (SELECT ...) lets every row through where there are none.
        tested = isinstance(inner, exp.In | exp.Like | exp.NEQ) and inner.args.get("query") is None
        if negative and tested and (name := _find_nullable_column_name(inner.this, scope, query)):
            clauses[f"rows whose {name} is missing are out"] = None
    return list(clauses)


def _find_nullable_column_name(node: exp.Expr | None, scope: Scope, query: Query) -> str:
    """Return the plain name of a column with missing values; empty for anything else."""
    column = query.column(node)
    return humanize_name(column.schema.name) if column and column.scope is scope and column.schema.nulls is True else ""


def _describe_tie_handling(query: Query) -> str:
    if query.limit is None or not query.order:
        return ""
    return "rows that tie with the last one are in" if query.has_limit_option("with_ties") else _CUT_TIES


def _describe_row_limit(query: Query) -> str:
    count, left = query.limit, query.offset
    if (
        not isinstance(count, exp.Literal)
        or query.has_limit_option("percent")
        or not isinstance(left, exp.Literal | None)
    ):
        return ""
    skipped = left.name if left is not None else "0"
    if skipped == "0":
        rows = "the first row" if count.name == "1" else f"the first {count.name} rows"
    elif query.order and count.is_int and left is not None and left.is_int:
        first, last = int(skipped) + 1, int(skipped) + int(count.name)
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
    else:
        rows = f"the first {count.name} rows after {skipped} others"
    return rows if query.order else rows.replace("the first", "any") + ", in no order"


def _get_filter_group(condition: Filter) -> str:
    """Return the group under which a condition is listed; empty if it is not listed."""
    if condition.part:
        return "part"
    if condition.groups:
        return "groups"
    return "rows" if condition.words is None or not condition.ranged else ""


def _format_filter_list(lead: str, filters: list[Filter]) -> str:
    texts = [f"{one.text} ({f'from “{one.words}”' if one.words else 'not in the question'})" for one in filters[:_MOST]]
    if len(filters) > _MOST:
        texts.append(f"{len(filters) - _MOST} more")
    return f"{lead} {'; '.join(texts)}" if texts else ""


def _describe_date_range(basis: Basis) -> str:
    date = basis.date
    if date is None:
        return ""
    newest = f"the newest is {date.newest}" if date.newest else ""
    name = humanize_name(date.column)
    if not date.used:
        return f"the newest {name} is {date.newest}" if date.newest else ""
    last = date.last.removesuffix(MIDNIGHT)
    end = f"{date.last} (the rest of that day is out)" if last != date.last else date.last
    if date.first and date.last:
        span = f"{name} {date.first} to {end}" if date.first != date.last else f"{name} {date.first}"
    elif date.first or date.last:
        span = f"{name} from {date.first}" if date.first else f"{name} up to {end}"
    elif basis.filters:
        return newest and f"the newest {name} is {date.newest}"
    else:
        span = f"by {name}"
    return f"{span}{f' ({newest})' if newest else ''}"
