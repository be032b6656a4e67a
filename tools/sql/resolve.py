"""Resolution of every name in a query, by the rules of its dialect.

sqlglot's optimizer qualifies columns by standard SQL's rules; engines differ where queries live. In SQLite a
double-quoted word that is no column is a string, WHERE and GROUP BY may name a result column's alias, `rowid` exists
unseen. What is resolved here is the ground that regularisation, checks, explanations and schema usage stand on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from ..derived import cache_in_first_argument
from .dialects import Clause, DialectRules, remove_spaces_and_case
from .parse import guard_nesting_depth, is_from_item
from .scope import NameResolution, QuerySource, Reference, ReferenceKind, Scope, iterate_enclosing_scopes

_CLAUSES: dict[str, Clause] = {
    "expressions": "select",
    "where": "where",
    "group": "group",
    "having": "having",
    "qualify": "having",
    "order": "order",
    "windows": "window",
    "limit": "limit",
    "offset": "limit",
    "distinct": "order",
}


@dataclass(frozen=True)
class _QueryOutputs:
    """The result columns of a query, as an outer query sees them."""

    outputs: Sequence[str | None] | None = None  # result columns' names; None if not known
    texts: frozenset[str] = frozenset()  # see `Source.texts`
    arms: tuple[Scope, ...] = ()


_CALLED = re.compile(r"\w+(?=\()")  # the function at the start of a call's text

_CTEs = dict[str, tuple[exp.Expr, _QueryOutputs]]
"""Queries of common table expressions, with what they offer, by their names."""

_Output = tuple[str | None, exp.Expr | QuerySource]
"""A result column's name, with its expression or the source that a star takes it from."""

_Refer = Callable[..., Reference]
"""Makes a reference of one column expression, given its kind and what it refers to."""


@guard_nesting_depth
def resolve(
    tree: exp.Expr, schema: Schema, rules: DialectRules, among: Collection[str] | None = None
) -> NameResolution:
    """Resolve every name in a query against a schema; raise `SQLParseError` if unreadable.

    With `among`, columns of all tables may be named, as in a sub-query of theirs: those of the tables in it first.
    """
    resolver, around = _NameResolver(schema, rules), None
    if among is not None:
        every = _make_table_sources(schema, rules)
        first = tuple(source for source in every if source.table is not None and source.table.name in among)
        around = Scope(exp.Select(), Scope(exp.Select(), None, every), first)
    resolver.resolve_query(tree, around)
    return NameResolution(tuple(resolver.scopes), tuple(resolver.references), resolver.rules)


@cache_in_first_argument
def _make_table_sources(schema: Schema, rules: DialectRules) -> tuple[QuerySource, ...]:
    """Return a source for each table, as if all stood in one FROM clause."""

    def make_source(table: TableSchema) -> QuerySource:
        columns = {rules.naming.key(column.name): column.name for column in reversed(table.columns)}
        name = rules.naming.key(table.path[-1])
        return QuerySource(name, name, table, MappingProxyType(columns), exp.table_(*table.path[::-1], quoted=True))

    return tuple(map(make_source, schema.tables))


