"""Static checks of a query against a schema: what will fail, and what is likely not meant."""

from __future__ import annotations

from ..database.schema import Schema
from ..errors import SQLParseError
from .findings import Asked, ColumnValues, Finding
from .parse import parse
from .resolve import resolve


def check(
    sql: str, schema: Schema, *, values: ColumnValues | None = None, asked: Asked | None = None
) -> tuple[Finding, ...]:
    """Findings about a query, errors first.

    Args:
        sql: One SQLite query.
        schema: The database's schema.
        values: What columns hold, to check literals against; None leaves that out.
        asked: The question, to check the output columns against; None leaves that out.
    """
    try:
        parsed = parse(sql)
    except SQLParseError as error:
        return (Finding("syntax", "error", str(error)),)
    found: list[Finding] = []
    for reference in resolve(parsed.tree, schema).references:
        if reference.kind == "unknown":
            found.append(
                Finding("unknown_column", "error", f"There is no column {reference.column!r}.", reference.column)
            )
    return tuple(found)
