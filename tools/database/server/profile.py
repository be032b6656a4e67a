"""The schema with what the tables hold: counts and samples, from few rows and within a bound on time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...errors import QueryError
from ..column_kinds import column_kind
from ..infer_keys import infer_keys
from ..schema import ColumnSchema, Schema, TableSchema
from ..table import Cell
from .catalogue import Catalogue, Relation
from .connection import Backend, ConnectionLost, ServerConnection

_ROWS = 200
_SAMPLES = 8
# For all tables together, and for one: a view can take any time.
_SECONDS = 1.5
_SECONDS_A_QUERY = 0.25
_INCLUDED_ROWS = 1_000
_COUNTED_ROWS = 100_000


def read_schema(connection: ServerConnection, backend: Backend, catalogue: Catalogue, patience: float = 1.0) -> Schema:
    """The schema, with samples of as many tables as there is time for.

    Args:
        connection: In a transaction of the session's person, so that samples and counts obey its policies.
        backend: The kind of server.
        catalogue: What the session may read.
        patience: How many times as long as on a usual server it may take.
    """
    profiler = _Profiler(connection, backend, patience)
    tables = [profiler.table(relation) for relation in catalogue.relations]
    relations = {relation.shown: relation for relation in catalogue.relations}

    def includes(table: str, column: str, ref_table: str, ref_column: str) -> bool:
        return profiler.includes(relations[table], column, relations[ref_table], ref_column)

    keys = (*catalogue.foreign_keys, *infer_keys(tables, catalogue.foreign_keys, includes))
    return Schema(backend.database, tuple(tables), keys, catalogue.version, dialect=backend.dialect)


@dataclass
class _Profiler:
    """Looks at table after table until its time is used up; later tables then have no samples."""

    connection: ServerConnection
    backend: Backend
    patience: float

    def __post_init__(self) -> None:
        self._until = time.monotonic() + _SECONDS * self.patience
        self._begin()

    def table(self, relation: Relation) -> TableSchema:
        rows = self._rows(self.backend.sample(relation, _ROWS + 1))
        complete = rows is not None and len(rows) <= _ROWS
        held = list(zip(*rows, strict=True)) if rows else [()] * len(relation.columns)
        return TableSchema(
            relation.shown,
            tuple(
                _column(column, values, seen=rows is not None, complete=complete)
                for column, values in zip(relation.columns, held, strict=True)
            ),
            relation.kind,
            len(rows) if complete and rows is not None else self._count(relation),
            relation.comment,
        )

    def _count(self, relation: Relation) -> int | None:
        """Counted where there are few; else by the server's statistics; None where it has none."""
        if relation.kind == "view" or (relation.estimate or 0) > _COUNTED_ROWS:
            return relation.estimate
        source = self.backend.source(relation)
        rows = self._rows(f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {_COUNTED_ROWS + 1}) AS part")
        count = rows[0][0] if rows else None
        return count if isinstance(count, int) and count <= _COUNTED_ROWS else relation.estimate

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
        """The rows of a query; None if there was no time for it, or it failed."""
        if time.monotonic() > self._until:
            return None
        try:
            return self.connection.rows(sql)
        except self.connection.errors as error:
            failed = self.connection.failure(error)
            if isinstance(failed, ConnectionLost):
                raise failed from None
            if not isinstance(failed, QueryError):
                raise failed from None
            self.connection.end()
            self._begin()
            return None

    def _begin(self) -> None:
        self.connection.end()
        self.connection.begin(_SECONDS_A_QUERY * self.patience)


def _column(column: ColumnSchema, values: Sequence[Cell], *, seen: bool, complete: bool) -> ColumnSchema:
    counts = Counter(values)
    nulls = counts.pop(None, 0) > 0
    samples = column.samples or tuple([value for value, _ in counts.most_common(_SAMPLES)])
    return replace(
        column,
        kind=column.kind if column.kind != "other" else column_kind(column.type, samples),
        samples=samples,
        distinct=len(counts) if complete else None,
        nulls=nulls if seen else None,
    )
