"""The way of rows through the joins of one SELECT, starting at the table whose rows count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from ..database.schema import TableSchema
from ..database.table import Cell
from ..sql.dialects import fold
from ..sql.query import Query, QueryCondition
from ..sql.scope import (
    READ_KINDS,
    QuerySource,
    Scope,
    SourceColumn,
    copy_select_with_outputs,
    copy_source_node,
    get_argument,
    get_join_conditions,
    iterate_enclosing_scopes,
    returns_several_rows,
    select_from,
)
from .passed import find_output, find_passed_column, find_places, list_optional_sources

_KINDS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT_JOIN")

Count = Callable[[str], Sequence[Sequence[Cell]]]
"""Runs a query within the time that is left and returns its rows; raises `NotCountedError` if it gets none."""

Lefts = Mapping[int, bool | None]
"""Whether each row before a LEFT JOIN should have a match, by the id of its source; None if unknown."""

MOSTLY_ONE = 0.5
"""Share of different values from which a column without a key is taken to tell rows apart."""

CUTTING = ("having", "qualify", "limit", "offset")

SHAPING = ("group", "distinct", *CUTTING)
"""The clauses that make other rows of those that FROM and WHERE give."""

UNLIKE_NULL = (exp.Coalesce, exp.Case, exp.If, exp.Concat, exp.ConcatWs, exp.Anonymous, exp.Is)
"""What may give a value where a partner is missing, so that its value does not tell."""

ROWID = "_rowid_"
"""SQLite's key of tables without one."""

NO_SUBJECT = "no table has one row for each row of the joins"


class NotCountedError(Exception):
    """An error for rows or values that cannot be counted, with the reason."""


@dataclass(frozen=True, eq=False)
class JoinEquality:
    """An equality that joins two sources, with the expression on each side."""

    ends: tuple[tuple[QuerySource, exp.Expr], tuple[QuerySource, exp.Expr]]
    condition: exp.Expr | None  # None for a column that USING or NATURAL names

    def end(self, source: QuerySource) -> exp.Expr:
        """Return the expression on the side of one of the two sources."""
        return next(side for other, side in self.ends if other is source)

    def far_end(self, source: QuerySource) -> exp.Expr:
        """Return the side of the other source."""
        return next(side for other, side in self.ends if other is not source)

    def find_column(self, source: QuerySource, query: Query) -> str:
        """Return the column on the side of a source; empty if there is another expression."""
        if self.condition is None:
            return self.end(source).name
        column = find_passed_column(query, self.end(source))
        return column.schema.name if column is not None else ""

    def get_other_source(self, source: QuerySource) -> QuerySource | None:
        """Return the source that is joined to the given one; None if this link does not join it."""
        (first, _), (second, _) = self.ends
        return second if first is source else first if second is source else None


@dataclass(frozen=True, eq=False)
class JoinStep:
    """A source that is joined to one of the sources before it."""

    source: QuerySource
    before: tuple[QuerySource, ...]  # each source that its links compare it with, mostly one
    links: tuple[JoinEquality, ...]
    conditions: tuple[exp.Expr, ...] = ()  # what a partner meets besides
    kept: bool = False  # whether rows without a match stay in the result, as in a LEFT JOIN
    has_key: bool = False  # whether a row has one match at most, as these compare a declared key
    columns: tuple[exp.Column, ...] = ()  # if given, the source's different values of these are joined, not its rows

    @property
    def missing(self) -> exp.Expr:
        """The condition that a row has no match in this join."""
        return self.links[0].end(self.source).is_(exp.Null())

    def copy_source(self) -> exp.Expr:
        """Return what is joined, for a FROM clause."""
        node = copy_source_node(self.source)
        if not self.columns:
            return node
        values = select_from(node, *(column.copy() for column in self.columns)).distinct(copy=False)
        return values.subquery(self.columns[0].args["table"].copy(), copy=False)


@dataclass(frozen=True, eq=False)
class RowFilter:
    """A condition of a SELECT that is not a join, with the sources that it names."""

    node: exp.Expr
    sources: tuple[QuerySource, ...]


@dataclass(frozen=True, eq=False)
class SingleSource:
    """A source of which each row should be there once."""

    source: QuerySource
    repeating: tuple[QuerySource, ...]  # sources that may have several rows for one of it, going by declared keys
    is_material: bool  # whether a row that is there twice changes the result
    links: tuple[JoinEquality, ...]  # what joins it to the first of these
    is_grouped: bool  # whether it is only counted in groups of its own, of one row each or of several


