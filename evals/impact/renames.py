"""Tables and columns that were renamed between two schemas, and queries carried over to their new names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from ...tools.database import Schema, TableSchema
from ...tools.database.quoting import naming
from ...tools.errors import SQLParseError
from ...tools.sql.parse import parse
from ...tools.sql.resolve import resolve


@dataclass(frozen=True)
class Renames:
    """What seems to have been renamed: a guess by form, to be confirmed by equal rows.

    Attributes:
        tables: New name by old name, both as declared.
        columns: New name by table and column, as they were called before.
    """

    tables: Mapping[str, str]
    columns: Mapping[tuple[str, str], str]

    @classmethod
    def between(cls, before: Schema, after: Schema) -> Renames:
        """Compares two schemas."""
        tables = dict(_renamed_tables(before, after))
        columns: dict[tuple[str, str], str] = {}
        for table in before.tables:
            now = after.table(tables.get(table.name, table.name))
            if now is not None:
                columns |= {(table.name, old): new for old, new in _renamed_columns(table, now)}
        return cls(tables, columns)

    def carried(self, sql: str, before: Schema) -> str:
        """A query with the new names; empty where nothing that it reads was renamed, or it cannot be read."""
        try:
            tree = parse(sql, before.dialect).tree.copy()
        except SQLParseError:
            return ""
        found = resolve(tree, before)
        changed = False
        for reference in found.references:
            table = reference.source.table if reference.source else None
            new = self.columns.get((table.name, reference.column)) if table else None
            if new is not None and reference.kind == "column":
                changed = True
                reference.node.set("this", _identifier(new, before.dialect))
        for scope in found.scopes:
            for source in scope.sources:
                new = self.tables.get(source.table.name) if source.table else None
                if new is not None and isinstance(source.node, exp.Table):
                    changed = True
                    if not source.node.alias:
                        source.node.set("alias", exp.TableAlias(this=source.node.this.copy()))
                    source.node.set("this", _identifier(new, before.dialect))
        return tree.sql(before.dialect) if changed else ""


def _identifier(name: str, dialect: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=not naming(dialect).is_plain(name))


def _renamed_tables(before: Schema, after: Schema) -> Iterator[tuple[str, str]]:
    """A table that is gone is the only new one with the same columns."""
    new = [table for table in after.tables if before.table(table.name) is None]
    for table in before.tables:
        if after.table(table.name) is None:
            alike = [other for other in new if _columns(other) == _columns(table)]
            if len(alike) == 1:
                yield table.name, alike[0].name


def _renamed_columns(before: TableSchema, after: TableSchema) -> Iterator[tuple[str, str]]:
    """Columns that are gone are, in their order, the new ones of the same type, where there are as many."""
    gone = [column for column in before.columns if after.column(column.name) is None]
    new = [column for column in after.columns if before.column(column.name) is None]
    for kind in dict.fromkeys(column.type.lower() for column in gone):
        old_ones = [column.name for column in gone if column.type.lower() == kind]
        new_ones = [column.name for column in new if column.type.lower() == kind]
        if len(old_ones) == len(new_ones):
            yield from zip(old_ones, new_ones, strict=True)


def _columns(table: TableSchema) -> frozenset[str]:
    return frozenset(column.name.lower() for column in table.columns)
