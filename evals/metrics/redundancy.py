"""How a linker's choice fits the gold query: redundancy (Track-SQL, equations 10 to 13), precision and recall (A.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import fmean
from typing import NamedTuple, TypeAlias, TypeVar

from ...tools.database.schema import Schema
from ...tools.linking import STAR
from ...tools.linking.linked import past_use

COUNTED = 0.5
"""The threshold s of TRS@0.5 and CRS@0.5."""

Linked: TypeAlias = Sequence[tuple[str, str | None, float]]
"""Tables (column None), columns, and `*` for all of a table's, with their probabilities."""

Turn: TypeAlias = tuple[str, Schema, Linked]
"""A gold query, its schema, and what was linked."""

T = TypeVar("T")


class _Items(NamedTuple):
    """Tables and columns in small letters, without `*`."""

    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


def mean_redundancy(turns: Iterable[Turn]) -> dict[str, float]:
    """Return `trs`, `crs` and `crs_all` from 0 to 1 (lower is better) over `turns` many; nothing over none.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures, and over
    all tables of the database, which is what equation 13 says. Turns whose gold cannot be read do not count.
    """
    trs: list[float] = []
    crs: list[float] = []
    everywhere: list[float] = []
    for schema, used, found in _read_items(turns):
        trs.append(redundancy(used.tables, found.tables))
        for name in sorted({table.name.lower() for table in schema.tables} | used.tables):
            wanted, extracted = ({pair for pair in items.columns if pair[0] == name} for items in (used, found))
            everywhere.append(redundancy(wanted, extracted))
            if name in used.tables:
                crs.append(everywhere[-1])
    if not trs:
        return {}
    return {"trs": fmean(trs), "crs": fmean(crs), "crs_all": fmean(everywhere), "turns": len(trs)}


def classified(turns: Iterable[Turn]) -> dict[str, float]:
    """Return precision, recall and F1 of tables and columns as a classification of all of them, from 0 to 1 (A.2).

    Used and not used are the two classes: `weighted` means them by how many there are of each, `macro` as equals. Keys
    are `table_weighted_p`, `_r` and `_f1`, `table_macro_...`, `column_weighted_...`, `column_macro_...`.
    """
    from sklearn.metrics import precision_recall_fscore_support

    pairs: dict[str, list[tuple[bool, bool]]] = {"table": [], "column": []}
    for schema, used, found in _read_items(turns):
        for table in schema.tables:
            name = table.name.lower()
            pairs["table"].append((name in used.tables, name in found.tables))
            columns = [(name, column.name.lower()) for column in table.columns]
            pairs["column"] += [(pair in used.columns, pair in found.columns) for pair in columns]
    scores: dict[str, float] = {}
    for kind, known in pairs.items():
        for how in ("weighted", "macro") if known else ():
            truth, said = zip(*known, strict=True)
            three = precision_recall_fscore_support(truth, said, average=how, zero_division=0)[:3]  # pyright: ignore[reportArgumentType]
            names = (f"{kind}_{how}_{name}" for name in ("p", "r", "f1"))
            scores |= {name: float(value) for name, value in zip(names, three, strict=True)}
    return scores


def _read_items(turns: Iterable[Turn]) -> Iterator[tuple[Schema, _Items, _Items]]:
    """Yield schema, what the gold query uses, and what was linked, of turns whose gold can be read."""
    for gold, schema, linked in turns:
        use = past_use(gold, schema)
        if not use.tables:
            continue
        columns = ((table.lower(), name.lower()) for table, name in use.columns if name != STAR)
        used = _Items(frozenset(name.lower() for name in use.tables), frozenset(columns))
        counted = [(table.lower(), column) for table, column, p in linked if p >= COUNTED]
        columns = ((table, column.lower()) for table, column in counted if column is not None and column != STAR)
        yield schema, used, _Items(frozenset(table for table, column in counted if column is None), frozenset(columns))


def redundancy(gold: Collection[T], extracted: Collection[T]) -> float:
    """Return equation 11: 0 for the same set, 1 if something is missing, else the share of what is too much."""
    if set(gold) == set(extracted):
        return 0.0
    if set(gold) - set(extracted):
        return 1.0
    return len(set(extracted) - set(gold)) / len(extracted)
