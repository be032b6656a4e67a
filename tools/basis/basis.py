"""The basis of an answer: a record, and how it is read from a query, with the meaning of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ..labels import IN_ENGLISH, Labels
from ..readings import has_unique_order
from ..sql.explain import QueryExplainer
from ..sql.parse import guard_nesting_depth
from ..sql.query import Query
from ..sql.scope import SETS, QuerySource, Scope, get_argument, is_aggregate_call, returns_several_rows
from ..values.match import ValueMatch
from ..words import fold, humanize_name
from .dates import MIDNIGHT, DateUse, find_date_use
from .filters import Filter, list_query_filters

Origin = Literal["verified", "definition", "generated", "offline", "edited"]
"""Where a query comes from: a person has verified it, a definition has its SQL, a model or the offline translator
wrote it, or a person edited it."""

Duplicates = Literal["kept", "removed", "none"]
"""Whether equal rows of a result are kept, were removed, or cannot be."""

_JOINS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT_JOIN")
_MOST = 4
_LEADS = {"rows": "only_where", "groups": "only_groups_where", "part": "only_in_parts_where"}


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
        counted: Counts of rows left out or repeated that hardly change the answer, and what was not counted.
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

    def text(self, labels: Labels = IN_ENGLISH) -> str:
        """Return the basis as about three lines of plain text."""
        tables = labels.join(self.tables)
        over = labels.say("over_tables", tables=tables) if tables else ""
        distinct = f", {labels.say('page_no_duplicates')}" if self.grain and self.duplicates == "removed" else ""
        origin, dates = labels.say(f"query_{self.origin}", over=over), _describe_date_range(self, labels)
        first = "; ".join(filter(None, (origin, f"{self.grain}{distinct}", dates)))
        second = [
            _format_filter_list(lead, [f for f in self.filters if _get_filter_group(f) == place], labels)
            for place, lead in _LEADS.items()
        ]
        definitions = labels.say("definitions_used", len(self.definitions), names=labels.join(self.definitions))
        remarks = [definitions] if self.definitions else []
        remarks += [*self.nulls[:_MOST], *filter(None, (self.cut and labels.say("shown", rows=self.cut), self.ties))]
        remarks += self.counted
        remarks += [labels.say("assumed", what=", ".join(self.assumed))] if self.assumed else []
        third = "; ".join(remarks)
        lines = [f"{line[:1].upper()}{line[1:]}." for line in (first, "; ".join(filter(None, second)), third) if line]
        return "\n".join([*lines, *([labels.say("other_readings", told=self.readings)] if self.readings else [])])


@guard_nesting_depth
def build_query_basis(
    query: Query,
    question: str,
    mentions: Sequence[ValueMatch] = (),
    *,
    origin: Origin = "generated",
    labels: Labels = IN_ENGLISH,
) -> Basis:
    """Build the part of an answer's basis that follows from the query itself.

    The query's schema is everything that whoever asked may read, as far as it may leave; the question has what was said
    beside.
    """
    grain, duplicates = describe_result_grain(query, labels)
    date, range_conditions = find_date_use(query)
    count = query.limit
    is_whole = grain == labels.say("one_row") and query.offset is None and (count is None or count.name != "0")
    return Basis(
        origin=origin,
        tables=tuple(table.name for table in query.schema.tables if table.name in query.tables),
        date=date,
        filters=list_query_filters(query, question, mentions, range_conditions, in_words=labels.are_english),
        grain=grain,
        duplicates=duplicates,
        nulls=_describe_null_handling(query.nested_select_chain[0], query, labels) if query.nested_select_chain else (),
        ties="" if is_whole else _describe_tie_handling(query, labels),
        cut="" if is_whole else _describe_row_limit(query, labels),
    )


def _describe_null_handling(scope: Scope, query: Query, labels: Labels) -> tuple[str, ...]:
    """Describe how the SELECT that produces the rows treats missing values."""
    clauses: dict[str, None] = {}
    for node in query.find_in(scope, exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max):
        if name := _find_nullable_column_name(get_argument(node), scope, query):
            clauses[labels.say("missing_not_counted", column=name)] = None
    # Under OR, or within anything else, such a condition may fail and the row still be in.
    for part in (condition.node for condition in query.conditions(scope) if condition.clause == "where"):
        inner = part.this.unnest() if isinstance(part, exp.Not) else part
        negative = inner is not part or isinstance(part, exp.NEQ) or part.args.get("negate")
        # NOT IN (SELECT ...) lets every row through where there are none.
        compares = isinstance(inner, exp.In | exp.Like | exp.NEQ) and inner.args.get("query") is None
        if negative and compares and (name := _find_nullable_column_name(inner.this, scope, query)):
            clauses[labels.say("missing_are_out", column=name)] = None
    return tuple(clauses)


def _find_nullable_column_name(node: exp.Expr | None, scope: Scope, query: Query) -> str:
    """Return the plain name of a column with missing values; empty for anything else."""
    column = query.column(node)
    return humanize_name(column.schema.name) if column and column.scope is scope and column.schema.nulls is True else ""


def _describe_tie_handling(query: Query, labels: Labels) -> str:
    if query.limit is None or not query.order or has_unique_order(query):
        return ""
    return labels.say("ties_are_in" if query.has_limit_option("with_ties") else "ties_are_cut")


def _describe_row_limit(query: Query, labels: Labels) -> str:
    count, offset = query.limit, query.offset
    if (
        not isinstance(count, exp.Literal)
        or query.has_limit_option("percent")
        or not isinstance(offset, exp.Literal | None)
    ):
        return ""
    skip_count = offset.name if offset is not None else "0"
    if skip_count != "0" and query.order and count.is_int and offset is not None and offset.is_int:
        first, last = int(skip_count) + 1, int(skip_count) + int(count.name)
        return labels.say("row_number" if first == last else "rows_from_to", first=first, last=last)
    key = "first_rows_after" if skip_count != "0" else "first_row" if count.name == "1" else "first_rows"
    return labels.say(key if query.order else key.replace("first", "any"), count=count.name, skipped=skip_count)


def _get_filter_group(condition: Filter) -> str:
    """Return the group under which a condition is listed; empty if it is not listed."""
    if condition.part:
        return "part"
    if condition.groups:
        return "groups"
    return "rows" if condition.words is None or not condition.ranged else ""


def _format_filter_list(lead: str, filters: list[Filter], labels: Labels) -> str:
    texts = [
        f"{part.text} ({labels.say('page_from_words' if part.words else 'page_not_asked', words=part.words)})"
        for part in filters[:_MOST]
    ]
    if len(filters) > _MOST:
        texts.append(labels.say("more_conditions", len(filters) - _MOST))
    return f"{labels.say(lead)} {'; '.join(texts)}" if texts else ""


def _describe_date_range(basis: Basis, labels: Labels) -> str:
    date = basis.date
    if date is None:
        return ""
    name = humanize_name(date.column)
    first, last, newest_day = map(labels.date, (date.first, date.last, date.newest))
    newest = labels.say("newest_of", column=name, newest=newest_day) if newest_day else ""
    if not date.used or (basis.filters and not first and not last):
        return newest
    end = labels.say("rest_of_day_out", day=last) if date.last.endswith(MIDNIGHT) else last
    if first and date.first == date.last:
        span = f"{name} {first}"
    else:
        key = "dates_between" if first and last else "dates_from" if first else "dates_to"
        span = labels.say(key if first or last else "by_date", column=name, first=first, last=end)
    return f"{span} ({labels.say('newest_is', newest=newest_day)})" if newest else span


def describe_result_grain(query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a result row stands for (the grain), if known, and how duplicates are treated."""
    tree = query.tree.unnest()
    if isinstance(tree, exp.SetOperation):
        all_rows = isinstance(tree, exp.Union) and tree.args.get("distinct") is False
        return "", "kept" if all_rows else "removed"
    scope = query.find_scope(tree)
    if scope is None:
        return "", "kept"
    select, distinct = scope.select, scope.select.args.get("distinct")
    calls = [node for item in select.expressions for node in query.find(exp.Func, within=item)]
    on = distinct.args.get("on") if distinct is not None else None
    several = [node for node in calls if returns_several_rows(node)]
    sources = query.find(exp.From, exp.Join) if several else []
    source_calls = {id(node) for source in sources for node in query.find(*SETS, within=source)}
    if any(id(node) not in source_calls for node in several):
        return "", "removed" if distinct is not None and on is None else "kept"
    if on is not None:
        return _format_row_per(on.expressions or [on], query, labels), "kept"
    if distinct is not None:
        return labels.say("row_per_value" if len(select.expressions) == 1 else "each_row_once"), "removed"
    if select.args.get("group") is not None:
        return _describe_group_grain(scope, query, labels)
    own_calls = {id(node) for node in query.find_in(scope, exp.Func)}
    aggregates = [node for node in calls if is_aggregate_call(node) and id(node) in own_calls]
    if select.args.get("having") is not None or any(query.ancestor(node, exp.Window) is None for node in aggregates):
        return labels.say("one_row"), "none"
    # An aggregate in a window's own terms, or a function that may be one, also makes one row of all.
    unsure = any(not isinstance(node.parent, exp.Window) for node in aggregates)
    unknown = not query.rules.is_sqlite and any(isinstance(node, exp.Anonymous) for node in calls)
    return ("", "kept") if unsure or unknown else _describe_row_grain(scope, query, labels)


