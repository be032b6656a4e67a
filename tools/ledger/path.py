"""The way of rows through the joins of one SELECT: from the table whose rows count to each of the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from ..database.table import Cell
from ..sql.query import Query, QueryCondition, TableColumn
from ..sql.scope import QuerySource, Scope, SourceColumn, get_argument, get_join_conditions, iterate_enclosing_scopes

_KINDS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT")

Count = Callable[[str], Sequence[Sequence[Cell]]]
"""Runs a query within the time that is left and returns its rows; raises `NotCountedError` if it gets none."""

MOSTLY_ONE = 0.5
"""Share of different values from which a column without a key is taken to tell rows apart."""

SHAPING = ("group", "having", "qualify", "limit", "offset", "distinct")
"""The clauses that make other rows of those that FROM and WHERE give."""

_READ = ("column", "alias", "rowid", "string", "star", "output")
"""What a name may turn out to be where rows are counted."""

UNLIKE_NULL = (exp.Coalesce, exp.Case, exp.If, exp.Concat, exp.ConcatWs, exp.Anonymous, exp.Is)
"""What may give a value where a partner is missing, so that its value does not tell."""

_CHOOSING = (exp.Case, exp.If)

ROWID = "_rowid_"
"""SQLite's key of tables without one."""

NO_SUBJECT = "no table has one row for each row of its joins"


class NotCountedError(Exception):
    """An error for rows or values that cannot be counted, with the reason."""


@dataclass(frozen=True, eq=False)
class JoinEquality:
    """An equality that joins two sources, with the expression on each side."""

    ends: tuple[tuple[QuerySource, exp.Expr], tuple[QuerySource, exp.Expr]]
    condition: exp.Expr | None  # None for a column that USING or NATURAL names

    def end(self, source: QuerySource) -> exp.Expr:
        """Return the expression on the side of one of the two sources."""
        return next(side for one, side in self.ends if one is source)

    def far_end(self, source: QuerySource) -> exp.Expr:
        """Return the side of the other source."""
        return next(side for one, side in self.ends if one is not source)

    def find_column(self, source: QuerySource, query: Query) -> str:
        """Return the column on the side of a source; empty if there is another expression."""
        if self.condition is None:
            return self.end(source).name
        column = query.column(self.end(source))
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

    @property
    def reference_condition(self) -> exp.Expr:
        """The condition that a row's join columns are not NULL."""
        given = (exp.not_(link.far_end(self.source).is_(exp.Null()), copy=False) for link in self.links)
        return exp.and_(*given, copy=False)

    @property
    def missing(self) -> exp.Expr:
        """The condition that a row has no match in this join."""
        return self.links[0].end(self.source).is_(exp.Null())


@dataclass(frozen=True, eq=False)
class Filter:
    """A condition of a SELECT that is not a join, with the sources that it names."""

    node: exp.Expr
    named: tuple[QuerySource, ...]


@dataclass(frozen=True, eq=False)
class SingleSource:
    """A source of which each row should be there once."""

    source: QuerySource
    repeating: tuple[QuerySource, ...]  # sources that may have several rows for one of it, going by declared keys
    is_material: bool  # whether a row that is there twice changes the result
    is_grouped: bool  # whether it is only counted in groups of its own, of one row each or of several


