"""Columns of views that show something of secret columns, by the views' definitions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import compress

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..errors import SQLParseError
from ..sql.resolve import resolve
from ..sql.scope import Source, outwards
from .dialects import parse_statement
from .schema import Schema, TableSchema
from .secret_columns import is_secret_name, names_secret

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
_UNTRACED = (exp.Table, exp.Columns, exp.PositionalColumn, exp.Star, exp.Anonymous, exp.Parameter, exp.Placeholder)
"""Values that stand for columns by other means than their names, and functions that may read what they like."""


def columns_from_secrets(schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the columns of views that show something of secret columns, other views' included.

    A text column is left out only if it can be traced to columns that are not secrets. A secret that is only compared,
    counted or measured does not show. Of tables and columns that the schema lacks, since they may not be read, the name
    alone tells, as that of a partition's column does.
    """
    found = set(secrets) | _without_definition(schema, secrets)
    views = [(view, _text_columns(view), _words(view.definition)) for view in schema.tables if view.definition]
    names = {_words(column) for _, column in secrets} | {_words(_last_part(table)) for table, _ in found}
    while True:
        before = frozenset(found)
        for view, texts, words in views:
            if not texts <= found and (names_secret(view.definition) or any(name <= words for name in names)):
                found |= texts & _secrets_of(view, schema, found)
        if len(found) == len(before):
            return found - set(secrets)
        names = {_words(_last_part(table)) for table, _ in found - before}


def views_that_name(schema: Schema, tables: Iterable[str]) -> set[str]:
    """Return the views whose definitions may name one of some tables, or a column that is a secret by its name."""
    names = [_words(_last_part(table)) for table in tables]
    words = {view.name: _words(view.definition) for view in schema.tables if view.definition}
    named = {view for view in words if any(name <= words[view] for name in names)}
    return named | {view.name for view in schema.tables if names_secret(view.definition)}


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _last_part(table: str) -> str:
    return table.rpartition(".")[2]


def _text_columns(table: TableSchema) -> set[tuple[str, str]]:
    return {(table.name, column.name) for column in table.columns if column.kind in TEXT_KINDS}