def _describe_group_grain(scope: Scope, query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a row of a grouped query stands for: a table's row, or the GROUP BY terms."""
    terms = query.resolve_group_by_terms(scope)
    if terms is None:
        return "", "kept"
    outputs = {query.text(item.unalias().unnest()) for item in scope.select.expressions}
    duplicates: Duplicates = "none" if all(query.text(term) in outputs for term in terms) else "kept"
    column = query.column(terms[0]) if len(terms) == 1 else None
    # Rows without a row of an optional table are a group too.
    if column is None or not column.is_primary_key or column.scope.is_source_optional(column.source):
        return _format_row_per(terms, query, labels), duplicates
    return labels.say("row_per_row", table=_get_source_name(column.source)), duplicates


def _format_row_per(terms: list[exp.Expr], query: Query, labels: Labels) -> str:
    """Return a text such as `one row per city`; a term is quoted as SQL if words are lacking."""
    explainer = QueryExplainer(query)
    term_texts = [
        explainer.say(term).removeprefix("the ")
        if explainer.can_describe_in_words(term) and labels.are_english
        else f"“{query.text(term)}”"
        for term in terms
    ]
    return labels.say("row_per", terms=labels.join(term_texts))


def _describe_row_grain(scope: Scope, query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a row of an ungrouped query stands for: a table's row, or joined rows."""
    if not scope.sources or len(scope.tables) < len(scope.sources) or not scope.has_only_listed_sources:
        return "", "kept"
    joins = [source.join for source in scope.sources if source.join is not None]
    if any(join.side not in ("", "LEFT") or join.kind not in _JOINS for join in joins):
        return "", "kept"
    source = query.find_unrepeated_source(scope)
    if source is None:
        names = labels.join([_get_source_name(source) for source in scope.sources])
        optional = any(source.side for source in scope.sources)
        return "" if optional else labels.say("row_per_pairing", tables=names), "kept"
    key = source.table.primary_key if source.table is not None else ()
    columns = [query.column(item.unalias()) for item in scope.select.expressions]
    outputs = {column.schema.name for column in columns if column is not None and column.source is source}
    stars = [item for item in scope.select.expressions if item.is_star]
    is_whole = any(isinstance(star, exp.Star) or fold(star.table) == fold(source.name) for star in stars)
    has_key = bool(key) and (set(key) <= outputs or is_whole)
    return labels.say("row_per_row", table=_get_source_name(source)), "none" if has_key else "kept"


def _get_source_name(source: QuerySource) -> str:
    return humanize_name(source.table.name if source.table is not None else source.name)