@dataclass(frozen=True, eq=False)
class JoinPath:
    """A table whose rows are counted, and the joins from it to the other sources."""

    query: Query
    scope: Scope
    subject: QuerySource  # whose rows are counted, summed or listed: all others have at most one row for each of its
    steps: tuple[JoinStep, ...]  # the other sources in the order of joins; none where no subject is like that
    own: tuple[Filter, ...]  # conditions on the subject alone
    filters: tuple[Filter, ...]  # all others
    singles: tuple[SingleSource, ...]  # what is summed or averaged, or else the subject
    equals: tuple[QuerySource, ...]  # others of the same grain that are summed beside the subject

    def list_conditions_before(self, step: JoinStep) -> list[exp.Expr]:
        """Return the conditions that rows meet before they come to a join.

        Of a row without a partner nobody knows whether it would meet a condition on it.
        """
        others = [part for part in self.filters if step.source not in part.named]
        return [*self.list_match_conditions(step), *(self._allow_missing_match(part) for part in others)]

    def list_match_conditions(self, until: JoinStep | None = None) -> list[exp.Expr]:
        """Return the conditions that a row has a match in every join, or in all before a step."""
        before = self.steps if until is None else self.steps[: self.steps.index(until)]
        return [exp.not_(step.missing, copy=False) for step in before if not step.kept]

    def _allow_missing_match(self, part: Filter) -> exp.Expr:
        """Return a filter that also accepts rows without a match in the tables that it names."""
        unknown = (step.missing for step in self.steps if step.source in part.named and not step.kept)
        return exp.or_(*unknown, part.node)

    def find_filtering_sources(self) -> list[QuerySource]:
        """Return the sources that filter rows or rank top groups, and the sources joined before."""
        terms = (self.query.resolve_group_by_terms(self.scope) or []) if self.scope.select.args.get("limit") else []
        named = [source for term in terms for source in self.query.find_sources(term, self.scope)]
        named += [source for part in self.filters for source in part.named]
        for step in reversed(self.steps):
            if step.source in named:
                named += step.before
        return [source for source in named if source is not self.subject]

    def list_filters_after(self, step: JoinStep) -> list[exp.Expr]:
        """Return the conditions on what a LEFT JOIN adds, which may leave out who has no match in it."""
        return [part.node for part in self.filters if step.source in part.named] if step.kept else []

    def build_select(
        self, outputs: Sequence[exp.Expr], *, until: int | None = None, side: Literal["LEFT", ""] = "LEFT"
    ) -> exp.Select:
        """Return a SELECT of the counted rows, joined to all other sources, or to the first of them."""
        if not self.steps and len(self.scope.sources) > 1:
            return copy_select_with_outputs(self.scope.select, outputs)
        select = select_from(copy_source_node(self.subject), *(output.copy() for output in outputs))
        for step in self.steps[:until]:
            join = exp.Join(this=copy_source_node(step.source), side=side)
            conditions = [link.condition for link in step.links if link.condition is not None]
            if conditions:
                join.set("on", exp.and_(*conditions, *step.conditions))
            else:
                join.set("using", [exp.to_identifier(link.ends[0][1].name, quoted=True) for link in step.links])
            select.append("joins", join)
        return select.where(*(part.node.copy() for part in self.own), copy=False)


