"""Schemas: tables, columns and keys, as frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import is_
from typing import Literal, TypeVar

from .table import Cell

ColumnKind = Literal["text", "number", "time", "boolean", "binary", "other"]
"""What a column holds, by its declared type and, where that says nothing, by its values."""


@dataclass(frozen=True)
class CodeMeanings:
    """The meanings of a column's codes, from the small table that the column refers to."""

    table: str
    key: str  # its column that holds the codes
    label: str  # its column that says what they mean
    meanings: tuple[tuple[Cell, str], ...]  # pairs of both, in the order of the rows
    part: str = ""  # of a table that holds several lists, the name of this one


@dataclass(frozen=True)
class ColumnSchema:
    """The schema of a column: name, type, place in the key, samples and counts.

    Attributes:
        name: As declared, unquoted.
        type: The declared type, possibly empty.
        primary_key: 1-based position in the primary key; 0 outside it.
        generated: Whether it is computed by the database.
        comment: A comment from the DDL or an annotation; empty if none.
        samples: A few distinct non-null values, most frequent first.
        distinct: Number of distinct non-null values; None if not counted.
        nulls: Whether a NULL was seen; None if not looked for.
        likely_key: Whether it tells the rows of its table apart by its name and its values, if no key is declared.
    """

    name: str
    type: str = ""
    kind: ColumnKind = "text"
    primary_key: int = 0
    not_null: bool = False
    generated: bool = False
    comment: str = ""
    samples: tuple[Cell, ...] = ()
    distinct: int | None = None
    nulls: bool | None = None
    likely_key: bool = False
    codes: CodeMeanings | None = None


@dataclass(frozen=True)
class ForeignKey:
    """A reference from `columns` of `table` to `ref_columns` of `ref_table`, pairwise."""

    table: str
    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    inferred: bool = False  # not declared, but likely by name, type and inclusion of values

    @property
    def pairs(self) -> tuple[tuple[tuple[str, str], tuple[str, str]], ...]:
        """The pairs of columns that equal one another, each a (table, column)."""
        columns = zip(self.columns, self.ref_columns, strict=True)
        return tuple(((self.table, column), (self.ref_table, ref_column)) for column, ref_column in columns)


