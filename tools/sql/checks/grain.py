"""Sums, averages and counts over rows that a join repeats, and averages of averages.

A join to several rows of another table gives each row of the first several times. What is then added up, averaged or
counted of the first table counts these rows more than once: the query runs, and its figure is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from ..conditions import conjuncts, join_conditions, literal, own_references
from ..findings import Finding
from ..keywords import fold
from ..scope import Resolution, Scope, Source

GivesRow = Callable[[str], bool | None]
"""Whether a query of this module's gives a row; None where that could not be told."""


def grain_findings(resolution: Resolution, tree: exp.Expr, gives_row: GivesRow | None) -> Iterator[Finding]:
    """Aggregates of repeated rows: proved where the database says that they repeat, else a doubt.

    Args:
        resolution: The query's names.
        tree: The query.
        gives_row: Asks the database, once at most; None asks nothing.
    """
    asked = False
    for scope in resolution.scopes:
        yield from _averages_of_averages(scope, resolution)
        for aggregate, source in _repeatable(scope, resolution):
            others = repeating(source, scope, resolution)
            if not others:
                continue
            probe = None if asked or gives_row is None else _probe(scope, source, resolution, tree)
            repeats = gives_row(probe) if gives_row is not None and probe is not None else None
            asked = asked or probe is not None
            if repeats is not False:
                yield _repeated(aggregate, source, others[0], resolution, proved=repeats is True)
            if asked:
                break


def _repeated(aggregate: exp.Expr, source: Source, other: Source, resolution: Resolution, *, proved: bool) -> Finding:
    place, table, by = resolution.text(aggregate), _shown(source), _shown(other)
    if proved:
        message = f"The join with {by} repeats rows of {table}, so that {place} counts them more than once."
    else:
        message = f"The join with {by} may repeat rows of {table}, and {place} would count them more than once."
    advice = f"aggregate {table} without that join: test for rows of {by} with EXISTS or IN, or aggregate {by} first"
    return Finding("repeated_rows", "warning", message, place, advice, proof=proved)


def _repeatable(scope: Scope, resolution: Resolution) -> Iterator[tuple[exp.Expr, Source]]:
    """Aggregates that repeated rows change, with the table whose rows they are of."""
    if len(scope.sources) < 2:
        return
    for aggregate in scope.select.find_all(exp.Sum, exp.Avg, exp.Count):
        if aggregate.find_ancestor(exp.Select) is not scope.select or isinstance(aggregate.parent, exp.Window):
            continue
        if aggregate.this is None or isinstance(aggregate.this, exp.Distinct | exp.Star):
            continue
        source = _of(aggregate, scope, resolution)
        if source is None or source.table is None:
            continue
        # Counting, or averaging, what a group is made by is the idiom for counting the other table's rows.
        if isinstance(aggregate, exp.Sum) or not _grouped_by(source, scope, resolution):
            yield aggregate, source


def _of(aggregate: exp.Expr, scope: Scope, resolution: Resolution) -> Source | None:
    """The source of an aggregate's columns: of several, the one whose rows determine the others'."""
    found: dict[int, Source] = {}
    for reference in own_references(aggregate, scope, resolution):
        if reference.source is not None:
            found[id(reference.source)] = reference.source
    sources = list(found.values())
    for source in sources:
        if all(other is source or other not in repeating(source, scope, resolution) for other in sources):
            return source
    return None


def repeating(source: Source, scope: Scope, resolution: Resolution) -> list[Source]:
    """The other sources of which several rows may belong to one row of this."""
    fixed, pairs = _equalities(scope, resolution)
    known = [source]
    left = [other for other in scope.sources if other is not source]
    while True:
        bound = fixed | {
            one for pair in pairs for one, other in (pair, pair[::-1]) if any(other[0] == id(held) for held in known)
        }
        single = [other for other in left if _is_single(other, bound)]
        if not single:
            return left
        known += single
        left = [other for other in left if other not in single]


_Column = tuple[int, str]
"""A source's identity and a folded column name."""


def _equalities(scope: Scope, resolution: Resolution) -> tuple[set[_Column], list[tuple[_Column, _Column]]]:
    """Columns that equal a constant, and pairs of equal columns."""
    fixed: set[_Column] = set()
    pairs: list[tuple[_Column, _Column]] = []
    for part in (*conjuncts(scope), *(part for source in scope.sources for part in join_conditions(source))):
        if not isinstance(part, exp.EQ):
            continue
        ends = [resolution.at(side.unnest()) for side in (part.left, part.right)]
        columns = [
            (id(end.source), fold(end.column))
            for end in ends
            if end is not None and end.source is not None and end.owner is scope and end.kind in ("column", "rowid")
        ]
        if len(columns) == 2:
            pairs.append((columns[0], columns[1]))
        elif columns and any(literal(side, resolution) is not None for side in (part.left, part.right)):
            fixed.add(columns[0])
    for place, source in enumerate(scope.sources):
        for name in source.using:
            pairs += [((id(source), name), (id(other), name)) for other in scope.sources[:place]]
    return fixed, pairs


