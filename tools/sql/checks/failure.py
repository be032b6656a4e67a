"""Why the database will refuse a query, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ...database.schema import Schema, TableSchema
from ...errors import QueryError, QueryErrorKind
from ..dialects import Rules
from ..findings import Finding
from ..keywords import fold
from ..lookup import key_of
from ..scope import Reference, Resolution, Source
from ..suggest import join_path, nearest_names, one_of, path_between
from .advice import instead_of, syntax_advice
from .groups import bare_references

_FUNCTION = re.compile(r"function(?: with name)?:? (?:\w+\.)?(\w+)", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[-+]?(\d+(\.0*)?|0x[0-9a-fA-F]+)(e\+?\d+)?\s*", re.IGNORECASE)
_NEAR = re.compile(r"near (?:\"(.*?)\"|'(\S*).*' at line)", re.DOTALL)
_QUOTED = re.compile(r"[\"'`]([^\"'`]+)[\"'`]")


def failure_findings(sql: str, error: QueryError, resolution: Resolution | None, schema: Schema) -> list[Finding]:
    """Findings for a query that the database refuses, the one for its own message first.

    Args:
        sql: As it would be sent.
        error: The database's refusal; its kind comes from the engine's codes, its message is shown.
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
                yield _unknown_table(source, schema, resolution.rules)
    seen: set[str] = set()
    for reference in resolution.references:
        finding = _reference_finding(reference, resolution, schema)
        if finding is not None and finding.place not in seen:
            seen.add(finding.place)
            yield finding


