"""Rows that joins repeat, and the partners that rows should have by keys and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from ..database.table import Cell
from ..sql.query import Query
from ..sql.scope import QuerySource, copy_select_with_outputs, copy_source_node, select_from
from .parts import get_source_name, list_key_columns, make_count, may_leave_out_rows, to_int
from .passed import find_passed_column, iterate_passing_sources
from .path import (
    CUTTING,
    MOSTLY_ONE,
    SHAPING,
    JoinPath,
    JoinStep,
    NotCountedError,
    SingleSource,
    find_key,
    find_row_table,
)

WholeSources = Mapping[int, QuerySource]
"""The source of which no join of a scope leaves out rows, but for faults in the data, by the scope's id."""

_Run = Callable[[exp.Select], Sequence[Sequence[Cell]]]


def count_repeated_rows(query: Query, run: _Run, path: JoinPath, single: SingleSource) -> tuple[int, int, bool]:
    """Count repeated and distinct rows; also return whether no others may be repeated."""
    terms = query.resolve_group_by_terms(path.scope) or []
    if not terms and path.scope.select.args.get("group") is not None:
        raise NotCountedError("it groups by several sets of columns")
    is_keyless = single.source is path.subject and not find_key(query, path.subject) and not query.rules.is_sqlite
    counts = _count_rows_by_values(run, path) if is_keyless and path.steps and not terms else None
    every, rows = counts or _count_rows(query, run, path, single, [])
    if every <= rows or not terms:
        return every - rows, rows, True
    _, distinct, *groups = _count_rows(query, run, path, single, terms)
    if single.is_grouped and max(groups) >= MOSTLY_ONE * distinct:
        return 0, distinct, True  # in groups of one row each, how often it is joined is counted
    if distinct > rows and _is_meant_to_stay_single(query, run, path, single):
        return every - rows, rows, True
    # A row that is in several groups may be meant to be, as a song of two genres.
    return every - distinct, distinct, distinct <= rows


def find_counting_key(
    query: Query, run: _Run, path: JoinPath, nodes: Sequence[exp.Expr]
) -> tuple[JoinPath, exp.Expr | None]:
    """Return joins and the key that counts a row once; None if they repeat none, or join values.

    These are the different values of what the joins, conditions and further expressions read.
    """

    def count_rows(path: JoinPath, key: exp.Expr | None = None, *, until: int | None = None) -> int:
        return to_int(run(path.build_select([make_count([], key)], until=until))[0][0])

    if all(step.has_key or has_distinct_partners(run, step) for step in path.steps):
        return path, None
    if count_rows(path) == (rows := count_rows(path, until=0)):
        return path, None
    with suppress(NotCountedError):
        key, *more = list_key_columns(query, path.subject)
        if not more and count_rows(path, key, until=0) == rows:  # a group's key may be missing
            return path, key
    values = _join_values(path, nodes)
    if count_rows(values) > rows:
        raise NotCountedError(f"{get_source_name(query, path.subject)} is repeated and has no key of one column")
    return values, None


def _count_rows_by_values(run: _Run, path: JoinPath) -> list[int] | None:
    """Count joined rows and those that differ without a key; None if values repeat rows too."""
    values, stays = _join_values(path, []), [*path.list_match_conditions(), *(part.node for part in path.filters)]
    counts = make_count([], None), make_count(stays, None)
    ((_, every), (joined, rows)) = ([*map(to_int, run(way.build_select(counts))[0])] for way in (path, values))
    ((alone,),) = run(path.build_select(counts[:1], until=0))
    return [every, rows] if joined == to_int(alone) else None


def _join_values(path: JoinPath, nodes: Sequence[exp.Expr]) -> JoinPath:
    nodes = [*nodes, *(part.node for part in path.filters), *(node for step in path.steps for node in step.conditions)]
    read = [
        (column, path.query.reference(column)) for node in nodes for column in path.query.find(exp.Column, within=node)
    ]
    sides = [side for step in path.steps for link in step.links for side in link.ends]
    steps = list[JoinStep]()
    for step in path.steps:
        columns = [
            column
            for source, end in sides
            if source is step.source
            for column in path.query.find(exp.Column, within=end)
        ]
        columns += [column for column, at in read if at is not None and at.source is step.source]
        names = {column.name: column for column in columns}
        steps.append(step if step.has_key else replace(step, columns=tuple(names.values())))
    return replace(path, steps=tuple(steps))


