"""Static checks of a query against a schema: what will fail, and what is likely not meant."""

from __future__ import annotations

from ...database.engine import Compiles, QueryTooComplex, get_compile_check
from ...database.quoting import get_engine_name
from ...database.schema import Schema
from ...errors import SQLParseError
from ..findings import ColumnValueLookup, Finding, LimitedValueLookup
from ..parse import guard_nesting_depth
from ..query import Query
from .failure import find_failure_causes, find_invalid_limits, find_invalid_names
from .pitfalls import find_query_pitfalls

_RANK = {"error": 0, "warning": 1, "info": 2}

_TOO_COMPLEX = Finding(
    "too_large",
    "warning",
    "The query is too complex to check: its common table expressions name each other too often.",
    suggestion="name each common table expression once or twice",
)


def check(
    sql: str, schema: Schema, *, values: ColumnValueLookup | None = None, compiles: Compiles | None = None
) -> tuple[Finding, ...]:
    """Check a query against a schema and return the findings, errors first.

    The database is asked whether it would accept the query if `compiles` (`Engine.compile_check`) is given, else the
    dialect's own compiler, if it has one that needs no database; otherwise names alone are looked at.
    """
    compiles = compiles or get_compile_check(schema.dialect)
    try:
        return _check_parsed_query(sql, schema, values, compiles)
    except SQLParseError as error:
        return _check_unparsed_query(sql, str(error), schema, compiles)


@guard_nesting_depth
def _check_parsed_query(
    sql: str, schema: Schema, values: ColumnValueLookup | None, compiles: Compiles | None
) -> tuple[Finding, ...]:
    query = Query.of(sql, schema.dialect, schema)
    try:
        findings = _find_query_errors(sql, query, compiles) or list(find_invalid_limits(query))
    except QueryTooComplex:
        return (_TOO_COMPLEX,)
    if not findings:
        findings += find_query_pitfalls(query, LimitedValueLookup(values) if values else None)
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: _RANK[finding.severity]))


def _check_unparsed_query(sql: str, reason: str, schema: Schema, compiles: Compiles | None) -> tuple[Finding, ...]:
    engine = get_engine_name(schema.dialect)
    if compiles is None:
        return (Finding("syntax", "warning", f"This cannot be read as SQL of {engine}: {reason}"),)
    try:
        error = compiles(sql, [table for table in schema.tables if table.kind != "virtual"])
    except QueryTooComplex:
        return (_TOO_COMPLEX,)
    if error is None:
        return (Finding("syntax", "info", f"{engine} accepts this query, but it cannot be checked further: {reason}"),)
    return tuple(find_failure_causes(sql, error, None, schema))


def _find_query_errors(sql: str, query: Query, compiles: Compiles | None) -> list[Finding]:
    tables = list(query.tables.values())
    if compiles is None or any(table.kind == "virtual" for table in tables):
        return list(find_invalid_names(query))
    error = compiles(sql, tables)
    return [] if error is None else find_failure_causes(sql, error, query, query.schema)