def find_path(query: Query, scope: Scope, counted: QuerySource | None = None) -> JoinPath:
    """Return the joins that the counted rows of a SELECT pass through, or those of one of its `equals`.

    Raises:
        NotCountedError: There is something in it that is not counted.
    """
    check_countable(query, scope)
    links, rest = _split_join_conditions(query, scope)
    # What adds values of several sources means each of their combinations.
    joined = len(scope.sources) > 1  # else no row can be repeated
    added = (({one for one, _ in places}, use) for places, use in (_find_sums(query, scope, {}) if joined else ()))
    sums = [(sources.pop(), use) for sources, use in added if len(sources) == 1]
    uses = {id(source): {use for one, use in sums if one == id(source)} for source in scope.sources}
    grouped = [source for source in scope.sources if uses[id(source)] == {"group"}]
    summed = [source for source in scope.sources if uses[id(source)] and source not in grouped]
    met = _find_met_sources(query, scope) if joined else set[int]()
    finest = counted or _find_finest_source(query, scope, links, summed, met)
    if (subject := finest or next(iter(summed), None)) is None:
        raise NotCountedError(NO_SUBJECT)
    steps = list(_order_join_steps(scope, subject, links)) if finest is not None else []
    if not any(isinstance(one.this, exp.Star) for one in query.find_aggregates(scope, exp.Count)):
        # Of what is counted through LEFT JOINs to the table between it and others, who has no match is not counted.
        met |= {id(one) for one in summed if one.side == "LEFT" and subject.side == "LEFT" and one is not subject}
    steps = [replace(step, kept=step.kept and id(step.source) not in met) for step in steps]
    # Who has no partner in a LEFT JOIN that meets its condition stays in the result.
    held = [one for one in rest if one.source is None or one.source.side != "LEFT" or one.source is subject]
    narrowed = [one.source for one in rest if one not in held]
    if any(end in narrowed for step in steps for link in step.links for end, _ in link.ends if end is not step.source):
        raise NotCountedError("a join goes through a LEFT JOIN with a condition of its own")
    steps = [_add_conditions(query, step, rest) for step in steps]
    named = ((one, step) for step in steps for node in step.conditions for one in query.find_sources(node, scope))
    if any(one not in (step.source, *step.before) for one, step in named):
        raise NotCountedError("a LEFT JOIN has a condition on other tables")
    keyed = {id(one) for step in steps if not step.kept for one in step.conditions}
    held = [one for one in held if id(one.node) not in keyed]
    filters = [Filter(one.node, tuple(dict.fromkeys(query.find_sources(one.node, scope)))) for one in held]
    own = [one for one in filters if all(source is subject for source in one.named)]
    others = [one for one in filters if one not in own]
    open_ends = [step.source for step in steps if not step.has_key]
    singles = list[SingleSource]()
    for source in [*(summed or [subject]), *(one for one in grouped if one is not subject)] if joined else ():
        repeating = query.find_repeating_sources(source, scope)
        if source is finest:
            # Values of a likely key were looked at, if not all of them.
            repeating = [one for one in open_ends if one in repeating] or open_ends
        # What is averaged may mean the rows it is joined to; what is summed does not.
        is_material = bool(uses[id(source)] - (set() if source is subject else {"average"}))
        if source is subject:
            plain = query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count)
            is_material = is_material or any(not isinstance(one.this, exp.Distinct) for one in plain)
        if repeating:
            singles.append(SingleSource(source, tuple(repeating), is_material, source in grouped))
    equals = [one for one in summed if "sum" in uses[id(one)] and not scope.is_source_optional(one)]
    equals = [one for one in equals if not _find_repeating_sources(query, one, scope)] if finest in equals else []
    equals = [one for one in equals if one is not finest]
    return JoinPath(query, scope, subject, tuple(steps), tuple(own), tuple(others), tuple(singles), tuple(equals))


def check_countable(query: Query, scope: Scope) -> None:
    """Raise `NotCountedError` if the rows of a SELECT cannot be counted."""
    joins = [source.join for source in scope.sources if source.join is not None]
    problems = {
        "it reads no table": not scope.sources,
        "it is recursive": any(clause.args.get("recursive") for clause in query.find(exp.With)),
        "it reads a function or a LATERAL sub-query": not scope.has_only_listed_sources
        or any(isinstance(source.node, exp.Lateral) for source in scope.sources),
        "it reads what a window function gives": any(one.query and one.query.find(exp.Window) for one in scope.sources),
        "it has a join of another kind": scope.has_right_or_full_join or any(join.kind not in _KINDS for join in joins),
        "the columns of what it reads are not known": any(source.columns is None for source in scope.sources),
    }
    for reference in query.resolution.references:
        levels = list(iterate_enclosing_scopes(reference.scope))
        if scope in levels:
            problems["not all of its names are known"] = reference.kind not in _READ
            problems["it is correlated"] = reference.owner in levels[levels.index(scope) + 1 :]
        if any(problems.values()):
            break
    if reason := next((reason for reason, is_so in problems.items() if is_so), ""):
        raise NotCountedError(reason)


_Sums = set[tuple[frozenset[SourceColumn], Literal["sum", "count", "average", "group"]]]


