"""Values that differ only in case or spacing, among a query's groups and beside its texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from unicodedata import normalize

from sqlglot import exp

from ..database.table import Cell
from ..sql.query import Query, TableColumn
from ..sql.scope import Scope, copy_select_with_outputs, copy_source_node, select_from
from .ledger import MATERIAL, VariantCount
from .parts import copy_select_without, render_cell, to_int
from .path import NotCountedError, check_countable

MOST_VALUES = 10_000  # of a column whose variants are looked for
_SHOWN = 3
CODE = 2  # characters of values that are all codes
_REPLIES = frozenset(["da", "ja", "ne", "no", "ok", "si", "sí", "да", "не"])  # as short as codes

Run = Callable[[exp.Select], Sequence[Sequence[Cell]]]
"""Runs a SELECT and returns its rows."""


def find_group_variants(query: Query, run: Run, scope: Scope, column: TableColumn) -> VariantCount | None:
    """Return how many groups of a column differ from others only in spelling; None if none."""
    check_countable(query, scope)
    if len(scope.sources) > 1:
        # Most tables have none, and the column's own is quicker to look through than the joins.
        alone = select_from(copy_source_node(column.source), exp.Star())
        if not _find_value_variants(run, alone, column):
            return None
    all_groups = _find_value_variants(run, scope.select, column)
    several = [group for group in all_groups if len(group) > 1]
    aside = sum(sum(rows for _, rows in group) - max(rows for _, rows in group) for group in several)
    pairs = (f"“{render_cell(group[0][0])}”, “{render_cell(group[-1][0])}”" for group in several[:_SHOWN])
    material = aside >= MATERIAL * sum(rows for group in all_groups for _, rows in group)
    groups = sum(len(group) - 1 for group in several)
    return VariantCount(*column.item, tuple(pairs), groups, aside, material) if several else None


def find_compared_variants(
    query: Query, run: Run, scope: Scope, column: TableColumn, condition: exp.Expr, texts: Sequence[exp.Expr]
) -> VariantCount | None:
    """Return the values that differ from the compared ones only in spelling; None if none."""
    check_countable(query, scope)
    select, equal = copy_select_without(query, scope, condition), column.node.isin(*texts)
    lower_column, *lower_texts = (exp.Lower(this=exp.Trim(this=node.copy())) for node in (column.node, *texts))
    others = sorted(_count_values(run, select.where(lower_column.isin(*lower_texts), exp.not_(equal)), column), key=str)
    ((rows,),) = (
        run(copy_select_with_outputs(select.where(equal, copy=False), [exp.Count(this=exp.Star())]))
        if others
        else ((0,),)
    )
    if not to_int(rows):
        return None  # the texts themselves are absent, which is told by itself
    values, aside = [str(value) for value, _ in others], sum(to_int(many) for _, many in others)
    spellings = [text for text in (str(query.literal(node)) for node in texts) if _fold(text) in map(_fold, values)]
    examples = tuple(f"“{render_cell(value)}”" for value in [*spellings[:_SHOWN], *values[:_SHOWN]])
    material = aside >= MATERIAL * (aside + to_int(rows))
    return VariantCount(*column.item, examples, len(others), aside, material)


def _fold(value: str) -> str:
    return value.strip().lower()


def _count_values(run: Run, select: exp.Select, column: TableColumn) -> Sequence[Sequence[Cell]]:
    grouping = copy_select_with_outputs(select, [column.node, exp.Count(this=exp.Star())])
    grouping.set("group", exp.Group(expressions=[column.node.copy()]))
    grouping.set("limit", exp.Limit(expression=exp.Literal.number(MOST_VALUES + 1)))
    counts = run(grouping)
    if len(counts) > MOST_VALUES:
        raise NotCountedError("there are too many groups")
    return counts


def _find_value_variants(run: Run, select: exp.Select, column: TableColumn) -> list[list[tuple[str, int]]]:
    """Return values with rows, grouped without case and runs of spaces; empty if none has two."""
    groups, counts = defaultdict[str, list[tuple[str, int]]](list), _count_values(run, select, column)
    # An engine may fold no other letters than ASCII's.
    entries = [(" ".join(normalize("NFKC", str(value or "")).split()), str(value), rows) for value, rows in counts]
    # In codes as short as alleles case is meaning.
    are_codes = all(len(text) <= CODE and text.casefold() not in _REPLIES for text, *_ in entries)
    for text, value, rows in entries:
        if text:
            groups[text if are_codes else text.casefold()].append((value, to_int(rows)))
    several = any(len(group) > 1 for group in groups.values())
    return [sorted(groups[key]) for key in sorted(groups)] if several else []