@dataclass(frozen=True, eq=False)
class JoinPath:
    """A table whose rows are counted, and the joins from it to the other sources."""

    query: Query
    scope: Scope
    subject: QuerySource  # whose rows are counted, summed or listed: all others have at most one row for each of its
    steps: tuple[JoinStep, ...]  # the other sources in the order of joins; none where no subject is like that
    subject_filters: tuple[RowFilter, ...]  # conditions on the subject alone
    filters: tuple[RowFilter, ...]  # all others
    singles: tuple[SingleSource, ...]  # what is summed or averaged, or else the subject
    equals: tuple[QuerySource, ...]  # others of the same grain that are summed beside the subject

    def list_conditions_before(self, step: JoinStep) -> list[exp.Expr]:
        """Return the conditions that rows meet before they come to a join.

        Of a row without a partner nobody knows whether it would meet a condition on it.
        """
        others = [part for part in self.filters if step.source not in part.sources]
        return [*self.list_match_conditions(step), *(self._allow_missing_match(part) for part in others)]

    def make_reference_condition(self, step: JoinStep, expected: Lefts) -> exp.Expr:
        """Return the condition that a row refers to something in a join, or that an expected LEFT JOIN lost it."""
        conditions: list[exp.Expr] = []
        for link in step.links:
            end, near = link.far_end(step.source), link.get_other_source(step.source)
            lefts = (left for left in self.steps if left.source is near and expected.get(id(near)))
            lost = (exp.and_(left.missing, self.make_reference_condition(left, expected), copy=False) for left in lefts)
            is_given = exp.not_(end.is_(exp.Null()), copy=False)
            passed = [s for s in list_optional_sources(self.query, end) if s is not near or id(s) in expected]
            if passed and passed != [near] and all(expected.get(id(source)) for source in passed):
                column = find_passed_column(self.query, end)
                if column is not None and (column.schema.not_null or column.is_primary_key):
                    is_given = exp.true()  # what is missing was lost by a LEFT JOIN in a sub-query
            conditions.append(exp.or_(is_given, *lost, copy=False))
        return exp.and_(*conditions, copy=False)

    def list_match_conditions(self, until: JoinStep | None = None) -> list[exp.Expr]:
        """Return the conditions that a row has a match in every join, or in all before a step."""
        before = self.steps if until is None else self.steps[: self.steps.index(until)]
        return [exp.not_(step.missing, copy=False) for step in before if not step.kept]

    def _allow_missing_match(self, part: RowFilter) -> exp.Expr:
        """Return a filter that also accepts rows without a match in the tables that it names."""
        unknown = (step.missing for step in self.steps if step.source in part.sources and not step.kept)
        return exp.or_(*unknown, part.node)

    def find_filtering_sources(self) -> list[QuerySource]:
        """Return the sources that filter rows or rank top groups, and the sources joined before."""
        terms = (self.query.resolve_group_by_terms(self.scope) or []) if self.scope.select.args.get("limit") else []
        sources = [source for term in terms for source in self.query.find_sources(term, self.scope)]
        sources += [source for part in self.filters for source in part.sources]
        for step in reversed(self.steps):
            if step.source in sources:
                sources += step.before
        return [source for source in sources if source is not self.subject]

    def list_filters_after(self, step: JoinStep) -> list[exp.Expr]:
        """Return the conditions on what a LEFT JOIN adds, which may leave out rows without a match."""
        return [part.node for part in self.filters if step.source in part.sources] if step.kept else []

    def build_select(
        self, outputs: Sequence[exp.Expr], *, until: int | None = None, side: Literal["LEFT", ""] = "LEFT"
    ) -> exp.Select:
        """Return a SELECT of the counted rows, joined to all other sources, or to the first of them."""
        if not self.steps and len(self.scope.sources) > 1:
            return copy_select_with_outputs(self.scope.select, outputs)
        select = select_from(copy_source_node(self.subject), *(output.copy() for output in outputs))
        for step in self.steps[:until]:
            join = exp.Join(this=step.copy_source(), side=side)
            conditions = [link.condition for link in step.links if link.condition is not None]
            if conditions:
                join.set("on", exp.and_(*conditions, *step.conditions))
            else:
                join.set("using", [exp.to_identifier(link.ends[0][1].name, quoted=True) for link in step.links])
            select.append("joins", join)
        return select.where(*(part.node.copy() for part in self.subject_filters), copy=False)


