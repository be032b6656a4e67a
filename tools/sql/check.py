"""Static checks of a query against a schema: what will fail, and what is likely not meant."""

from __future__ import annotations

from ..database.schema import Schema
from ..errors import SQLParseError
from .check_failure import failure_findings, limit_findings, name_findings
from .check_groups import group_findings
from .check_joins import join_findings
from .check_mentions import mention_findings
from .check_outputs import output_findings
from .check_predicates import predicate_findings
from .engine import TooComplex, refusal
from .findings import Asked, ColumnValues, Finding
from .parse import parse
from .resolve import resolve
from .scope import Resolution

_RANK = {"error": 0, "warning": 1, "info": 2}

_TOO_COMPLEX = Finding(
    "too_large",
    "warning",
    "The query is too complex to check: its common table expressions name each other too often.",
    suggestion="name each common table expression once or twice",
)


def check(
    sql: str, schema: Schema, *, values: ColumnValues | None = None, asked: Asked | None = None
) -> tuple[Finding, ...]:
    """Findings about a query, errors first. Does not touch the database.

    Args:
        sql: One SQLite query, as it would be sent to the database.
        schema: The database's schema.
        values: What columns hold, to check literals against; None leaves that out.
        asked: The question, to check output columns and constants against; None leaves that out.
    """
    try:
        parsed = parse(sql)
    except SQLParseError as error:
        return _unparsed(sql, str(error), schema)
    resolution = resolve(parsed.tree, schema)
    try:
        found = _failures(sql, resolution, schema) or list(limit_findings(parsed.tree))
    except TooComplex:
        return (_TOO_COMPLEX,)
    if not found:
        found += join_findings(resolution, schema)
        found += group_findings(resolution)
        found += predicate_findings(resolution, values)
        if asked is not None:
            found += output_findings(asked, parsed.tree, resolution)
            found += mention_findings(asked.mentions, sql)
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: _RANK[finding.severity]))


def _unparsed(sql: str, reason: str, schema: Schema) -> tuple[Finding, ...]:
    try:
        error = refusal(sql, (table for table in schema.tables if table.kind != "virtual"))
    except TooComplex:
        return (_TOO_COMPLEX,)
    if error is None:
        return (Finding("syntax", "info", f"SQLite accepts this query, but it cannot be checked further: {reason}"),)
    return tuple(failure_findings(sql, error, None, schema))


def _failures(sql: str, resolution: Resolution, schema: Schema) -> list[Finding]:
    sources = [source for scope in resolution.scopes for source in scope.sources]
    if any(source.table is not None and source.table.kind == "virtual" for source in sources):
        return list(name_findings(resolution, schema))
    tables = {source.table.name: source.table for source in sources if source.table is not None}
    error = refusal(sql, tables.values())
    return [] if error is None else failure_findings(sql, error, resolution, schema)
