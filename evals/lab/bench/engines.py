"""Every engine against SQLite: gold queries carried over, attacks, what the guard costs, and a thousand tables."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from tests.tools.database.carried import ENGINES, carry, explain_missing, open_driver
from tests.tools.database.conformance.attacks import SHARED
from tests.tools.database.conformance.candidate import Candidate
from tests.tools.database.conformance.candidates.duckdb import DuckDB
from tests.tools.database.conformance.candidates.mariadb import MariaDB, SQLAlchemyMariaDB
from tests.tools.database.conformance.candidates.postgres import Postgres
from tests.tools.database.conformance.candidates.sqlite import SQLite
from tests.tools.database.conformance.tables import STATEMENTS

from ....tools.database import Database, Limits, Schema
from ....tools.errors import QueryError, SQLParseError
from .determined import Expected, determined
from .gold import golds
from .harness import least_seconds
from .registry import BenchOptions
from .scale import build_large
from .translate import translate

_PARTIAL = "wta_1"
_LIMITS = Limits(seconds=60.0, rows=1_000_000, result_bytes=1_000_000_000)
_PASSES = 5
_TIMED = 100
_TABLES = 1_000

_CANDIDATES: Mapping[str, Callable[[], Candidate]] = {
    "sqlite": SQLite,
    "duckdb": DuckDB,
    "postgres": Postgres,
    "mariadb": MariaDB,
    "sqlalchemy": SQLAlchemyMariaDB,
}
"""The engines that are attacked, as the suite has them that every engine is held against."""


@dataclass(frozen=True)
class _Database:
    """A database of Spider's with the queries that count."""

    path: Path
    schema: Schema
    expected: list[Expected]


@dataclass
class _Outcome:
    ran: int = 0
    same: int = 0
    differing: list[str] = field(default_factory=list[str])
    added: list[float] = field(default_factory=list[float])


def run(options: BenchOptions) -> dict[str, object]:
    """Figures by engine; what did not run or gave other rows is in `differing`.

    `golds_run` and `same_rows` are shares of `determined`, the number of Spider dev's distinct gold queries whose rows
    SQL determines. `ms_added` is the median of what `Database.execute` takes longer than the bare driver. `--limit` is
    the number of gold queries.
    """
    databases = _databases(options)
    return {name: _engine(name, databases) for name in ENGINES}


def _databases(options: BenchOptions) -> Mapping[str, _Database]:
    queries: dict[str, list[str]] = defaultdict(list)
    found = [gold for gold in golds(options.folder, (("spider", "dev"),)) if gold.database != _PARTIAL]
    step = max(1, len(found) // options.limit) if options.limit else 1
    for gold in found[::step][: options.limit]:
        queries[gold.database].append(gold.sql)
    held: dict[str, _Database] = {}
    for name, texts in queries.items():
        path = options.folder / "spider" / "database" / name / f"{name}.sqlite"
        with Database.open(path) as database:
            schema = database.schema()
        held[name] = _Database(path, schema, determined(path, schema, texts))
    return held


def _engine(name: str, databases: Mapping[str, _Database]) -> dict[str, object]:
    if missing := explain_missing(name):
        return {"not run": missing}
    with tempfile.TemporaryDirectory() as folder:
        outcome = _Outcome()
        for held in databases.values():
            _compare(carry(held.path, name, Path(folder)), held, outcome)
        total = sum(len(held.expected) for held in databases.values())
        return {
            "determined": total,
            "golds_run": round(outcome.ran / total, 4) if total else None,
            "same_rows": round(outcome.same / total, 4) if total else None,
            **attacked(_CANDIDATES[name]()),
            "ms_added": round(1000 * median(outcome.added), 3) if outcome.added else None,
            "schema_1000_tables_s": _large_schema(name),
            "differing": outcome.differing,
        }


def _compare(url: str, held: _Database, outcome: _Outcome) -> None:
    bare = open_driver(url)
    with Database.open(url) as database:
        schema = database.schema()
        for expected in held.expected:
            try:
                sql = translate(expected.sql, database.dialect, schema)
                rows = database.execute(sql, _LIMITS).rows
            except (SQLParseError, QueryError) as error:
                outcome.differing.append(f"{held.path.stem}: {expected.sql} -- {error}")
                continue
            outcome.ran += 1
            if expected.matches(rows):
                outcome.same += 1
            else:
                outcome.differing.append(f"{held.path.stem}: {expected.sql} -- other rows: {sql}")
            if len(outcome.added) < _TIMED:
                ours = partial(database.execute, sql, _LIMITS)
                timed, bare_timed = least_seconds([ours, partial(bare, sql)], _PASSES)
                outcome.added.append(timed - bare_timed)


def attacked(candidate: Candidate) -> dict[str, object]:
    """Return how many statements were sent that must not run, and how many were refused without any effect."""
    attacks = sorted({*SHARED, *candidate.attacks})
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as writable:
        url = candidate.create(Path(folder), STATEMENTS)
        before = candidate.fingerprint(url)
        with Database.open(url) as database:
            refused = sum(_refused(database, attack.replace("{folder}", writable)) for attack in attacks)
        unchanged = candidate.fingerprint(url) == before and not any(Path(writable).iterdir())
    return {"attacks_tried": len(attacks), "attacks_held": refused if unchanged else 0}


def _refused(database: Database, attack: str) -> bool:
    try:
        database.execute(attack)
    except QueryError:
        return True
    return False


def _large_schema(engine: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.sqlite"
        build_large(path, _TABLES)
        url = carry(path, engine, Path(folder))
        start = time.perf_counter()
        with Database.open(url) as database:
            tables = len(database.schema().tables)
            taken = time.perf_counter() - start
    assert tables == _TABLES
    return round(taken, 2)
