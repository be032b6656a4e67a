"""What the guard costs: gold queries through `Database.execute` against an unrestricted connection, rows compared."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from .gold_queries import gold_queries
from .registry import BenchOptions

_PASSES = 5
# Wide enough that no gold query is cut; the time limit stays far above the slowest.
_LIMITS = Limits(seconds=120.0, rows=10_000_000, result_bytes=2_000_000_000)

_Outcome = tuple[tuple[str, ...], list[tuple[object, ...]]] | None


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `queries`, `ran` on an unrestricted connection, `same_rows`, and `ratio` of the two total times.

    Each query is compiled anew every time (a comment makes its text unique), and counts with the least of several
    times on either side, which turns are taken at.
    """
    if options.data is None:
        raise ValueError("the gold queries are benchmark data")
    plain_time = guarded_time = 0.0
    count = ran = same = 0
    differing: list[str] = []
    for path, queries in gold_queries(options.data).items():
        with Database.open(path) as database:
            plain = _unrestricted(path)
            for sql in queries[: options.limit]:
                count += 1
                expected, took = _best(lambda text, plain=plain: _plain(plain, text), sql)
                found, guarded_took = _best(lambda text, database=database: _guarded(database, text), sql)
                if expected is None:
                    continue
                ran += 1
                if found == expected:
                    same += 1
                elif len(differing) < 10:
                    differing.append(f"{path.stem}: {sql}")
                plain_time += took
                guarded_time += guarded_took
            plain.close()
    return {
        "queries": count,
        "ran": ran,
        "same_rows": same,
        "differing": differing,
        "plain_s": round(plain_time, 3),
        "guarded_s": round(guarded_time, 3),
        "ratio": round(guarded_time / plain_time, 3),
    }


def _best(outcome: Callable[[str], _Outcome], sql: str) -> tuple[_Outcome, float]:
    best = float("inf")
    found: _Outcome = None
    for number in range(_PASSES):
        text = f"{sql.rstrip().rstrip(';')} --{number}"
        start = time.perf_counter()
        found = outcome(text)
        best = min(best, time.perf_counter() - start)
    return found, best


def _unrestricted(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path)


def _plain(connection: sqlite3.Connection, sql: str) -> _Outcome:
    try:
        cursor = connection.execute(sql)
    except sqlite3.Error:
        return None
    return tuple(entry[0] for entry in cursor.description), cursor.fetchall()


def _guarded(database: Database, sql: str) -> _Outcome:
    try:
        table = database.execute(sql, _LIMITS)
    except QueryError:
        return None
    return table.columns, list(table.rows)
