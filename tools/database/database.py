"""The read-only database, through which everything else reaches the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from ..errors import (
    QueryError,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    QueryTooCostly,
    ResultTooLarge,
    SettingsError,
)
from .dialects import check_selects_and_joins, get_sqlglot_dialect
from .egress import Egress, SchemaEgress
from .engine import ONLY_FILES, Engine, open_engine
from .estimate import Estimate, add_estimated_rows, lower_estimate_to_limit
from .fetch import Row, Sink
from .schema import Schema, TableSchema
from .secret_columns import is_secret_text
from .session import Identity, Permissions, Policy, Rights, Session
from .table import Cell, Limits, Table
from .watchdog import Cancellation

if TYPE_CHECKING:
    from .duckdb.engine import DuckDBEngine
    from .duckdb.notices import Notice
    from .engine import DatabaseSource

_DEFAULT_LIMITS = Limits()
_VALUES = Limits(result_bytes=200_000_000)
_PART_ROWS = 200_000


class Database:
    """A read-only database opened under a session, safe to use from many threads.

    Attributes:
        engine: What kind of database it is, and the connection to it.
        session: Who asks, and under which policy.
        name: Its short name.
        location: Where it is: a path, or a URL without its password.
        dialect: The SQL that it reads, by sqlglot's name.

    Examples:
        >>> with Database.open("sqlite:///shop.db") as database:
        ...     database.execute("SELECT count(*) FROM orders").rows
        ((830,),)
    """

    def __init__(self, engine: Engine, session: Session | None = None) -> None:
        """Use `Database.open` to make one."""
        self.engine = engine
        self.session = session or Session()
        self.name = engine.database
        self.location = engine.location
        self.dialect = engine.dialect
        self._leaving: SchemaEgress | None = None

    @property
    def rights(self) -> Rights:
        """The rights under which examples and notes are stored."""
        # The person counts only if the engine's rows depend on it.
        rights = self.session.rights
        return rights if self.rows_by_person else replace(rights, person="")

    @property
    def rows_by_person(self) -> bool:
        """Whether the engine may show different rows to different people."""
        return getattr(self.engine, "rows_by_person", True)

    @property
    def personal_tables(self) -> frozenset[str]:
        """The tables whose rows depend on who asks, if no person is named; else none."""
        personal: frozenset[str] = getattr(self.engine, "personal_tables", frozenset())
        return personal if personal and self.session.identity == Identity() else frozenset()

    @property
    def shared_session(self) -> Session:
        """The session for shared data, without the person if everybody sees the same rows."""
        return self.session if self.rows_by_person else replace(self.session, identity=Identity())

    @property
    def limits_note(self) -> str:
        """A note on the limits that cannot be enforced on this system; often empty."""
        return getattr(self.engine, "limits_note", "")

    @classmethod
    def open(
        cls,
        path_or_url: DatabaseSource,
        *,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        egress: Egress | Mapping[str, object] | None = None,
        session: Session | None = None,
        otherwise: Iterable[str] = (),
    ) -> Database:
        """Open a database for reading.

        Args:
            path_or_url: A path, or an SQLAlchemy-style URL such as `sqlite:///shop.db`; files of tables such as
                `sales.csv`, a folder or a pattern of them; a data frame, or a dict of them by the names of their
                tables; or LangChain's `SQLDatabase`.
            allow: What may be seen: `table` or `table.column` entries in any case, `*` for any run of characters.
                None: everything. Empty: nothing.
            deny: What may not; wins over `allow`. What is hidden can neither be read nor is it listed anywhere; a view
                that reads it is hidden with it, and so are generated columns and search indexes made from it. Not
                promised: the order of rows without ORDER BY, and time, which can depend on what is hidden.
            egress: What may leave for a model: `Egress`, or a mapping as in the table `[egress]` of a permissions file:
                `{"columns": {"customers.email": "none"}}`.
            session: Who asks under which policy, instead of `allow`, `deny` and `egress`.
            otherwise: Guesses about files to decide otherwise, by the words that `notices` and docs/databases.md give:
                `totals`, `dates`; `sales.totals` for one table.

        Raises:
            DatabaseUnavailable: The database is missing, empty, locked or damaged, or its kind is not supported.
            SettingsError: `allow` or `deny` names what the database doesn't have, or `egress` is no such mapping.
        """
        session = session or Session(policy=Policy(Permissions.of(allow, deny), Egress.of(egress)))
        return cls(open_engine(path_or_url, session, tuple(otherwise)), session)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about excess rights of the login and missing guarantees, with remedies."""
        return self.engine.warnings

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices on table files: guesses, possible pitfalls and likely keys.

        Of columns whose values may not leave, no cell is an example.
        """
        notices: tuple[Notice, ...] | None = getattr(self.engine, "notices", None)
        if notices is None:
            return ()
        from .duckdb.notices import list_likely_key_notices

        leaving = self.leaving()
        places = {item for table, column in leaving.column_levels for item in ((table, column), (table, ""))}
        return tuple(
            replace(note, example="") if (note.table, note.column) in places or is_secret_text(note.example) else note
            for note in (*notices, *list_likely_key_notices(leaving.visible_schema))
        )

    @property
    def tables_with_totals(self) -> frozenset[str]:
        """The tables read from files that still contain rows that may be totals."""
        if not (notices := getattr(self.engine, "notices", None)):
            return frozenset()
        from .duckdb.notices import KEPT_TOTALS

        return frozenset(notice.table for notice in notices if notice.kind == KEPT_TOTALS)

    def turn_guess(self, guess: str) -> None:
        """Reverse a guess about table files, or restore it; `guess` is a word that `open` accepts.

        Raises:
            SettingsError: There is no such guess, or the database is not made of files.
        """
        if getattr(self.engine, "notices", None) is None:
            raise SettingsError(ONLY_FILES)
        cast("DuckDBEngine", self.engine).turn_guess(guess)

    def for_user(self, identity: Identity, policy: Policy | None = None) -> Database:
        """Return the same database for another person, to be closed separately."""
        session = Session(identity, policy or self.session.policy)
        return Database(self.engine.with_session(session), session)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; queries that still run end by themselves."""
        self.engine.close()

    def execute(
        self, sql: str, limits: Limits | None = None, cancellation: Cancellation | None = None, sink: Sink | None = None
    ) -> Table:
        """Run one query and return the result.

        Args:
            sql: One statement that reads: SELECT, VALUES or WITH; EXPLAIN on SQLite alone. Elsewhere `estimate` tells
                what a plan costs.
            limits: What it may cost; `Limits()` if None.
            cancellation: Ends the query from another thread.
            sink: Takes the rows as they come, for results that are too large to be held; the table then has none.

        Raises:
            QueryRejected: It does what is not allowed.
            QueryFailed: The engine cannot run it; `kind` says why.
            QueryTimeout: It ran past its time or was cancelled.
            ResultTooLarge: A value, the result or the memory needed passed its limit.
            QueryTooCostly: It is expected to read more than it may.
            DatabaseUnavailable: The database is gone or damaged.
        """
        limits = limits or _DEFAULT_LIMITS
        check_statement_size(sql, limits)
        if limits.estimated_rows or limits.estimated_rows_per_day:
            self._check_query_cost(sql, limits)
        return self.engine.execute(sql, limits, cancellation, sink)

    def estimate(self, sql: str, limits: Limits | None = None) -> Estimate | None:
        """Return the engine's cost estimate for a query; None if the engine gives no estimate.

        Raises:
            QueryError: The engine would not run it.
            DatabaseUnavailable: The database is gone or damaged.
        """
        limits = limits or _DEFAULT_LIMITS
        check_statement_size(sql, limits)
        estimate = self.engine.estimate(sql)
        return None if estimate is None else lower_estimate_to_limit(estimate, sql, self.dialect, limits.rows + 1)

    def _check_query_cost(self, sql: str, limits: Limits) -> None:
        """Raise `QueryTooCostly` if a query may read too much, or if its cost is unknown."""
        estimate = self.estimate(sql, limits)
        if estimate is None:
            raise QueryTooCostly(
                f"{self.engine.name} cannot estimate how many rows this query would read, so estimated_rows and"
                " estimated_rows_per_day do not let it run: rewrite the query, or leave out these limits"
            )
        if limits.estimated_rows and estimate.rows > limits.estimated_rows:
            rows = "more" if estimate.private else f"{estimate.rows:,}"
            raise QueryTooCostly(
                f"this query is expected to read {rows} rows, and the limit is {limits.estimated_rows:,}"
                " (estimated_rows): filter by indexed columns, join on keys, or ask for less"
            )
        if limits.estimated_rows_per_day:
            add_estimated_rows(self.location, estimate.rows, limits.estimated_rows_per_day)

    def schema(self) -> Schema:
        """Return the schema that the session may read and that may be sent to a model.

        Raises:
            DatabaseUnavailable: The database is gone, damaged or locked.
            SettingsError: The policy's rules of what may leave name what the database doesn't have.
        """
        return self.leaving().visible_schema

    def leaving(self) -> SchemaEgress:
        """Return the egress rules applied to the current schema."""
        schema, policy = self.engine.schema(), self.session.policy
        egress = self._leaving
        if egress is None or egress.schema is not schema:
            egress = SchemaEgress(policy.egress, schema)
            if not policy.permissions:  # an entry for what is hidden from this person is no mistake
                egress.check()
            self._leaving = egress
        return egress

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        """Compile a query and return any error; raise `QueryTooComplex` if this takes too long."""
        try:
            check_statement_size(sql, _DEFAULT_LIMITS)
        except ResultTooLarge as error:
            return error
        return self.engine.compile_check(sql, tables)

    def gives_row(self, sql: str, seconds: float = 1.0) -> bool | None:
        """Whether a query returns any row; None if the query fails or takes too long."""
        try:
            return bool(self.execute(sql, replace(_DEFAULT_LIMITS, seconds=seconds, rows=1)).rows)
        except QueryError:
            return None

    def distinct_values(self, table: str, column: str, limit: int, seconds: float = 5.0) -> tuple[Cell, ...]:
        """Return distinct non-null values of one column, in no particular order.

        Raises:
            QueryFailed: There is no such table or column, or it is hidden.
        """
        table_schema = self.schema().table(table)
        if table_schema is None:
            raise QueryFailed(f"no such table: {table}", "unknown_table")
        column_schema = table_schema.column(column)
        if column_schema is None:
            raise QueryFailed(f"no such column: {table}.{column}", "unknown_column")
        column_name = partial(exp.column, column_schema.name, quoted=True)
        source, values = exp.table_(*reversed(table_schema.path), quoted=True), _ValueSink()
        part = exp.select(column_name(), copy=False).from_(source, copy=False).limit(_PART_ROWS, copy=False)
        # If a table cannot be read whole in time, the values of its first rows.
        slow = table_schema.name in getattr(self.engine, "slow_tables", ())
        for rows in (part.subquery("part", copy=False),) if slow else (source, part.subquery("part", copy=False)):
            has_value = exp.Not(this=exp.Is(this=column_name(), expression=exp.Null()))
            query = exp.select(column_name(), copy=False).distinct(copy=False).from_(rows, copy=False)
            query = query.where(has_value, copy=False).limit(limit, copy=False)
            sql = query.sql(get_sqlglot_dialect(self.dialect), copy=False)
            with suppress(QueryTimeout, ResultTooLarge):
                self.engine.execute(sql, replace(_VALUES, seconds=seconds, rows=limit), None, values)
                break
            if values.values:  # what was read until then will do
                break
        return tuple(values.values)


class _ValueSink:
    """A sink for the values of a single column."""

    def __init__(self) -> None:
        self.values: list[Cell] = []

    def start(self, columns: tuple[str, ...]) -> None:
        del columns
        self.values = []

    def take(self, rows: Sequence[Row]) -> None:
        self.values += [value for (value,) in rows]


def check_statement_size(sql: str, limits: Limits) -> None:
    """Raise `ResultTooLarge` if a statement has too many bytes, SELECTs or joins."""
    if not isinstance(sql, str):  # pyright: ignore[reportUnnecessaryIsInstance] - whatever a caller gave
        raise QueryRejected(f"a query must be text, not {type(sql).__name__}")
    size = len(sql.encode("utf-8", "surrogatepass"))
    if size > limits.sql_bytes:
        raise ResultTooLarge(f"the statement has {size:,} bytes; the limit is {limits.sql_bytes:,}")
    check_selects_and_joins(sql)


open_database = Database.open
