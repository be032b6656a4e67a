"""Track-SQL's redundancy scores TRS@s and CRS@s (equations 10 to 13): how a linker's choice fits the gold query."""

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


def turn_redundancy(gold: str, schema: Schema, linked: Linked, threshold: float = COUNTED) -> Redundancy | None:
    """The scores of one turn; None where the gold query cannot be read.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures, and over
    all tables of the database, which is what equation 13 says.
    """
    used = past_use(gold, schema)
    tables = {name.lower() for name in used.tables}
    if not tables:
        return None
    columns = {(table.lower(), name.lower()) for table, name in used.columns if name != STAR}
    counted = [(table.lower(), column and column.lower()) for table, column, p in linked if p >= threshold]
    found = {pair for pair in counted if pair[1] not in (None, STAR)}
    of_table = {
        name: redundancy({pair for pair in columns if pair[0] == name}, {pair for pair in found if pair[0] == name})
        for name in sorted({table.name.lower() for table in schema.tables} | tables)
    }
    return Redundancy(
        redundancy(tables, {table for table, column in counted if column is None}),
        tuple(of_table[name] for name in sorted(tables)),
        tuple(of_table.values()),
    )


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