def _find_sums(query: Query, scope: Scope, known: dict[int, _Sums]) -> _Sums:
    """Return the columns in each sum, count or average of a SELECT or its readers, with its use.

    It is `group` for what is counted in groups of its own.
    """
    if (sums := known.get(id(scope))) is not None:
        return sums
    sums = known[id(scope)] = _Sums()
    terms = {place for term in query.resolve_group_by_terms(scope) or () for place in _find_places(query, scope, term)}
    for node in query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count, exp.Anonymous):
        places = _find_places(query, scope, node, only_given=True)
        use = "average" if isinstance(node, exp.Avg) else "sum"
        if isinstance(node, exp.Count):
            # A CASE, or a group's own column, counts the joined rows.
            if not isinstance(node.this, exp.Column) or places & terms or _is_part_of_rows(query, scope, node):
                continue
            use = "group" if {one for one, _ in places} & {one for one, _ in terms} else "count"
        if not isinstance(node.this, exp.Distinct):
            sums.add((places, use))
    if any(map(scope.select.args.get, SHAPING)):
        return sums
    for outer in query.scopes:
        for source in (one for one in outer.sources if one.query is scope.select):
            for places, use in [*_find_sums(query, outer, known)]:
                inner = (_find_output(query, source, scope, name)[0] for one, name in places if one == id(source))
                if use != "group":  # the groups are not here
                    sums.add((frozenset[SourceColumn]().union(*inner), use))
    return sums


def _is_part_of_rows(query: Query, scope: Scope, count: exp.Count) -> bool:
    """Whether a column's count is set against COUNT(*), to tell which of the joined rows have a value."""
    output, left = count, any(one.side == "LEFT" for one in query.find_sources(count, scope))
    while output.parent is not None and output.parent is not scope.select:
        output = output.parent
    beside = scope.select if left else output
    return any(isinstance(one.this, exp.Star) for one in query.find(exp.Count, within=beside))


def _find_output(query: Query, source: QuerySource, scope: Scope, name: str) -> tuple[frozenset[SourceColumn], bool]:
    """Return the columns that a sub-query's column is made of, and whether it is just one."""
    outputs, names = scope.select.expressions, [*(source.columns or ())]
    if len(outputs) == len(names) and name in names:
        output = outputs[names.index(name)].unalias().unnest()
        return _find_places(query, scope, output), isinstance(output, exp.Column)
    # A star stands for several columns.
    return frozenset((id(one), name) for one in scope.sources if name in (one.columns or ())), True


def find_passed_column(query: Query, node: exp.Expr) -> TableColumn | None:
    """Return the column that an expression is, as the table has it that sub-queries pass on."""
    at = query.at(node.unnest())
    if at is None or at.kind != "column" or at.owner is None or at.source is None:
        return None
    source, (_, name) = at.source, at.place
    while source.query is not None and (scope := query.find_scope(source.query.unnest())) is not None:
        places, is_plain = _find_output(query, source, scope, name)
        inner = [one for one in scope.sources for place, _ in places if place == id(one)]
        if not is_plain or len(inner) != 1:
            return None
        source, ((_, name),) = inner[0], places
    table, column = source.table, source.table and source.table.column(source.get_declared_column_name(name))
    return TableColumn(at.node, at.clause, at.owner, at.source, table, column) if table and column else None


def _find_places(query: Query, scope: Scope, node: exp.Expr, *, only_given: bool = False) -> frozenset[SourceColumn]:
    """Return the columns in an expression, or only those that it gives: no condition's, as of a CASE."""
    every = node.walk(prune=lambda one: only_given and isinstance(one, exp.Predicate))
    chosen = (one for one in every if not (only_given and one.arg_key == "this" and isinstance(one.parent, _CHOOSING)))
    named = (query.at(one) for one in chosen if isinstance(one, exp.Column))
    return frozenset(one.place for one in named if one is not None and one.owner is scope and one.source is not None)


