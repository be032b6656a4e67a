"""The SQL of the engine: queries are built and read back as SQLite's, and put into the engine's own on the way out."""

from __future__ import annotations

from ...tools.database.schema import Schema
from ...tools.errors import SQLParseError
from ...tools.sql import transpile

_OWN = "sqlite"


def to_engine(sql: str, schema: Schema) -> str:
    """A query that was built here, as the database's engine reads it."""
    return transpile(sql, _OWN, schema.dialect, schema)


def from_engine(sql: str, schema: Schema) -> str:
    """A query of the conversation, as it is read here; empty where it cannot be put so."""
    try:
        return transpile(sql, schema.dialect, _OWN, schema)
    except SQLParseError:
        return ""
