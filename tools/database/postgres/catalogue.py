"""Reading PostgreSQL's catalogue: a handful of queries, however many tables there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ..column_kinds import column_kind
from ..schema import ColumnKind, ColumnSchema, ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..table import Cell

_LABELS = 20
# By `pg_type.typcategory`: arrays, shapes, rows and ranges have no kind of their own.
_KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys("AGCR", "other"),
    **dict.fromkeys("DT", "time"),
    "N": "number",
    "B": "boolean",
    "S": "text",
}

# Tables, partitioned tables (their partitions are left out), views, materialised views and foreign tables that the
# role may read, but those that belong to an extension: they tell of the server, not of the data.
_READABLE = """
    SELECT c.oid, c.relname, c.relkind, c.reltuples, c.xmin, n.oid AS namespace, n.nspname
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' {only}
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass
                      AND d.objid = c.oid AND d.deptype = 'e')
"""

_VERSION = """
    WITH readable AS ({readable})
    SELECT md5(coalesce(string_agg(concat_ws(' ', r.oid, r.xmin, r.nspname, r.relname, a.told), ',' ORDER BY r.oid), '')
               || concat_ws(' ', current_schemas(false), session_user, current_user,
                            (SELECT max(d.xmin::text::bigint) FROM pg_catalog.pg_description d),
                            (SELECT count(*) FROM pg_catalog.pg_enum),
                            (SELECT concat(count(*), ' ', max(oid)) FROM pg_catalog.pg_proc)))
    FROM readable r
    JOIN (SELECT attrelid, sum(xmin::text::bigint * (attnum + 1)) AS told FROM pg_catalog.pg_attribute
          WHERE attnum > 0 GROUP BY attrelid) a ON a.attrelid = r.oid
"""

_RELATIONS = """
    WITH readable AS ({readable})
    SELECT r.oid, r.nspname, r.relname, pg_catalog.pg_table_is_visible(r.oid), r.relkind, d.description,
           CASE WHEN r.reltuples >= 0 AND r.relkind IN ('r', 'p', 'm') AND NOT row_security_active(r.oid)
                THEN r.reltuples::bigint END,
           CASE WHEN r.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(r.oid) END
    FROM readable r
    LEFT JOIN pg_catalog.pg_description d
      ON d.objoid = r.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
    ORDER BY array_position(current_schemas(false), r.nspname), r.nspname, r.oid
"""

_COLUMNS = """
    WITH readable AS ({readable})
    SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
           a.attgenerated <> '', d.description, a.atttypid, t.typtype, t.typcategory
    FROM readable r
    JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_description d
      ON d.objoid = r.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = a.attnum
    WHERE pg_catalog.has_column_privilege(r.oid, a.attnum, 'SELECT')
    ORDER BY a.attrelid, a.attnum
"""

_KEYS = """
    WITH readable AS ({readable})
    SELECT k.contype, k.conrelid, array_to_string(k.conkey, ' '), k.confrelid, array_to_string(k.confkey, ' ')
    FROM pg_catalog.pg_constraint k JOIN readable r ON r.oid = k.conrelid
    WHERE k.contype IN ('p', 'f') AND k.conparentid = 0
    ORDER BY k.conrelid, k.oid
"""

# Functions that people made, and whether each can be called on a row as if it were a column.
_FUNCTIONS = """
    SELECT DISTINCT lower(p.proname), coalesce(t.typtype IN ('c', 'p', 'd'), false)
    FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    WHERE p.pronamespace <> 'pg_catalog'::regnamespace AND p.pronamespace <> 'information_schema'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass
                      AND d.objid = p.oid AND d.deptype = 'e')
