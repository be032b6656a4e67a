"""Spark as an `Engine`, through Spark Connect: one session per piece of work.

Spark has neither roles nor transactions of its own: what keeps a query from writing is its catalogue's grants, and here
three checks. The statement is read by a parser; it stands where Spark's own grammar lets nothing but a query stand; and
the plan that Spark makes of it is looked at before it runs.
"""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from ...errors import DatabaseUnavailable, ResultTooLarge, SettingsError, TableturnError
from ..column_kinds import infer_column_kind
from ..fetch import Row, RowCursor
from ..profile import ConnectionLost
from ..quoting import quote
from ..schema import ColumnSchema
from ..server.address import ServerAddress, hide_url_secrets, parse_server_url, redact_message
from ..server.catalogue import Catalogue, Relation
from ..server.connection import CUT, SHORT, Backend, Interrupter, ServerConnection, convert_to_cell
from ..server.engine import ServerEngine
from ..session import Session, compute_digest, make_comment
from ..table import Cell, Limits
from ..watchdog import WATCHDOG, RunningQuery
from .statements import GRAMMAR, PROFILE, TOO_LARGE, check_plan, check_text, convert_column, limit_rows, wrap_query

Client = Any
"""Pyspark's `SparkConnectClient`: an extra, without its types."""

# How long a query that is to end may go on before it has begun to work, so that there is work to end. On a busy server
# plans take seconds.
_PLANNING_SECONDS = 20.0
# The client writes every error that a query gives to the error output, with the statement and Java's stack.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


class PysparkDriver:
    """The parts of pyspark that are used, with warnings and logs kept off the terminal."""

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
        """Return a client that connects on first use."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            client = self._client.SparkConnectClient(url, use_reattachable_execute=False)
        # It would call again by itself for ten minutes.
        client.set_retry_policies([])
        return client

    def make_statement_plan(self, sql: str) -> Any:
        """Return a Spark Connect plan of one statement."""
        plan = self._messages.Plan()
        plan.root.sql.query = sql
        return plan

    def make_progress_request(self) -> Any:
        """Return a request that makes a Spark session report progress often."""
        operation = self._messages.ConfigRequest.Operation()
        operation.set.pairs.add(key="spark.connect.progress.reportInterval", value="200ms")
        return operation

    def rows(self, client: Client, sql: str) -> Iterator[Row]:
        """Yield the rows of a statement, as the server sends them."""
        # What else comes is the schema.
        for batch in client.to_table_as_iterator(self.make_statement_plan(sql), {}):
            if hasattr(batch, "to_pylist"):
                yield from zip(*(map(convert_to_cell, column.to_pylist()) for column in batch.columns), strict=True)


class SparkConnection(ServerConnection):
    """A Spark client that opens a new session for each piece of work."""

    def __init__(self, backend: SparkBackend) -> None:
        """Make a client that puts a comment, for the server's log, before each statement."""
        self._backend, self._driver = backend, backend.driver
        self.errors = self._driver.errors
        self._usable = True
        self._client = self._driver.connect(backend.address.url)
        self._remark = make_comment(backend.session.identity)
        self._begun = False
        self._seconds = 0.0
        self._running = ExitStack()
        self._works = False
        self._sent = 0.0
        self._interrupter = self._make_interrupter()
        self._client.register_progress_handler(self._record_progress)

    @property
    def is_usable(self) -> bool:
        return self._usable

    def read_version(self) -> str:
        return str(self.rows("SELECT version()")[0][0]).partition(" ")[0]

    def begin(self, seconds: float) -> None:
        # A new session, for a session believes what it once found of a table's files. There is no public way to one
        # that does not make, and keep to the end, a client for each.
        self._client._session_id = str(uuid4())
        self._client._server_session_id = None
        self._interrupter = self._make_interrupter()
        self._seconds = seconds
        self._sent = 0.0
        self._begun = True
        with self._watch_running_query():
            self._client.config(self._driver.make_progress_request())
        if self._backend.catalogue_name:
            self.rows(f"SET CATALOG {quote(self._backend.catalogue_name, 'spark')}")

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
        self._running.enter_context(self._watch_running_query())
        fields = self._analyse_statement(sql)
        types = [str(field.dataType.simpleString()) for field in fields]
        return RowCursor([str(field.name) for field in fields], self._send_statement(limit_rows(sql, types, limits)))

    def rows(self, sql: str) -> list[Row]:
        with self._watch_running_query():
            return list(self._send_statement(sql))

    def compile(self, sql: str) -> None:
        with self._watch_running_query():
            self._analyse_statement(sql)

    def make_error(self, error: Exception) -> TableturnError | ConnectionLost:
        return make_error(error, self._longest)

    def close(self) -> None:
        with suppress(*self.errors):
            self.end()
            self._client.close()

    def _analyse_statement(self, sql: str) -> list[Any]:
        """Check a statement's plan, and return its result columns, without running it."""
        plan = self._driver.make_statement_plan(self._remark + wrap_query(sql))
        fields: list[Any] = list(self._client.schema(plan).fields)
        check_plan(self._client.explain_string(plan, "extended"), self._backend.readable)
        return fields

    def _send_statement(self, sql: str) -> Iterator[Row]:
        self._works, self._sent = False, time.monotonic()
        return self._driver.rows(self._client, self._remark + sql)

    def _record_progress(self, stages: Iterable[object] | None = None, **_: object) -> None:
        self._works = self._works or bool(list(stages or ()))

    def _make_interrupter(self) -> Interrupter:
        def end_running(interrupt: Callable[[], None]) -> None:
            # Spark forgets a query that is interrupted while it is planned, and then works on it all the same, with
            # nothing left that could end it. So it is not interrupted before it works.
            if self._works or time.monotonic() - self._sent > _PLANNING_SECONDS:
                interrupt()

        return Interrupter(partial(end_running, self._client.interrupt_all), partial(end_running, self._client.close))

    def _watch_running_query(self) -> AbstractContextManager[RunningQuery]:
        # A session may have several statements at once.
        return WATCHDOG.watch(RunningQuery(self._interrupter.interrupt, time.monotonic() + self._seconds))


