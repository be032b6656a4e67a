"""Estimates of a query's cost, by its engine's plan."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..errors import DatabaseUnavailable, QueryTooCostly
from ..folders import data_folder
from .dialects import parse_statement

_FILE = "spent.sqlite"
_WAIT_SECONDS = 10.0
_TABLE = """
    CREATE TABLE IF NOT EXISTS spent (database TEXT, day TEXT, rows INTEGER NOT NULL, PRIMARY KEY (database, day))
"""
_ADD = """
    INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (database, day) DO UPDATE SET rows = rows + excluded.rows
"""


def add_estimated_rows(location: str, rows: int, limit: int, today: date | None = None) -> None:
    """Add rows to a database's count for the day, which ends at midnight UTC.

    The count goes up before the query runs, in one transaction of a small SQLite file, so that processes side by side
    cannot pass the cap together. A query that then fails has counted all the same: what it read is not known.

    Raises:
        QueryTooCostly: The count would pass the cap; it stays as it was.
        DatabaseUnavailable: The count cannot be kept: without it, the cap could not be either.
    """
    day = (today or datetime.now(UTC).date()).isoformat()
    key = hashlib.sha256(location.encode("utf-8", "surrogatepass")).hexdigest()
    path = data_folder() / _FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)) as counts:
            counts.execute("BEGIN IMMEDIATE")
            counts.execute(_TABLE)
            counts.execute("DELETE FROM spent WHERE day < ?", (day,))
            row = counts.execute("SELECT rows FROM spent WHERE database = ? AND day = ?", (key, day)).fetchone()
            count = int(row[0]) if row else 0
            if count + rows > limit:
                raise QueryTooCostly(
                    f"with this query, the estimate of rows read today would exceed {limit:,} (estimated_rows_per_day);"
                    f" {count:,} are counted already: ask for less, continue after midnight UTC, or raise the setting"
                )
            # Beyond what SQLite can add up, one query is as good as all of them.
            counts.execute(_ADD, (key, day, rows))
            counts.execute("COMMIT")
    except (sqlite3.Error, OSError, OverflowError) as error:
        raise DatabaseUnavailable(
            f"the day's count of rows cannot be written to {path} ({error}): set TABLETURN_HOME to another folder, or"
            " leave estimated_rows_per_day out"
        ) from None


MOST_ROWS = 2**63 - 1  # of an estimate: more is in no checkpoint


@dataclass(frozen=True)
class Estimate:
    """An engine's estimate of a query's cost, which can be wrong by orders of magnitude.

    Attributes:
        rows: Rows that are read from tables and rows that joins produce, over all steps of the plan.
        bytes: Size of the columns that the query needs, in the rows that are read; None if the engine does not say.
        private: Whether the figures reveal rows that the session may not read. Such figures are compared with caps, but
            shown to nobody.
    """

    rows: int
    bytes: int | None = None
    private: bool = False


def lower_estimate_to_limit(estimate: Estimate, sql: str, dialect: str, rows: int) -> Estimate:
    """Return the estimate, lowered if the query only takes the first rows of one table.

    Plans tell of a step as if it were run to its end. Of whatever filters, joins, sorts or groups, nobody knows how
    soon its first rows are found, and the estimate stays.
    """
    try:
        tree = parse_statement(sql, dialect)
    except (SqlglotError, RecursionError):
        return estimate
    clauses = {name for name, value in tree.args.items() if value}
    tables = list(tree.find_all(exp.Table))
    only_takes = (
        isinstance(tree, exp.Select)
        and clauses <= {"kind", "expressions", "from_", "limit", "offset"}
        and len(tables) == 1
        and isinstance(tables[0].this, exp.Identifier)
        and tree.find(exp.AggFunc, exp.Window, exp.Subquery, exp.Distinct, exp.Unnest, exp.Anonymous) is None
    )
    row_count = min(rows, _read_row_limit(tree.args.get("limit"), rows)) + _read_row_limit(tree.args.get("offset"), 0)
    if not only_takes or estimate.rows <= row_count:
        return estimate
    byte_count = None if estimate.bytes is None else round(estimate.bytes * row_count / estimate.rows)
    return replace(estimate, rows=row_count, bytes=byte_count)


def _read_row_limit(clause: exp.Expr | None, default: int) -> int:
    if not isinstance(clause, exp.Limit | exp.Offset):
        return default
    number = clause.expression
    return int(number.this) if isinstance(number, exp.Literal) and number.is_int else 2**63
