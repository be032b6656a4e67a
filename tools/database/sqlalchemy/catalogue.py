"""Reading a catalogue through SQLAlchemy's inspector."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import sqlalchemy
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import DBAPIError, SAWarning, SQLAlchemyError
from sqlalchemy.types import NullType

from ..column_kinds import column_kind
from ..schema import ColumnSchema, ForeignKey
from ..server.catalogue import Catalogue, Relation, digest_names

_Key = tuple[str | None, str]


def names_version(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> str:
    """Changes with the names of tables and views: more would take reading all columns."""
    inspector = sqlalchemy.inspect(connection)
    names = [
        (schema, sorted(inspector.get_table_names(schema)), sorted(inspector.get_view_names(schema)))
        for schema in schemas
    ]
    return digest_names(names, owner)


def read_catalogue(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> Catalogue:
    """What the inspector sees.

    Args:
        connection: To ask.
        schemas: Those to read, None for the default one; the first is where names are looked up.
        owner: Who is asking: what is kept for one is not for another.
    """
    with warnings.catch_warnings():
        # Types that the dialect does not know are left without a name.
        warnings.simplefilter("ignore", SAWarning)
        return _read(connection, schemas, owner)


def _read(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> Catalogue:
    version = names_version(connection, schemas, owner)
    inspector = sqlalchemy.inspect(connection)
    default = inspector.default_schema_name or ""
    relations: dict[_Key, Relation] = {}
    keys: list[ForeignKey] = []
    for schema in schemas:
        views = set(inspector.get_view_names(schema))
        primary: dict[Any, Any] = inspector.get_multi_pk_constraint(schema)
        for name, columns in _columns(inspector, schema).items():
            keyed: list[str] = (primary.get((schema, name)) or {}).get("constrained_columns") or []
            relations[schema, name] = Relation(
                schema or default,
                name,
                name if schema == schemas[0] else f"{schema}.{name}",
                tuple(_column(column, keyed) for column in columns),
                "view" if name in views else "table",
            )
    for schema in schemas:
        for (_, name), references in inspector.get_multi_foreign_keys(schema).items():
            for reference in references:
                target = relations.get((reference["referred_schema"] or schema, reference["referred_table"]))
                source = relations.get((schema, name))
                if source is not None and target is not None:
                    ends = tuple(reference["constrained_columns"]), tuple(reference["referred_columns"])
                    keys.append(ForeignKey(source.shown, ends[0], target.shown, ends[1]))
    return Catalogue(version, tuple(relations.values()), tuple(keys))


def _columns(inspector: sqlalchemy.Inspector, schema: str | None) -> dict[str, Sequence[Any]]:
    """The columns of tables and views; views whose definition the login may not see are left out."""
    try:
        return {
            name: columns for (_, name), columns in inspector.get_multi_columns(schema, kind=ObjectKind.ANY).items()
        }
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
    # Some dialects read the columns of a view out of its definition, and one that is denied ends it for all.
    found: dict[str, Sequence[Any]] = {
        name: columns for (_, name), columns in inspector.get_multi_columns(schema, kind=ObjectKind.TABLE).items()
    }
    for name in inspector.get_view_names(schema):
        try:
            found[name] = inspector.get_columns(name, schema)
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
    return found


def _column(column: Any, keyed: Sequence[str]) -> ColumnSchema:
    declared = _declared(column["type"])
    name: str = column["name"]
    return ColumnSchema(
        name,
        declared,
        column_kind(declared, ()),
        primary_key=keyed.index(name) + 1 if name in keyed else 0,
        not_null=not column.get("nullable", True),
        generated=bool(column.get("computed")),
        comment=column.get("comment") or "",
    )


def _declared(type_: Any) -> str:
    if isinstance(type_, NullType):
        return ""
    try:
        return str(type_)
    except SQLAlchemyError:
        return type(type_).__name__
