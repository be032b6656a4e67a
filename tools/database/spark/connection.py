"""One connection to Spark Connect: a session of its own for each piece of work, results taken part by part."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

from ...errors import DatabaseUnavailable, ResultTooLarge, TableturnError
from ..fetch import Row, RowCursor
from ..profile import ConnectionLost
from ..quoting import quoted
from ..server.cells import cell
from ..server.connection import Interrupter, ServerConnection
from ..table import Limits
from ..watchdog import WATCHDOG, RunningQuery
from .statements import PROFILE, TOO_LARGE, bounded, read_only

Client = Any
"""Pyspark's `SparkConnectClient`: an extra, without its types."""

# How long a query that is to end may go on before it has begun to work, so that there is work to end. On a busy server
# plans take seconds.
_PLANNING_SECONDS = 20.0
# The client writes every error that a query gives to the error output, with the statement and Java's stack.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class Driver:
    """Pyspark, as far as it is used, imported with what it complains of and logs kept from the terminal."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # That it has not been tried with this version of pandas, which is not used here.
            warnings.simplefilter("ignore", FutureWarning)
            self._client = import_module("pyspark.sql.connect.client")
            self._messages = import_module("pyspark.sql.connect.proto")
            error: type[Exception] = import_module("pyspark.errors").PySparkException
            self.errors: tuple[type[Exception], ...] = (error, import_module("grpc").RpcError, ValueError)
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def connect(self, url: str) -> Client:
        """Return a client, which calls the server when it is first used, and only once where it gets no answer."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            client = self._client.SparkConnectClient(url, use_reattachable_execute=False)
        # It would call again by itself for ten minutes.
        client.set_retry_policies([])
        return client

    def plan(self, sql: str) -> Any:
        """Return a plan of one statement."""
        plan = self._messages.Plan()
        plan.root.sql.query = sql
        return plan

    def reporting(self) -> Any:
        """Return what has a session report often how far a query is."""
        operation = self._messages.ConfigRequest.Operation()
        operation.set.pairs.add(key="spark.connect.progress.reportInterval", value="200ms")
        return operation

    def rows(self, client: Client, sql: str) -> Iterator[Row]:
        """Yield the rows of a statement, as the server sends them."""
        # What else comes is the schema.
        for part in client.to_table_as_iterator(self.plan(sql), {}):
            if hasattr(part, "to_pylist"):
                yield from zip(*([cell(value) for value in column.to_pylist()] for column in part.columns), strict=True)


class SparkConnection(ServerConnection):
    """A client, whose sessions last for a piece of work each."""

    def __init__(self, driver: Driver, url: str, remark: str, catalogue: str, check: Callable[[str], None]) -> None:
        """Make a client that puts a remark before each statement.

        `catalogue` is empty for the server's choice; `check` refuses a plan, as EXPLAIN tells it.
        """
        self.errors = driver.errors
        self._usable = True
        self._driver = driver
        self._client = driver.connect(url)
        self._remark = remark
        self._catalogue = catalogue
        self._check = check
        self._longest = Limits().cell_bytes
        self._begun = False
        self._seconds = 0.0
        self._running = ExitStack()
        self._works = False
        self._sent = 0.0
        self._interrupter = Interrupter(self._ask, self._hang_up)
        self._client.register_progress_handler(self._hear)

    @property
    def usable(self) -> bool:
        return self._usable

    def read_version(self) -> str:
        return str(self.rows("SELECT version()")[0][0]).partition(" ")[0]

    def begin(self, seconds: float) -> None:
        # A new session, for a session believes what it once found of a table's files. There is no public way to one
        # that does not make, and keep to the end, a client for each.
        self._client._session_id = str(uuid4())
        self._client._server_session_id = None
        self._interrupter = Interrupter(self._ask, self._hang_up)
        self._seconds = seconds
        self._sent = 0.0
        self._begun = True
        with self._timed():
            self._client.config(self._driver.reporting())
        if self._catalogue:
            self.rows(f"SET CATALOG {quoted(self._catalogue, 'spark')}")

    def end(self) -> None:
        # What still runs in the session ends with it.
        if not self._begun:
            return
        self._begun = False
        self._running.close()
        try:
            self._client.release_session()
        except self.errors:
            self._usable = False

    def query(self, sql: str, limits: Limits) -> RowCursor:
        self._longest = limits.cell_bytes
        self._running.close()
        # Until the session ends, for nobody tells when the last row is fetched.
        self._running.enter_context(self._timed())
        fields = self._analysed(sql)
        types = [str(field.dataType.simpleString()) for field in fields]
        return RowCursor([str(field.name) for field in fields], self._send(bounded(sql, types, limits)))

    def rows(self, sql: str) -> list[Row]:
        with self._timed():
            return list(self._send(sql))

    def compile(self, sql: str) -> None:
        with self._timed():
            self._analysed(sql)

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        return failure(error, self._longest)

    def close(self) -> None:
        with suppress(*self.errors):
            self.end()
            self._client.close()

    def _analysed(self, sql: str) -> list[Any]:
        """Return the result's columns, told without running the statement, once its plan has been looked at."""
        plan = self._driver.plan(self._remark + read_only(sql))
        fields: list[Any] = list(self._client.schema(plan).fields)
        self._check(self._client.explain_string(plan, "extended"))
        return fields

    def _send(self, sql: str) -> Iterator[Row]:
        self._works, self._sent = False, time.monotonic()
        return self._driver.rows(self._client, self._remark + sql)

    def _hear(self, stages: Iterable[object] | None = None, **_: object) -> None:
        self._works = self._works or bool(list(stages or ()))

    def _ask(self) -> None:
        """Interrupt what runs.

        Spark forgets a query that is interrupted while it is planned, and then works on it all the same, with nothing
        left that could end it. So it is not interrupted before it works.
        """
        if self._can_end():
            self._client.interrupt_all()

    def _hang_up(self) -> None:
        if self._can_end():
            self._client.close()

    def _can_end(self) -> bool:
        return self._works or time.monotonic() - self._sent > _PLANNING_SECONDS

    def _timed(self) -> AbstractContextManager[RunningQuery]:
        """End the statements of a block when their time is over; a session may have several at once."""
        return WATCHDOG.watching(RunningQuery(self._interrupter, time.monotonic() + self._seconds))


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for a `PySparkException`, an error of gRPC's, or what a closed channel raises."""
    condition = str(_told(error, "getCondition") or "").partition(".")[0]
    message = _one_line(str(_told(error, "getMessage") or error))
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes: select less of it")
    faults = PROFILE.faults
    ended = next((code for code, meaning in faults.items() if meaning == "ended" and f"[{code}]" in str(error)), "")
    state = str(_told(error, "getSqlState") or "")
    status = _told(error, "getGrpcStatusCode") or _told(error, "code")
    code = ended or (state if faults.get(state) == "refused" else condition) or str(getattr(status, "name", "") or "")
    if not code:
        return ConnectionLost(message)
    found = PROFILE.failure(code, message)
    return DatabaseUnavailable(f"Spark refuses the login: {message}") if type(found) is DatabaseUnavailable else found


def _told(error: Any, method: str) -> Any:
    asked = getattr(error, method, None)
    return asked() if callable(asked) else None


def _one_line(message: str) -> str:
    """Return it without the condition, which is its class here, and without state, place, plan and stack after it."""
    for end in (" SQLSTATE: ", "\n\nJVM stacktrace", "\n== SQL"):
        message = message.partition(end)[0]
    if message.lstrip().startswith("["):
        message = message.partition("]")[2] or message
    return " ".join(message.split())[:300]
