"""Building a suite: mutants of the gold queries, random databases, and as few of these as kill as many mutants."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.results import same_result
from ..metrics.ordering import ordering
from .constants import column_constants
from .generate import generate, random_shape
from .memory import Original, copied, rows, sealed
from .mutants import mutants
from .write import check_folder, write_suite

_CANDIDATES = 60
"""Random databases tried for a schema."""

_IDLE = 15
"""Candidates in a row that kill no further mutant, after which no more are tried."""

Pair = tuple[str, str]
"""A gold query and one of its mutants."""


@dataclass(frozen=True)
class SuiteReport:
    """What a suite does.

    Attributes:
        database: The schema's name.
        golds: Distinct gold queries that run.
        mutants: Their mutants that run.
        killed: Mutants whose result differs from their gold's on some database of the suite.
        databases: Databases in the suite, the original included.
        seconds: Time to build it.
        survivors: Mutants that no database distinguishes from their gold, some of which mean the same.
    """

    database: str
    golds: int
    mutants: int
    killed: int
    databases: int
    seconds: float
    survivors: tuple[Pair, ...]


def build_suite(original: Path, golds: Sequence[str], out: Path, seed: int = 0, name: str | None = None) -> SuiteReport:
    """Builds a suite for one schema in the official layout: `out/NAME/NAME.sqlite` and further files beside it.

    Args:
        original: The schema's database; copied as the suite's first.
        golds: Gold queries, run for reading only; those that write or fail are passed over.
        out: Folder of suites.
        seed: The same one builds the same suite.
        name: The schema's name; the file's if None.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: The suite cannot be written, or its folder holds other files than an earlier suite's.
    """
    start = time.perf_counter()
    name = name or original.stem
    check_folder(name, out, original)
    with Database.open(original) as database:
        schema = database.schema()
    first = copied(original, schema)
    runs = [gold for gold in dict.fromkeys(golds) if rows(first.copy, gold) is not None]
    pairs = [
        (gold, mutant) for gold in runs for mutant in mutants(gold, schema) if rows(first.copy, mutant) is not None
    ]
    killed = _killed(first.copy, pairs)
    left = [pair for pair in pairs if pair not in killed]
    candidates, left = _search(first, schema, runs, left, random.Random(f"{name}:{seed}"))  # noqa: S311
    chosen = _cover([killed for _, killed in candidates])
    write_suite(name, [first.copy, *(candidates[place][0] for place in chosen)], out, original)
    return SuiteReport(
        database=name,
        golds=len(runs),
        mutants=len(pairs),
        killed=len(pairs) - len(left),
        databases=1 + len(chosen),
        seconds=round(time.perf_counter() - start, 2),
        survivors=tuple(left),
    )


def build_random_suite(original: Path, golds: Sequence[str], out: Path, count: int, seed: int = 0) -> None:
    """Builds a suite of `count` databases, the original and random ones, without choosing among them.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: As for `build_suite`.
    """
    with Database.open(original) as database:
        schema = database.schema()
    first = copied(original, schema)
    constants = column_constants(golds, schema)
    generator = random.Random(f"{original.stem}:{seed}")  # noqa: S311
    drawn = (generate(first.ddl, schema, constants, random_shape(generator), generator) for _ in range(count - 1))
    write_suite(original.stem, [first.copy, *drawn], out, original)


def _search(
    first: Original, schema: Schema, golds: Sequence[str], left: Sequence[Pair], generator: random.Random
) -> tuple[list[tuple[sqlite3.Connection, set[Pair]]], list[Pair]]:
    """Random databases that each kill some mutant more, with all of `left` that they kill; and what none kills."""
    constants = column_constants(golds, schema)
    kept: list[sqlite3.Connection] = []
    open_pairs, idle = list(left), 0
    for _ in range(_CANDIDATES):
        if not open_pairs or idle >= _IDLE:
            break
        candidate = sealed(generate(first.ddl, schema, constants, random_shape(generator), generator), schema)
        killed = _killed(candidate, open_pairs)
        idle = 0 if killed else idle + 1
        if killed:
            kept.append(candidate)
            open_pairs = [pair for pair in open_pairs if pair not in killed]
    surviving = set(open_pairs)
    mortal = [pair for pair in left if pair not in surviving]
    return [(candidate, _killed(candidate, mortal)) for candidate in kept], open_pairs


def _cover(killed: Sequence[set[Pair]]) -> list[int]:
    """Places of a few sets that cover all: greedily the one that adds most."""
    left = set[Pair]().union(*killed)
    chosen: list[int] = []
    while left:
        best = max(range(len(killed)), key=lambda place: len(killed[place] & left))
        chosen.append(best)
        left -= killed[best]
    return chosen


def _killed(database: sqlite3.Connection, pairs: Sequence[Pair]) -> set[Pair]:
    """The mutants whose result differs from their gold's."""
    killed: set[Pair] = set()
    for gold, group in groupby(pairs, key=lambda pair: pair[0]):
        expected = rows(database, gold)
        if expected is None:
            continue
        ordered = ordering(gold).ordered
        for pair in group:
            got = rows(database, pair[1])
            if got is not None and not same_result(expected, got, ordered):
                killed.add(pair)
    return killed
