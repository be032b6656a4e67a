"""An audit trail as JSON lines: who asked what, which query answered, and what was refused."""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import re
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..tools.errors import AuditError, QueryError, SettingsError, TableturnError
from ..tools.examples import database_identity

if TYPE_CHECKING:
    from ..tools.database import Cancellation, Database, Limits, Table
    from .resources import Resources

R = TypeVar("R")

_BEGINNING = re.compile(rb'\{"time": "[\dT:.+-]*(?:", "user": "|\Z)')
"""How a trail begins, also one whose first line was cut short."""


@dataclass(frozen=True)
class AuditRecord:
    """A line of the audit trail: a turn, or a query that a person ran outside of turns.

    Cells of the database are nowhere in it, but for those that a question or a query names.
    """

    time: str  # when it was written, in ISO 8601, UTC
    user: str  # the person's name; the login name of this process where nobody is named
    thread: str  # the conversation; a name of its own for a single question
    database: str  # which was asked, as answers name it
    question: str
    sql: str | None = None  # behind the answer
    rows: int = 0  # rows given
    # As answers have it, `error` or `cancelled`; of queries that a person ran beside turns, `run` (of their own),
    # `read` (an answer's, page by page) or `exported` (an answer's, to a file).
    status: str = ""
    refused: tuple[str, ...] = ()  # queries that were turned down: they write, or reach for what may not be read
    queries: tuple[str, ...] = ()  # all queries that were sent to the database, the refused ones included
    error: str = ""  # for `error`, the kind of error


class AuditTrail:
    """A file of `AuditRecord` lines, private to its owner, safe for threads and processes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._open_file() as file:
                info = os.fstat(file.fileno())
                start = os.pread(file.fileno(), 64, 0) if stat.S_ISREG(info.st_mode) else None
        except OSError as error:
            raise SettingsError(f"cannot write an audit trail to {path}: {error.strerror or error}") from None
        if start is None or (start and not _BEGINNING.match(start)):
            raise SettingsError(f"{path} is not an audit trail: name a new file, or one that --audit created")

    def write(self, record: AuditRecord) -> None:
        """Append a record to the file, and sync the file to disk.

        Raises:
            AuditError: It could not be written.
        """
        line = json.dumps(asdict(record)).encode() + b"\n"
        try:
            with self._open_file() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                _append_line(file.fileno(), line)
                os.fsync(file)
        except OSError as error:
            reason = error.strerror or error
            raise AuditError(
                f"the answer is not given, because the audit trail {self.path} cannot be written: {reason}"
            ) from None

    def _open_file(self) -> FileIO:
        """Open the file for appending, and for reading how it begins."""
        return FileIO(self.path, "a+", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK, 0o600))


def _append_line(descriptor: int, line: bytes) -> None:
    """Append a whole line to a file; if that fails, leave the file unchanged."""
    before = os.fstat(descriptor).st_size
    if before and os.pread(descriptor, 1, before - 1) != b"\n":
        line = b"\n" + line  # a process was killed while it wrote
    remainder = memoryview(line)
    try:
        while remainder:
            remainder = remainder[os.write(descriptor, remainder) :]
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def make_record(database: Database, thread: str, question: str, **fields: Any) -> AuditRecord:
    """Return an audit record for a turn, or for a query outside of turns, with the time."""
    try:
        user = database.session.identity.name or getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        user = str(os.getuid())
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return AuditRecord(now, user, thread, database_identity(database), question, **fields)


@dataclass(frozen=True)
class AuditedQuery:
    """A query to audit, and the answer that it belongs to."""

    sql: str
    question: str = ""  # of the answer whose query it is, or in whose place it runs; empty where there is none
    thread: str = ""  # that answer's conversation


def run_query(
    query: AuditedQuery, resources: Resources, limits: Limits, cancellation: Cancellation | None = None
) -> Table:
    """Run a query that a person wrote, and record the query in the audit trail."""

    def call_sql_tool() -> Table:
        outcome = resources.tools.run_sql.call(sql=query.sql, limits=limits, cancellation=cancellation)
        if isinstance(outcome, QueryError):
            raise outcome
        return outcome

    return run_and_audit_query(query, "run", resources, call_sql_tool, lambda table: len(table.rows))


def run_and_audit_query(
    query: AuditedQuery, status: str, resources: Resources, function: Callable[[], R], rows: Callable[[R], int]
) -> R:
    """Call a function that runs a query, and record the query in the audit trail."""
    audit, database = resources.audit, resources.database
    if audit is None:
        return function()
    record = partial(make_record, database, query.thread, query.question, queries=(query.sql,))
    try:
        result = function()
    except TableturnError as error:
        was_rejected = isinstance(error, QueryError) and error.kind == "rejected"
        audit.write(record(status="error", error=type(error).__name__, refused=(query.sql,) if was_rejected else ()))
        raise
    audit.write(record(status=status, sql=query.sql, rows=rows(result)))
    return result