"""

_ENUMS = "SELECT enumtypid, enumlabel FROM pg_catalog.pg_enum ORDER BY enumtypid, enumsortorder"


class Asks(Protocol):
    """What answers queries of our own."""

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """All rows."""
        ...


def readable(schemas: Sequence[str]) -> str:
    """A query for what may be read, in these schemas or, if there are none, in all."""
    listed = ", ".join("'" + name.replace("'", "''") + "'" for name in schemas)
    return _READABLE.format(only=f"AND n.nspname IN ({listed})" if schemas else "")


def catalogue_version(connection: Asks, found: str, owner: str) -> str:
    """Changes with tables, columns, comments, privileges and the path.

    Args:
        connection: To ask.
        found: See `readable`.
        owner: Who is asking: what is kept for one is not for another.
    """
    ((told,),) = connection.rows(_VERSION.format(readable=found))
    return f"{told}{owner}"


def read_catalogue(connection: Asks, found: str, owner: str) -> Catalogue:
    """What the role may read; the parameters are those of `catalogue_version`."""
    version = catalogue_version(connection, found, owner)
    labels: dict[Cell, list[Cell]] = {}
    for type_, label in connection.rows(_ENUMS):
        labels.setdefault(type_, []).append(label)
    columns: dict[Cell, dict[Cell, ColumnSchema]] = {}
    types: set[str] = set()
    for row in connection.rows(_COLUMNS.format(readable=found)):
        table, number, name, declared, not_null, generated, comment, type_, class_, category = row
        columns.setdefault(table, {})[number] = ColumnSchema(
            str(name),
            str(declared),
            _kind(str(declared), str(class_), str(category)),
            not_null=bool(not_null),
            generated=bool(generated),
            comment=str(comment or ""),
            samples=tuple(labels.get(type_, ())[:_LABELS]),
        )
        if class_ != "b":
            types.add(str(declared).replace('"', "").lower())
    keys = connection.rows(_KEYS.format(readable=found))
    _mark_primary_keys(keys, columns)
    relations = {
        table: Relation(
            str(schema),
            str(name),
            str(name) if visible else f"{schema}.{name}",
            tuple(columns[table].values()),
            "view" if kind in ("v", "m") else "table",
            str(comment or ""),
            estimate if isinstance(estimate, int) else None,
            str(query or ""),
        )
        for table, schema, name, visible, kind, comment, estimate, query in connection.rows(
            _RELATIONS.format(readable=found)
        )
        if table in columns
    }
    functions = connection.rows(_FUNCTIONS)
    return Catalogue(
        version,
        tuple(relations.values()),
        tuple(_references(keys, columns, relations)),
        frozenset(types),
        own_functions=frozenset(str(name) for name, _ in functions),
        row_functions=frozenset(str(name) for name, on_row in functions if on_row),
    )


def _kind(declared: str, class_: str, category: str) -> ColumnKind:
    """By the type's category, which domains share; `other` is left to the values."""
    if class_ == "e":
        return "text"
    return _KINDS.get(category) or column_kind(declared, ())


def _mark_primary_keys(keys: Sequence[tuple[Cell, ...]], columns: Mapping[Cell, dict[Cell, ColumnSchema]]) -> None:
    for kind, table, numbers, _, _ in keys:
        for position, number in enumerate(map(int, str(numbers).split()), 1):
            column = columns[table].get(number)
            if kind == "p" and column is not None:
                columns[table][number] = replace(column, primary_key=position)


def _references(
    keys: Sequence[tuple[Cell, ...]],
    columns: Mapping[Cell, Mapping[Cell, ColumnSchema]],
    relations: Mapping[Cell, Relation],
) -> Iterator[ForeignKey]:
    """The foreign keys of which all may be read, at both ends."""
    for kind, table, numbers, ref_table, ref_numbers in keys:
        if kind != "f" or table not in relations or ref_table not in relations:
            continue
        pairs = list(zip(map(int, str(numbers).split()), map(int, str(ref_numbers).split()), strict=True))
        if all(number in columns[table] and ref_number in columns[ref_table] for number, ref_number in pairs):
            yield ForeignKey(
                relations[table].shown,
                tuple(columns[table][number].name for number, _ in pairs),
                relations[ref_table].shown,
                tuple(columns[ref_table][number].name for _, number in pairs),
            )
