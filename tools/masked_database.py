"""Egress of queries and results to a model: the one place where its rules meet SQL.

A query that may read a column of which nothing may leave is not run here at all, only compiled: nothing that a model is
told, nor what the agent does next, can then depend on the column's cells. Whoever asked gets the rows from
`Database.execute`, outside of everything that is kept or sent.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from sqlglot import exp

from .database import Database, Estimate, Limits, QueryTooComplex, Table
from .database.database import check_statement_size
from .database.egress import Level, find_strictest_level
from .database.table import WITHHELD
from .database.watchdog import Cancellation
from .errors import QueryError, QueryFailed, SQLParseError, TableturnError
from .masking import mask
from .sql import Query
from .sql.reads import get_values_of_read_columns

_SAFE = frozenset({"timeout", "too_large", "rejected", "too_costly", "locked"})
"""Kinds of errors whose messages are our own."""


@dataclass(frozen=True)
class SentQueries:
    """The queries that were executed, and those that were rejected."""

    queries: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])


_SENT: ContextVar[SentQueries | None] = ContextVar("tableturn_sent", default=None)


@contextmanager
def record_queries() -> Generator[SentQueries]:
    """Yield a record to which every query executed in this context is added."""
    record = SentQueries()
    token = _SENT.set(record)
    try:
        yield record
    finally:
        _SENT.reset(token)


class MaskedDatabase:
    """A view of a database for a model, with withheld cells masked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_egress_level(self, sql: str) -> Level:
        """Return the egress level of a query's result."""
        leaving = self._database.leaving()
        if not leaving.column_levels:
            return "values"
        levels = get_values_of_read_columns(sql, leaving.schema, leaving.column_levels)
        return leaving.strictest_level if levels is None else find_strictest_level(levels)

    def execute(self, sql: str, limits: Limits | None = None, cancellation: Cancellation | None = None) -> Table:
        """Run the query and return the result with withheld cells masked.

        Of a query that reads a column of level `statistics`, every cell is withheld but counts; of one that reads a
        column of level `none`, the result as a whole: one row of marks stands for however many there are. So is the
        engine's message while running, as it may quote a value.
        """
        check_statement_size(sql, limits or Limits())
        record = _SENT.get() or SentQueries()
        record.queries.append(sql)
        try:
            return self._execute_with_masking(sql, limits, cancellation)
        except QueryError as error:
            if error.kind == "rejected":
                record.refused.append(sql)
            raise

    def _execute_with_masking(self, sql: str, limits: Limits | None, cancellation: Cancellation | None) -> Table:
        level = self.get_egress_level(sql)
        if level == "values":
            return self._database.execute(sql, limits, cancellation)
        self._check_query_compiles(sql)
        if level == "none":
            columns = tuple(item.alias_or_name or "result" for item in self._list_outputs(sql)) or ("result",)
            marks = (WITHHELD,) * len(columns)
            return Table(columns, ("text",) * len(columns), (marks,), False, 0.0, "all")
        try:
            return self._mask_result_cells(sql, self._database.execute(sql, limits, cancellation))
        except QueryError as error:
            if error.kind in _SAFE:
                raise
            raise QueryFailed("the query failed while it ran; the engine's message is withheld", error.kind) from None

    def estimate(self, sql: str, limits: Limits | None = None) -> Estimate | None:
        """Return the query's estimated cost; None if it is unknown or withheld."""
        try:
            estimate = self._database.estimate(sql, limits) if self.get_egress_level(sql) == "values" else None
        except TableturnError:
            return None
        return None if estimate is None or estimate.private else estimate

    def _check_query_compiles(self, sql: str) -> None:
        """Raise the engine's error if the query does not compile, without running the query."""
        schema = self._database.leaving().schema
        try:
            error = self._database.compile_check(sql, [table for table in schema.tables if table.kind != "virtual"])
        except QueryTooComplex:
            return
        if error is not None and not any(table.kind == "virtual" and table.name in sql for table in schema.tables):
            raise error

    def text(self, text: str) -> str:
        """Return the text with personal data masked, for a model."""
        return mask(text, self._database.session.policy.egress.mask)

    def _mask_result_cells(self, sql: str, table: Table) -> Table:
        """Return the result with all cells masked except counts."""
        outputs = self._list_outputs(sql)
        counts = [isinstance(item.unalias().unnest(), exp.Count) for item in outputs]
        # One that stands for any number of columns, none too, says nothing of which cells those after it are.
        expands = any(
            item.find(exp.Star, exp.Columns) for item, count in zip(outputs, counts, strict=True) if not count
        )
        if expands or len(counts) != len(table.columns):
            counts = [False] * len(table.columns)
        rows = tuple(
            tuple(cell if count else WITHHELD for cell, count in zip(row, counts, strict=True)) for row in table.rows
        )
        return replace(table, rows=rows, withheld="cells", notes=())

    def _list_outputs(self, sql: str) -> list[exp.Expr]:
        """Return the output expressions of a single SELECT; empty for any other query."""
        try:
            tree = Query.of(sql, self._database.dialect).tree
        except SQLParseError:
            return []
        return list(tree.expressions) if isinstance(tree, exp.Select) else []
