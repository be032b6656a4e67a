"""Static checks of a query against a schema: what will fail, and what is likely not meant."""

from __future__ import annotations

from ...database.engine import Compiles, TooComplex, compile_check
from ...database.quoting import engine_name
from ...database.schema import Schema
from ...errors import SQLParseError
from ..findings import ColumnValues, FewLookUps, Finding
from ..parse import guard_depth
from ..query import Query
from .failure import failure_findings, limit_findings, name_findings
from .pitfalls import accepted_findings

_RANK = {"error": 0, "warning": 1, "info": 2}

_TOO_COMPLEX = Finding(
    "too_large",
    "warning",
    "The query is too complex to check: its common table expressions name each other too often.",
    suggestion="name each common table expression once or twice",
)


def check(
    sql: str,
    schema: Schema,
    *,
    values: ColumnValues | None = None,
    compiles: Compiles | None = None,
) -> tuple[Finding, ...]:
    """Return findings about a query, errors first; literals are looked up in `values`.

    The database is asked whether it would accept the query if `compiles` (`Engine.compile_check`) is given, else the
    dialect's own compiler, if it has one that needs no database; otherwise names alone are looked at.
    """
    compiles = compiles or compile_check(schema.dialect)
    try:
        return _check_parsed(sql, schema, values, compiles)
    except SQLParseError as error:
        return _check_unparsed(sql, str(error), schema, compiles)


@guard_depth
def _check_parsed(
    sql: str,
    schema: Schema,
    values: ColumnValues | None,
    compiles: Compiles | None,
) -> tuple[Finding, ...]:
    query = Query.of(sql, schema.dialect, schema)
    try:
        findings = _find_failures(sql, query, compiles) or list(limit_findings(query))
    except TooComplex:
        return (_TOO_COMPLEX,)
    if not findings:
        findings += accepted_findings(query, FewLookUps(values) if values else None)
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: _RANK[finding.severity]))


def _check_unparsed(sql: str, reason: str, schema: Schema, compiles: Compiles | None) -> tuple[Finding, ...]:
    engine = engine_name(schema.dialect)
    if compiles is None:
        return (Finding("syntax", "warning", f"This cannot be read as SQL of {engine}: {reason}"),)
    try:
        error = compiles(sql, [table for table in schema.tables if table.kind != "virtual"])
    except TooComplex:
        return (_TOO_COMPLEX,)
    if error is None:
        return (Finding("syntax", "info", f"{engine} accepts this query, but it cannot be checked further: {reason}"),)
    return tuple(failure_findings(sql, error, None, schema))


def _find_failures(sql: str, query: Query, compiles: Compiles | None) -> list[Finding]:
    tables = list(query.tables.values())
    if compiles is None or any(table.kind == "virtual" for table in tables):
        return list(name_findings(query))
    error = compiles(sql, tables)
    return [] if error is None else failure_findings(sql, error, query, query.schema)