def sums_for_each_row(path: JoinPath, single: SingleSource) -> bool:
    """Whether a sum takes a value once for each row that refers to it, as a price for each sale.

    If these rows have numbers of their own, as items of an order have, it may be meant to be there once.
    """
    query, table = path.query, path.subject.table
    if table is None or single.source is path.subject or single.is_grouped:
        return False
    steps = [step for step in path.steps if step.source is single.source and step.before == (path.subject,)]
    ends = {link.find_column(path.subject, query) for step in steps for link in step.links}
    if not steps or not table.primary_key or not ends.isdisjoint(table.primary_key):
        return False  # such as tags of a sale, which are nothing by themselves
    keys = {column for key in query.schema.foreign_keys if key.table == table.name for column in key.columns}
    keys |= {*ends, *table.primary_key}
    return all(column.kind != "number" or column.name in keys for column in table.columns)


def has_distinct_partners(run: _Run, step: JoinStep) -> bool:
    """Whether no value that a join compares comes twice in its source, which is often small."""
    value, *more = (link.end(step.source) for link in step.links)
    if more or step.conditions:
        return False
    counts = exp.Count(this=value.copy()), exp.Count(this=exp.Distinct(expressions=[value.copy()]))
    ((rows, different),) = run(select_from(copy_source_node(step.source), *counts))
    return rows == different


def _count_rows(query: Query, run: _Run, path: JoinPath, single: SingleSource, terms: list[exp.Expr]) -> list[int]:
    """Count joined rows, those that differ within groups, and the values of each term."""
    keys = [*(term.copy() for term in terms), *list_key_columns(query, single.source)]
    inner = copy_select_with_outputs(path.scope.select, [*keys, exp.Count(this=exp.Star())])
    inner.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    if single.source.side == "LEFT":
        inner.where(exp.not_(keys[-1].is_(exp.Null()), copy=False), copy=False)
    columns = [exp.column(f"c{place}") for place in range(len(terms) if single.is_grouped else 0)]
    different = [exp.Count(this=exp.Distinct(expressions=[column])) for column in columns]
    outputs = exp.Sum(this=exp.column(f"c{len(keys)}")), exp.Count(this=exp.Star()), *different
    return [to_int(number) for number in run(select_from(inner.subquery("counted", copy=False), *outputs))[0]]


def _is_meant_to_stay_single(query: Query, run: _Run, path: JoinPath, single: SingleSource) -> bool:
    """Whether each row of a source is meant to have one partner in each join that repeats it."""
    steps = [step for step in path.steps if step.source in single.repeating]
    return len(steps) == len(single.repeating) and all(
        has_distinct_partners(run, step) or _refers_to_one_row(query, run, step) for step in steps
    )


def _refers_to_one_row(query: Query, run: _Run, step: JoinStep) -> bool:
    """Whether a join looks up rows by what tells them apart, by keys or by the compared values."""
    if (refers := _refers_to_key(query, step)) is not None:
        return refers
    parts = list[float]()  # of the values on each side those that come several times
    for source in (step.source, *step.before):
        ends = [link.end(source).copy() for link in step.links]
        each = select_from(copy_source_node(source), exp.alias_(exp.Count(this=exp.Star()), "c0")).group_by(*ends)
        several = make_count([exp.GT(this=exp.column("c0"), expression=exp.Literal.number(1))], None)
        select = select_from(each.subquery("counted", copy=False), exp.Count(this=exp.Star()), several)
        ((values, number),) = run(select)
        parts.append(to_int(number) / max(to_int(values), 1))
    return parts[0] < MOSTLY_ONE and parts[0] < parts[1]


