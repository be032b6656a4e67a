"""Columns of views that show secret columns, by the views' definitions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from .dialects import parse_statement
from .schema import Schema, TableSchema
from .secret_columns import is_secret_name, names_secrets

TEXT_KINDS = ("text", "binary", "other")
"""Kinds of columns that may hold a secret, or something written from one."""
_LONGEST = 50_000
"""Characters of a definition that is read."""
_WORD = re.compile(r"\w+")
_SOURCE_PARTS = frozenset(("this", "db", "catalog", "alias", "joins", "only", "hints", "indexed", "sample"))
"""Parts of an item of a FROM clause that leave its columns as they are."""
_UNTRACED_PARTS = ("kind", "exclude", "match", "connect", "laterals", "pivots", "by_name")
"""Parts of a query that change its columns in ways that are not traced."""
_MEASURES = (exp.Predicate, exp.Count, exp.Length)
"""Expressions that tell of a value only whether it is equal, how often it stands, or how long it is."""
_VALUES = (exp.All, exp.Any)
"""Predicates, to sqlglot, whose result may be a value."""
_UNTRACED_NODES = (exp.Table, exp.Columns, exp.PositionalColumn, exp.Parameter, exp.Placeholder, exp.Anonymous)
"""Values that stand for columns by other means than their names, and functions that may read what they like."""

_Columns = list[tuple[str, bool]]
"""The columns of a result in their order: the name in lower case, and whether it shows something of a secret."""


def find_view_columns_with_secrets(schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the view columns that show secrets, directly or through other views.

    A text column is left out only if it can be traced to columns that are not secrets. A secret that is only compared,
    counted or measured does not show. Of tables and columns that the schema lacks, since they may not be read, the name
    alone tells, as that of a partition's column does.
    """
    secret_items = set(secrets) | _guess_secret_view_columns(schema, secrets)
    tables: dict[str, TableSchema] = {}
    for table in schema.tables:
        name = table.name.casefold()
        # A definition does not tell which of two tables it means if their names differ in case alone.
        tables[name] = replace(table, columns=()) if name in tables else table
    views = [
        (view, _list_text_columns(view), _extract_words(view.definition)) for view in schema.tables if view.definition
    ]
    columns = {_extract_words(column) for _, column in secrets}
    affected = {view.name for view, _, words in views if any(name <= words for name in columns)}
    affected |= {view.name for view, _, _ in views if names_secrets(view.definition)}
    fresh = {table for table, _ in secret_items}
    while fresh or affected:
        before = frozenset(secret_items)
        names = {table: _extract_words(_remove_schema_prefix(table)) for table in fresh}
        for view, texts, words in views:
            other_names = (name for table, name in names.items() if table != view.name)
            if not texts <= secret_items and (view.name in affected or any(name <= words for name in other_names)):
                secret_items |= texts & _find_secret_view_columns(view, schema.dialect, tables, secret_items)
        fresh, affected = {table for table, _ in secret_items - before}, set[str]()
    return secret_items - set(secrets)


def find_views_naming_tables(schema: Schema, tables: Iterable[str]) -> set[str]:
    """Return the views whose definitions may name the given tables or a secret column."""
    names = [_extract_words(_remove_schema_prefix(table)) for table in tables]
    words = {view.name: _extract_words(view.definition) for view in schema.tables if view.definition}
    views = {view for view in words if any(name <= words[view] for name in names)}
    return views | {view.name for view in schema.tables if names_secrets(view.definition)}


def _extract_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _remove_schema_prefix(table: str) -> str:
    return table.rpartition(".")[2]


def _list_text_columns(table: TableSchema) -> set[tuple[str, str]]:
    return {(table.name, column.name) for column in table.columns if column.kind in TEXT_KINDS}


