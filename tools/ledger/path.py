"""The way of rows through the joins of one SELECT: from the table whose rows count to each of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..sql.query import Condition, Query, argument_of, is_bound
from ..sql.scope import Scope, Source, SourceColumn, outwards

_KINDS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT")
_MOSTLY_ONE = 0.5
"""Share of different values from which a column without a key is taken to tell rows apart."""

_READ = ("column", "alias", "rowid", "string", "star", "output")
"""What a name may turn out to be where rows are counted."""

_UNLIKE_NULL = (exp.Coalesce, exp.Case, exp.If, exp.Concat, exp.ConcatWs, exp.Anonymous, exp.Is)
"""What may give a value where a partner is missing, so that its value does not tell."""


NO_SUBJECT = "no table has one row for each row of its joins"


class NotCounted(Exception):
    """Something that is not counted, with the reason."""


@dataclass(frozen=True, eq=False)
class Link:
    """An equality that joins two sources, with the side of each."""

    ends: tuple[tuple[Source, exp.Expr], tuple[Source, exp.Expr]]
    condition: exp.Expr | None  # None for a column that USING or NATURAL names

    def end(self, source: Source) -> exp.Expr:
        """Return the side of one of the two sources."""
        return next(side for one, side in self.ends if one is source)

    def far_end(self, source: Source) -> exp.Expr:
        """Return the side of the other source."""
        return next(side for one, side in self.ends if one is not source)

    def other(self, source: Source) -> Source | None:
        """Return the other source; None if it does not join this one."""
        (first, _), (second, _) = self.ends
        return second if first is source else first if second is source else None


@dataclass(frozen=True, eq=False)
class Step:
    """A source that is joined to those before it."""

    source: Source
    before: tuple[Source, ...]  # each source that its links compare it with, mostly one
    links: tuple[Link, ...]

    @property
    def kept(self) -> bool:
        """Whether rows without a partner stay in the result."""
        return self.source.side == "LEFT"

    @property
    def refers(self) -> exp.Expr:
        """The condition that the row refers to a partner, whether it is there or not."""
        given = (exp.not_(link.far_end(self.source).is_(exp.Null()), copy=False) for link in self.links)
        return exp.and_(*given, copy=False)

    @property
    def missing(self) -> exp.Expr:
        """The condition that there is no partner."""
        return self.links[0].end(self.source).is_(exp.Null())


@dataclass(frozen=True, eq=False)
class Filter:
    """A condition of a SELECT beside its joins, with the sources that it names."""

    node: exp.Expr
    named: tuple[Source, ...]


@dataclass(frozen=True, eq=False)
class Path:
    """The rows of one table, and the joins that they go through."""

    query: Query
    scope: Scope
    subject: Source  # whose rows are counted, summed or listed: all others have at most one row for each of its
    steps: tuple[Step, ...]  # the other sources in the order of joins; none where no subject is like that
    own: tuple[Filter, ...]  # conditions on the subject alone
    filters: tuple[Filter, ...]  # all others
    single: Source  # the table of which each row should be there once: what is summed or averaged, or the subject
    repeating: tuple[Source, ...]  # sources that may have several rows for one of it, going by declared keys
    open_ends: tuple[Source, ...]  # sources of steps that compare no declared key


def find_path(query: Query, scope: Scope) -> Path:
    """Return the way of rows through a SELECT.

    Raises:
        NotCounted: There is something in it that is not counted.
    """
    check_scope(query, scope)
    links, rest = _split_conditions(query, scope)
    finest, summed = _find_subject(query, scope, links)
    if (subject := finest or summed) is None:
        raise NotCounted(NO_SUBJECT)
    steps = list(_order_steps(scope, subject, links)) if finest is not None else []
    # Who has no partner in a LEFT JOIN that meets its condition stays in the result.
    held = [one for one in rest if one.source is None or one.source.side != "LEFT" or one.source is subject]
    narrowed = [one.source for one in rest if one not in held]
    if any(end in narrowed for step in steps for link in step.links for end, _ in link.ends if end is not step.source):
        raise NotCounted("a join goes through a LEFT JOIN with a condition of its own")
    filters = [Filter(one.node, tuple(dict.fromkeys(query.sources_in(one.node, scope)))) for one in held]
    own = [one for one in filters if all(source is subject for source in one.named)]
    others = [one for one in filters if one not in own]
    fixed, _ = query.find_equalities(scope)
    open_ends = [step.source for step in steps if not _compares_key(step, fixed)]
    if summed is not None and summed is not finest:
        repeating = query.find_repeating(summed, scope)
    else:
        # Values of a likely key were looked at, if not all of them.
        repeating = [one for one in open_ends if one in query.find_repeating(subject, scope)] or open_ends
    return Path(
        query,
        scope,
        subject,
        tuple(steps),
        tuple(own),
        tuple(others),
        summed or subject,
        tuple(repeating),
        tuple(open_ends),
    )


def check_scope(query: Query, scope: Scope) -> None:
    """Raise `NotCounted` for a SELECT whose rows are not counted."""
    joins = [source.join for source in scope.sources if source.join is not None]
    problems = {
        "it reads no table": not scope.sources,
        "it is recursive": any(clause.args.get("recursive") for clause in query.tree.find_all(exp.With)),
        "it reads a function or a LATERAL sub-query": not scope.reads_only_sources
        or any(isinstance(source.node, exp.Lateral) for source in scope.sources),
        "it reads what a window function gives": any(one.query and one.query.find(exp.Window) for one in scope.sources),
        "it has a join of another kind": scope.is_two_sided or any(join.kind not in _KINDS for join in joins),
        "the columns of what it reads are not known": any(source.columns is None for source in scope.sources),
    }
    for reference in query.resolution.references:
        levels = list(outwards(reference.scope))
        if scope in levels:
            problems["not all of its names are known"] = reference.kind not in _READ
            problems["it is correlated"] = reference.owner in levels[levels.index(scope) + 1 :]
        if any(problems.values()):
            break
    if reason := next((reason for reason, is_so in problems.items() if is_so), ""):
        raise NotCounted(reason)


def _find_subject(query: Query, scope: Scope, links: Sequence[Link]) -> tuple[Source | None, Source | None]:
    """Return the source that all others have at most one row for, and the one that is summed or averaged."""
    if len(scope.sources) == 1:
        return scope.sources[0], None
    named: set[int] = set()
    added: dict[int, Source] = {}
    for node in query.aggregates(scope):
        inner = argument_of(node)
        sources = query.sources_in(inner, scope) if inner is not None else []
        named |= {id(one) for one in sources}
        if isinstance(node, exp.Sum | exp.Avg) and not isinstance(node.this, exp.Distinct):
            added.update((id(one), one) for one in sources)
    summed = next(iter(added.values())) if len(added) == 1 else None
    sure = [one for one in scope.sources if not scope.is_optional(one) or id(one) in named]
    whole = [one for one in sure if not query.find_repeating(one, scope)]
    leading = next((one for one in sure if one is query.leading_source(scope)), None)
    # Of two tables with a row each for the other, what is summed counts, then the one that refers to the other.
    likely = [*(one for one in (summed, leading) if one in whole), leading, *whole]
    if all(one is None for one in likely):
        largest = sorted(sure, key=lambda one: -((one.table and one.table.row_count) or 0))
        likely = [one for one in largest if _is_finest(query, scope, one, links)]
    return next((one for one in likely if one is not None), None), summed


def _is_finest(query: Query, scope: Scope, subject: Source, links: Sequence[Link]) -> bool:
    """Whether the other sources have mostly one row for one of a source, going by how many values were counted."""
    try:
        steps = [*_order_steps(scope, subject, links)]
    except NotCounted:
        return False
    for step in steps:
        ends = (query.column(link.end(step.source)) for link in step.links)
        counts = [(one.schema.distinct or 0, one.table.row_count or 0) for one in ends if one is not None]
        if not any(distinct >= _MOSTLY_ONE * rows > 0 for distinct, rows in counts):
            return False
    return True


def _split_conditions(query: Query, scope: Scope) -> tuple[list[Link], list[Condition]]:
    """Return the equalities that join two sources, and all other conditions."""
    links, rest = [*_list_using(scope)], list[Condition]()
    for condition in query.conditions(scope):
        if condition.clause not in ("where", "on"):
            continue
        named = map(query.at, condition.node.find_all(exp.Column))
        if any(one is not None and one.kind == "alias" for one in named):
            raise NotCounted("a condition names a result column")
        link = _read_link(query, condition)
        if link is None:
            rest.append(condition)
        else:
            links.append(link)
    return links, rest


def _list_using(scope: Scope) -> Iterator[Link]:
    for place, source in enumerate(scope.sources):
        for name in sorted(source.using):
            other = next((other for other in scope.sources[:place] if name in (other.columns or ())), None)
            if other is None or other.columns is None or source.columns is None:
                raise NotCounted("the columns of USING are not known")
            first, second = (write_column(one, (one.columns or {})[name]) for one in (source, other))
            yield Link(((source, first), (other, second)), None)


def write_column(source: Source, column: str) -> exp.Column:
    """Return a column of a source, qualified as the query spells it."""
    alias = source.node.args.get("alias")
    named = (alias.this if isinstance(alias, exp.TableAlias) else None) or source.node.this
    if not isinstance(named, exp.Identifier):
        raise NotCounted("a sub-query has no name")
    return exp.column(column, table=named.copy(), quoted=column != "rowid")


def _read_link(query: Query, condition: Condition) -> Link | None:
    """Return the equality of expressions of one source each; None for any other condition."""
    node = condition.node
    if not isinstance(node, exp.EQ) or node.find(exp.Query, exp.AggFunc, *_UNLIKE_NULL) is not None:
        return None
    ends = [{id(one): one for one in query.sources_in(side, condition.scope)} for side in (node.left, node.right)]
    if any(len(end) != 1 for end in ends) or ends[0].keys() == ends[1].keys():
        return None
    first, second = (next(iter(end.values())) for end in ends)
    # Beside a join's own equality another one filters what the join has given.
    joined = (one.join is None or one.join.args.get("on") is not None or one.using for one in (first, second))
    if condition.clause == "where" and all(joined):
        return None
    return Link(((first, node.left), (second, node.right)), node)


def _order_steps(scope: Scope, subject: Source, links: Sequence[Link]) -> Iterator[Step]:
    reached, left = [subject], [source for source in scope.sources if source is not subject]
    while left:
        ready = ((one, [link for link in links if link.other(one) in reached]) for one in left)
        source, own = next(((one, own) for one, own in ready if own), (None, []))
        if source is None:
            raise NotCounted("a join compares no equal columns")
        if len({link.condition is None for link in own}) > 1:
            raise NotCounted("a join compares columns in two ways")
        before = dict.fromkeys(one for link in own if (one := link.other(source)) is not None)
        yield Step(source, tuple(before), tuple(own))
        reached.append(source)
        left.remove(source)


def _compares_key(step: Step, fixed: set[SourceColumn]) -> bool:
    """Whether a join compares a declared key, so that there is one partner at most."""
    source, table = step.source, step.source.table
    ends = (link.end(source) for link in step.links)
    bound = fixed | {(id(source), end.name.lower()) for end in ends if isinstance(end, exp.Column)}
    return table is not None and bool(table.primary_key) and not source.renamed and is_bound(source, bound)