def find_path(query: Query, scope: Scope, equal: QuerySource | None = None) -> JoinPath:
    """Return the joins that a SELECT's counted rows pass, or those of one of its `equals`.

    Raises:
        NotCountedError: There is something in it that is not counted.
    """
    check_countable(query, scope)
    links, conditions = _split_join_conditions(query, scope)
    # What adds values of several sources means each of their combinations.
    has_joins = len(scope.sources) > 1  # else no row can be repeated
    usages = (({end for end, _ in places}, use) for places, use in (_find_sums(query, scope, {}) if has_joins else ()))
    sums = [(sources.pop(), use) for sources, use in usages if len(sources) == 1]
    uses = {id(source): {use for owner, use in sums if owner == id(source)} for source in scope.sources}
    groups = [source for source in scope.sources if uses[id(source)] == {"group"}]
    addends = [source for source in scope.sources if uses[id(source)] and source not in groups]
    met = _find_met_sources(query, scope) if has_joins else set[int]()
    finest = equal or _find_finest_source(query, scope, links, addends, met)
    is_crossed = has_joins and _has_unrelated_source(query, scope, links, conditions, is_summed=bool(addends))
    if (subject := finest or next(iter(addends), scope.sources[0] if is_crossed else None)) is None:
        raise NotCountedError(NO_SUBJECT)
    if has_joins and len(query.scopes) > 1 and (table := find_row_table(query, subject)):
        from .beside import is_read_beside  # few statements have other parts

        if is_read_beside(query, scope, table):
            raise NotCountedError("another part of the query reads these rows too")
    # Who has no partner in a LEFT JOIN that meets its condition stays in the result.
    # Where all rows in the result have one, as WHERE asks for it, its ON chooses as WHERE does.
    sure = {*map(id, (None, subject)), *met}
    where = [part for part in conditions if id(part.source) in sure or (part.source and part.source.side != "LEFT")]
    if not any(isinstance(call.this, exp.Star) for call in query.find_aggregates(scope, exp.Count)):
        # Of what is counted through LEFT JOINs to the table between it and others, who has no match is not counted.
        met |= {id(s) for s in addends if s.side == "LEFT" and subject.side == "LEFT" and s is not subject}
    finest = None if is_crossed else finest
    steps = list(_order_join_steps(scope, subject, links)) if finest is not None else []
    steps = [replace(step, kept=step.kept and id(step.source) not in met) for step in steps]
    aside = [part for part in conditions if part not in where]
    optional = [part.source for part in aside]
    if any(end in optional for step in steps for link in step.links for end, _ in link.ends if end is not step.source):
        raise NotCountedError("a join depends on a LEFT JOIN with a further condition")
    steps = [_add_conditions(query, step, conditions, aside) for step in steps]
    refs = ((source, step) for step in steps for node in step.conditions for source in query.find_sources(node, scope))
    if any(source not in (step.source, *step.before) for source, step in refs):
        raise NotCountedError("a LEFT JOIN has a condition on other tables")
    key_ids = {id(node) for step in steps if not step.kept for node in step.conditions}
    where = [part for part in where if id(part.node) not in key_ids]
    filters = [RowFilter(part.node, tuple(dict.fromkeys(query.find_sources(part.node, scope)))) for part in where]
    own_parts = [part for part in filters if all(source is subject for source in part.sources)]
    others = [part for part in filters if part not in own_parts]
    # Rows that come to other joins are those that a condition is known of.
    asked = {id(source) for part in others for source in part.sources}
    for step in reversed(steps):
        asked |= {*map(id, step.before)} if id(step.source) in asked else set()
    if all(link.condition is not None for step in steps for link in step.links):  # else USING needs the order
        steps.sort(key=lambda step: id(step.source) not in asked)
    open_ends = [step.source for step in steps if not step.has_key]
    singles = list[SingleSource]()
    for source in [*(addends or [subject]), *(other for other in groups if other is not subject)] if has_joins else ():
        repeating = _find_repeating_sources(query, source, scope)
        if source is finest:
            # Values of a likely key were looked at, if not all of them.
            repeating = [other for other in open_ends if other in repeating] or open_ends
        # What is averaged may mean the rows it is joined to; what is summed does not.
        is_material = bool(uses[id(source)] - (set() if source is subject else {"average"}))
        if source is subject:
            plain = query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count)
            is_material = is_material or any(not isinstance(call.this, exp.Distinct) for call in plain)
        if repeating:
            ends = [link for link in links if link.get_other_source(repeating[0]) is source]
            singles.append(SingleSource(source, tuple(repeating), is_material, tuple(ends), source in groups))
    equals = [s for s in addends if "sum" in uses[id(s)] and not scope.is_source_optional(s)]
    equals = [s for s in equals if not _find_repeating_sources(query, s, scope)] if finest in equals else []
    equals = [s for s in equals if s is not finest]
    return JoinPath(query, scope, subject, tuple(steps), tuple(own_parts), tuple(others), tuple(singles), tuple(equals))