def _guess_secret_view_columns(schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return columns that may show secrets in views without a definition."""
    tables = [table for table in schema.tables if table.kind == "table"]
    columns = {(table.name, column.name) for table in tables for column in table.columns}
    if columns.isdisjoint(secrets):
        return set()
    open_names = {name.casefold() for _, name in columns.difference(secrets)}
    views = [table for table in schema.tables if table.kind == "view" and not table.definition]
    return {item for view in views for item in _list_text_columns(view) if item[1].casefold() not in open_names}


def _find_secret_view_columns(
    view: TableSchema, dialect: str, tables: Mapping[str, TableSchema], secrets: Collection[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return the columns of a view that show secrets; all columns if that is unclear."""
    columns = [(view.name, column.name) for column in view.columns]
    try:
        if len(view.definition) > _LONGEST:
            raise SqlglotError("too long")
        tree = parse_statement(view.definition, dialect)
        outputs = _trace_outputs(tree.expression if isinstance(tree, exp.Create) else tree, _Scope(tables, secrets))
    except (SqlglotError, RecursionError):
        return set(columns)
    if len(outputs) != len(columns):
        return set(columns)
    return {column for column, (_, shows) in zip(columns, outputs, strict=True) if shows}


@dataclass(frozen=True)
class _Scope:
    """The names visible in a part of a query; an ambiguous name keeps all its meanings.

    Attributes:
        tables: The database's tables and views by their names in lower case.
        ctes: Columns of common table expressions by name.
        sources: Names and columns of what FROM lists.
        before: The SELECT's columns before this one, to which some dialects may refer.
        outer: The place around a sub-query.
    """

    tables: Mapping[str, TableSchema]
    secrets: Collection[tuple[str, str]]
    ctes: Mapping[str, _Columns] = field(default_factory=dict[str, _Columns])
    sources: tuple[tuple[str, _Columns], ...] = ()
    before: _Columns = field(default_factory=list[tuple[str, bool]])
    outer: _Scope | None = None

    def find_table_columns(self, node: exp.Table) -> _Columns:
        """Return the columns of a table or common table expression; empty if it is not readable."""
        parts = [part.name.casefold() for part in node.parts]
        if len(parts) == 1 and parts[0] in self.ctes:
            return self.ctes[parts[0]]
        hits = [self.tables[name] for start in range(len(parts)) if (name := ".".join(parts[start:])) in self.tables]
        hits = hits[:1] or [table for name, table in self.tables.items() if _remove_schema_prefix(name) == parts[-1]]
        if not hits:
            return []
        if len(hits) != 1 or hits[0].total_columns != len(hits[0].columns):
            raise SqlglotError(f"unknown columns of {node.name}")
        table = hits[0]
        return [(column.name.casefold(), (table.name, column.name) in self.secrets) for column in table.columns]

    def find_source_columns(self, source: str = "") -> _Columns:
        """Return the columns of the sources with a given name, or of all sources."""
        return [column for name, columns in self.sources if source in ("", name) for column in columns]

    def shows_secret(self, column: exp.Column) -> bool:
        """Whether a column reference, or a star, shows a secret."""
        source, name = column.table.casefold(), column.name.casefold()
        scope: _Scope | None = self
        while scope is not None:
            columns = scope.find_source_columns(source)
            if not isinstance(column.this, exp.Star):
                matches = [pair for pair in columns if pair[0] == name]
                columns = matches or (not source and scope.find_source_columns(name)) or []
            columns = columns or [pair for pair in scope.before if not source and pair[0] == name]
            if columns:
                return any(shows for _, shows in columns)
            if source in dict(scope.sources):
                break
            scope = scope.outer
        if isinstance(column.this, exp.Star) or (source and scope is None):
            raise SqlglotError(f"unknown column {source}.{name}")
        return is_secret_name(column.name) or any(name == secret.casefold() for _, secret in self.secrets)


def _trace_outputs(query: exp.Expr, scope: _Scope) -> _Columns:
    """Return the output columns of a query; raise `SqlglotError` if they cannot be traced."""
    if not isinstance(query, exp.Query) or any(query.args.get(part) for part in _UNTRACED_PARTS):
        raise SqlglotError(f"cannot trace the columns of: {type(query).__name__}")
    scope = _add_ctes_to_scope(query, scope)
    if isinstance(query, exp.SetOperation):
        return _merge_union_columns(_trace_outputs(query.this, scope), _trace_outputs(query.expression, scope))
    if isinstance(query, exp.Subquery) and not query.args.get("joins"):
        return _trace_outputs(query.this, scope)
    if not isinstance(query, exp.Select):
        raise SqlglotError(f"cannot trace the columns of: {type(query).__name__}")
    aliases = [output.alias.casefold() for output in query.expressions if output.alias]
    if len(set(aliases)) < len(aliases):
        raise SqlglotError("two columns have the same name")
    scope = replace(scope, sources=(), before=[], outer=scope)
    for node in filter(None, [query.args.get("from_"), *(query.args.get("joins") or ())]):
        scope = _add_source_to_scope(node.this, scope)
    # A join that makes one column of two changes what a star stands for.
    merges = any(join.args.get("using") or join.method.upper() == "NATURAL" for join in query.find_all(exp.Join))
    outputs = scope.before
    for output in query.expressions:
        star = output.this if isinstance(output, exp.Column) else output
        if not isinstance(star, exp.Star):
            outputs.append((output.alias_or_name.casefold(), _reveals_secret(output, scope)))
        elif any(star.args.values()) or merges:
            raise SqlglotError("untraced star")
        else:
            outputs += scope.find_source_columns(output.text("table").casefold())
    return outputs


def _add_ctes_to_scope(query: exp.Query, scope: _Scope) -> _Scope:
    clause = query.args.get("with_")
    if clause is None:
        return scope
    later = {cte.alias.casefold() for cte in clause.expressions}
    for cte in clause.expressions:
        name, arms = cte.alias.casefold(), cte.this
        later.discard(name)
        # To SQLite, and among recursive ones, it is no table.
        # Without the word RECURSIVE it may read itself all the same.
        self_names = () if clause.args.get("recursive") or name in scope.tables else (name,)
        if any(table.name.casefold() in {*later, *self_names} for table in arms.find_all(exp.Table)):
            raise SqlglotError("a common table expression is used before it is defined")
        if clause.args.get("recursive") and isinstance(arms, exp.SetOperation) and not arms.args.get("with_"):
            first = _apply_column_aliases(_trace_outputs(arms.this, scope), cte)
            scope = replace(scope, ctes={**scope.ctes, name: first})
            columns = _merge_union_columns(first, _trace_outputs(arms.expression, scope))
            # What the second arm reads of itself may pass from column to column.
            columns = [(column, any(shows for _, shows in columns)) for column, _ in columns]
        else:
            columns = _apply_column_aliases(_trace_outputs(cte.this, scope), cte)
        scope = replace(scope, ctes={**scope.ctes, name: columns})
    return scope


def _merge_union_columns(first: _Columns, second: _Columns) -> _Columns:
    if len(first) != len(second):
        raise SqlglotError("UNION arms with different numbers of columns")
    return [(name, shows or other) for (name, shows), (_, other) in zip(first, second, strict=True)]


def _add_source_to_scope(node: exp.Expr, scope: _Scope) -> _Scope:
    """Return the scope extended by an item of the FROM clause."""
    inner = node.this
    if any(value for part, value in node.args.items() if part not in _SOURCE_PARTS):
        raise SqlglotError(f"cannot trace columns from: {type(node).__name__}")
    if isinstance(node, exp.Subquery) and isinstance(inner, exp.Table | exp.Subquery) and not node.alias:
        scope = _add_source_to_scope(inner, scope)
    else:
        if isinstance(node, exp.Table) and isinstance(inner, exp.Identifier):
            columns = scope.find_table_columns(node)
        elif isinstance(node, exp.Subquery | exp.Lateral) and isinstance(inner, exp.Query):
            columns = _trace_outputs(inner, scope if isinstance(node, exp.Lateral) else scope.outer or scope)
        else:
            raise SqlglotError(f"cannot trace columns from: {type(node).__name__}")
        source = node.alias_or_name.casefold(), _apply_column_aliases(columns, node)
        scope = replace(scope, sources=(*scope.sources, source))
    for join in node.args.get("joins") or ():
        scope = _add_source_to_scope(join.this, scope)
    return scope


def _apply_column_aliases(columns: _Columns, node: exp.Expr) -> _Columns:
    """Return columns with the names that an alias lists."""
    names = [name.casefold() for name in node.alias_column_names] or [name for name, _ in columns]
    if len(names) != len(columns):  # engines differ in what the others are called
        raise SqlglotError("an alias has more or fewer names than there are columns")
    return [(name, shows) for name, (_, shows) in zip(names, columns, strict=True)]


def _reveals_secret(value: exp.Expr, scope: _Scope) -> bool:
    """Whether the value of an SQL expression shows a secret."""
    if isinstance(value, exp.Column):
        return scope.shows_secret(value)
    if isinstance(value, _MEASURES) and not isinstance(value, _VALUES):
        return False
    if isinstance(value, _UNTRACED_NODES):
        raise SqlglotError(f"cannot trace columns in: {type(value).__name__}")
    if isinstance(value, exp.Query):
        return any(shows for _, shows in _trace_outputs(value, scope))
    if isinstance(value, exp.Star):
        return any(shows for _, shows in scope.find_source_columns())
    parts = value.iter_expressions()
    if isinstance(value, exp.Window):
        parts = [value.this]
    elif isinstance(value, exp.Case):
        parts = [*value.args["ifs"], *filter(None, [value.args.get("default")])]
    elif isinstance(value, exp.If):
        parts = filter(None, [value.args.get("true"), value.args.get("false")])
    return any(_reveals_secret(part, scope) for part in parts)
