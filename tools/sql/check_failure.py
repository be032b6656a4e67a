"""Why SQLite will refuse a query, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from ..errors import QueryError, QueryErrorKind
from .advice import instead_of, syntax_advice
from .findings import Finding
from .names import fold
from .parse import SQLITE
from .scope import Reference, Resolution, Source
from .suggest import join_path, nearest_names, one_of, path_between

_FUNCTION = re.compile(r"function:? (\w+)")
_WHOLE = re.compile(r"\s*[-+]?(\d+(\.0*)?|0x[0-9a-fA-F]+)(e\+?\d+)?\s*", re.IGNORECASE)
_NEAR = re.compile(r'near "(.*?)"')


def failure_findings(sql: str, error: QueryError, resolution: Resolution | None, schema: Schema) -> list[Finding]:
    """Findings for a query that SQLite refuses, the one for SQLite's own message first.

    Args:
        sql: As it would be sent.
        error: SQLite's refusal.
        resolution: The query's names; None if it could not be parsed.
        schema: The database's schema.
    """
    kind, message = error.kind, str(error)
    found = list(name_findings(resolution, schema)) if resolution is not None else []
    of_kind = [finding for finding in found if finding.kind == kind]
    if of_kind:
        return _named_first(of_kind, message) + [finding for finding in found if finding.kind != kind]
    return [_plain_finding(kind, sql, message, resolution, schema), *found]


def name_findings(resolution: Resolution, schema: Schema) -> Iterator[Finding]:
    """Tables and columns that don't exist or are ambiguous, with the nearest right ones."""
    for scope in resolution.scopes:
        for source in scope.sources:
            if not source.known:
                yield _unknown_table(source, schema)
    seen: set[str] = set()
    for reference in resolution.references:
        finding = _reference_finding(reference, resolution, schema)
        if finding is not None and finding.place not in seen:
            seen.add(finding.place)
            yield finding


def limit_findings(tree: exp.Expr) -> Iterator[Finding]:
    """LIMIT and OFFSET with what is no whole number, which SQLite only tells once the query runs."""
    for clause in tree.find_all(exp.Limit, exp.Offset):
        given = clause.expression
        if isinstance(given, exp.Null) or (isinstance(given, exp.Literal) and not _WHOLE.fullmatch(given.name)):
            place = clause.sql(dialect=SQLITE).strip()
            yield Finding("other", "error", "The limit is no whole number.", place, "write a whole number")


def _named_first(findings: list[Finding], message: str) -> list[Finding]:
    """Those whose place SQLite's message names, before the others."""
    named = fold(message.rpartition(": ")[2])
    return sorted(findings, key=lambda finding: fold(finding.place) != named)


def _unknown_table(source: Source, schema: Schema) -> Finding:
    near = nearest_names(source.node.name, (table.name for table in schema.tables))
    names = [table.name for table in schema.tables[:12]]
    suggestion = f"use {one_of(near)}" if near else f"the tables are {', '.join(names)}"
    return Finding("unknown_table", "error", f"There is no table {source.node.name}.", source.node.name, suggestion)


def _reference_finding(reference: Reference, resolution: Resolution, schema: Schema) -> Finding | None:
    place = reference.node.sql(dialect=SQLITE)
    if reference.kind == "ambiguous":
        choices = [f"{source.label}.{reference.column}" for source in reference.candidates]
        message = f"The column {place} is in more than one table of the query."
        return Finding("ambiguous_column", "error", message, place, f"write {one_of(choices)}")
    if reference.kind == "unknown":
        return _unknown_column(reference, place, schema)
    if reference.kind == "unknown_source":
        return _unknown_source(reference, place, resolution, schema)
    return None


def _unknown_column(reference: Reference, place: str, schema: Schema) -> Finding:
    sources = _reachable(reference) if reference.source is None else [reference.source]
    read = one_of([source.node.name or source.label for source in sources]) or "the query"
    message = f"There is no column {reference.column} in {read}."
    return Finding("unknown_column", "error", message, place, _right_column(reference, sources, schema))