def _find_met_sources(query: Query, scope: Scope) -> set[int]:
    """Return the ids of sources of which all rows of the result have one, as a condition is true of no NULL."""
    met = set[int]()
    for node in (one.node for one in query.conditions(scope) if one.clause == "where"):
        sources = set(map(id, query.find_sources(node, scope)))
        if node.find(exp.Query, *UNLIKE_NULL) is None and (len(sources) == 1 or not node.find(exp.Or)):
            met |= sources
    return _add_joined_sources(query, scope, met)


def _add_joined_sources(query: Query, scope: Scope, found: set[int]) -> set[int]:
    """Return sources with those that they are joined to: of these too there is a row where they have one."""
    for source in reversed(scope.sources):
        if id(source) in found:
            found |= {id(one) for node in get_join_conditions(source) for one in query.find_sources(node, scope)}
    return found


def _find_finest_source(
    query: Query, scope: Scope, links: Sequence[JoinEquality], summed: Sequence[QuerySource], met: set[int]
) -> QuerySource | None:
    """Return the source with the finest rows; None if no other source's rows are all there once for each of its."""
    if len(scope.sources) == 1:
        return scope.sources[0]
    arguments = filter(None, map(get_argument, query.find_aggregates(scope)))
    named = {id(one) for inner in arguments for one in query.find_sources(inner, scope)}
    named = met | _add_joined_sources(query, scope, named)
    optional = [one for one in scope.sources if scope.is_source_optional(one)]
    aggregates = query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count)
    added = [node.this for node in aggregates if node.this is not None and not isinstance(node.this, exp.Distinct)]
    beside = any(one not in optional for inner in added for one in query.find_sources(inner, scope))
    if any(isinstance(inner, exp.Star) for inner in added):
        kept = (one for one in scope.sources if one not in optional)
        beside = beside or any(not query.find_repeating_sources(one, scope) for one in kept)
    # Where rows that a LEFT JOIN keeps are added up too, these count, and not what it adds to some of them.
    aside = [one for one in optional if beside and id(one) not in met]
    sure = [one for one in scope.sources if one not in aside and (one not in optional or id(one) in named)]
    whole = [one for one in sure if all(other in aside for other in query.find_repeating_sources(one, scope))]
    leading = next((one for one in sure if one is query.find_unreferenced_source(scope)), None)
    # Of two tables with a row each for the other, what is summed counts, then the one that refers to the other.
    first = [one for one in (summed if len(summed) == 1 else ()) if one in sure]
    first = [one for one in first if one in whole or not _find_repeating_sources(query, one, scope)]
    likely = [*first, *(one for one in [leading] if one in whole), *whole, leading]
    if all(one is None for one in likely):
        largest = sorted(sure, key=lambda one: (one not in summed, -((one.table and one.table.row_count) or 0)))
        likely = [one for one in largest if _is_finest_source(query, scope, one, links)]
    return next((one for one in likely if one is not None), None)


def _find_repeating_sources(query: Query, source: QuerySource, scope: Scope) -> list[QuerySource]:
    """Return the sources that may have several rows per row of a source, by keys and by sub-queries' groups."""
    left, (fixed, pairs) = query.find_repeating_sources(source, scope), query.find_column_equalities(scope)
    single = {id(one) for one in scope.sources if one not in left}
    bound = fixed | {one for pair in pairs for one, near in (pair, pair[::-1]) if near[0] in single}
    return [one for one in left if not _has_bound_groups(query, one, bound)]


def _has_bound_groups(query: Query, source: QuerySource, bound: Collection[SourceColumn]) -> bool:
    """Whether the bound columns include all that a sub-query groups by."""
    inner = query.find_scope(source.query.unnest()) if source.query is not None else None
    terms, names = (query.resolve_group_by_terms(inner) if inner else None) or [], [*(source.columns or ())]
    outputs = [one.unalias().unnest() for one in inner.select.expressions] if inner else []
    given = [one for name, one in zip(names, outputs, strict=False) if (id(source), name) in bound]
    return bool(terms) and len(names) == len(outputs) and all(term in given for term in terms)


