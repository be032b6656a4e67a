"""The schema with what the tables hold: counts and samples, from few rows and by few queries.

Work is counted in queries, each of few rows: what is found of a database is the same however busy the server is, and so
is the prompt that shows it. Time alone ends what hangs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import QueryError
from ..codes import Rows, few_rows
from ..profiling import completed, observed
from ..schema import Schema, TableSchema
from ..table import Cell
from .catalogue import Catalogue, Relation
from .connection import Backend, ServerConnection

_ROWS = 200
# For all tables together, on a usual server; two for each table, one for each key that is likely.
_QUERIES = 1_000
# For what hangs, as a view may: no other query comes near it. After so many of them nothing more is looked at.
_SECONDS_A_QUERY = 1.0
_LATE = 4
_INCLUDED_ROWS = 1_000
_COUNTED_ROWS = 100_000


def read_schema(connection: ServerConnection, backend: Backend, catalogue: Catalogue) -> Schema:
    """Return the schema, with samples of as many tables as there are queries for.

    The connection is in a transaction of the session's person, so that samples and counts obey its policies.
    """
    profiler = _Profiler(connection, backend)
    tables = tuple(map(profiler.table, catalogue.relations))
    relations = {relation.shown: relation for relation in catalogue.relations}
    return completed(
        Schema(backend.database, tables, catalogue.foreign_keys, catalogue.version, dialect=backend.dialect),
        profiler.rows_of,
        lambda table, column: profiler.uniqueness(relations[table], column),
        lambda table, column, target, name: profiler.includes(relations[table], column, relations[target], name),
    )


@dataclass
class _Profiler:
    """Looks at table after table until its queries are used up; later tables then have no samples."""

    connection: ServerConnection
    backend: Backend

    def __post_init__(self) -> None:
        self.rows_of: dict[str, Rows] = {}
        self._left = int(_QUERIES / self.backend.patience)
        self._late = 0
        self._begin()

    def table(self, relation: Relation) -> TableSchema:
        rows = self._rows(self.backend.sample(relation, _ROWS + 1))
        complete = rows is not None and len(rows) <= _ROWS
        held = list(zip(*rows, strict=True)) if rows else [()] * len(relation.columns)
        if complete and rows:
            self.rows_of[relation.shown] = few_rows([column.name for column in relation.columns], rows)
        return TableSchema(
            relation.shown,
            tuple(
                observed(column, values, seen=rows is not None, complete=complete)
                for column, values in zip(relation.columns, held, strict=True)
            ),
            relation.kind,
            len(rows) if complete and rows is not None else self._count(relation),
            relation.comment,
            definition=relation.definition,
            unshown=relation.unshown,
            schema=relation.schema if relation.shown != relation.name else "",
        )

    def _count(self, relation: Relation) -> int | None:
        """Counted where there are few; else by the server's statistics; None where it has none."""
        if relation.kind == "view" or (relation.estimate or 0) > _COUNTED_ROWS:
            return relation.estimate
        source = self.backend.source(relation)
        rows = self._rows(f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {_COUNTED_ROWS + 1}) AS part")
        count = rows[0][0] if rows else None
        return count if isinstance(count, int) and count <= _COUNTED_ROWS else relation.estimate

    def uniqueness(self, relation: Relation, column: str) -> tuple[int, int] | None:
        """How many of the first rows there are, and how many values of a column are in them."""
        name, source = self.backend.quoted(column), self.backend.source(relation)
        rows = self._rows(
            f"SELECT count(*), count(DISTINCT part.v) FROM"
            f" (SELECT {name} AS v FROM {source} LIMIT {_COUNTED_ROWS}) AS part"
        )
        if not rows:
            return None
        seen, distinct = rows[0]
        return (seen, distinct) if isinstance(seen, int) and isinstance(distinct, int) else None

    def includes(self, relation: Relation, column: str, target: Relation, ref_column: str) -> bool:
        """Whether values of a column, as far as looked at, all stand in another one; False where there are none."""
        quoted = self.backend.quoted
        name, ref_name = quoted(column), quoted(ref_column)
        source, ref_source = self.backend.source(relation), self.backend.source(target)
        rows = self._rows(
            f"SELECT count(*), sum(CASE WHEN EXISTS (SELECT 1 FROM {ref_source} AS r WHERE r.{ref_name} = d.v)"
            f" THEN 1 ELSE 0 END) FROM (SELECT DISTINCT s.{name} AS v FROM"
            f" (SELECT {name} FROM {source} LIMIT {_INCLUDED_ROWS}) AS s WHERE s.{name} IS NOT NULL) AS d"
        )
        return bool(rows and rows[0][0] and rows[0][0] == rows[0][1])

    def _rows(self, sql: str) -> list[tuple[Cell, ...]] | None:
        """The rows of a query; None if it was one too many, took too long, or failed."""
        if self._left <= 0 or self._late >= _LATE:
            return None
        self._left -= 1
        try:
            return self.connection.rows(sql)
        except self.connection.errors as error:
            failed = self.connection.failure(error)
            if not isinstance(failed, QueryError):
                raise failed from None
            self._late += failed.kind in ("timeout", "locked")
            self.connection.end()
            self._begin()
            return None

    def _begin(self) -> None:
        self.connection.end()
        self.connection.begin(_SECONDS_A_QUERY * self.backend.patience)
