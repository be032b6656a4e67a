"""A query in plain English."""

from __future__ import annotations

from ..database.schema import Schema
from .regular import regularize


def explain(sql: str, schema: Schema) -> str:
    """What a query means, in plain English; the same words for the same query.

    Args:
        sql: One SQLite query.
        schema: The database's schema.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    return regularize(sql, schema)
