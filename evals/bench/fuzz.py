"""A million generated and mutated statements; afterwards the file and its folder are as they were."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from .corpus import corpus
from .registry import BenchOptions

_STATEMENTS = 1_000_000
_SEED = 20_240_601
_LIMITS = Limits(seconds=0.05, rows=50)


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `statements`, `file_unchanged` (hash and folder listing), how many ran, how the others were refused.

    Anything but a result or a `QueryError` ends the benchmark with that error.

    Raises:
        SettingsError: This is no checkout: the statements are part of the tests.
    """
    count = options.limit or _STATEMENTS
    hostile = corpus("statements")
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        path = folder / "fuzzed.db"
        connection = sqlite3.connect(path)
        connection.executescript(hostile.SCHEMA)
        connection.close()
        before = _trace(folder)
        start = time.monotonic()
        with Database.open(path) as database:
            outcomes = Counter(_outcome(database, sql) for sql in islice(hostile.statements(_SEED, name), count))
        elapsed = time.monotonic() - start
        unchanged = _trace(folder) == before
    return {
        "statements": count,
        "file_unchanged": unchanged,
        "ran": outcomes.pop("ran", 0),
        "refused": dict(outcomes.most_common()),
        "seconds": round(elapsed, 1),
    }


def _outcome(database: Database, sql: str) -> str:
    try:
        database.execute(sql, _LIMITS)
    except QueryError as error:
        return error.kind
    return "ran"


def _trace(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
