"""How often joins repeat rows, and whether they are meant to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from ..database.table import Cell
from ..sql.query import Query
from .parts import list_key_columns, make_count, to_int
from .path import (
    MOSTLY_ONE,
    JoinPath,
    JoinStep,
    NotCountedError,
    SingleSource,
    copy_select_with_outputs,
    copy_source_node,
    refers_to_key,
    select_from,
)

_Run = Callable[[exp.Select], Sequence[Sequence[Cell]]]


def count_repeated_rows(query: Query, run: _Run, path: JoinPath, single: SingleSource) -> tuple[int, int, bool]:
    """Count repeated and distinct rows; also return whether no others may be repeated."""
    terms = query.resolve_group_by_terms(path.scope) or []
    if not terms and path.scope.select.args.get("group") is not None:
        raise NotCountedError("it groups in several ways")
    every, rows = _count_rows(query, run, path, single, [])
    if every <= rows or not terms:
        return every - rows, rows, True
    _, distinct, *groups = _count_rows(query, run, path, single, terms)
    if single.is_grouped and max(groups) >= MOSTLY_ONE * distinct:
        return 0, distinct, True  # in groups of one row each, how often it is joined is counted
    if distinct > rows and _is_meant_to_stay_single(query, run, path, single):
        return every - rows, rows, True
    # A row that is in several groups may be meant to be, as a song of two genres.
    return every - distinct, distinct, distinct <= rows


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
    if (refers := refers_to_key(query, step)) is not None:
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
