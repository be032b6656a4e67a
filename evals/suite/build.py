"""Building a suite: mutants of the gold queries, random databases, and as few of them as tell as many mutants."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ...tools.database import Database
from ...tools.database.schema import Schema
from ...tools.database.table import Cell
from ...tools.errors import SettingsError
from ...tools.results import same_result
from ..metrics.ordering import ordering
from .constants import column_constants
from .generate import generate, random_shape
from .mutants import mutants

_CANDIDATES = 60
"""Random databases tried for a schema."""

_IDLE = 15
"""Candidates in a row that tell nothing new, after which no more are tried."""

_STEPS = 2_000_000
"""Virtual machine steps that a query on a small database may take; a mutant without its join conditions takes more."""

_CHECKS = 100

_ROWS = 2_000
"""Rows of a result that are looked at; a query with more tells nothing here."""

_DDL = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type = 'index', rowid"

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


def build_suite(original: Path, golds: Sequence[str], out: Path, seed: int = 0) -> SuiteReport:
    """Builds a suite for one schema in the official layout: `out/NAME/NAME.sqlite` and further files beside it.

    Args:
        original: The schema's database; copied as the suite's first.
        golds: Gold queries; those that don't run are passed over.
        out: Folder of suites.
        seed: The same one builds the same suite.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: The suite cannot be written.
    """
    start = time.perf_counter()
    with Database.open(original) as database:
        schema = database.schema()
    first = _in_memory(original)
    runs = [gold for gold in dict.fromkeys(golds) if _rows(first, gold) is not None]
    pairs = [(gold, mutant) for gold in runs for mutant in mutants(gold, schema) if _rows(first, mutant) is not None]
    told = _told(first, pairs)
    left = [pair for pair in pairs if pair not in told]
    candidates, left = _search(first, schema, runs, left, random.Random(f"{original.stem}:{seed}"))  # noqa: S311
    chosen = _cover([told for _, told in candidates])
    write_suite(original.stem, [first, *(candidates[place][0] for place in chosen)], out)
    return SuiteReport(
        database=original.stem,
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
        SettingsError: The suite cannot be written.
    """
    with Database.open(original) as database:
        schema = database.schema()
    first = _in_memory(original)
    ddl = [str(row[0]) for row in first.execute(_DDL)]
    constants = column_constants(golds, schema)
    generator = random.Random(f"{original.stem}:{seed}")  # noqa: S311
    drawn = (generate(ddl, schema, constants, random_shape(generator), generator) for _ in range(count - 1))
    write_suite(original.stem, [first, *drawn], out)


def _search(
    first: sqlite3.Connection, schema: Schema, golds: Sequence[str], left: Sequence[Pair], generator: random.Random
) -> tuple[list[tuple[sqlite3.Connection, set[Pair]]], list[Pair]]:
    """Random databases that each tell something new, with all that they tell of `left`; and what none tells."""
    ddl = [str(row[0]) for row in first.execute(_DDL)]
    constants = column_constants(golds, schema)
    kept: list[sqlite3.Connection] = []
    open_pairs, idle = list(left), 0
    for _ in range(_CANDIDATES):
        if not open_pairs or idle >= _IDLE:
            break
        candidate = generate(ddl, schema, constants, random_shape(generator), generator)
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


def _told(connection: sqlite3.Connection, pairs: Sequence[Pair]) -> set[Pair]:
    """The mutants whose result differs from their gold's."""
    told: set[Pair] = set()
    for gold, group in groupby(pairs, key=lambda pair: pair[0]):
        expected = _rows(connection, gold)
        if expected is None:
            continue
        ordered = ordering(gold).ordered
        for pair in group:
            got = _rows(connection, pair[1])
            if got is not None and not same_result(expected, got, ordered):
                told.add(pair)
    return told


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[Cell, ...]] | None:
    """A query's rows; None where it fails, or costs too much to tell."""
    budget = iter(range(_CHECKS))
    connection.set_progress_handler(lambda: next(budget, None) is None, _STEPS // _CHECKS)
    try:
        rows = connection.execute(sql).fetchmany(_ROWS + 1)
    except sqlite3.Error:
        return None
    return rows if len(rows) <= _ROWS else None


def _in_memory(path: Path) -> sqlite3.Connection:
    """A copy of a database, which is itself opened for reading only."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.text_factory = _decoded
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source:
        source.backup(copy)
    return copy


def _decoded(text: bytes) -> str:
    return text.decode(errors="ignore")


def write_suite(name: str, databases: Sequence[sqlite3.Connection], out: Path) -> None:
    """Writes databases as a suite; an earlier one of that name is replaced.

    Raises:
        SettingsError: The folder cannot be written.
    """
    folder = out / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"{name}*.sqlite"):
            stale.unlink()
        for number, database in enumerate(databases):
            path = folder / (f"{name}_{number:03}.sqlite" if number else f"{name}.sqlite")
            temporary = path.with_suffix(".tmp")
            with closing(sqlite3.connect(temporary)) as target:
                database.backup(target)
            temporary.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error