def check_countable(query: Query, scope: Scope) -> None:
    """Raise `NotCountedError` if the rows of a SELECT cannot be counted."""
    joins = [source.join for source in scope.sources if source.join is not None]
    problems = {
        "no table is read": not scope.sources,
        "only a sample of a table is read": bool(query.find(exp.TableSample)),
        "the query is recursive": any(clause.args.get("recursive") for clause in query.find(exp.With)),
        "its joins are in parentheses": len(scope.sources) > len(scope.select.args.get("joins") or ()) + 1,
        "a function or a LATERAL sub-query is read": not scope.has_only_listed_sources
        or any(isinstance(source.node, exp.Lateral) for source in scope.sources),
        "a window function's result is read": any(s.query and s.query.find(exp.Window) for s in scope.sources),
        "a join is of another kind": scope.has_right_or_full_join or any(join.kind not in _KINDS for join in joins),
        "the columns of a sub-query are not known": any(source.columns is None for source in scope.sources),
    }
    for reference in query.resolution.references:
        levels = list(iterate_enclosing_scopes(reference.scope))
        if scope in levels:
            problems["not all names in it are known"] = reference.kind not in READ_KINDS
            problems["a sub-query is correlated"] = reference.owner in levels[levels.index(scope) + 1 :]
        if any(problems.values()):
            break
    if reason := next((reason for reason, is_so in problems.items() if is_so), ""):
        raise NotCountedError(reason)


_Sums = set[tuple[frozenset[SourceColumn], Literal["sum", "count", "average", "group"]]]


def _find_sums(query: Query, scope: Scope, cache: dict[int, _Sums]) -> _Sums:
    """Return the columns in each sum, count or average of a SELECT or its readers, with its use.

    It is `group` for what is counted in groups of its own.
    """
    if (sums := cache.get(id(scope))) is not None:
        return sums
    sums = cache[id(scope)] = _Sums()
    terms = {place for term in query.resolve_group_by_terms(scope) or () for place in find_places(query, scope, term)}
    for node in query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count, exp.Anonymous):
        places = find_places(query, scope, node, only_given=True)
        use = "average" if isinstance(node, exp.Avg) else "sum"
        if isinstance(node, exp.Count):
            # A CASE, or a group's own column, counts the joined rows.
            if not isinstance(node.this, exp.Column) or places & terms or _is_part_of_rows(query, scope, node):
                continue
            use = "group" if {owner for owner, _ in places} & {owner for owner, _ in terms} else "count"
        if not isinstance(node.this, exp.Distinct):
            sums.add((places, use))
    if any(map(scope.select.args.get, SHAPING)):
        return sums
    for outer in query.scopes:
        for source in (other for other in outer.sources if other.query is scope.select):
            for places, use in [*_find_sums(query, outer, cache)]:
                inner = (find_output(query, source, scope, name)[0] for owner, name in places if owner == id(source))
                if use != "group":  # the groups are not here
                    sums.add((frozenset[SourceColumn]().union(*inner), use))
    return sums


def _is_part_of_rows(query: Query, scope: Scope, count: exp.Count) -> bool:
    """Whether a column's count is set against COUNT(*), to tell how many rows have a value."""
    is_left = any(source.side == "LEFT" for source in query.find_sources(count, scope))
    output = next(node for node in query.list_enclosing(count) if node.parent is scope.select)
    beside = scope.select if is_left else output
    return any(isinstance(call.this, exp.Star) for call in query.find(exp.Count, within=beside))


def _find_met_sources(query: Query, scope: Scope) -> set[int]:
    """Return the ids of sources that every result row has a row of, going by the conditions."""
    met = set[int]()
    for node in (part.node for part in query.conditions(scope) if part.clause == "where"):
        sources = set(map(id, query.find_sources(node, scope)))
        if node.find(exp.Query, *UNLIKE_NULL) is None and (len(sources) == 1 or not node.find(exp.Or)):
            met |= sources
    return _add_joined_sources(query, scope, met)


