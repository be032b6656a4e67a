"""What the guard costs: gold queries through `Database.execute` against an unrestricted connection, rows compared."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from itertools import count
from statistics import median

from ....tools.database import Database, Limits
from ....tools.errors import QueryError
from .gold import gold_queries
from .harness import least_seconds
from .registry import BenchOptions

_PASSES = 5
# Wide enough that no gold query is cut; the time limit stays far above the slowest.
_LIMITS = Limits(seconds=120.0, rows=10_000_000, result_bytes=2_000_000_000)

_Outcome = tuple[tuple[str, ...], list[tuple[object, ...]]] | None


@dataclass(frozen=True)
class _Compared:
    """One query on both connections, times in seconds."""

    sql: str
    ran: bool
    same: bool
    plain: float
    guarded: float


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `queries`, `ran` on an unrestricted connection, `same_rows`, `ratio` of the two total times.

    `added_us` is the median of what the guard adds to a query. Each query is compiled anew every time (a comment
    makes its text unique) and counts with the least of several times on either side, which take turns.
    """
    compared: list[_Compared] = []
    for path, queries in gold_queries(options.folder).items():
        plain = sqlite3.connect(path)
        with Database.open(path) as database:
            compared += [_compare(plain, database, sql) for sql in queries[: options.limit]]
        plain.close()
    ran = [one for one in compared if one.ran]
    plain_time, guarded_time = (sum(times) for times in zip(*((one.plain, one.guarded) for one in ran), strict=True))
    return {
        "queries": len(compared),
        "ran": len(ran),
        "same_rows": sum(one.same for one in ran),
        "differing": [one.sql for one in ran if not one.same][:10],
        "plain_s": round(plain_time, 3),
        "guarded_s": round(guarded_time, 3),
        "added_us": round(median(one.guarded - one.plain for one in ran) * 1e6, 1),
        "ratio": round(guarded_time / plain_time, 3),
    }


def _compare(plain: sqlite3.Connection, database: Database, sql: str) -> _Compared:
    found: list[_Outcome] = [None, None]
    texts = (f"{sql.rstrip().rstrip(';')} --{number}" for number in count())

    def run_plain() -> None:
        found[0] = _plain(plain, next(texts))

    def run_guarded() -> None:
        found[1] = _guarded(database, next(texts))

    times = least_seconds([run_plain, run_guarded], _PASSES)
    return _Compared(sql, found[0] is not None, found[0] == found[1], *times)


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