def _without_definition(schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what may show a secret of a table in views without a definition: text columns with names of their own."""
    tables = [table for table in schema.tables if table.kind == "table"]
    columns = {(table.name, column.name) for table in tables for column in table.columns}
    if columns.isdisjoint(secrets):
        return set()
    plain = {name.casefold() for _, name in columns.difference(secrets)}
    views = [table for table in schema.tables if table.kind == "view" and not table.definition]
    return {place for view in views for place in _text_columns(view) if place[1].casefold() not in plain}


def _secrets_of(view: TableSchema, schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the columns of a view that show something of secrets: all, if they cannot be traced."""
    columns = [(view.name, column.name) for column in view.columns]
    try:
        if len(view.definition) > _LONGEST:
            raise SQLParseError("too long")
        tree = parse_statement(view.definition, schema.dialect)
        query = tree.expression if isinstance(tree, exp.Create) else tree
        if not isinstance(query, exp.Query):
            raise SQLParseError(f"untraced query: {type(query).__name__}")
        shown = _Tracer(query, schema, secrets).outputs(query)
    except (SqlglotError, SQLParseError, RecursionError):
        return set(columns)
    return set(compress(columns, shown if len(shown) == len(columns) else [True] * len(columns)))


class _Tracer:
    """Traces the columns of a query; a name that may stand for several columns stands for all.

    What cannot be traced is an `SQLParseError`.
    """

    def __init__(self, query: exp.Expr, schema: Schema, secrets: Collection[tuple[str, str]]) -> None:
        _check_ctes(query)
        found = resolve(query, schema)
        self._rules, self._secrets = found.rules, secrets
        self._references = {id(reference.node): reference for reference in found.references}
        self._scopes = {id(scope.select): scope for scope in found.scopes}
        # A definition does not tell which of two tables it means if their names differ in case alone.
        names = Counter(table.name.casefold() for table in schema.tables)
        self._known = {table.name for table in schema.tables if names[table.name.casefold()] == 1}
        self._traced: dict[int, list[bool] | None] = {}  # None while a query is traced
        self._recursive: set[int] = set()
        self._aliased: dict[int, bool] = {}

    def outputs(self, query: exp.Expr) -> list[bool]:
        """Return of each column of a query whether it shows something of a secret."""
        if id(query) not in self._traced:
            self._traced[id(query)] = None
            shown = self._outputs(query)
            # What a query reads of itself may pass from column to column.
            self._traced[id(query)] = [any(shown)] * len(shown) if id(query) in self._recursive else shown
        if (traced := self._traced[id(query)]) is not None:
            return traced
        if not isinstance(query, exp.SetOperation):
            raise SQLParseError("a query reads itself")
        self._recursive.add(id(query))
        return self.outputs(query.this)

    def _outputs(self, query: exp.Expr) -> list[bool]:
        if any(query.args.get(part) for part in _UNTRACED_PARTS) or query.find(exp.Pivot):
            raise SQLParseError(f"untraced query: {type(query).__name__}")
        if isinstance(query, exp.SetOperation):
            arms = self.outputs(query.this), self.outputs(query.expression)
            if len(arms[0]) != len(arms[1]):
                raise SQLParseError("arms of different widths")
            return [one or other for one, other in zip(*arms, strict=True)]
        if isinstance(query, exp.Subquery) and not query.args.get("joins"):
            return self.outputs(query.this)
        scope = self._scopes.get(id(query))
        if scope is None:
            raise SQLParseError(f"untraced query: {type(query).__name__}")
        aliases = [output.alias.casefold() for output in scope.select.expressions if output.alias]
        if len(set(aliases)) < len(aliases):
            raise SQLParseError("one name for two columns")
        for source in scope.sources:
            node, above = source.node, source.node.parent
            while isinstance(above, exp.Subquery) and isinstance(above.this, exp.Table):
                if above.alias:
                    raise SQLParseError("a name for a source in brackets")
                above = above.parent
            # Fewer names than columns: some engines name the rest as they were.
            behind = source.query.parent if source.query is not None else None
            given = node.alias_column_names or (behind.alias_column_names if behind is not None else ())
            if given and source.query is not None and len(self.outputs(source.query)) != len(given):
                raise SQLParseError(f"unnamed columns of {source.label}")
            known = source.table is not None or source.query is not None
            named = isinstance(node.this, exp.Identifier) and not node.alias_column_names
            if not (known or named) or any(node.args.get(part) for part in node.args.keys() - _SOURCE_PARTS):
                raise SQLParseError(f"untraced source: {source.label}")
        # A join that makes one column of two changes what a star stands for.
        merges = any(join.args.get("using") or join.method.upper() == "NATURAL" for join in query.find_all(exp.Join))
        shown: list[bool] = []
        for output in scope.select.expressions:
            star = output.this if isinstance(output, exp.Column) else output
            if not isinstance(star, exp.Star):
                shown.append(self._shows(output))
            elif any(star.args.values()) or merges:
                raise SQLParseError("untraced star")
            else:
                wanted = self._rules.key(output.args.get("table"))
                for source in scope.sources:
                    shown += self._columns(source) if wanted in ("", source.name) else []
        return shown

    def _shows(self, value: exp.Expr) -> bool:
        """Whether a value shows something of a secret."""
        if isinstance(value, exp.Column):
            return self._column_shows(value)
        if isinstance(value, _MEASURES) and not isinstance(value, _VALUES):
            return False
        if isinstance(value, _UNTRACED):
            raise SQLParseError(f"untraced value: {type(value).__name__}")
        if isinstance(value, exp.Query):
            return any(self.outputs(value))
        parts = value.iter_expressions()
        if isinstance(value, exp.Window):
            parts = [value.this]
        elif isinstance(value, exp.Case):
            parts = [*value.args["ifs"], *filter(None, [value.args.get("default")])]
        elif isinstance(value, exp.If):
            parts = filter(None, [value.args.get("true"), value.args.get("false")])
        return any(map(self._shows, parts))

    def _column_shows(self, node: exp.Column) -> bool:
        """Whether a column, or a whole row, may show something of a secret."""
        reference, name = self._references.get(id(node)), self._rules.key(node.this)
        if reference is None or (node.table and reference.source is None):
            raise SQLParseError(f"unknown column {node.name}")
        source, owner = reference.source, reference.owner
        if reference.kind == "alias" and owner is not None:
            expression = owner.aliases[name]
            if id(expression) not in self._aliased:
                self._aliased[id(expression)] = self._shows(expression)
            return self._aliased[id(expression)]
        if reference.kind == "star" and source is not None:
            return any(self._columns(source))
        scopes = outwards(reference.scope) if owner is None else (owner,)
        sources = [each for scope in scopes for each in scope.sources]
        if node.table and source is not None:
            sources = [*reference.candidates] or [source]
        held = [source for source in sources if name in (source.columns or ())]
        for source in held:
            shown, names = self._columns(source), list(source.columns or ())
            if shown[names.index(name)] if len(names) == len(shown) else any(shown):
                return True
        if held and (node.table or all(source.columns is not None for source in sources)):
            return False
        # A source whose columns are not all known may have it, and the name may stand for a row.
        rows = [each for each in sources if (each.query is not None and not held) or each.name == name]
        return any(any(self._columns(row)) for row in rows) or (
            is_secret_name(node.name) or node.name.casefold() in {secret.casefold() for _, secret in self._secrets}
        )

    def _columns(self, source: Source) -> list[bool]:
        """Return of each column of a source whether it shows something of a secret."""
        table = source.table
        if source.query is not None:
            return self.outputs(source.query)
        if table is None or table.name not in self._known or table.total_columns != len(table.columns):
            raise SQLParseError(f"unknown columns of {source.label}")
        return [(table.name, column.name) in self._secrets for column in table.columns]


def _check_ctes(query: exp.Expr) -> None:
    """Refuse common table expressions that are used before they stand: to some engines, these names are tables'."""
    for clause in query.find_all(exp.With):
        later = {cte.alias.casefold() for cte in clause.expressions}
        for cte in clause.expressions:
            if clause.args.get("recursive"):
                later.discard(cte.alias.casefold())
            if any(table.name.casefold() in later and not table.db for table in cte.this.find_all(exp.Table)):
                raise SQLParseError("a common table expression is used before it stands")
            later.discard(cte.alias.casefold())