def _add_joined_sources(query: Query, scope: Scope, ids: set[int]) -> set[int]:
    """Return ids of sources, extended by the sources that these are joined to."""
    for source in reversed(scope.sources):
        if id(source) in ids:
            ids |= {id(other) for node in get_join_conditions(source) for other in query.find_sources(node, scope)}
    return ids


def _find_finest_source(
    query: Query, scope: Scope, links: Sequence[JoinEquality], addends: Sequence[QuerySource], met: set[int]
) -> QuerySource | None:
    """Return the source with the finest rows, which no join repeats; None if there is none."""
    if len(scope.sources) == 1:
        return scope.sources[0]
    arguments = filter(None, map(get_argument, query.find_aggregates(scope)))
    ids = {id(source) for inner in arguments for source in query.find_sources(inner, scope)}
    ids = met | _add_joined_sources(query, scope, ids)
    optional = [source for source in scope.sources if scope.is_source_optional(source)]
    aggregates = query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count)
    operands = [node.this for node in aggregates if node.this is not None and not isinstance(node.this, exp.Distinct)]
    beside = any(source not in optional for inner in operands for source in query.find_sources(inner, scope))
    if any(isinstance(inner, exp.Star) for inner in operands):
        inner_sources = (source for source in scope.sources if source not in optional)
        beside = beside or any(not _find_repeating_sources(query, source, scope) for source in inner_sources)
    # Where rows that a LEFT JOIN keeps are added up too, these count, and not what it adds to some of them.
    aside = [source for source in optional if beside and id(source) not in met]
    sure = [source for source in scope.sources if source not in aside and (source not in optional or id(source) in ids)]
    finest = [source for source in sure if all(other in aside for other in query.find_repeating_sources(source, scope))]
    leading = next((source for source in sure if source is query.find_unreferenced_source(scope)), None)
    # Of two tables with a row each for the other, what is summed counts, then the one that refers to the other.
    first = [source for source in (addends if len(addends) == 1 else ()) if source in sure]
    first = [source for source in first if source in finest or not _find_repeating_sources(query, source, scope)]
    likely = [*first, *(source for source in [leading] if source in finest), *finest, leading]
    # Groups that others are joined to have a row each; where they are joined by a key too, they count themselves.
    likely += [s for s in sure if all(other in aside for other in _find_repeating_sources(query, s, scope))]
    if all(source is None for source in likely):
        tables = {id(source): find_row_table(query, source) for source in sure}
        rows = {place: (table and table.row_count) or 0 for place, table in tables.items()}
        shares = {id(source): round(_compute_least_share(query, scope, source, links), 1) for source in sure}
        # A lookup with a duplicate leaves it to the other tables which of them has the finest rows.
        order = sorted(sure, key=lambda source: (source not in addends, -shares[id(source)], -rows[id(source)]))
        likely = [source for source in order if shares[id(source)] >= MOSTLY_ONE]
    return next((source for source in likely if source is not None), None)


def _find_repeating_sources(query: Query, source: QuerySource, scope: Scope) -> list[QuerySource]:
    """Return the sources that may have several rows per row of a source, by keys and groups."""
    given, single, repeating = query.find_single_values(scope, source), {id(source)}, list(scope.sources)
    keys = {id(other): {(id(other), name) for name in find_key(query, other)} for other in repeating}
    while len(repeating) > len(scope.sources) - len(single):
        repeating = [other for other in scope.sources if id(other) not in single]
        bound = {end for end, giver in given if giver in single}
        single |= {place for place in map(id, repeating) if keys[place] and keys[place] <= bound}
    return repeating