def _is_finest_source(query: Query, scope: Scope, subject: QuerySource, links: Sequence[JoinEquality]) -> bool:
    """Whether the other sources have mostly one row per row of a source, by distinct counts."""
    try:
        steps = [*_order_join_steps(scope, subject, links)]
    except NotCountedError:
        return False
    for step in steps:
        table, rows = step.source.table, (step.source.table and step.source.table.row_count) or 0
        compared = (table and table.column(link.find_column(step.source, query)) for link in step.links)
        if not any(one is not None and (one.distinct or 0) >= MOSTLY_ONE * rows > 0 for one in compared):
            return False
    return True


def _split_join_conditions(query: Query, scope: Scope) -> tuple[list[JoinEquality], list[QueryCondition]]:
    """Return the equalities that join two sources, and all other conditions."""
    links, rest = [*_list_using_joins(scope)], list[QueryCondition]()
    for condition in query.conditions(scope):
        if condition.clause not in ("where", "on"):
            continue
        named = map(query.at, query.find(exp.Column, within=condition.node))
        if any(one is not None and one.kind == "alias" for one in named):
            raise NotCountedError("a condition uses the alias of an output column")
        link = _read_join_equality(query, condition)
        if link is None:
            rest.append(condition)
        else:
            links.append(link)
    return links, rest


def _list_using_joins(scope: Scope) -> Iterator[JoinEquality]:
    for place, source in enumerate(scope.sources):
        for name in sorted(source.using):
            other = next((other for other in scope.sources[:place] if name in (other.columns or ())), None)
            if other is None or other.columns is None or source.columns is None:
                raise NotCountedError("the columns of USING are not known")
            first, second = (make_column(one, (one.columns or {})[name]) for one in (source, other))
            yield JoinEquality(((source, first), (other, second)), None)


def make_column(source: QuerySource, column: str) -> exp.Column:
    """Return a column expression, qualified by the alias or name of its source."""
    alias = source.node.args.get("alias")
    named = (alias.this if isinstance(alias, exp.TableAlias) else None) or source.node.this
    if not isinstance(named, exp.Identifier):
        raise NotCountedError("a sub-query has no name")
    return exp.column(column, table=named.copy(), quoted=column != ROWID)


def _read_join_equality(query: Query, condition: QueryCondition) -> JoinEquality | None:
    """Return the join equality that a condition states; None for any other condition."""
    node = condition.node
    if not isinstance(node, exp.EQ) or node.find(exp.Query, exp.AggFunc, *UNLIKE_NULL) is not None:
        return None
    ends = [{id(one): one for one in query.find_sources(side, condition.scope)} for side in (node.left, node.right)]
    if any(len(end) != 1 for end in ends) or ends[0].keys() == ends[1].keys():
        return None
    first, second = (next(iter(end.values())) for end in ends)
    # Beside a join's own equality another one filters what the join has given.
    joined = (one.join is None or one.join.args.get("on") is not None or one.using for one in (first, second))
    if condition.clause == "where" and all(joined):
        return None
    return JoinEquality(((first, node.left), (second, node.right)), node)


def _order_join_steps(scope: Scope, subject: QuerySource, links: Sequence[JoinEquality]) -> Iterator[JoinStep]:
    reached, left = [subject], [source for source in scope.sources if source is not subject]
    while left:
        ready = ((one, [link for link in links if link.get_other_source(one) in reached]) for one in left)
        source, own = next(((one, own) for one, own in ready if own), (None, []))
        if source is None:
            raise NotCountedError("a join compares no equal columns")
        if len({link.condition is None for link in own}) > 1:
            raise NotCountedError("a join compares columns in two ways")
        before = dict.fromkeys(one for link in own if (one := link.get_other_source(source)) is not None)
        # From a table that a LEFT JOIN adds to this one, rows without a match do not stay.
        kept = source.side == "LEFT" and all(map(scope.sources[: scope.sources.index(source)].__contains__, before))
        yield JoinStep(source, tuple(before), tuple(own), kept=kept)
        reached.append(source)
        left.remove(source)


