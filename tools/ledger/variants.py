"""Values that differ only in case or spacing, among the groups of a query and beside the texts that it asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from unicodedata import normalize

from sqlglot import exp

from ..database.table import Cell
from ..sql.query import Query, TableColumn
from ..sql.scope import Scope
from .ledger import MATERIAL, VariantCount
from .parts import copy_select_without, is_text_column, render_cell, to_int
from .path import NotCountedError, check_countable, copy_select_with_outputs, copy_source_node, select_from

_MOST_VALUES = 10_000  # of a column whose variants are looked for
_SHOWN = 3
_CODE = 2  # characters of values that are all codes

Run = Callable[[exp.Select], Sequence[Sequence[Cell]]]
"""Runs a SELECT and returns its rows."""


def find_group_variants(query: Query, run: Run, scope: Scope, column: TableColumn) -> VariantCount | None:
    """Return how many groups of a column differ from others only in how they are written; None if none does."""
    check_countable(query, scope)
    if len(scope.sources) > 1:
        # Most tables have none, and the column's own is quicker to look through than the joins.
        alone = select_from(copy_source_node(column.source), exp.Star())
        if not _find_value_variants(run, alone, column):
            return None
    found = _find_value_variants(run, scope.select, column)
    several = [group for group in found if len(group) > 1]
    aside = sum(sum(rows for _, rows in group) - max(rows for _, rows in group) for group in several)
    pairs = (f"“{render_cell(group[0][0])}”, “{render_cell(group[-1][0])}”" for group in several[:_SHOWN])
    material = aside >= MATERIAL * sum(rows for group in found for _, rows in group)
    groups = sum(len(group) - 1 for group in several)
    return VariantCount(*column.item, tuple(pairs), groups, aside, material) if several else None


def list_compared_texts(query: Query, scope: Scope) -> list[tuple[TableColumn, exp.Expr, list[exp.Expr]]]:
    """Return the columns of texts that WHERE compares with texts, with the condition and the texts."""
    found = list[tuple[TableColumn, exp.Expr, list[exp.Expr]]]()
    for condition in (one.node for one in query.conditions(scope) if one.clause == "where"):
        node = condition.this.unnest() if isinstance(condition, exp.Not) else condition
        pairs = query.iterate_column_comparisons(node) if isinstance(node, exp.EQ | exp.NEQ | exp.In) else []
        texts = [other for _, other in pairs if len(str(query.literal(other) or "")) >= _CODE]
        schema = pairs[0][0].schema if texts else None
        # Who looks for one of many names has found it.
        if schema is not None and is_text_column(schema) and (schema.distinct or 0) <= _MOST_VALUES:
            found.append((pairs[0][0], condition, texts))
    return found


def find_compared_variants(
    query: Query, run: Run, scope: Scope, column: TableColumn, condition: exp.Expr, texts: Sequence[exp.Expr]
) -> VariantCount | None:
    """Return the values that differ from those compared only in how they are written; None if there are none."""
    check_countable(query, scope)
    select, equal = copy_select_without(query, scope, condition), column.node.isin(*texts)
    folded, *meant = (exp.Lower(this=exp.Trim(this=one.copy())) for one in (column.node, *texts))
    found = sorted(_count_values(run, select.where(folded.isin(*meant), exp.not_(equal)), column), key=str)
    ((rows,),) = run(copy_select_with_outputs(select.where(equal), [exp.Count(this=exp.Star())])) if found else ((0,),)
    if not to_int(rows):
        return None  # the texts themselves are absent, which is told by itself
    values, aside = [str(value) for value, _ in found], sum(to_int(many) for _, many in found)
    written = [text for text in (str(query.literal(one)) for one in texts) if _fold(text) in map(_fold, values)]
    shown = tuple(f"“{render_cell(value)}”" for value in [*written[:_SHOWN], *values[:_SHOWN]])
    material = aside >= MATERIAL * (aside + to_int(rows))
    return VariantCount(*column.item, shown, len(found), aside, material)


def _fold(value: str) -> str:
    return value.strip().lower()


def _count_values(run: Run, select: exp.Select, column: TableColumn) -> Sequence[Sequence[Cell]]:
    valued = copy_select_with_outputs(select, [column.node, exp.Count(this=exp.Star())])
    valued.set("group", exp.Group(expressions=[column.node.copy()]))
    found = run(valued.limit(_MOST_VALUES + 1, copy=False))
    if len(found) > _MOST_VALUES:
        raise NotCountedError("there are too many groups")
    return found


def _find_value_variants(run: Run, select: exp.Select, column: TableColumn) -> list[list[tuple[str, int]]]:
    """Return a column's values with their rows, grouped without case and runs of spaces; empty if none has two."""
    groups, found = defaultdict[str, list[tuple[str, int]]](list), _count_values(run, select, column)
    # An engine may fold no other letters than ASCII's.
    written = [(" ".join(normalize("NFKC", str(value or "")).split()), str(value), rows) for value, rows in found]
    # In codes as short as alleles case is meaning; "ja" beside "nein" is none.
    are_codes = max((len(text) for text, *_ in written), default=0) <= _CODE
    for text, value, rows in written:
        if text:
            groups[text if are_codes else text.casefold()].append((value, to_int(rows)))
    several = any(len(group) > 1 for group in groups.values())
    return [sorted(groups[folded]) for folded in sorted(groups)] if several else []