def find_key(query: Query, source: QuerySource, *, declared: bool = False) -> list[str]:
    """Return the folded names of columns that tell a source's rows apart; empty if unknown.

    Of a table it may be the likely key. Sub-queries pass it on, or make one by DISTINCT or GROUP BY.
    """
    if (table := source.table) is not None:
        return [] if source.column_aliases else [*map(fold, table.primary_key if declared else table.key)]
    inner = query.find_scope(source.query.unnest()) if source.query is not None else None
    if inner is None:
        return []
    outputs, names = [item.unalias().unnest() for item in inner.select.expressions], [*(source.columns or ())]
    distinct = inner.select.args.get("distinct")
    is_distinct = distinct is not None and not distinct.args.get("on")
    terms = outputs if is_distinct else query.resolve_group_by_terms(inner) or []
    if terms and len(names) == len(outputs) and all(term in outputs for term in terms):
        return [names[outputs.index(term)] for term in terms]
    several = any(returns_several_rows(call) for output in outputs for call in query.find(exp.Func, within=output))
    is_grouped = inner.select.args.get("group") is not None or bool(query.find_aggregates(inner))
    if is_grouped or several or not inner.has_only_listed_sources:
        return []
    found = {name: find_output(query, source, inner, name) for name in names}
    passed = {place: name for name, (places, is_plain) in found.items() for place in places if is_plain}
    for other in (other for other in inner.sources if not inner.is_source_optional(other)):
        key = [(id(other), name) for name in find_key(query, other, declared=declared)]
        if key and passed.keys() >= {*key} and not _find_repeating_sources(query, other, inner):
            return [passed[place] for place in key]
    return []


def _compute_least_share(query: Query, scope: Scope, subject: QuerySource, links: Sequence[JoinEquality]) -> float:
    """Return the least share of different values in what the other sources are joined by; 0 if it is not known."""
    try:
        steps, least = [*_order_join_steps(scope, subject, links)], 1.0
    except NotCountedError:
        return 0
    for step in steps:
        table = find_row_table(query, step.source)
        rows = (table and table.row_count) or 0
        columns = (table and table.column(link.find_column(step.source, query)) for link in step.links)
        different = max((column.distinct or 0 for column in columns if column is not None), default=0)
        least = min(least, different / rows if rows else 0)
    return least


def _split_join_conditions(query: Query, scope: Scope) -> tuple[list[JoinEquality], list[QueryCondition]]:
    """Return the equalities that find partners in joins, and all other conditions."""
    conditions = [condition for condition in query.conditions(scope) if condition.clause in ("where", "on")]
    for condition in conditions:
        references = map(query.reference, query.find(exp.Column, within=condition.node))
        if any(reference is not None and reference.kind == "alias" for reference in references):
            raise NotCountedError("a condition uses the alias of an output column")
    read = [(condition, _read_join_equality(query, condition)) for condition in conditions]
    equalities = [link for _, link in read if link is not None]
    found = [link for link in equalities if not _is_beside_key(query, link, equalities)]
    return [*_list_using_joins(scope), *found], [condition for condition, link in read if link not in found]


def _is_beside_key(query: Query, link: JoinEquality, links: Sequence[JoinEquality]) -> bool:
    """Whether an equality says which partners count, where others look them up by their whole key."""
    sources = [source for source, _ in link.ends]
    pairs = [other for other in links if other.get_other_source(sources[0]) is sources[1]]
    keys = [(source, {*find_key(query, source)}) for source in sources]
    whole = [(source, key) for source, key in keys if key and key <= {fold(pair.end(source).name) for pair in pairs}]
    is_part = [fold(link.end(source).name) in key for source, key in whole]
    return bool(is_part) and not any(is_part)


def _list_using_joins(scope: Scope) -> Iterator[JoinEquality]:
    for place, source in enumerate(scope.sources):
        for name in sorted(source.using):
            other = next((other for other in scope.sources[:place] if name in (other.columns or ())), None)
            if other is None or other.columns is None or source.columns is None:
                raise NotCountedError("the columns of USING are not known")
            first, second = (make_column(side, (side.columns or {})[name]) for side in (source, other))
            yield JoinEquality(((source, first), (other, second)), None)


def make_column(source: QuerySource, column: str) -> exp.Column:
    """Return a column expression, qualified by the alias or name of its source."""
    alias = source.node.args.get("alias")
    identifier = (alias.this if isinstance(alias, exp.TableAlias) else None) or source.node.this
    if not isinstance(identifier, exp.Identifier):
        raise NotCountedError("a sub-query has no name")
    return exp.column(column, table=identifier.copy(), quoted=column != ROWID)


