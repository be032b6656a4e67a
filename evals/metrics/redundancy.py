"""How a linker's choice fits the gold query: redundancy (Track-SQL, equations 10 to 13), precision and recall (A.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from ...tools.database.schema import Schema
from ...tools.linking import STAR
from ...tools.linking.used import past_use

COUNTED = 0.5
"""The threshold s of TRS@0.5 and CRS@0.5."""

Linked = Sequence[tuple[str, str | None, float]]
"""Tables (column None), columns, and `*` for all of a table's, with their probabilities."""

T = TypeVar("T")


@dataclass(frozen=True)
class Redundancy:
    """The scores of one turn.

    Attributes:
        tables: Of its tables.
        columns: Of the columns of each of the gold query's tables.
        all_columns: Of those of every table of the database.
    """

    tables: float
    columns: tuple[float, ...]
    all_columns: tuple[float, ...]


def turn_redundancy(gold: str, schema: Schema, linked: Linked) -> Redundancy | None:
    """The scores of one turn; None where the gold query cannot be read.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures, and over
    all tables of the database, which is what equation 13 says.
    """
    used, found = _used(gold, schema), _found(linked)
    if not used.tables:
        return None
    of_table: dict[str, float] = {}
    for name in sorted({table.name.lower() for table in schema.tables} | used.tables):
        wanted, extracted = ({pair for pair in items.columns if pair[0] == name} for items in (used, found))
        of_table[name] = redundancy(wanted, extracted)
    return Redundancy(
        redundancy(used.tables, found.tables),
        tuple(of_table[name] for name in sorted(used.tables)),
        tuple(of_table.values()),
    )


def classified(turns: Sequence[tuple[str, Schema, Linked]]) -> dict[str, float]:
    """Return precision, recall and F1 of tables and columns as a classification of all of them, from 0 to 1 (A.2).

    Used and not used are the two classes: `weighted` means them by how many there are of each, `macro` as equals.

    Args:
        turns: Gold query, schema, and what was linked; those whose gold cannot be read do not count.

    Returns:
        `table_weighted_p`, `_r` and `_f1`, `table_macro_...`, `column_weighted_...`, `column_macro_...`; nothing over
        no turns.
    """
    from sklearn.metrics import precision_recall_fscore_support

    pairs: dict[str, list[tuple[bool, bool]]] = {"table": [], "column": []}
    for gold, schema, linked in turns:
        used, found = _used(gold, schema), _found(linked)
        if not used.tables:
            continue
        for table in schema.tables:
            name = table.name.lower()
            pairs["table"].append((name in used.tables, name in found.tables))
            columns = [(name, column.name.lower()) for column in table.columns]
            pairs["column"] += [(pair in used.columns, pair in found.columns) for pair in columns]
    scores: dict[str, float] = {}
    for kind, known in pairs.items():
        for how in ("weighted", "macro") if known else ():
            truth, said = zip(*known, strict=True)
            three = precision_recall_fscore_support(
                truth,
                said,
                average=how,
                zero_division=0,  # pyright: ignore[reportArgumentType]
            )[:3]
            scores |= {
                f"{kind}_{how}_{name}": float(value) for name, value in zip(("p", "r", "f1"), three, strict=True)
            }
    return scores


@dataclass(frozen=True)
class _Items:
    """Tables and columns, in small letters; `*` is left out."""

    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


def _used(gold: str, schema: Schema) -> _Items:
    used = past_use(gold, schema)
    columns = ((table.lower(), name.lower()) for table, name in used.columns if name != STAR)
    return _Items(frozenset(name.lower() for name in used.tables), frozenset(columns))


def _found(linked: Linked) -> _Items:
    counted = [(table.lower(), column) for table, column, p in linked if p >= COUNTED]
    columns = ((table, column.lower()) for table, column in counted if column is not None and column != STAR)
    return _Items(frozenset(table for table, column in counted if column is None), frozenset(columns))


def mean_redundancy(turns: Sequence[Redundancy]) -> dict[str, float]:
    """`trs`, `crs` and `crs_all` from 0 to 1 (lower is better) over `turns` many; nothing over none."""
    if not turns:
        return {}
    crs = fmean(score for turn in turns for score in turn.columns)
    everywhere = fmean(score for turn in turns for score in turn.all_columns)
    return {"trs": fmean(turn.tables for turn in turns), "crs": crs, "crs_all": everywhere, "turns": len(turns)}


def redundancy(gold: Collection[T], extracted: Collection[T]) -> float:
    """Equation 11: 0 for the same set, 1 where something is missing, else the share of what is too much."""
    if set(gold) == set(extracted):
        return 0.0
    if set(gold) - set(extracted):
        return 1.0
    return len(set(extracted) - set(gold)) / len(extracted)
