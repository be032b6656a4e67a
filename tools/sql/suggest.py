"""Names that were likely meant, and joins that were likely left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz, process

from ..database.schema import ForeignKey, Schema
from .dialects import Rules
from .explain.phrases import listed
from .keywords import fold

_ALIKE = 60.0
"""Least similarity, of 100, at which a name is worth suggesting."""


def nearest_names(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Known names most like the given one, best first; empty where none is like it."""
    choices = list(dict.fromkeys(known))
    found = process.extract(
        _spread(name), [_spread(choice) for choice in choices], scorer=fuzz.WRatio, limit=limit, score_cutoff=_ALIKE
    )
    return tuple(choices[index] for _, _, index in found)


def one_of(names: Sequence[str]) -> str:
    """Return `a`, `a or b`, `a, b or c`."""
    return listed(names, "or")


def suggested(near: Sequence[str]) -> str:
    """Return what to write for a misspelt name: an order only where a single name is near."""
    return f"did you mean {one_of(near)}?" if len(near) > 1 else f"use {near[0]}" if near else ""


def join_condition(key: ForeignKey, rules: Rules, schema: Schema) -> str:
    """`a.x = b.y`."""
    table, ref_table = (rules.shown_table(name, schema) for name in (key.table, key.ref_table))
    pairs = zip(map(rules.shown, key.columns), map(rules.shown, key.ref_columns), strict=True)
    return " AND ".join(f"{table}.{column} = {ref_table}.{other}" for column, other in pairs)


def join_path(path: Sequence[ForeignKey], rules: Rules, schema: Schema) -> str:
    """`ON a.x = b.y and ON b.z = c.w`."""
    return " and ".join(f"ON {join_condition(key, rules, schema)}" for key in path)


def path_between(schema: Schema, starts: Iterable[str], goal: str) -> list[ForeignKey]:
    """The shortest chain of foreign keys from any of the tables to another; empty if there is none."""
    reached: dict[str, list[ForeignKey]] = {fold(start): [] for start in starts}
    frontier = list(reached)
    while frontier:
        following: list[str] = []
        for table in frontier:
            for key in schema.foreign_keys:
                for here, there in ((key.table, key.ref_table), (key.ref_table, key.table)):
                    if fold(here) == table and fold(there) not in reached:
                        reached[fold(there)] = [*reached[table], key]
                        following.append(fold(there))
        if fold(goal) in reached:
            break
        frontier = following
    return reached.get(fold(goal), [])


def _spread(name: str) -> str:
    return fold(name).replace("_", " ")