def _read_join_equality(query: Query, condition: QueryCondition) -> JoinEquality | None:
    """Return the join equality that a condition states; None for any other condition."""
    node = condition.node
    if not isinstance(node, exp.EQ) or node.find(exp.Query, exp.AggFunc, *UNLIKE_NULL) is not None:
        return None
    ends = [{id(end): end for end in query.find_sources(side, condition.scope)} for side in (node.left, node.right)]
    if any(len(end) != 1 for end in ends) or ends[0].keys() == ends[1].keys():
        return None
    first, second = (next(iter(end.values())) for end in ends)
    # Beside a join's own equality another one filters what the join has given.
    joins = (end.join is None or end.join.args.get("on") is not None or end.using for end in (first, second))
    if condition.clause == "where" and all(joins):
        return None
    return JoinEquality(((first, node.left), (second, node.right)), node)


def _has_unrelated_source(
    query: Query, scope: Scope, links: Sequence[JoinEquality], conditions: Sequence[QueryCondition], *, is_summed: bool
) -> bool:
    """Whether a source is joined row by row with all others, and no CROSS JOIN says so."""
    related = {id(source) for link in links for source, _ in link.ends}
    if all(id(source) in related for source in scope.sources):
        return False
    if not is_summed and re.search(r"\bcross\s+join\b", query.sql, re.IGNORECASE):
        return False
    for part in conditions:
        sources = set(map(id, query.find_sources(part.node, scope)))
        related |= sources if len(sources) > 1 else set()
    return any(id(source) not in related for source in scope.sources)


def _order_join_steps(scope: Scope, subject: QuerySource, links: Sequence[JoinEquality]) -> Iterator[JoinStep]:
    earlier, remaining = [subject], [source for source in scope.sources if source is not subject]
    while remaining:
        ready = ((source, [link for link in links if link.get_other_source(source) in earlier]) for source in remaining)
        source, own_links = next(((other, own_links) for other, own_links in ready if own_links), (None, []))
        if source is None:
            raise NotCountedError("a join does not compare two columns with =")
        if len({link.condition is None for link in own_links}) > 1:
            raise NotCountedError("a join has both USING and another equality")
        before = dict.fromkeys(other for link in own_links if (other := link.get_other_source(source)) is not None)
        # From a table that a LEFT JOIN adds to this one, rows without a match do not stay.
        kept = source.side == "LEFT" and all(map(scope.sources[: scope.sources.index(source)].__contains__, before))
        yield JoinStep(source, tuple(before), tuple(own_links), kept=kept)
        earlier.append(source)
        remaining.remove(source)


def _add_conditions(
    query: Query, step: JoinStep, others: Sequence[QueryCondition], aside: Sequence[QueryCondition]
) -> JoinStep:
    """Return a join with the conditions that partners meet beside its equalities.

    These are a LEFT JOIN's own, and constants for the rest of a key: `l.code = o.code AND l.lang = 'en'`.
    """
    source, table = step.source, step.source.table
    conditions = [part.node for part in aside if part.source is source]
    if table is None or not table.primary_key or source.column_aliases:
        ends = {fold(end.name) for link in step.links if isinstance(end := link.end(source), exp.Column)}
        rest = {(id(source), name) for name in find_key(query, source)} - {(id(source), name) for name in ends}
        columns = (query.reference(column) for part in others for column in query.find(exp.Column, within=part.node))
        if table is None and any(column is not None and column.place in rest for column in columns):
            raise NotCountedError("a condition is on a part of the key of a sub-query")
        key = find_key(query, source, declared=True) if table is None else []
        return replace(step, conditions=tuple(conditions), has_key=bool(key) and {*key} <= ends)
    open_columns = {*table.primary_key} - {link.find_column(source, query) for link in step.links}
    fixing = dict[str, exp.Expr]()
    sure = (part.node for part in others if part.is_required or part.source is source)
    for node in sure if all(link.condition for link in step.links) else ():
        for column, other in query.list_column_comparisons(node) if isinstance(node, exp.EQ) else ():
            if column.source is source and column.schema.name in open_columns and query.literal(other) is not None:
                fixing[column.schema.name] = node
    has_key = open_columns == fixing.keys()
    more = [node for node in fixing.values() if has_key and not any(node is other for other in conditions)]
    return replace(step, conditions=(*conditions, *more), has_key=has_key)


def find_row_table(query: Query, source: QuerySource) -> TableSchema | None:
    """Return the table whose rows a source gives; None if a sub-query changes the rows."""
    while source.table is None:
        scope = query.find_scope(source.query.unnest()) if source.query is not None else None
        if scope is None or len(scope.sources) != 1 or any(map(scope.select.args.get, SHAPING)):
            return None  # groups, or joined rows
        source = scope.sources[0]
    return source.table