def _is_single(source: Source, bound: set[_Column]) -> bool:
    """Whether what binds a source's columns leaves one row of it."""
    key = source.table.key if source.table is not None else ()
    return bool(key) and all((id(source), fold(column)) in bound for column in key)


def _grouped_by(source: Source, scope: Scope, resolution: Resolution) -> bool:
    """Whether the source's rows are what the groups are made by: its key, or any of its columns."""
    group = scope.select.args.get("group")
    for term in group.expressions if group is not None else ():
        found = resolution.at(term.unnest())
        if found is not None and found.kind == "alias":
            found = resolution.at(scope.aliases[fold(found.column)].unnest()) if found.column else None
        if (
            found is not None
            and found.source is not None
            and _is_key(found.source, fold(found.column), source, scope, resolution)
        ):
            return True
    return False


def _is_key(grouped: Source, column: str, source: Source, scope: Scope, resolution: Resolution) -> bool:
    """Whether a column that is grouped by tells the rows of a source apart, itself or by what it equals."""
    assert source.table is not None
    key = tuple(map(fold, source.table.key))
    if len(key) != 1:
        return grouped is source
    own = (id(source), key[0])
    grouped_column = (id(grouped), column)
    pairs = _equalities(scope, resolution)[1]
    return grouped_column == own or (grouped_column, own) in pairs or (own, grouped_column) in pairs


def _probe(scope: Scope, source: Source, resolution: Resolution, tree: exp.Expr) -> str | None:
    """A query that gives a row if a group has a row of the source twice; None where none can be written."""
    assert source.table is not None
    # A key that is merely likely proves nothing.
    columns = source.table.key if source.table.key_is_known else ()
    if not columns and resolution.rules.is_sqlite and source.table.kind == "table":
        columns = ("rowid",)
    if not columns or _is_correlated(scope, resolution) or not isinstance(source.node, exp.Table):
        return None
    select = scope.select.copy()
    groups = select.args.get("group")
    keys = [exp.column(name, table=source.node.alias_or_name, quoted=name != "rowid") for name in columns]
    terms = [*_written_out(groups.expressions if groups is not None else [], scope), *keys]
    for clause in ("distinct", "having", "order", "limit", "offset", "qualify", "windows"):
        select.set(clause, None)
    select.set("expressions", [exp.Literal.number(1)])
    select.set("group", exp.Group(expressions=terms))
    select.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))))
    select.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    named = tree.args.get("with_")
    if named is not None and select.args.get("with_") is None:
        select.set("with_", named.copy())
    return resolution.text(select)


def _written_out(terms: list[exp.Expr], scope: Scope) -> list[exp.Expr]:
    """GROUP BY terms without the select list that numbers and aliases among them point into."""
    found: list[exp.Expr] = []
    for term in terms:
        node = term.unnest()
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(scope.select.expressions):
            node = scope.select.expressions[int(node.name) - 1].unalias()
        elif isinstance(node, exp.Column) and not node.table and fold(node.name) in scope.aliases:
            node = scope.aliases[fold(node.name)].unalias()
        found.append(node.copy())
    return found


def _is_correlated(scope: Scope, resolution: Resolution) -> bool:
    """Whether the SELECT reads columns of one around it, without which it does not run."""
    inside = {id(one.select) for one in resolution.scopes if one is scope or _within(one, scope)}
    return any(
        reference.owner is not None and id(reference.owner.select) not in inside
        for reference in resolution.references
        if reference.scope is not None and id(reference.scope.select) in inside
    )


def _within(scope: Scope, outer: Scope) -> bool:
    level = scope.parent
    while level is not None and level is not outer:
        level = level.parent
    return level is outer


def _averages_of_averages(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """AVG of what a sub-query has averaged over groups, which are rarely of one size."""
    for aggregate in scope.select.find_all(exp.Avg):
        if aggregate.find_ancestor(exp.Select) is not scope.select:
            continue
        reference = resolution.at(aggregate.this.unnest())
        query = reference.source.query if reference is not None and reference.source is not None else None
        query = query.unnest() if query is not None else None
        if reference is None or not isinstance(query, exp.Select) or query.args.get("group") is None:
            continue
        inner = next((item for item in query.expressions if fold(item.alias_or_name) == fold(reference.column)), None)
        if inner is not None and isinstance(inner.unalias().unnest(), exp.Avg):
            place = resolution.text(aggregate)
            message = f"{place} is an average of averages: a small group counts as much as a large one."
            yield Finding("average_of_averages", "warning", message, place, "average over the rows themselves")


def _shown(source: Source) -> str:
    return source.node.name or source.name or "the sub-query"
