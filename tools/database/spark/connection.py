"""One connection to Spark Connect: a session of its own for each piece of work, results taken part by part."""

from __future__ import annotations

import logging
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Protocol
from uuid import uuid4

from ...errors import TableturnError
from ..duckdb.cells import cell
from ..server.catalogue import Catalogue
from ..server.connection import ConnectionLost
from ..server.interrupting import Interrupter
from ..table import Cell, Limits
from ..watchdog import WATCHDOG, RunningQuery
from .bounds import bounded, read_only
from .failures import failure

Row = tuple[Cell, ...]

_PROGRESS = ("spark.connect.progress.reportInterval", "200ms")
# How long a query that is to end may go on before it has begun to work, so that there is work to end. On a busy server
# plans take seconds.
_PLANNING_SECONDS = 20.0
# The client writes every error that a query gives to the error output, with the statement and Java's stack.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class Client(Protocol):
    """What is used of pyspark's `SparkConnectClient`."""

    def to_table_as_iterator(self, plan: Any, observations: dict[str, Any]) -> Iterator[Any]:
        """Runs a plan; Arrow tables, and its schema."""
        ...

    def schema(self, plan: Any) -> Any:
        """The columns that a plan gives."""
        ...

    def explain_string(self, plan: Any, explain_mode: str = "extended") -> str:
        """What Spark makes of a plan."""
        ...

    def set_retry_policies(self, policies: list[Any]) -> None:
        """How it calls again where it gets no answer, by itself for ten minutes."""
        ...

    def register_progress_handler(self, handler: Callable[..., None]) -> None:
        """Whom to tell how far a query is."""
        ...

    def config(self, operation: Any) -> Any:
        """Reads or changes settings of the session."""
        ...

    def interrupt_all(self) -> Any:
        """Ends all that the session runs."""
        ...

    def release_session(self) -> None:
        """Ends the session."""
        ...

    def close(self) -> None:
        """Hangs up."""
        ...