@dataclass(frozen=True)
class TableSchema:
    """The schema of a table, a view or a virtual table.

    Attributes:
        row_count: None if counting was not possible within its bound.
        total_columns: How many columns the table has; more than `len(columns)` in a part.
        definition: A view's query; empty for a table, and if the engine does not tell.
        unshown: Whether the definition names what the login may not read: it tells where secrets lie, and is not shown.
        brief: Whether of its columns names and keys are to be shown alone.
        like: A table shown before, with the same columns, if these are not to be shown again.
        schema: The one that queries name before it; empty if they need not. It stands in `name`, with a dot, unless the
            schemas to be looked through were chosen.
    """

    name: str
    columns: tuple[ColumnSchema, ...]
    kind: Literal["table", "view", "virtual"] = "table"
    row_count: int | None = None
    comment: str = ""
    total_columns: int = 0
    definition: str = ""
    unshown: bool = False
    brief: bool = False
    like: str = ""
    schema: str = ""

    def __post_init__(self) -> None:
        if self.total_columns < len(self.columns):
            object.__setattr__(self, "total_columns", len(self.columns))

    @cached_property
    def _columns_by_name(self) -> Mapping[str, ColumnSchema]:
        return _index_by_name(self.columns)

    def column(self, name: str) -> ColumnSchema | None:
        """Return a column by name, preferring the exact case; None if it does not exist."""
        return self._columns_by_name.get(name) or self._columns_by_name.get(name.lower())

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the table's qualified name: the schema, if shown, and the table."""
        return (self.schema, self.name.removeprefix(f"{self.schema}.")) if self.schema else (self.name,)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Names of the primary key's columns in key order; empty if none is declared."""
        parts = sorted((column for column in self.columns if column.primary_key), key=lambda column: column.primary_key)
        return tuple(column.name for column in parts)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Names of the columns of the primary key, or of the likely key if none is declared."""
        return self.primary_key or tuple(column.name for column in self.columns if column.likely_key)


@dataclass(frozen=True)
class Schema:
    """A database's schema, or a part of it.

    Attributes:
        tables: In the order in which they should be shown.
        foreign_keys: Only those whose two ends are in `tables`.
        version: Changes whenever the schema does; a key for caches.
        total_tables: How many tables the whole database has; more than `len(tables)` in a part.
        dialect: The SQL of its engine, by sqlglot's name.
        counted_at: When rows were counted and samples taken, in Unix seconds; 0 if they were not.
    """

    name: str
    tables: tuple[TableSchema, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    version: str = ""
    total_tables: int = 0
    dialect: str = "sqlite"
    counted_at: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        if self.total_tables < len(self.tables):
            object.__setattr__(self, "total_tables", len(self.tables))

    @property
    def total_columns(self) -> int:
        """The number of columns of the tables, including columns left out of this part."""
        return sum(table.total_columns for table in self.tables)

    @property
    def shown_column_count(self) -> int:
        """The number of table columns that are in this part of the schema."""
        return sum(len(table.columns) for table in self.tables)

    @property
    def is_partial(self) -> bool:
        """Whether tables or columns of the database are left out of this schema."""
        return self.total_tables > len(self.tables) or self.total_columns > self.shown_column_count

    @cached_property
    def _tables_by_name(self) -> Mapping[str, TableSchema]:
        return _index_by_name(self.tables)

    def table(self, name: str) -> TableSchema | None:
        """Return a table by name, preferring the exact case; None if it does not exist."""
        return self._tables_by_name.get(name) or self._tables_by_name.get(name.lower())

    def column(self, table: str, name: str) -> ColumnSchema | None:
        """Return a column by table and name, in any case; None if it does not exist."""
        table_schema = self.table(table)
        return table_schema.column(name) if table_schema else None

    def path(self, table: str) -> tuple[str, ...]:
        """Return the parts of a table's name; an unknown name is split at its dot."""
        table_schema = self.table(table)
        if table_schema is not None:
            return table_schema.path
        schema, _, name = table.partition(".") if self.dialect != "sqlite" else ("", "", table)
        return (schema, name) if schema and name else (table,)

    def as_complete_schema(self) -> Schema:
        """Return this part as a complete schema, as if the database had nothing else."""
        tables = tuple(replace(table, total_columns=len(table.columns)) for table in self.tables)
        return replace(self, tables=tables, total_tables=len(tables))

    def structure_only(self) -> Schema:
        """Return the schema without samples, counts, likely keys and meanings of codes."""

        def drop_samples_and_counts(table: TableSchema) -> TableSchema:
            columns = (replace(column, samples=(), distinct=None, nulls=None) for column in table.columns)
            return replace(table, columns=tuple(columns), row_count=None)

        schema = self.declared_only()
        keys = tuple(key for key in self.foreign_keys if not key.inferred)
        return replace(schema, tables=tuple(map(drop_samples_and_counts, schema.tables)), foreign_keys=keys)

    def declared_only(self) -> Schema:
        """Return the schema without likely keys, meanings of codes and view definitions."""
        likely = {(table.name, column.name) for table in self.tables for column in table.columns if column.likely_key}
        tables = tuple(
            replace(table, columns=tuple(map(_drop_inferred_facts, table.columns)), definition="")
            for table in self.tables
        )
        keys = tuple(
            key for key in self.foreign_keys if not (key.inferred and (key.ref_table, key.ref_columns[0]) in likely)
        )
        return replace(self, tables=tables, foreign_keys=keys)

    def part(self, keep: Sequence[tuple[str, Sequence[str]]]) -> Schema:
        """Return the named tables and columns, in this order, and the foreign keys between them.

        Names that do not exist are passed over.
        """
        # A turn asks for one part several times: the last ones are kept.
        return self._cached_partial_schema(tuple((name, tuple(names)) for name, names in keep))

    @cached_property
    def _cached_partial_schema(self) -> Callable[[tuple[tuple[str, tuple[str, ...]], ...]], Schema]:
        return lru_cache(maxsize=4)(self._make_partial_schema)

    def _make_partial_schema(self, keep: Sequence[tuple[str, Sequence[str]]]) -> Schema:
        tables: list[TableSchema] = []
        for name, names in keep:
            if table := self.table(name):
                columns = tuple(column for column in map(table.column, names) if column is not None)
                # Copies of hundreds of tables take time.
                is_whole = len(columns) == len(table.columns) and all(map(is_, columns, table.columns))
                tables.append(table if is_whole else replace(table, columns=columns))
        return replace(self, tables=tuple(tables), foreign_keys=select_keys_within_tables(self.foreign_keys, tables))


def select_keys_within_tables(keys: Iterable[ForeignKey], tables: Sequence[TableSchema]) -> tuple[ForeignKey, ...]:
    """Return the foreign keys whose columns, on both sides, are in the given tables."""
    tables_by_name = _index_by_name(tables)

    def has_all(name: str, columns: tuple[str, ...]) -> bool:
        table = tables_by_name.get(name) or tables_by_name.get(name.lower())
        return table is not None and all(map(table.column, columns))

    return tuple(key for key in keys if has_all(key.table, key.columns) and has_all(key.ref_table, key.ref_columns))


def _drop_inferred_facts(column: ColumnSchema) -> ColumnSchema:
    # Most columns of a large schema have neither, and copies take time.
    is_inferred = column.likely_key or column.codes is not None
    return replace(column, likely_key=False, codes=None) if is_inferred else column


_Named = TypeVar("_Named", ColumnSchema, TableSchema)


def _index_by_name(items: Sequence[_Named]) -> dict[str, _Named]:
    # As declared too: some engines tell `Name` from `name`.
    return {item.name.lower(): item for item in items} | {item.name: item for item in items}
