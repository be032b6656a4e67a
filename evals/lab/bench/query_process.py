"""What a process of its own costs a query: the same query there and in this process, behind the same guard."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Protocol, cast

from ....tools.database import Cancellation, Database, Limits, Table
from .harness import least_seconds
from .registry import BenchOptions

_PASSES = 60
_SMALL_PASSES = 400
_ROWS = 20_000
_LIMITS = Limits(seconds=60.0, rows=10_000)
_SMALL = "SELECT name FROM person WHERE id = 77"
_LARGE = (
    "SELECT p.id, p.name, p.city, p.score, c.label FROM person p JOIN city c ON c.name = p.city"
    " ORDER BY p.name LIMIT {}"
)


class _InProcess(Protocol):
    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None) -> Table: ...


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `small_ms_added`, `thousand_rows_ratio`, `ten_thousand_rows_ratio`.

    Each takes the least of many times on either side, which take turns: what else the machine does is no part of it.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _make(Path(folder) / "people.db")
        with Database.open(path) as database:
            here = cast("_InProcess", vars(database.engine)["in_process"])
            passes = options.limit or _PASSES
            small = _least(database, here, _SMALL, options.limit or _SMALL_PASSES)
            thousand = _least(database, here, _LARGE.format(1_000), passes)
            ten_thousand = _least(database, here, _LARGE.format(10_000), passes)
    return {
        "small_ms_added": round((small[0] - small[1]) * 1e3, 3),
        "thousand_rows_ratio": round(thousand[0] / thousand[1], 3),
        "ten_thousand_rows_ratio": round(ten_thousand[0] / ten_thousand[1], 3),
        "small_ms": [round(seconds * 1e3, 3) for seconds in small],
        "thousand_rows_ms": [round(seconds * 1e3, 3) for seconds in thousand],
        "ten_thousand_rows_ms": [round(seconds * 1e3, 3) for seconds in ten_thousand],
    }


def _least(database: Database, here: _InProcess, sql: str, passes: int) -> list[float]:
    return least_seconds([lambda: database.execute(sql, _LIMITS), lambda: here.execute(sql, _LIMITS, None)], passes)


def _make(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, city TEXT, score REAL)")
        connection.execute("CREATE TABLE city (name TEXT PRIMARY KEY, label TEXT)")
        people = [(i, f"name {i * 7919 % _ROWS}", f"city {i % 50}", i * 1.5) for i in range(_ROWS)]
        connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?)", people)
        connection.executemany("INSERT INTO city VALUES (?, ?)", [(f"city {i}", f"label {i}") for i in range(50)])
        connection.commit()
    return path
