"""Building a suite: mutants of the gold queries, random databases, and as few of them as tell as many mutants."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ...tools.database import Database
from ...tools.database.connection import QueryConnection, guarded
from ...tools.database.schema import Schema
from ...tools.results import same_result
from ..metrics.ordering import ordering
from .constants import column_constants
from .generate import generate, random_shape
from .memory import Original, copied, rows
from .mutants import mutants
from .write import check_folder, write_suite

_CANDIDATES = 60
"""Random databases tried for a schema."""

_IDLE = 15
"""Candidates in a row that tell nothing new, after which no more are tried."""

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
        survivors: Mutants that no database tells from their gold, some of which mean the same.
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
        golds: Gold queries, run behind the guard; those that it refuses or that fail are passed over.
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
    first = copied(original)
    runs = [gold for gold in dict.fromkeys(golds) if rows(first.held, gold) is not None]
    pairs = [
        (gold, mutant) for gold in runs for mutant in mutants(gold, schema) if rows(first.held, mutant) is not None
    ]
    told = _told(first.held, pairs)
    left = [pair for pair in pairs if pair not in told]
    candidates, left = _search(first, schema, runs, left, random.Random(f"{name}:{seed}"))  # noqa: S311
    chosen = _cover([told for _, told in candidates])
    held = [first.held, *(candidates[place][0] for place in chosen)]
    write_suite(name, [database.sqlite for database in held], out, original)
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
    """Builds a suite of `count` databases, the original and random ones, whatever they tell apart.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: As for `build_suite`.
    """
    with Database.open(original) as database:
        schema = database.schema()
    first = copied(original)
    constants = column_constants(golds, schema)
    generator = random.Random(f"{original.stem}:{seed}")  # noqa: S311
    drawn = (generate(first.ddl, schema, constants, random_shape(generator), generator) for _ in range(count - 1))
    write_suite(original.stem, [first.held.sqlite, *drawn], out, original)


def _search(
    first: Original, schema: Schema, golds: Sequence[str], left: Sequence[Pair], generator: random.Random
) -> tuple[list[tuple[QueryConnection, set[Pair]]], list[Pair]]:
    """Random databases that each tell something new, with all that they tell of `left`; and what none tells."""
    constants = column_constants(golds, schema)
    kept: list[QueryConnection] = []
    open_pairs, idle = list(left), 0
    for _ in range(_CANDIDATES):
        if not open_pairs or idle >= _IDLE:
            break
        made = generate(first.ddl, schema, constants, random_shape(generator), generator)
        candidate = guarded(made, first.held.catalogue)
        told = _told(candidate, open_pairs)
        idle = 0 if told else idle + 1
        if told:
            kept.append(candidate)
            open_pairs = [pair for pair in open_pairs if pair not in told]
    unknown = set(open_pairs)
    known = [pair for pair in left if pair not in unknown]
    return [(candidate, _told(candidate, known)) for candidate in kept], open_pairs


def _cover(told: Sequence[set[Pair]]) -> list[int]:
    """Places of a few sets that cover all: greedily the one that adds most."""
    left = set[Pair]().union(*told)
    chosen: list[int] = []
    while left:
        best = max(range(len(told)), key=lambda place: len(told[place] & left))
        chosen.append(best)
        left -= told[best]
    return chosen


def _told(database: QueryConnection, pairs: Sequence[Pair]) -> set[Pair]:
    """The mutants whose result differs from their gold's."""
    told: set[Pair] = set()
    for gold, group in groupby(pairs, key=lambda pair: pair[0]):
        expected = rows(database, gold)
        if expected is None:
            continue
        ordered = ordering(gold).ordered
        for pair in group:
            got = rows(database, pair[1])
            if got is not None and not same_result(expected, got, ordered):
                told.add(pair)
    return told
