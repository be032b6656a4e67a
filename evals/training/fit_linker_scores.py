"""Track-SQL's redundancy scores (equations 10 to 13), and recall, of a linker's probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import numpy.typing as npt

from ...tools.linking.vocabulary import Shares
from ..metrics.redundancy import COUNTED, redundancy
from .fit_linker_turns import LinkedTurn

SHOWN = 0.1
"""The threshold that recall is measured at (Track-SQL's s)."""


def measure(turns: Sequence[LinkedTurn], tables: Sequence[Shares], columns: Sequence[Shares]) -> dict[str, float]:
    """The figures of some turns, as rates from 0 to 1.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures.
    """
    gold_tables = gold_columns = shown_tables = shown_columns = first_ten = 0
    for turn, p, q in zip(turns, tables, columns, strict=True):
        used, used_columns = _numbers(turn.tables > 0), _numbers(turn.columns > 0)
        gold_tables += len(used)
        gold_columns += len(used_columns)
        shown_tables += len(used & _numbers(p >= SHOWN))
        shown_columns += len(used_columns & _numbers(q >= SHOWN))
        first_ten += len(used_columns & set(np.argsort(-q, kind="stable")[:10].tolist()))
    return {
        "trs": round(table_redundancy(turns, tables), 4),
        "crs": round(column_redundancy(turns, columns), 4),
        "table_recall": round(shown_tables / gold_tables, 4),
        "column_recall": round(shown_columns / gold_columns, 4),
        "column_recall_at_10": round(first_ten / gold_columns, 4),
        "turns": len(turns),
    }


def table_redundancy(turns: Sequence[LinkedTurn], tables: Sequence[Shares], counted: float = COUNTED) -> float:
    """TRS (equation 10), from 0 to 1."""
    return fmean(
        redundancy(_numbers(turn.tables > 0), _numbers(p >= counted)) for turn, p in zip(turns, tables, strict=True)
    )


def column_redundancy(turns: Sequence[LinkedTurn], columns: Sequence[Shares], counted: float = COUNTED) -> float:
    """CRS (equation 12), from 0 to 1."""
    scores: list[float] = []
    for turn, q in zip(turns, columns, strict=True):
        of = turn.database.shape.table_of
        for table in np.flatnonzero(turn.tables).tolist():
            scores.append(
                redundancy(_numbers((turn.columns > 0) & (of == table)), _numbers((q >= counted) & (of == table)))
            )
    return fmean(scores)


def _numbers(flags: npt.NDArray[np.bool_]) -> set[int]:
    return set(np.flatnonzero(flags).tolist())
