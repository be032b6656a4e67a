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
from operator import itemgetter
from pathlib import Path
from typing import Any

from ....tools.database import Database
from ....tools.errors import SettingsError
from ....tools.results import same_result
from ...metrics.expected import ordering
from ...official import MANIFEST
from .generate import column_constants, copy_database, generate, random_shape, run_query, seal
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
    left = survivors = [pair for pair in pairs if pair not in killed]
    generator = random.Random(f"{name}:{seed}")  # noqa: S311
    constants = column_constants(runs, schema)
    # Random databases that each kill some mutant more.
    candidates: list[sqlite3.Connection] = []
    idle = 0
    for _ in range(_CANDIDATES):
        if not survivors or idle >= _IDLE:
            break
        candidate = seal(generate(first.ddl, schema, constants, random_shape(generator), generator), schema)
        killed = _find_killed(candidate, survivors)
        idle = 0 if killed else idle + 1
        if killed:
            candidates.append(candidate)
            survivors = [pair for pair in survivors if pair not in killed]
    # As few of them as kill as many: greedily the one that kills most of what is left.
    mortal = set(left).difference(survivors)
    kills = [_find_killed(candidate, [pair for pair in left if pair in mortal]) for candidate in candidates]
    chosen: list[sqlite3.Connection] = []
    while mortal:
        best = max(range(len(kills)), key=lambda place: len(kills[place] & mortal))
        chosen.append(candidates[best])
        mortal -= kills[best]
    _write_suite(name, [first.copy, *chosen], out, original)
    return SuiteReport(
        database=name,
        golds=len(runs),
        mutants=len(pairs),
        killed=len(pairs) - len(survivors),
        databases=1 + len(chosen),
        seconds=round(time.perf_counter() - start, 2),
        survivors=tuple(survivors),
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
    _write_suite(original.stem, [first.copy, *drawn], out, original)


def _find_killed(database: sqlite3.Connection, pairs: Sequence[Pair]) -> set[Pair]:
    """Return the mutants whose result differs from their gold's."""
    killed: set[Pair] = set()
    for gold, group in groupby(pairs, key=itemgetter(0)):
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
        try:
            files: Any = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            files = None
        written: dict[str, Any] = files if isinstance(files, dict) else {}
        # Without a manifest that can be read, nothing is an earlier suite's.
        strange = [
            each
            for each in held
            if not written or (each != MANIFEST and (each not in written or written[each] != _digest(folder / each)))
        ]
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error
    if strange:
        raise SettingsError(
            f"{folder} holds {strange[0]}, which `suite build` did not write: choose another --out, or move it away"
        )


def _write_suite(name: str, databases: Sequence[sqlite3.Connection], out: Path, original: Path) -> None:
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
            digests: dict[str, str] = {}
            for number, database in enumerate(databases):
                path = made / (f"{name}_{number:03}.sqlite" if number else f"{name}.sqlite")
                with closing(sqlite3.connect(path)) as target:
                    database.backup(target)
                    # A write-ahead log would have readers leave files beside it.
                    target.execute("PRAGMA journal_mode = DELETE")
                digests[path.name] = _digest(path)
            (made / MANIFEST).write_text(json.dumps({"files": digests}, indent=1) + "\n", encoding="utf-8")
            if folder.exists():
                folder.rename(Path(temporary) / "old")
            made.rename(folder)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise SettingsError(f"{folder} cannot hold a suite: {error}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
