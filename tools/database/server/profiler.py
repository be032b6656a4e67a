"""Profiles of a server's tables: counts and samples from few rows and queries.

Work is counted in queries, each of few rows: what is found of a database is the same however busy the server is, and so
is the prompt that shows it. Time alone ends what hangs.
"""

from __future__ import annotations

from typing import Any

from ...errors import QueryError
from ..codes import Rows, make_code_table_rows
from ..profiling import add_inferred_keys_and_codes, add_statistics
from ..schema import Schema, TableSchema
from ..table import Cell
from .catalogue import Catalogue, Relation
from .connection import Backend, ServerConnection

_ROWS = 200
# For all tables together, on a usual server; two for each table, one for each key that is likely.
_QUERIES = 1_000
# For what hangs, as a view may: no other query comes near it. After so many of them nothing more is looked at.
_SECONDS_A_QUERY = 1.0
_MAX_TIMEOUTS = 4
_INCLUDED_ROWS = 1_000
_COUNTED_ROWS = 100_000


def read_schema(connection: ServerConnection, backend: Backend, catalogue: Catalogue) -> Schema:
    """Return the schema, with sample values of as many tables as the query budget allows.

    The connection is in a transaction of the session's person, so that samples and counts obey its policies.
    """
    profiler = _TableProfiler(connection, backend, catalogue)
    tables = tuple(map(profiler.profile_table, catalogue.relations))
    return add_inferred_keys_and_codes(
        Schema(backend.database, tables, catalogue.foreign_keys, catalogue.version, dialect=backend.dialect),
        profiler.rows,
        profiler.count_distinct_values,
        profiler.is_column_subset,
    )


class _TableProfiler:
    """A table profiler with a query budget; tables after the last query have no samples."""

    def __init__(self, connection: ServerConnection, backend: Backend, catalogue: Catalogue) -> None:
        self.connection, self.backend = connection, backend
        self.rows: dict[str, Rows] = {}
        self._sources = {relation.shown_name: backend.source(relation) for relation in catalogue.relations}
        self._queries_left = int(_QUERIES / backend.patience)
        self._late = 0
        self._restart_transaction()

    def profile_table(self, relation: Relation) -> TableSchema:
        rows = self._read_query_rows(self.backend.make_sample_sql(relation, _ROWS + 1))
        complete = rows is not None and len(rows) <= _ROWS
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(relation.columns)
        if complete and rows:
            self.rows[relation.shown_name] = make_code_table_rows([column.name for column in relation.columns], rows)
        return TableSchema(
            relation.shown_name,
            tuple(
                add_statistics(column, values, read=rows is not None, complete=complete)
                for column, values in zip(relation.columns, columns, strict=True)
            ),
            relation.kind,
            len(rows) if complete and rows is not None else self._count_rows(relation),
            relation.comment,
            definition=relation.definition,
            unshown=relation.unshown,
            schema="" if relation.shown_name == relation.name and self._is_found_alone(relation) else relation.schema,
        )

    def _is_found_alone(self, relation: Relation) -> bool:
        """Whether the server's own client finds a table without its schema's name."""
        return self.backend.default_schema in (None, relation.schema)

    def _count_rows(self, relation: Relation) -> int | None:
        """Return the number of a table's rows: counted if small, else from server statistics."""
        if relation.kind == "view" or (relation.estimate or 0) > _COUNTED_ROWS:
            return relation.estimate
        source = self._sources[relation.shown_name]
        rows = self._read_query_rows(f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {_COUNTED_ROWS + 1}) AS part")
        count = rows[0][0] if rows else None
        return count if isinstance(count, int) and count <= _COUNTED_ROWS else relation.estimate

    def count_distinct_values(self, table: str, column: str) -> tuple[int, int] | None:
        """Return the number of a table's first rows and of a column's distinct values in them."""
        part = f"SELECT {self.backend.quote_identifier(column)} AS v FROM {self._sources[table]} LIMIT {_COUNTED_ROWS}"
        rows: Any = self._read_query_rows(f"SELECT count(*), count(DISTINCT part.v) FROM ({part}) AS part")
        return rows[0] if rows else None

    def is_column_subset(self, table: str, column: str, ref_table: str, ref_column: str) -> bool:
        """Whether `ref_column` has every value of `column`'s first rows; False if there are none."""
        name, ref_name = self.backend.quote_identifier(column), self.backend.quote_identifier(ref_column)
        rows = self._read_query_rows(
            f"SELECT count(*), sum(CASE WHEN EXISTS (SELECT 1 FROM {self._sources[ref_table]} AS r WHERE"
            f" r.{ref_name} = d.v) THEN 1 ELSE 0 END) FROM (SELECT DISTINCT s.{name} AS v FROM"
            f" (SELECT {name} FROM {self._sources[table]} LIMIT {_INCLUDED_ROWS}) AS s WHERE s.{name} IS NOT NULL) AS d"
        )
        return bool(rows and rows[0][0] and rows[0][0] == rows[0][1])

    def _read_query_rows(self, sql: str) -> list[tuple[Cell, ...]] | None:
        """Return the rows of a query; None if it failed, was too slow or the budget is spent."""
        if self._queries_left <= 0 or self._late >= _MAX_TIMEOUTS:
            return None
        self._queries_left -= 1
        try:
            return self.connection.rows(sql)
        except self.connection.errors as error:
            failure = self.connection.make_error(error)
            if not isinstance(failure, QueryError):
                raise failure from None
            self._late += failure.kind in ("timeout", "locked")
            self.connection.end()
            self._restart_transaction()
            return None

    def _restart_transaction(self) -> None:
        self.connection.end()
        self.connection.begin(_SECONDS_A_QUERY * self.backend.patience)