def _refers_to_key(query: Query, step: JoinStep) -> bool | None:
    """Whether a join looks up rows by a key; None if unknown."""
    source, (before, *more) = step.source, step.before
    if more:
        return False
    near, far = find_row_table(query, before), find_row_table(query, source)
    if near is None or far is None:
        return None
    pairs = {
        ((near.name, link.find_column(before, query)), (far.name, link.find_column(source, query)))
        for link in step.links
    }
    columns = {own for _, (_, own) in pairs if own}
    if any(pairs == {*key.pairs} for key in query.schema.foreign_keys):
        return True
    # What refers to a further table may come several times by design, as may a part of a key.
    keys = [key for key in query.schema.foreign_keys if key.table == far.name]
    is_part = set[str]() < columns < {*far.primary_key}
    return False if is_part or any(not columns.isdisjoint(key.columns) for key in keys) else None


def expects_every_row_to_match(query: Query, step: JoinStep, whole: WholeSources) -> bool | None:
    """Return whether each row before a join should have a match by keys; None if unknown."""
    source, (before, *more) = step.source, step.before
    base = _find_whole_source(query, source, [link.end(source) for link in step.links], whole)
    # Of what a condition on several tables compares none refers to another.
    if more or base is None:
        return False
    passed = find_passed_column(query, step.links[0].end(before))  # of a sub-query's tables the one that refers
    near = passed.table if passed is not None else find_row_table(query, before)
    table, keys = base.table, query.schema.foreign_keys
    if table is None or near is None:
        return True
    if table is near:
        return False  # who has nobody above is at the top
    ends = [(link.find_column(source, query), link.find_column(before, query)) for link in step.links]
    names = {pair for pair in ends if all(pair)}
    forth = any((key.table, key.ref_table) == (near.name, table.name) for key in keys)
    back = [key for key in keys if (key.table, key.ref_table) == (table.name, near.name)]
    if back:
        return forth and not any(names == set(zip(key.columns, key.ref_columns, strict=True)) for key in back)
    # If both sides are keys nothing says which one of the two tables lists all there are.
    is_key = [bool(side.key) and set(side.key) <= {pair[n] for pair in names} for n, side in enumerate((table, near))]
    is_key[0] |= step.has_key
    return forth or is_key == [True, False] or (None if not table.key and not is_key[1] else False)


def refers_by_values(run: _Run, step: JoinStep, *, is_summed: bool) -> bool:
    """Whether a join looks up rows that have other values each, for rows that share them."""
    parts, counts = list[float](), list[int]()
    for source in (step.source, *step.before):
        ends = [link.end(source).copy() for link in step.links]
        columns = [exp.alias_(end, f"c{place}") for place, end in enumerate([exp.Count(this=exp.Star()), *ends])]
        each = select_from(copy_source_node(source), *columns).group_by(*ends)
        filled = [exp.not_(exp.column(column.alias).is_(exp.Null())) for column in columns[1:]]
        counted = exp.Sum(this=exp.column("c0")), make_count(filled, None)
        ((rows, values),) = run(select_from(each.subquery("counted", copy=False), *counted))
        parts.append(to_int(values) / max(to_int(rows), 1))
        counts.append(to_int(values))
    # If no value comes often on either side, what is summed refers to what has more of them.
    return parts[0] >= MOSTLY_ONE and (parts[1] < MOSTLY_ONE or (counts[0] > counts[1] and is_summed))


def _find_whole_source(
    query: Query, source: QuerySource, ends: Sequence[exp.Expr], whole: WholeSources
) -> QuerySource | None:
    """Return the table of which a source has all rows, or each key that a join compares; None if there is none."""
    scope = query.find_scope(source.query.unnest()) if source.query is not None else None
    if scope is None:
        table = source.table
        return None if table is None or may_leave_out_rows(table, query.schema, by_joins=False) else source
    is_first_whole = bool(scope.sources) and all(map(scope.is_source_optional, scope.sources[1:]))
    first = scope.sources[0] if is_first_whole else whole.get(id(scope))
    if first is None or any(map(scope.select.args.get, ("where", *CUTTING))):
        return None
    passing = [[passed for _, passed, _ in iterate_passing_sources(query, end)] for end in ends]
    if any(passed and first not in passed for passed in passing):
        return None  # it is compared by what another source has
    # What others have of a table that refers to them, as orders of customers, not all of them have.
    columns = [find_passed_column(query, end) for end in ends] if any(map(scope.select.args.get, SHAPING)) else []
    has_keys = all(column is not None and column.is_primary_key for column in columns)
    return _find_whole_source(query, first, ends, whole) if has_keys else None