def make_error(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for an error of pyspark or gRPC, or for a closed channel."""
    condition = str(_call_method_if_present(error, "getCondition") or "").partition(".")[0]
    message = str(_call_method_if_present(error, "getMessage") or error)
    # Without the condition, which is its class here, and without state, place, plan and stack after it.
    for end in (" SQLSTATE: ", "\n\nJVM stacktrace", "\n== SQL"):
        message = message.partition(end)[0]
    if message.lstrip().startswith("["):
        message = message.partition("]")[2] or message
    message = redact_message(message)
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes: select less of it")
    faults = PROFILE.faults
    timeout = next((code for code, meaning in faults.items() if meaning == "ended" and f"[{code}]" in str(error)), "")
    state = str(_call_method_if_present(error, "getSqlState") or "")
    status = _call_method_if_present(error, "getGrpcStatusCode") or _call_method_if_present(error, "code")
    code = timeout or (state if faults.get(state) == "refused" else condition) or str(getattr(status, "name", "") or "")
    if not code:
        return ConnectionLost(message)
    result = PROFILE.make_error(code, message)
    return DatabaseUnavailable(f"Spark refuses the login: {message}") if type(result) is DatabaseUnavailable else result


def _call_method_if_present(error: Any, method: str) -> Any:
    function = getattr(error, method, None)
    return function() if callable(function) else None


_PORT = 15_002
_REFUSED = "Error occurred during query planning"
_PROBE = "tableturn_probe"
_PROBED = 3
_REMEDY = (
    "make one that only reads: in a catalogue that keeps grants (Unity Catalog, Polaris, Ranger), GRANT SELECT ON"
    " SCHEMA ... TO reader; where there is none, run the server as a user who may read the files but not write them"
)


Ask = Callable[[str], list[tuple[Cell, ...]]]
"""The rows of a statement of our own."""

# Tables are told one by one, which takes a server's answer each.
_AT_ONCE = 8
_SYSTEM = frozenset({"information_schema", "sys"})


class SparkBackend(Backend):
    """A catalogue of a Spark server, as one session uses it."""

    name = "Spark"
    dialect = "spark"
    grammar = GRAMMAR
    # A query is work shared out to machines, and takes a tenth of a second where it reads nothing.
    patience = 10.0

    def __init__(self, address: ServerAddress, driver: PysparkDriver, session: Session) -> None:
        catalogues = {name.rpartition(".")[0] for name in address.schemas}
        if len(catalogues) > 1:
            raise SettingsError(
                "the schemas must belong to one catalogue: write catalogue.schema with the same catalogue"
            )
        self.address, self.driver, self.session = address, driver, session
        self.catalogue_name = catalogues.pop() if catalogues else ""  # the catalogue; empty for the server's choice
        self._schemas = tuple(name.rpartition(".")[2] for name in address.schemas)
        self.readable: frozenset[tuple[str, str, str]] = frozenset()  # what plans may read
        try:
            url = urlsplit(address.url)
            host, port = url.hostname, url.port or _PORT
            driver.connect(address.url).close()
        except driver.errors as error:
            secrets = [part.partition("=")[2] for part in address.url.split(";")[1:] if part.startswith("token=")]
            raise DatabaseUnavailable(
                f"not a URL of Spark Connect: {hide_url_secrets(address.url)} ({redact_message(error, secrets)});"
                f" write sc://host:{_PORT}/;token=..."
            ) from None
        self.database = self._schemas[0] if self._schemas else self.catalogue_name or "spark"
        self.location = f"sc://{host}:{port}/{','.join(address.schemas)}"

    def with_session(self, session: Session) -> SparkBackend:
        return SparkBackend(self.address, self.driver, session)

    def connect(self) -> SparkConnection:
        return SparkConnection(self)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        # Tables that cannot be told, perhaps for want of a grant, are left out.
        ask = connection.rows
        catalogue, schemas, names = read_table_names(ask, self._schemas)

        def read_relation_or_error(name: tuple[str, str]) -> Relation | Exception:
            try:
                return _read_relation(*name, ask, in_first_schema=name[0] == schemas[0])
            except connection.errors as error:
                return error

        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tableturn-spark") as threads:
            results = list(threads.map(read_relation_or_error, names))
        relations = tuple(relation for relation in results if isinstance(relation, Relation))
        if names and not relations and "PARSE" in str(results[0]):
            raise DatabaseUnavailable("the server cannot describe its tables as JSON: Spark 4.0 or newer is needed")
        self.readable = frozenset((catalogue, relation.schema, relation.name) for relation in relations)
        functions = {str(name).rpartition(".")[2].lower() for (name,) in ask("SHOW USER FUNCTIONS")}
        return Catalogue(compute_digest(names, self.session.key), relations, user_functions=frozenset(functions))

    def catalogue_version(self, connection: ServerConnection) -> str:
        _, _, names = read_table_names(connection.rows, self._schemas)
        return compute_digest(names, self.session.key)

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return a line for each right beyond reading, and one line with the remedy.

        EXPLAIN is what asks: it plans a statement, with all that a catalogue has to say against it, and never runs it.
        What only the file system refuses is found when files are written, so that this is not seen.
        """

        def can_plan_statement(statement: str) -> bool:
            try:
                return not any(str(row[0]).startswith(_REFUSED) for row in connection.rows(f"EXPLAIN {statement}"))
            except connection.errors:
                return False

        _, schemas, names = read_table_names(connection.rows, self._schemas)
        tables = [qualify_table_name(*name) for name in names[:_PROBED]]
        lines: list[str] = []
        if can_plan_statement(f"CREATE TABLE {qualify_table_name(schemas[0], _PROBE)} (x INT)"):
            lines.append(f"Spark would let this login make tables in {schemas[0]}")
        if any(can_plan_statement(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 0") for table in tables):
            lines.append("Spark would let this login write to tables")
        return (*lines, _REMEDY) if lines else ()

    def check_text(self, statement: str) -> None:
        check_text(statement)

    def shorten_column(self, column: ColumnSchema) -> str:
        name = self.quote_identifier(column.name)
        value = convert_column(name, column.type)
        return name if value == name and column.kind in SHORT else f"left({value}, {CUT})"


def open_engine(url: str, session: Session) -> ServerEngine:
    """Open the Spark catalogue at a URL."""
    return ServerEngine(SparkBackend(parse_server_url(url, roles=False), PysparkDriver(), session), session)


def qualify_table_name(schema: str, name: str) -> str:
    """Return a table's name as SQL, qualified with the schema's name."""
    return f"{quote(schema, 'spark')}.{quote(name, 'spark')}"


def read_table_names(ask: Ask, schemas: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the catalogue, the schemas to read, and the schema and name of each table.

    The schemas are those named, else all, the current one first.
    """
    ((catalogue, current),) = ask("SELECT current_catalog(), current_schema()")
    other_schemas = () if schemas else sorted({str(row[0]) for row in ask("SHOW NAMESPACES")} - _SYSTEM - {current})
    schema_names = tuple(schemas) or (str(current), *other_schemas)
    names = [
        (schema, str(name))
        for schema in schema_names
        for of_schema, name, *_ in sorted(ask(f"SHOW TABLES IN {quote(schema, 'spark')}"), key=lambda row: str(row[1]))
        if of_schema  # what belongs to a session alone is of no schema
    ]
    return str(catalogue), schema_names, tuple(names)


def _read_relation(schema: str, name: str, ask: Ask, *, in_first_schema: bool) -> Relation:
    ((description,),) = ask(f"DESCRIBE TABLE EXTENDED {qualify_table_name(schema, name)} AS JSON")
    table: Mapping[str, Any] = json.loads(str(description))
    comment = str(table.get("comment") or "")
    if partitions := table.get("partition_columns"):
        comment = f"{comment} (partitioned by {', '.join(partitions)})".lstrip()
    return Relation(
        schema,
        name,
        name if in_first_schema else f"{schema}.{name}",
        tuple(map(_parse_column_description, table["columns"])),
        "view" if "VIEW" in str(table.get("type", "")) else "table",
        comment,
        (table.get("statistics") or {}).get("num_rows"),
    )


def _parse_column_description(description: Mapping[str, Any]) -> ColumnSchema:
    type_name = _render_type_as_sql(description["type"])
    return ColumnSchema(
        str(description["name"]),
        type_name,
        "text" if "<" in type_name else infer_column_kind(type_name, ()),
        not_null=not description.get("nullable", True),
        comment=str(description.get("comment") or ""),
    )


def _render_type_as_sql(type_: Mapping[str, Any]) -> str:
    """Render a type, given by its JSON description, as SQL."""
    name = str(type_["name"])
    if name == "decimal":
        return f"decimal({type_['precision']},{type_['scale']})"
    if name in ("char", "varchar"):
        return f"{name}({type_['length']})"
    if name == "array":
        return f"array<{_render_type_as_sql(type_['element_type'])}>"
    if name == "map":
        return f"map<{_render_type_as_sql(type_['key_type'])},{_render_type_as_sql(type_['value_type'])}>"
    if name == "struct":
        fields = (f"{field['name']}:{_render_type_as_sql(field['type'])}" for field in type_["fields"])
        return f"struct<{','.join(fields)}>"
    if name == "interval":
        return f"interval {type_.get('start_unit', '')} to {type_.get('end_unit', '')}".replace(" to None", "")
    return name