class _NameResolver:
    def __init__(self, schema: Schema, rules: DialectRules) -> None:
        self.schema = schema
        self.rules = rules
        self.scopes: list[Scope] = []
        self.references: list[Reference] = []
        self.ctes: _CTEs = {}

    def _get_alias_key(self, node: exp.Expr) -> str:
        """Return the normalized alias of an expression; empty if there is none."""
        alias = node.args.get("alias")
        return self.rules.key(alias.this if isinstance(alias, exp.TableAlias) else alias)

    def resolve_query(self, node: exp.Expr, parent: Scope | None) -> _QueryOutputs:
        """Resolve the names in a query expression and in everything nested in it."""
        outer = self.ctes
        self._resolve_with_clause(node, parent)
        shape = self._resolve_query_body(node, parent)
        self.ctes = outer
        return shape

    def _resolve_query_body(self, node: exp.Expr, parent: Scope | None) -> _QueryOutputs:
        if isinstance(node, exp.Select):
            return self._resolve_select(node, parent)
        if isinstance(node, exp.SetOperation):
            return self._resolve_compound_query(node, parent)
        if isinstance(node, exp.Subquery | exp.Paren):
            shape = self.resolve_query(node.this, parent)
            self._resolve_order_and_limit(node, shape, parent)
            return shape
        if isinstance(node, exp.Pivot):  # its rows tell what columns it has
            return _QueryOutputs()
        for child in node.iter_expressions():
            self._add_column_references(child, parent, "select")
        if isinstance(node, exp.Values) and node.expressions:
            return _QueryOutputs([f"column{index + 1}" for index in range(len(node.expressions[0].expressions))])
        return _QueryOutputs()

    def _resolve_with_clause(self, node: exp.Expr, parent: Scope | None) -> None:
        """Resolve the common table expressions of a query."""
        clause = node.args.get("with_")
        if clause is None:
            return
        self.ctes = dict(self.ctes)
        # In WITH RECURSIVE, and in SQLite, a CTE may read itself and later ones: what can be known of each before it is
        # resolved is registered first. Elsewhere its own name in it is the table's of that name.
        mutual = self.rules.is_sqlite or clause.args.get("recursive")
        for cte in clause.expressions if mutual else ():
            names = self._get_alias_names(cte) or self._guess_output_names(cte.this)
            self.ctes[self._get_alias_key(cte)] = cte.this, _QueryOutputs(names)
        for cte in clause.expressions:
            shape, names = self.resolve_query(cte.this, parent), self._get_alias_names(cte)
            self.ctes[self._get_alias_key(cte)] = cte.this, _QueryOutputs(names) if names else shape

    def _resolve_compound_query(self, node: exp.SetOperation, parent: Scope | None) -> _QueryOutputs:
        chain: list[exp.SetOperation] = [node]
        while isinstance(chain[-1].this, exp.SetOperation) and chain[-1].this.args.get("with_") is None:
            chain.append(chain[-1].this)
        shape = self.resolve_query(chain[-1].this, parent)
        for link in reversed(chain):
            shape = replace(shape, arms=shape.arms + self.resolve_query(link.expression, parent).arms)
            self._resolve_order_and_limit(link, shape, parent)
        return shape

    def _resolve_order_and_limit(self, node: exp.Expr, body: _QueryOutputs, parent: Scope | None) -> None:
        """Resolve the names in ORDER BY and LIMIT of a compound query."""
        names = {self.rules.naming.key(name) for arm in body.arms for name in arm.outputs or () if name}
        for key in ("order", "limit", "offset"):
            clause = node.args.get(key)
            for column in self._yield_column_expressions(clause, parent) if clause is not None else ():
                if not column.table and self.rules.key(column.this) in names:
                    self.references.append(Reference(column, None, "order", "output", column=column.name))
                    continue
                references = [self._resolve_column(column, arm, "order") for arm in body.arms]
                good = [reference for reference in references if reference.kind in ("column", "alias", "rowid", "open")]
                best = (good or references or [self._resolve_column(column, parent, "order")])[0]
                self.references.append(replace(best, scope=None))

    def _resolve_select(self, node: exp.Select, parent: Scope | None) -> _QueryOutputs:
        scope = Scope(node, parent)
        self.scopes.append(scope)
        from_clause = node.args.get("from_")
        if from_clause is not None:
            self._add_source_to_scope(from_clause.this, scope, None)
        start = 0
        for join in node.args.get("joins") or ():
            if join.args.keys() <= {"this"}:  # a comma, which binds less than JOIN; SQLite's is read as CROSS JOIN
                start = len(scope.sources)
            self._resolve_join(join, scope, start)
        for lateral in node.args.get("laterals") or ():
            self._add_source_to_scope(lateral, scope, None)
        aliases: dict[str, exp.Expr] = {}
        # Of two result columns with one alias, it names the first; in DuckDB the last.
        for item in node.expressions if self.rules.name == "duckdb" else reversed(node.expressions):
            if isinstance(item, exp.Alias):
                aliases[self.rules.key(item.args["alias"])] = item.this
        outputs = self._list_outputs(node, scope)
        # An alias comes before a name that the engine gives.
        for name, item in () if self.rules.expressions_as_names else outputs or ():
            if name is not None and isinstance(item, exp.Expr) and not isinstance(item.unnest(), exp.Column):
                aliases.setdefault(name, item.unalias())
        _set_fields(scope, aliases=MappingProxyType(aliases), outputs=outputs and tuple(name for name, _ in outputs))
        for join in node.args.get("joins") or ():
            if self.rules.is_sqlite:  # each ON sees later joins, and aliases
                self._resolve_on_clause(join, scope, 0)
        for key, clause in _CLAUSES.items():
            value = node.args.get(key)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, exp.Expr):
                    self._add_column_references(part, scope, clause)
        return _QueryOutputs(scope.outputs, self._list_unnamed_output_texts(node), (scope,))

    def _resolve_join(self, join: exp.Join, scope: Scope, start: int) -> None:
        """Add a join's sources to a scope, and merge USING columns with sources from `start` on."""
        before = scope.sources[start:]
        self._add_source_to_scope(join.this, scope, join)
        new_sources = scope.sources[start + len(before) :]
        names = {self.rules.key(name) for name in join.args.get("using") or ()}
        if join.method == "NATURAL":
            earlier_columns = {name for source in before for name in source.columns or ()}
            names = {name for source in new_sources for name in source.columns or () if name in earlier_columns}
        # Of several sources with a column, it is the first one's, on both sides.
        partners = {name: near for near in reversed(before) for name in names & near.unqualified_columns}
        claimed = frozenset[str]()
        for source in new_sources:
            shared = names & partners.keys() & source.unqualified_columns
            pairs = [(name, partners[name]) for name in shared - claimed]
            # Every row has a value of the side whose rows are all kept.
            nears = dict(pairs) if join.side == "RIGHT" else {}
            merged = source.merged | (shared - nears.keys())
            partners_here = (*source.using_partners, *pairs)
            _set_fields(source, using=source.using | names, using_partners=partners_here, merged=merged)
            for name, near in nears.items():
                _set_fields(near, merged=near.merged | {name})
            claimed |= shared
        either = join.side == "FULL" or join.method == "POSITIONAL"
        optional = new_sources if either or join.side == "LEFT" or join.kind == "ANTI" else ()
        for source in (*optional, *(before if either or join.side == "RIGHT" else ())):
            _set_fields(source, optional=True)
        if not self.rules.is_sqlite:
            self._resolve_on_clause(join, scope, start)

    def _resolve_on_clause(self, join: exp.Join, scope: Scope, start: int) -> None:
        """Resolve the names in ON among the sources from `start` on, then among all sources."""
        on, sources, count = join.args.get("on"), scope.sources, len(self.references)
        if on is None:
            return
        _set_fields(scope, sources=sources[start:])
        self._add_column_references(on, scope, "from")
        _set_fields(scope, sources=sources)
        for index, reference in enumerate(self.references[count:], count):
            if reference.kind.startswith("unknown"):
                self.references[index] = self._resolve_column(reference.node, reference.scope, reference.clause)

    def _add_source_to_scope(self, node: exp.Expr, scope: Scope, join: exp.Join | None) -> None:
        start = len(scope.sources)
        if isinstance(node, exp.Subquery) and is_from_item(node.this):
            self._add_source_to_scope(node.this, scope, join)
        elif isinstance(node, exp.Table):
            _append_source(scope, replace(self._make_table_source(node, scope), join=join))
        elif isinstance(node, exp.Subquery | exp.Values):
            shape = self.resolve_query(node, scope if self.rules.name == "duckdb" else scope.parent)
            inner = node.this if isinstance(node, exp.Subquery) else node
            name, columns = (
                self._get_alias_key(node),
                self._map_output_names(self._get_alias_names(node) or shape.outputs),
            )
            if node.args.get("pivots"):
                columns = None
            _append_source(scope, QuerySource(name, "", None, columns, node, query=inner, join=join, texts=shape.texts))
        elif isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            shape = self.resolve_query(node.this, scope)
            name, columns = (
                self._get_alias_key(node),
                self._map_output_names(self._get_alias_names(node) or shape.outputs),
            )
            _append_source(scope, QuerySource(name, "", None, columns, node, query=node.this.this, join=join))
        else:
            self._add_column_references(node, scope, "from")
            name = self._get_alias_key(node) or self.rules.naming.key(node.alias_or_name)
            _append_source(scope, QuerySource(name, "", None, None, node, join=join))
        for inner_join in node.args.get("joins") or ():
            self._resolve_join(inner_join, scope, start)
        for inner_join in node.args.get("joins") or ():
            if self.rules.is_sqlite:
                self._resolve_on_clause(inner_join, scope, start)

    def _make_table_source(self, node: exp.Table, scope: Scope) -> QuerySource:
        if not isinstance(node.this, exp.Identifier):
            functions: list[exp.Expr] = [node.this] if node.this else [item.this for item in node.args["rows_from"]]
            for argument in (argument for function in functions for argument in function.expressions):
                self._add_column_references(argument, scope, "from")
            name = self.rules.naming.key(functions[0].name)
            return QuerySource(self._get_alias_key(node) or name, name, None, None, node)
        name = self.rules.key(node.this)
        visible = self._get_alias_key(node) or name
        if name in self.ctes and not node.args.get("db"):
            query, shape = self.ctes[name]
            return QuerySource(
                visible, name, None, self._map_output_names(shape.outputs), node, query=query, texts=shape.texts
            )
        table = self._find_schema_table(node, name)
        if table is None:
            is_system = name.startswith(self.rules.system) or node.db.lower() == "information_schema"
            return QuerySource(visible, name, None, None, node, known=is_system)
        aliases = [] if self.rules.is_sqlite else self._get_alias_names(node)
        columns = self._map_output_names([*aliases, *(column.name for column in table.columns[len(aliases) :])])
        alias_columns = {name: column.name for name, column in zip(aliases, table.columns, strict=False) if name}
        outputs = None if node.args.get("pivots") else columns
        return QuerySource(visible, name, table, outputs, node, column_aliases=MappingProxyType(alias_columns))

    def _find_schema_table(self, node: exp.Table, name: str) -> TableSchema | None:
        """Return the schema's table for a table expression, qualified or not."""
        table = self.schema.table(f"{self.rules.key(node.args['db'])}.{name}") if node.args.get("db") else None
        table = table or self.schema.table(name)
        key = self.rules.naming.key
        return table if table is not None and key(table.name).endswith(name) else None

    def _add_column_references(self, node: exp.Expr, scope: Scope | None, clause: Clause) -> None:
        for column in self._yield_column_expressions(node, scope):
            self.references.append(self._resolve_column(column, scope, clause))

    def _yield_column_expressions(self, node: exp.Expr, scope: Scope | None) -> Iterator[exp.Column]:
        """Yield the column expressions in order, and resolve sub-queries on the way."""
        stack = [node]
        while stack:
            top = stack.pop()
            if isinstance(top, exp.Query):
                self.resolve_query(top, scope)
            elif isinstance(top, exp.Column):
                yield top
            else:
                stack.extend(reversed(list(top.iter_expressions())))

    def _get_alias_names(self, node: exp.Expr) -> list[str]:
        """Return the column names that an alias declares, as in `AS t(a, b)`."""
        alias = node.args.get("alias")
        return [self.rules.key(column) for column in alias.columns] if isinstance(alias, exp.TableAlias) else []

    def _map_output_names(self, outputs: Sequence[str | None] | None) -> Mapping[str, str] | None:
        if outputs is None:
            return None
        names_by_key: dict[str, str] = {}
        for name in outputs:
            if name is not None:
                names_by_key.setdefault(self.rules.naming.key(name), name)
        return MappingProxyType(names_by_key)

    def _list_outputs(self, node: exp.Select, scope: Scope) -> tuple[_Output, ...] | None:
        """List the result columns of a SELECT; None if a star stands for unknown ones."""
        outputs: list[_Output] = []
        for item in node.expressions:
            inner = item.unnest()
            if isinstance(inner, exp.Star | exp.Column) and inner.is_star and not isinstance(item, exp.Alias):
                source_name = self.rules.key(inner.args.get("table")) if isinstance(inner, exp.Column) else None
                star = inner.this if isinstance(inner, exp.Column) else inner
                if star.args.get("rename") or star.args.get("ilike"):
                    return None
                left_out = {self.rules.key(column.this) for column in star.args.get("except_") or ()}
                for source in scope.sources:
                    if source_name is not None and source.name != source_name:
                        continue
                    if source.columns is None:
                        return None
                    columns = source.columns.items()
                    shown = (n for k, n in columns if k not in left_out and (source_name or k not in source.using))
                    outputs += [(name, source) for name in shown]
            elif isinstance(inner, exp.Columns):
                return None
            else:
                outputs.append((self._name_output(item), item))
        return tuple(outputs)

    def _name_output(self, item: exp.Expr) -> str | None:
        """Return the name of a result column; None if it has none."""
        inner = item.unnest()
        if isinstance(item, exp.Alias):
            return self._spell_output_name(item.args["alias"])
        if isinstance(inner, exp.Column):
            return self._spell_output_name(inner.this)
        if self.rules.expressions_as_names:
            return None
        while isinstance(inner, exp.Cast):
            inner = inner.this
        if isinstance(inner, exp.Column):
            return self._spell_output_name(inner.this)
        if isinstance(inner, exp.Query):
            return next(iter(self._guess_output_names(inner) or ()), None)
        while isinstance(inner, exp.Filter | exp.Window | exp.WithinGroup):
            inner = inner.this
        if isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary):
            call = _CALLED.match(inner.sql(dialect=self.rules.grammar))
            return (call[0] if call else inner.sql_name()).lower()
        return "?column?"

    def _spell_output_name(self, name: exp.Expr) -> str:
        """Return a name as written if the dialect ignores case, else in normalized form."""
        return name.name if self.rules.naming.case == "ignored" else self.rules.key(name)

    def _guess_output_names(self, node: exp.Expr) -> list[str | None] | None:
        """Return the result column names of an unresolved query; None if it selects a star."""
        items = node.selects if isinstance(node, exp.Query) else []
        return [self._name_output(out) for out in items] if items and not any(out.is_star for out in items) else None

    def _list_unnamed_output_texts(self, node: exp.Select) -> frozenset[str]:
        if node.parent is None or not self.rules.expressions_as_names:
            return frozenset()
        items = (item for item in node.expressions if not isinstance(item, exp.Alias | exp.Column | exp.Star))
        return frozenset(remove_spaces_and_case(item.sql(dialect=self.rules.grammar)) for item in items)

    def _resolve_column(self, node: exp.Column, scope: Scope | None, clause: Clause) -> Reference:
        """Resolve a column expression, searching the scopes from the inside out."""
        refer, name = partial(Reference, node, scope, clause), self.rules.key(node.this)
        if isinstance(node.this, exp.Star):
            return self._resolve_qualified_star(node, scope, refer)
        if node.table:
            return self._resolve_qualified_column(node, name, scope, refer)
        output_first = clause == "order" and self._is_whole_order_by_term(node)
        if clause == "having" and self.rules.name in ("duckdb", "mysql"):  # but within an aggregate
            output_first = isinstance(node.find_ancestor(exp.AggFunc, exp.Select), exp.Select)
        for level in iterate_enclosing_scopes(scope):
            if output_first and level is scope and name in level.aliases:
                return refer("alias", level, column=node.name)
            is_output = output_first and level is scope and not self.rules.is_sqlite  # there only an alias comes first
            reference = self._resolve_unaliased_output(name, level, refer) if is_output else None
            reference = reference or self._resolve_column_in_sources(node, name, level, refer)
            if reference is not None:
                is_group = clause == "group" and level is scope and self.rules.name == "mysql"
                if not is_group or reference.kind != "ambiguous":
                    return reference
                alias = refer("alias", level, column=node.name) if name in level.aliases else None
                return alias or self._resolve_unaliased_output(name, level, refer) or reference
            if name in level.aliases and (level is not scope or clause in self.rules.aliases):
                return refer("alias", level, column=node.name)
        return refer(self._classify_unknown_name(node, scope), column=node.name)

    def _is_whole_order_by_term(self, node: exp.Column) -> bool:
        """Whether a column is an entire ORDER BY term, for which result columns come first."""
        above = node.parent
        while isinstance(above, exp.Paren if self.rules.name == "postgres" else exp.Paren | exp.Collate):
            above = above.parent
        clause = above.parent if isinstance(above, exp.Ordered | exp.Tuple) else None  # a tuple is that of DISTINCT ON
        return isinstance(clause, exp.Order | exp.Distinct) and isinstance(clause.parent, exp.Query)

    def _resolve_unaliased_output(self, name: str, scope: Scope, refer: _Refer) -> Reference | None:
        """Resolve the name of a result column without AS to the only column that it shows, or None."""
        columns: set[tuple[Scope | None, QuerySource | None, str]] = set()
        for output, item in self._list_outputs(scope.select, scope) or ():
            if output is None or self.rules.naming.key(output) != name:
                continue
            if isinstance(item, QuerySource):
                columns.add((scope, item, output))
            elif isinstance(column := item.unnest(), exp.Column):
                shown = self._resolve_column(column, scope, "select")
                columns |= {(shown.owner, shown.source, shown.column)} if shown.kind == "column" else set()
        return refer("column", *columns.pop()) if len(columns) == 1 else None

    def _resolve_column_in_sources(self, node: exp.Column, name: str, level: Scope, refer: _Refer) -> Reference | None:
        holders = [source for source in level.sources if source.columns is not None and name in source.columns]
        distinct = [source for source in holders if name not in source.merged]
        if len(distinct) > 1 and self.rules.name == "duckdb":  # there a column of USING comes before all others
            partners = [source for s in level.sources for key, source in s.using_partners if key == name]
            distinct = [source for source in distinct if name in source.using or source in partners] or distinct
        if len(distinct) > 1:
            return refer("ambiguous", level, distinct[0], node.name, tuple(distinct))
        if distinct:
            source = distinct[0]
            column_name = source.columns[name] if source.columns else node.name
            return refer("column", level, source, column_name)
        if any(source.columns is None or _has_hidden_columns(source) for source in level.sources):
            return refer("open", level, column=node.name)
        if name in self.rules.hidden and len(level.sources) == 1 and level.sources[0].table is not None:
            return refer("rowid", level, level.sources[0], name)
        if not self.rules.is_sqlite and any(name == source.name for source in level.sources):
            return refer("open", level, column=node.name)  # a whole row, as in count(t)
        return None

    def _resolve_qualified_column(self, node: exp.Column, name: str, scope: Scope | None, refer: _Refer) -> Reference:
        qualifier = self.rules.key(node.args["table"])
        for level in iterate_enclosing_scopes(scope):
            sources = [s for s in level.sources if s.name == qualifier and self._fits_schema(s, node.args.get("db"))]
            holders = [source for source in sources if source.columns is None or name in source.columns]
            if len(holders) > 1:
                return refer("ambiguous", level, holders[0], node.name, tuple(holders))
            if holders:
                source = holders[0]
                kind: ReferenceKind = "open" if source.columns is None else "column"
                column_name = source.columns[name] if source.columns else node.name
                return refer(kind, level, source, column_name)
            if sources:
                source = sources[0]
                if name in self.rules.hidden and source.table is not None:
                    return refer("rowid", level, source, name)
                kind = "open" if _has_hidden_columns(source) else "unknown"
                return refer(kind, level, source, node.name)
        if not self.rules.is_sqlite and self._can_be_column_field(node, scope):
            return refer("open", scope, column=node.name)
        return refer("unknown_source", column=node.name)

    def _fits_schema(self, source: QuerySource, schema: exp.Expr | None) -> bool:
        """Whether a source may belong to the schema that qualifies its name in the query."""
        source_schema = source.table.schema if source.table else ""
        return not schema or not source_schema or self.rules.key(schema) == self.rules.naming.key(source_schema)

    def _can_be_column_field(self, node: exp.Column, scope: Scope | None) -> bool:
        """Whether a qualified name may be a field of a column instead of a table's column."""
        parts = filter(None, (node.args.get(part) for part in ("catalog", "db", "table")))
        first, *others = map(self.rules.key, parts)
        for level in iterate_enclosing_scopes(scope):
            for source in level.sources:
                if source.columns is None or first in source.columns or (others and source.name == first):
                    return True
        return False

    def _resolve_qualified_star(self, node: exp.Column, scope: Scope | None, refer: _Refer) -> Reference:
        for source in scope.sources if scope else ():
            if source.name == self.rules.key(node.args.get("table")):
                return refer("star", scope, source, "*")
        return refer("unknown_source", column="*")

    def _classify_unknown_name(self, node: exp.Column, scope: Scope | None) -> ReferenceKind:
        """Return the kind of a name that no scope has: string, unnamed column or unknown."""
        text = remove_spaces_and_case(node.name)
        if any(text in source.texts for level in iterate_enclosing_scopes(scope) for source in level.sources):
            return "text_name"
        is_quoted = node.this.args.get("quoted") and not node.this.meta.get("bracketed")
        return "string" if is_quoted and self.rules.words_as_text else "unknown"


def _append_source(scope: Scope, source: QuerySource) -> None:
    _set_fields(scope, sources=(*scope.sources, source))


# What refers to a scope or source is made before it is whole; nobody else has it by then.
def _set_fields(target: Scope | QuerySource, **values: object) -> None:
    """Set fields of a scope or source while it is being resolved."""
    for name, value in values.items():
        object.__setattr__(target, name, value)


def _has_hidden_columns(source: QuerySource) -> bool:
    return source.table is not None and source.table.kind == "virtual"