def _add_conditions(query: Query, step: JoinStep, rest: Sequence[QueryCondition]) -> JoinStep:
    """Return a join with the conditions that partners meet beside its equalities.

    These are a LEFT JOIN's own, and constants for the rest of a key: `l.code = o.code AND l.lang = 'en'`.
    """
    source, table = step.source, step.source.table
    own = [one.node for one in rest if one.source is source] if source.side == "LEFT" else []
    if table is None or not table.primary_key or source.renamed:
        return replace(step, conditions=tuple(own))
    left = {*table.primary_key} - {link.find_column(source, query) for link in step.links}
    fixing = dict[str, exp.Expr]()
    sure = (one.node for one in rest if one.is_required or one.source is source)
    for node in sure if all(link.condition for link in step.links) else ():
        for column, other in query.iterate_column_comparisons(node) if isinstance(node, exp.EQ) else ():
            if column.source is source and column.schema.name in left and query.literal(other) is not None:
                fixing[column.schema.name] = node
    has_key = left == fixing.keys()
    more = [node for node in fixing.values() if has_key and not any(node is one for one in own)]
    return replace(step, conditions=(*own, *more), has_key=has_key)


def expects_every_row_to_match(query: Query, step: JoinStep) -> bool | None:
    """Return whether each row before a join should have a match, by keys and filters; None if they do not say."""
    source, (before, *more) = step.source, step.before
    if more:
        return False  # no reference: a condition on several tables
    tables = [one.table for one in (source, before) if one.table is not None]
    if source.table is None or before.table is None:
        scope = query.find_scope(source.query) if source.query is not None else None
        narrowed = scope is None or len(scope.tables) != 1 or any(map(scope.select.args.get, ("where", *SHAPING)))
        return source.table is not None or not narrowed
    if source.table is before.table:
        return False  # who has nobody above is at the top
    ends = [(link.find_column(source, query), link.find_column(before, query)) for link in step.links]
    names = {pair for pair in ends if all(pair)}
    keys = query.schema.foreign_keys
    forth = any((key.table, key.ref_table) == (before.table.name, source.table.name) for key in keys)
    back = [key for key in keys if (key.table, key.ref_table) == (source.table.name, before.table.name)]
    if back:
        return forth and not any(names == set(zip(key.columns, key.ref_columns, strict=True)) for key in back)
    # If both sides are keys nothing says which one of the two tables lists all there are.
    is_key = [bool(table.key) and set(table.key) <= {pair[side] for pair in names} for side, table in enumerate(tables)]
    is_key[0] |= step.has_key
    return forth or is_key == [True, False] or (None if not source.table.key and not is_key[1] else False)


def select_from(source: exp.Expr, *outputs: exp.Expr) -> exp.Select:
    """Return a SELECT of these very expressions."""
    return exp.select(*outputs, copy=False).from_(source, copy=False)


def copy_source_node(source: QuerySource) -> exp.Expr:
    node = source.node.copy()
    node.set("joins", None)
    return node


def copy_select_with_outputs(select: exp.Select, outputs: Sequence[exp.Expr]) -> exp.Select:
    """Return a SELECT with the same FROM and WHERE and other outputs, named `c0`, `c1` etc."""
    bare = exp.Select(expressions=[exp.alias_(one, f"c{place}") for place, one in enumerate(outputs)])
    for part in ("from_", "joins", "where"):
        value = select.args.get(part)
        bare.set(part, [one.copy() for one in value] if isinstance(value, list) else value and value.copy())
    return bare
