"""Findings about a query that the database refuses, with corrections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from ...database.schema import ForeignKey, Schema
from ...errors import QueryError, QueryErrorKind
from ...words import find_nearest_names, format_did_you_mean, join_words
from ..dialects import DialectRules, fold
from ..findings import Finding
from ..query import Query
from ..scope import (
    QuerySource,
    Reference,
    Scope,
    SourceColumn,
    is_aggregate_call,
    is_source_key_bound,
    iterate_enclosing_scopes,
)
from .advice import advise_on_syntax_error, suggest_substitute_function

_FUNCTION = re.compile(r"function(?: with name)?:? (?:\w+\.)?(\w+)", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[-+]?(\d+(\.0*)?|0x[0-9a-fA-F]+)(e\+?\d+)?\s*", re.IGNORECASE)
_NEAR = re.compile(r"near (?:\"(.*?)\"|'(\S*).*' at line)", re.DOTALL)
_QUOTED = re.compile(r"[\"'`]([^\"'`]+)[\"'`]")


def find_failure_causes(sql: str, error: QueryError, query: Query | None, schema: Schema) -> list[Finding]:
    """Return findings on a query that the database refused, the causes of the error first.

    The error's kind comes from the engine's codes, its message is shown; the query is None if it could not be parsed.
    """
    kind, message = error.kind, str(error)
    findings = list(find_invalid_names(query)) if query is not None else []
    of_kind = [finding for finding in findings if finding.kind == kind]
    if not of_kind:
        return [_report_error(kind, sql, message, query, schema), *findings]
    # Those whose place the database's message names, last or in quotes, come before the others.
    message_names = {fold(name) for name in (message.rpartition(": ")[2], *_QUOTED.findall(message))}
    of_kind.sort(key=lambda finding: fold(finding.place) not in message_names)
    return of_kind + [finding for finding in findings if finding.kind != kind]


def find_invalid_names(query: Query) -> Iterator[Finding]:
    """Yield a finding for each unknown or ambiguous table or column of a query."""
    for scope in query.scopes:
        for source in scope.sources:
            if not source.known:
                yield _report_unknown_table(source, query)
    places: set[str] = set()
    for reference in query.resolution.references:
        finding = _report_invalid_reference(reference, query)
        if finding is not None and finding.place not in places:
            places.add(finding.place)
            yield finding


def find_invalid_limits(query: Query) -> Iterator[Finding]:
    """Yield a finding for each LIMIT or OFFSET that is not a whole number, in SQLite only."""
    for clause in query.find(exp.Limit, exp.Offset) if query.rules.is_sqlite else ():
        count = clause.expression
        if isinstance(count, exp.Null) or (isinstance(count, exp.Literal) and not _WHOLE.fullmatch(count.name)):
            place = query.text(clause).strip()
            yield Finding("other", "error", "The limit is no whole number.", place, "write a whole number")


def _report_unknown_table(source: QuerySource, query: Query) -> Finding:
    schema, rules = query.schema, query.rules
    near = find_nearest_names(source.node.name, (table.name for table in schema.tables))
    names = [rules.spell_table(table.name, schema) for table in schema.tables[:12]]
    advice = _suggest_names([rules.spell_table(name, schema) for name in near]) or f"the tables are {', '.join(names)}"
    return Finding("unknown_table", "error", f"There is no table {source.node.name}.", source.node.name, advice)


def _report_invalid_reference(reference: Reference, query: Query) -> Finding | None:
    if reference.kind not in ("ambiguous", "unknown", "unknown_source"):
        return None
    place = query.text(reference.node)
    if reference.kind == "ambiguous":
        choices = [f"{source.label}.{reference.column}" for source in reference.candidates]
        message = f"The column {place} is in more than one table of the query."
        return Finding("ambiguous_column", "error", message, place, f"write {join_words(choices, 'or')}")
    if reference.kind == "unknown":
        sources = _list_reachable_sources(reference) if reference.source is None else [reference.source]
        owners = join_words([source.node.name or source.label for source in sources], "or") or "the query"
        message = f"There is no column {reference.column} in {owners}."
        advice = _advise_on_column(reference, sources, query.schema, query.rules)
        return Finding("unknown_column", "error", message, place, advice)
    return _report_unknown_source(reference, place, query)


def _advise_on_column(reference: Reference, sources: list[QuerySource], schema: Schema, rules: DialectRules) -> str:
    """Return advice on a column that the given sources do not have."""
    reachable = _list_reachable_sources(reference)
    owners = _find_owners(reference, reachable, rules)
    if owners:
        return f"use {owners[0].label}.{reference.column}"
    columns = [name for source in sources for name in (source.columns or {}).values()]
    in_other_case = [rules.spell_name(name) for name in columns if fold(name) == fold(reference.column)]
    if in_other_case:
        return f"write {join_words(in_other_case, 'or')}"
    near = [rules.spell_name(name) for name in find_nearest_names(reference.column, columns)]
    alias = reference.scope.aliases.get(rules.key(reference.node.this)) if reference.scope is not None else None
    if alias is not None and not reference.node.table and not rules.is_sqlite:
        return f"an alias cannot be used here: write {alias.sql(dialect=rules.grammar)}"
    holder = next((table.name for table in schema.tables if table.column(reference.column)), None)
    if holder is not None:
        return _advise_join(schema, [source.table.name for source in reachable if source.table], holder, near, rules)
    if near or not columns:
        return _suggest_names(near)
    return f"the columns are {', '.join(map(rules.spell_name, columns[:12]))}"


def _advise_join(schema: Schema, joined: list[str], table: str, similar: list[str], rules: DialectRules) -> str:
    path = _find_foreign_key_path(schema, joined, table)
    advice = f"the table {rules.spell_table(table, schema)} has it"
    if path:
        advice += f": join it {_format_join_conditions(path, rules, schema)}"
    return f"{advice}; or {_suggest_names(similar)}" if similar else advice


def _suggest_names(names: Sequence[str]) -> str:
    """Return advice to use the given names, the most similar first."""
    return f"use {names[0]}" if len(names) == 1 else format_did_you_mean(names)


def _format_join_conditions(path: Sequence[ForeignKey], rules: DialectRules, schema: Schema) -> str:
    """Return the join conditions as text: `ON a.x = b.y and ON b.z = c.w`."""
    conditions: list[str] = []
    for key in path:
        table, ref_table = (rules.spell_table(name, schema) for name in (key.table, key.ref_table))
        pairs = zip(map(rules.spell_name, key.columns), map(rules.spell_name, key.ref_columns), strict=True)
        conditions.append("ON " + " AND ".join(f"{table}.{column} = {ref_table}.{other}" for column, other in pairs))
    return " and ".join(conditions)


def _find_foreign_key_path(schema: Schema, starts: Iterable[str], goal: str) -> list[ForeignKey]:
    """Return the shortest chain of foreign keys from `starts` to `goal`, or []."""
    paths: dict[str, list[ForeignKey]] = {fold(start): [] for start in starts}
    frontier = list(paths)
    while frontier:
        following: list[str] = []
        for table in frontier:
            for key in schema.foreign_keys:
                for near_table, far_table in ((key.table, key.ref_table), (key.ref_table, key.table)):
                    if fold(near_table) == table and fold(far_table) not in paths:
                        paths[fold(far_table)] = [*paths[table], key]
                        following.append(fold(far_table))
        if fold(goal) in paths:
            break
        frontier = following
    return paths.get(fold(goal), [])


def _report_unknown_source(reference: Reference, place: str, query: Query) -> Finding:
    qualifier, rules = reference.node.table, query.rules
    reachable, key = _list_reachable_sources(reference), rules.key(reference.node.args["table"])
    message = f"{qualifier} is not among the tables of this SELECT."
    # Else it may be the alias of another SELECT.
    behind = (table for scope in query.scopes for source, table in scope.tables if source.name == key)
    if alias_sources := [source for source in reachable if source.base_name == key]:
        message = f"{qualifier} is called {alias_sources[0].label} in this query."
        advice = f"write {alias_sources[0].label}.{reference.column}"
    elif table := query.schema.table(qualifier) or next(behind, None):
        starts = [source.table.name for source in reachable if source.table]
        path = _format_join_conditions(_find_foreign_key_path(query.schema, starts, table.name), rules, query.schema)
        advice = f"join {'.'.join(table.path)} {path}".strip()
    else:
        labels = [source.label for source in _find_owners(reference, reachable, rules) or reachable]
        advice = f"write {join_words([f'{label}.{reference.column}' for label in labels], 'or')}" if labels else ""
    return Finding("unknown_column", "error", message, place, advice)


def _find_owners(reference: Reference, sources: list[QuerySource], rules: DialectRules) -> list[QuerySource]:
    """Return the sources that have the referenced column."""
    key = rules.key(reference.node.this)
    return [source for source in sources if key in (source.columns or {})]


def _list_reachable_sources(reference: Reference) -> list[QuerySource]:
    return [source for level in iterate_enclosing_scopes(reference.scope) for source in level.sources]


def _report_error(kind: QueryErrorKind, sql: str, message: str, query: Query | None, schema: Schema) -> Finding:
    """Return the finding for an error that unknown names do not explain."""
    text = message[:1].upper() + message[1:].rstrip(".") + "."
    if kind == "unknown_function" and (match := _FUNCTION.search(message)):
        function = match[1].lower()
        return Finding(kind, "error", text, match[1], suggest_substitute_function(function, schema.dialect))
    if kind == "rejected":
        match = _FUNCTION.search(message)
        return Finding(kind, "error", text, match[1] if match else "", "write one SELECT that only reads")
    if kind == "aggregate_misuse":
        return _report_aggregate_misuse(text, message, query)
    if kind == "syntax":
        match = _NEAR.search(message)
        near = (match[1] or match[2] or "") if match else ""
        return Finding(kind, "error", text, near, advise_on_syntax_error(sql, message, near, schema))
    advice = "convert one side with CAST, or use a value of the other's type" if kind == "type_mismatch" else ""
    return Finding(kind, "error", text, "", advice)


def _report_aggregate_misuse(text: str, message: str, query: Query | None) -> Finding:
    """Return the finding for a misplaced aggregate or an ungrouped column."""
    place = message.partition(":")[2].strip()
    advice = "aggregate in a sub-query first, and use its result here"
    for scope in query.scopes if query is not None else ():
        assert query is not None
        where, having, group = (scope.select.args.get(clause) for clause in ("where", "having", "group"))
        inside = where.find(exp.AggFunc) if where is not None else None
        if inside is not None and any(node is inside for node in query.find_in(scope, exp.AggFunc)):
            place = query.text(inside)
            advice = f"move the condition on {place} to HAVING, or compare with a sub-query"
        elif having is not None and group is None:
            place, advice = "HAVING", "add GROUP BY, or use WHERE"
        elif bare := [] if query.rules.loose_groups else find_ungrouped_columns(scope, query, query.rules):
            place = query.text(bare[0].node)
            advice = f"add {place} to GROUP BY, or aggregate it"
        else:
            continue
        break
    return Finding("aggregate_misuse", "error", text, place, advice)


def find_ungrouped_columns(scope: Scope, query: Query, rules: DialectRules) -> list[Reference]:
    """Return a SELECT's columns that need GROUP BY or an aggregate under strict rules."""
    select, terms = scope.select, query.resolve_group_by_terms(scope)
    outputs = [item.unalias() for item in select.expressions]
    if terms is None and (select.args.get("group") is not None or not query.find_aggregates(scope)):
        return []
    group_columns = [query.reference(term) for term in terms or ()]
    keys = {reference.place for reference in group_columns if reference is not None and reference.source is not None}
    if any(reference is None or reference.source is None for reference in group_columns):
        return []  # consequences of an expression are not followed
    outputs += filter(None, (select.args.get(clause) for clause in ("having", "order")))
    return [
        reference
        for item in outputs
        for reference in _find_unaggregated_columns(item, scope, query)
        if reference.place not in keys and not (rules.name == "postgres" and _is_primary_key_grouped(reference, keys))
    ]


def _is_primary_key_grouped(reference: Reference, keys: set[SourceColumn]) -> bool:
    """Whether the query groups by the primary key of the column's table."""
    source = reference.source
    if source is None or source.table is None:
        return source is None or not source.columns
    return is_source_key_bound(source, keys)


def _find_unaggregated_columns(item: exp.Expr, scope: Scope, query: Query) -> Iterator[Reference]:
    stack = [item]
    while stack:
        node = stack.pop()
        if is_aggregate_call(node) or isinstance(node, exp.Query | exp.Window | exp.Filter):
            continue
        reference = query.reference(node)
        if reference is not None and reference.owner is scope and reference.kind in ("column", "rowid"):
            yield reference
        stack.extend(node.iter_expressions())