def limit_findings(tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """LIMIT and OFFSET with what is no whole number, which SQLite only tells once the query runs."""
    for clause in tree.find_all(exp.Limit, exp.Offset) if resolution.rules.is_sqlite else ():
        given = clause.expression
        if isinstance(given, exp.Null) or (isinstance(given, exp.Literal) and not _WHOLE.fullmatch(given.name)):
            place = resolution.text(clause).strip()
            yield Finding("other", "error", "The limit is no whole number.", place, "write a whole number")


def _named_first(findings: list[Finding], message: str) -> list[Finding]:
    """Those whose place the database's message names, last or in quotes, before the others."""
    named = {fold(name) for name in (message.rpartition(": ")[2], *_QUOTED.findall(message))}
    return sorted(findings, key=lambda finding: fold(finding.place) not in named)


def _unknown_table(source: Source, schema: Schema, rules: Rules) -> Finding:
    near = nearest_names(source.node.name, (table.name for table in schema.tables))
    names = [rules.shown(table.name) for table in schema.tables[:12]]
    suggestion = f"use {one_of([rules.shown(name) for name in near])}" if near else f"the tables are {', '.join(names)}"
    return Finding("unknown_table", "error", f"There is no table {source.node.name}.", source.node.name, suggestion)


def _reference_finding(reference: Reference, resolution: Resolution, schema: Schema) -> Finding | None:
    place = resolution.text(reference.node)
    if reference.kind == "ambiguous":
        choices = [f"{source.label}.{reference.column}" for source in reference.candidates]
        message = f"The column {place} is in more than one table of the query."
        return Finding("ambiguous_column", "error", message, place, f"write {one_of(choices)}")
    if reference.kind == "unknown":
        return _unknown_column(reference, place, schema, resolution.rules)
    if reference.kind == "unknown_source":
        return _unknown_source(reference, place, resolution, schema)
    return None


def _unknown_column(reference: Reference, place: str, schema: Schema, rules: Rules) -> Finding:
    sources = _reachable(reference) if reference.source is None else [reference.source]
    read = one_of([source.node.name or source.label for source in sources]) or "the query"
    message = f"There is no column {reference.column} in {read}."
    return Finding("unknown_column", "error", message, place, _right_column(reference, sources, schema, rules))


def _right_column(reference: Reference, sources: list[Source], schema: Schema, rules: Rules) -> str:
    """What to write for a column that the sources lack; its very name elsewhere says more than a similar one here."""
    reachable = _reachable(reference)
    owners = _holding(reference, reachable, rules)
    if owners:
        return f"use {owners[0].label}.{reference.column}"
    held = [name for source in sources for name in (source.columns or {}).values()]
    in_other_case = [rules.shown(name) for name in held if fold(name) == fold(reference.column)]
    if in_other_case:
        return f"write {one_of(in_other_case)}"
    near = [rules.shown(name) for name in nearest_names(reference.column, held)]
    alias = reference.scope.aliases.get(key_of(reference.node.this, rules)) if reference.scope is not None else None
    if alias is not None and not reference.node.table and not rules.is_sqlite:
        return f"an alias cannot be used here: write {alias.sql(dialect=rules.grammar)}"
    holder = next((table.name for table in schema.tables if table.column(reference.column)), None)
    if holder is not None:
        return _join_advice(schema, [source.table.name for source in reachable if source.table], holder, near, rules)
    if near:
        return f"use {one_of(near)}"
    return f"the columns are {', '.join(map(rules.shown, held[:12]))}" if held else ""


def _join_advice(schema: Schema, starts: list[str], table: str, near: list[str], rules: Rules) -> str:
    path = path_between(schema, starts, table)
    advice = f"the table {rules.shown(table)} has it"
    if path:
        advice += f": join it {join_path(path, rules)}"
    return f"{advice}; or use {one_of(near)}" if near else advice


def _unknown_source(reference: Reference, place: str, resolution: Resolution, schema: Schema) -> Finding:
    qualifier = reference.node.table
    reachable = _reachable(reference)
    aliased = [source for source in reachable if source.own == key_of(reference.node.args["table"], resolution.rules)]
    if aliased:
        message = f"{qualifier} is called {aliased[0].label} in this query."
        return Finding("unknown_column", "error", message, place, f"write {aliased[0].label}.{reference.column}")
    message = f"{qualifier} is not among the tables of this SELECT."
    table = schema.table(qualifier) or _table_behind(reference.node.args["table"], resolution)
    if table is not None:
        starts = [source.table.name for source in reachable if source.table]
        advice = f"join {table.name} {join_path(path_between(schema, starts, table.name), resolution.rules)}".strip()
        return Finding("unknown_column", "error", message, place, advice)
    owners = _holding(reference, reachable, resolution.rules)
    labels = [source.label for source in owners or reachable]
    suggestion = f"write {one_of([f'{label}.{reference.column}' for label in labels])}" if labels else ""
    return Finding("unknown_column", "error", message, place, suggestion)


def _holding(reference: Reference, sources: list[Source], rules: Rules) -> list[Source]:
    """Those of the sources that have a column of that name."""
    key = key_of(reference.node.this, rules)
    return [source for source in sources if key in (source.columns or {})]


def _table_behind(alias: exp.Expr, resolution: Resolution) -> TableSchema | None:
    """The table that an alias of another SELECT stands for."""
    for scope in resolution.scopes:
        for source in scope.sources:
            if source.name == key_of(alias, resolution.rules) and source.table is not None:
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
        return Finding(kind, "error", text, named[1], instead_of(function, schema.dialect))
    if kind == "rejected":
        named = _FUNCTION.search(message)
        return Finding(kind, "error", text, named[1] if named else "", "write one SELECT that only reads")
    if kind == "aggregate_misuse":
        return _aggregate_misuse(text, message, resolution)
    if kind == "syntax":
        found = _NEAR.search(message)
        near = (found[1] or found[2] or "") if found else ""
        return Finding(kind, "error", text, near, syntax_advice(sql, message, near, schema))
    advice = "convert one side with CAST, or use a value of the other's type" if kind == "type_mismatch" else ""
    return Finding(kind, "error", text, "", advice)


def _aggregate_misuse(text: str, message: str, resolution: Resolution | None) -> Finding:
    found = None if resolution is None else _misplaced_aggregate(text, resolution)
    if found is not None:
        return found
    advice = "aggregate in a sub-query first, and use its result here"
    return Finding("aggregate_misuse", "error", text, message.partition(":")[2].strip(), advice)


def _misplaced_aggregate(text: str, resolution: Resolution) -> Finding | None:
    for scope in resolution.scopes:
        where = scope.select.args.get("where")
        inside = where.find(exp.AggFunc) if where is not None else None
        if inside is not None and inside.find_ancestor(exp.Select) is scope.select:
            place = resolution.text(inside)
            advice = f"move the condition on {place} to HAVING, or compare with a sub-query"
            return Finding("aggregate_misuse", "error", text, place, advice)
        if scope.select.args.get("having") is not None and scope.select.args.get("group") is None:
            return Finding("aggregate_misuse", "error", text, "HAVING", "add GROUP BY, or use WHERE")
        if bare := [] if resolution.rules.loose_groups else bare_references(scope, resolution, resolution.rules):
            place = resolution.text(bare[0].node)
            return Finding("aggregate_misuse", "error", text, place, f"add {place} to GROUP BY, or aggregate it")
    return None
