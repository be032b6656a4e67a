"""Building a suite: mutants of the gold queries, random databases, and as few of these as kill as many mutants.

The folder of a suite is never one that holds what this tool did not write.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from ....tools.database import Database
from ....tools.database.schema import Schema
from ....tools.errors import SettingsError
from ....tools.results import same_result
from ...metrics.expected import ordering
from ...official import MANIFEST
from .generate import Original, column_constants, copy_database, generate, random_shape, run_query, seal
from .mutants import mutants

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
    """Build a suite for one schema in the official layout: `out/NAME/NAME.sqlite` and further files beside it.

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
    first = copy_database(original, schema)
    runs = [gold for gold in dict.fromkeys(golds) if run_query(first.copy, gold) is not None]
    pairs = [
        (gold, mutant) for gold in runs for mutant in mutants(gold, schema) if run_query(first.copy, mutant) is not None
    ]
    killed = _find_killed(first.copy, pairs)
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
    """Build a suite of `count` databases, the original and random ones, without choosing among them.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: As for `build_suite`.
    """
    with Database.open(original) as database:
        schema = database.schema()
    first = copy_database(original, schema)
    constants = column_constants(golds, schema)
    generator = random.Random(f"{original.stem}:{seed}")  # noqa: S311
    drawn = (generate(first.ddl, schema, constants, random_shape(generator), generator) for _ in range(count - 1))
    write_suite(original.stem, [first.copy, *drawn], out, original)


def _search(
    first: Original, schema: Schema, golds: Sequence[str], left: Sequence[Pair], generator: random.Random
) -> tuple[list[tuple[sqlite3.Connection, set[Pair]]], list[Pair]]:
    """Return random databases that each kill some mutant more, with all of `left` that it kills, and what none does."""
    constants = column_constants(golds, schema)
    kept: list[sqlite3.Connection] = []
    open_pairs, idle = list(left), 0
    for _ in range(_CANDIDATES):
        if not open_pairs or idle >= _IDLE:
            break
        candidate = seal(generate(first.ddl, schema, constants, random_shape(generator), generator), schema)
        killed = _find_killed(candidate, open_pairs)
        idle = 0 if killed else idle + 1
        if killed:
            kept.append(candidate)
            open_pairs = [pair for pair in open_pairs if pair not in killed]
    surviving = set(open_pairs)
    mortal = [pair for pair in left if pair not in surviving]
    return [(candidate, _find_killed(candidate, mortal)) for candidate in kept], open_pairs


def _cover(killed: Sequence[set[Pair]]) -> list[int]:
    """Return the places of a few sets that cover all: greedily the one that adds most."""
    left = set[Pair]().union(*killed)
    chosen: list[int] = []
    while left:
        best = max(range(len(killed)), key=lambda place: len(killed[place] & left))
        chosen.append(best)
        left -= killed[best]
    return chosen


def _find_killed(database: sqlite3.Connection, pairs: Sequence[Pair]) -> set[Pair]:
    """Return the mutants whose result differs from their gold's."""
    killed: set[Pair] = set()
    for gold, group in groupby(pairs, key=lambda pair: pair[0]):
        expected = run_query(database, gold)
        if expected is None:
            continue
        ordered = ordering(gold).ordered
        for pair in group:
            got = run_query(database, pair[1])
            if got is not None and not same_result(expected, got, ordered):
                killed.add(pair)
    return killed


def check_folder(name: str, out: Path, original: Path) -> None:
    """Make sure that a suite may be written, without writing.

    Args:
        name: The suite's.
        out: Folder of suites.
        original: The database that the suite is built from, which stays as it is.

    Raises:
        SettingsError: The folder of that name holds the original, or files that are not an earlier suite's, or no
            longer as that had them.
    """
    folder = out / name
    if original.resolve().parent == folder.resolve():
        raise SettingsError(f"{folder} holds the database that its suite is built from: choose another --out")
    try:
        held = sorted(path.name for path in folder.iterdir())
        written = _manifest(folder) if held else {}
        strange = [n for n in held if n != MANIFEST and (n not in written or written[n] != _digest(folder / n))]
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error
    if held and not written:
        strange = held
    if strange:
        raise SettingsError(
            f"{folder} holds {strange[0]}, which `suite build` did not write: choose another --out, or move it away"
        )


def write_suite(name: str, databases: Sequence[sqlite3.Connection], out: Path, original: Path) -> None:
    """Write databases as a suite, with a manifest; an earlier suite of that name is replaced as a whole.

    Raises:
        SettingsError: As `check_folder`; or the folder cannot be written.
    """
    check_folder(name, out, original)
    folder = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".suite-") as temporary:
            made = Path(temporary) / "made"
            made.mkdir()
            for number, database in enumerate(databases):
                _write(database, made / (f"{name}_{number:03}.sqlite" if number else f"{name}.sqlite"))
            digests = {path.name: _digest(path) for path in sorted(made.iterdir())}
            (made / MANIFEST).write_text(json.dumps({"files": digests}, indent=1) + "\n", encoding="utf-8")
            if folder.exists():
                folder.rename(Path(temporary) / "old")
            made.rename(folder)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error


def _write(database: sqlite3.Connection, path: Path) -> None:
    with closing(sqlite3.connect(path)) as target:
        database.backup(target)
        # A write-ahead log would have readers leave files beside it.
        target.execute("PRAGMA journal_mode = DELETE")


def _manifest(folder: Path) -> dict[str, Any]:
    """Return digests by file, as an earlier suite was written; empty where there is no readable manifest."""
    try:
        files: object = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return cast("dict[str, Any]", files) if isinstance(files, dict) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
