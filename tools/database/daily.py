"""The day's count of what queries were expected to read, a database at a time, kept for all processes of a person.

A count goes up before its query runs, in one transaction of a small SQLite file, so that processes side by side cannot
pass the cap together. A query that then fails has counted all the same: what it read until then is not known.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

from ..errors import DatabaseUnavailable, QueryTooCostly
from ..folders import data_folder

_FILE = "spent.sqlite"
_WAIT_SECONDS = 10.0
_TABLE = """
    CREATE TABLE IF NOT EXISTS spent (database TEXT, day TEXT, rows INTEGER NOT NULL, PRIMARY KEY (database, day))
"""
_ADD = """
    INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (database, day) DO UPDATE SET rows = rows + excluded.rows
"""


def spend(location: str, rows: int, most: int, today: date | None = None) -> None:
    """Adds rows to a database's count of the day, which ends at midnight UTC.

    Args:
        location: As `Engine.location`.
        rows: That the next query is expected to read.
        most: The cap.
        today: The day; None for today.

    Raises:
        QueryTooCostly: The count would pass the cap; it stays as it was.
        DatabaseUnavailable: The count cannot be kept: without it, the cap could not be either.
    """
    day = (today or datetime.now(UTC).date()).isoformat()
    key = hashlib.sha256(location.encode("utf-8", "surrogatepass")).hexdigest()
    path = data_folder() / _FILE
    try:
        with closing(_opened(path)) as counts:
            counts.execute("BEGIN IMMEDIATE")
            counts.execute(_TABLE)
            counts.execute("DELETE FROM spent WHERE day < ?", (day,))
            held = counts.execute("SELECT rows FROM spent WHERE database = ? AND day = ?", (key, day)).fetchone()
            spent = int(held[0]) if held else 0
            if spent + rows > most:
                raise QueryTooCostly(
                    f"with this query, the estimate of rows read today would exceed {most:,} (estimated_rows_per_day);"
                    f" {spent:,} are counted already: ask for less, continue after midnight UTC, or raise the setting"
                )
            # Beyond what SQLite can add up, one query is as good as all of them.
            counts.execute(_ADD, (key, day, rows))
            counts.execute("COMMIT")
    except (sqlite3.Error, OSError, OverflowError) as error:
        raise DatabaseUnavailable(
            f"the day's count of rows cannot be written to {path} ({error}): set TABLETURN_HOME to another folder, or"
            " leave estimated_rows_per_day out"
        ) from None


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
