"""Statements of tests as queries."""

from __future__ import annotations

from tableturn.tools.database.schema import Schema
from tableturn.tools.sql import Query


def read(sql: str, schema: Schema) -> Query:
    """The analysis of a statement in the dialect of the schema."""
    return Query.of(sql, schema.dialect, schema)