def _right_column(reference: Reference, sources: list[Source], schema: Schema) -> str:
    """What to write for a column that the sources lack; its very name elsewhere says more than a similar one here."""
    reachable = _reachable(reference)
    owners = [source for source in reachable if fold(reference.column) in (source.columns or {})]
    if owners:
        return f"use {owners[0].label}.{reference.column}"
    held = [name for source in sources for name in (source.columns or {}).values()]
    near = nearest_names(reference.column, held)
    holder = next((table.name for table in schema.tables if table.column(reference.column)), None)
    if holder is not None:
        return _join_advice(schema, [source.table.name for source in reachable if source.table], holder, near)
    if near:
        return f"use {one_of(near)}"
    return f"the columns are {', '.join(held[:12])}" if held else ""


def _join_advice(schema: Schema, starts: list[str], table: str, near: tuple[str, ...]) -> str:
    path = path_between(schema, starts, table)
    advice = f"the table {table} has it: join it {join_path(path)}" if path else f"the table {table} has it"
    return f"{advice}; or use {one_of(near)}" if near else advice


def _unknown_source(reference: Reference, place: str, resolution: Resolution, schema: Schema) -> Finding:
    qualifier = reference.node.table
    reachable = _reachable(reference)
    aliased = [source for source in reachable if source.own == fold(qualifier)]
    if aliased:
        message = f"{qualifier} is called {aliased[0].label} in this query."
        return Finding("unknown_column", "error", message, place, f"write {aliased[0].label}.{reference.column}")
    message = f"{qualifier} is not among the tables of this SELECT."
    table = schema.table(qualifier) or _table_behind(qualifier, resolution)
    if table is not None:
        starts = [source.table.name for source in reachable if source.table]
        advice = f"join {table.name} {join_path(path_between(schema, starts, table.name))}".strip()
        return Finding("unknown_column", "error", message, place, advice)
    owners = [source for source in reachable if fold(reference.column) in (source.columns or {})]
    labels = [source.label for source in owners or reachable]
    suggestion = f"write {one_of([f'{label}.{reference.column}' for label in labels])}" if labels else ""
    return Finding("unknown_column", "error", message, place, suggestion)


def _table_behind(alias: str, resolution: Resolution) -> TableSchema | None:
    """The table that an alias of another SELECT stands for."""
    for scope in resolution.scopes:
        for source in scope.sources:
            if source.name == fold(alias) and source.table is not None:
                return source.table
    return None


def _reachable(reference: Reference) -> list[Source]:
    sources: list[Source] = []
    level = reference.scope
    while level is not None:
        sources += level.sources
        level = level.parent
    return sources


def _plain_finding(
    kind: QueryErrorKind, sql: str, message: str, resolution: Resolution | None, schema: Schema
) -> Finding:
    """A failure that is not about a table's or column's name."""
    text = message[:1].upper() + message[1:].rstrip(".") + "."
    if kind == "unknown_function" and (named := _FUNCTION.search(message)):
        function = named[1].lower()
        return Finding(kind, "error", text, named[1], instead_of(function))
    if kind == "rejected":
        named = _FUNCTION.search(message)
        return Finding(kind, "error", text, named[1] if named else "", "write one SELECT that only reads")
    if kind == "aggregate_misuse":
        return _aggregate_misuse(text, message, resolution)
    if kind == "syntax":
        found = _NEAR.search(message)
        near = found[1] if found else ""
        return Finding(kind, "error", text, near, syntax_advice(sql, message, near, schema))
    return Finding(kind, "error", text)


def _aggregate_misuse(text: str, message: str, resolution: Resolution | None) -> Finding:
    for scope in resolution.scopes if resolution is not None else ():
        where = scope.select.args.get("where")
        inside = where.find(exp.AggFunc) if where is not None else None
        if inside is not None and inside.find_ancestor(exp.Select) is scope.select:
            place = inside.sql(dialect=SQLITE)
            advice = f"move the condition on {place} to HAVING, or compare with a sub-query"
            return Finding("aggregate_misuse", "error", text, place, advice)
        if scope.select.args.get("having") is not None and scope.select.args.get("group") is None:
            return Finding("aggregate_misuse", "error", text, "HAVING", "add GROUP BY, or use WHERE")
    advice = "aggregate in a sub-query first, and use its result here"
    return Finding("aggregate_misuse", "error", text, message.partition(":")[2].strip(), advice)