class Driver:
    """Pyspark, as far as it is used, imported with what it complains of and logs kept from the terminal."""

    def __init__(self) -> None:
        """Imports it.

        Raises:
            ImportError: It is not there.
        """
        with warnings.catch_warnings():
            # That it has not been tried with this version of pandas, which is not used here.
            warnings.simplefilter("ignore", FutureWarning)
            self._client = import_module("pyspark.sql.connect.client")
            self._messages = import_module("pyspark.sql.connect.proto")
            self.error: type[Exception] = import_module("pyspark.errors").PySparkException
            self.errors: tuple[type[Exception], ...] = (self.error, import_module("grpc").RpcError, ValueError)
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    def connect(self, url: str) -> Client:
        """A client, which calls the server when it is first used, and doesn't call again where it gets no answer."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            client: Client = self._client.SparkConnectClient(url, use_reattachable_execute=False)
        client.set_retry_policies([])
        return client

    def plan(self, sql: str) -> Any:
        """A plan of one statement."""
        plan = self._messages.Plan()
        plan.root.sql.query = sql
        return plan

    def setting(self, name: str, value: str) -> Any:
        """What changes a setting of a session."""
        operation = self._messages.ConfigRequest.Operation()
        pair = operation.set.pairs.add()
        pair.key, pair.value = name, value
        return operation

    def parts(self, client: Client, sql: str) -> Iterator[list[Row]]:
        """The rows of a statement, as the server sends them."""
        for part in client.to_table_as_iterator(self.plan(sql), {}):
            if hasattr(part, "to_pylist"):
                columns = [[cell(value) for value in column.to_pylist()] for column in part.columns]
                yield list(zip(*columns, strict=True))


class Rows:
    """The rows that the server sends; a cursor for `fetch`."""

    def __init__(self, columns: list[str], parts: Iterator[list[Row]]) -> None:
        self.description = [(name,) for name in columns]
        self._parts = parts
        self._held: deque[Row] = deque()

    def fetchmany(self, size: int) -> list[Row]:
        """The next rows."""
        while len(self._held) < size and (part := next(self._parts, None)) is not None:
            self._held.extend(part)
        return [self._held.popleft() for _ in range(min(size, len(self._held)))]


class SparkConnection:
    """See `ServerConnection`."""

    def __init__(
        self, client: Client, driver: Driver, remark: str, catalogue: str, check: Callable[[str], None]
    ) -> None:
        """Wraps a client.

        Args:
            client: To be used by this alone.
            driver: Where it comes from.
            remark: A comment before each statement.
            catalogue: The one to read; empty for the server's choice.
            check: Refuses a plan, as EXPLAIN tells it, that reads what it may not.
        """
        self.errors = driver.errors
        self.usable = True
        self._client = client
        self._driver = driver
        self._remark = remark
        self._catalogue = catalogue
        self._check = check
        self._longest = Limits().cell_bytes
        self._begun = False
        self._seconds = 0.0
        self._running: RunningQuery | None = None
        self._works = False
        self._sent = 0.0
        self._interrupter = Interrupter(self._ask, self._hang_up)
        self._version = ""
        client.register_progress_handler(self._hear)

    @property
    def version(self) -> str:
        """See `ServerConnection`."""
        if not self._version:
            self._version = str(self.rows("SELECT version()")[0][0]).partition(" ")[0]
        return self._version

    def begin(self, seconds: float) -> None:
        """See `ServerConnection`: a new session, for a session believes what it once found of a table's files."""
        renewed: Any = self._client
        # There is no public way to a new session that does not make, and keep to the end, a client for each.
        renewed._session_id = str(uuid4())
        renewed._server_session_id = None
        self._interrupter = Interrupter(self._ask, self._hang_up)
        self._seconds = seconds
        self._sent = 0.0
        self._begun = True
        with self._timed():
            self._client.config(self._driver.setting(*_PROGRESS))
        if self._catalogue:
            self.rows(f"SET CATALOG `{self._catalogue.replace('`', '``')}`")

    def end(self) -> None:
        """See `ServerConnection`: what still runs in the session ends with it."""
        if not self._begun:
            return
        self._begun = False
        self._release()
        try:
            self._client.release_session()
        except self.errors:
            self.usable = False

    def query(self, sql: str, limits: Limits) -> Rows:
        """See `ServerConnection`."""
        self._longest = limits.cell_bytes
        self._release()
        # Until the session ends, for nobody tells when the last row is fetched.
        self._running = self._watched()
        fields = self._analysed(sql)
        types = [str(field.dataType.simpleString()) for field in fields]
        return Rows([str(field.name) for field in fields], self._parts(bounded(sql, types, limits)))

    def notes(self) -> tuple[str, ...]:
        """See `ServerConnection`: there are none."""
        return ()

    def rows(self, sql: str) -> list[Row]:
        """See `ServerConnection`."""
        with self._timed():
            return [row for part in self._parts(sql) for row in part]

    def compile(self, sql: str) -> None:
        """See `ServerConnection`."""
        with self._timed():
            self._analysed(sql)

    def estimate(self, sql: str, catalogue: Catalogue) -> None:
        """See `ServerConnection`: not known, for Spark's plans tell of tables that were analysed alone."""

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        """See `ServerConnection`."""
        return failure(error, self._longest)

    def interrupt(self) -> None:
        """See `ServerConnection`."""
        self._interrupter.interrupt()

    def close(self) -> None:
        """See `ServerConnection`."""
        with suppress(*self.errors):
            self.end()
            self._client.close()

    def _analysed(self, sql: str) -> list[Any]:
        """The result's columns, told by the server without running the statement, once its plan has been looked at."""
        plan = self._driver.plan(self._remark + read_only(sql))
        fields: list[Any] = list(self._client.schema(plan).fields)
        self._check(self._client.explain_string(plan, "extended"))
        return fields

    def _parts(self, sql: str) -> Iterator[list[Row]]:
        self._works, self._sent = False, time.monotonic()
        return self._driver.parts(self._client, self._remark + sql)

    def _hear(self, stages: Iterable[object] | None = None, **_: object) -> None:
        self._works = self._works or bool(list(stages or ()))

    def _ask(self) -> None:
        """Interrupts what runs.

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

    def _watched(self) -> RunningQuery:
        """What ends the statement that comes next when its time is over; a session may have several at once."""
        query = RunningQuery(self._interrupter, time.monotonic() + self._seconds)
        WATCHDOG.watch(query)
        return query

    def _release(self) -> None:
        if self._running is not None:
            WATCHDOG.release(self._running)
            self._running = None

    @contextmanager
    def _timed(self) -> Generator[None]:
        query = self._watched()
        try:
            yield
        finally:
            WATCHDOG.release(query)
