"""SQLite's queries in the dialect of another engine: gold queries and statements, to be run there too.

sqlglot translates syntax and functions. What it cannot know without a schema is put right here before it writes: names
that need quotes, columns beside aggregates, division of whole numbers, LIKE, and comparisons across types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ....tools.database.quoting import Naming
from ....tools.database.schema import ColumnSchema, Schema
from ....tools.errors import SQLParseError
from ....tools.sql.checks.groups import bare_references
from ....tools.sql.conditions import base_column
from ....tools.sql.dialects import Rules, rules_of
from ....tools.sql.lookup import key_of
from ....tools.sql.parse import parse_select
from ....tools.sql.resolve import resolve
from ....tools.sql.scope import Resolution

# MySQL's depends on the collation.
_CASE_SENSITIVE_LIKE = frozenset(
    {"postgres", "duckdb", "mysql", "snowflake", "spark", "bigquery", "trino", "clickhouse"}
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NUMBER = r"^\s*[-+]?[0-9]+(\.[0-9]*)?\s*$"


def translate(sql: str, target: str, schema: Schema | None = None) -> str:
    """Return one of SQLite's queries in another dialect.

    Args:
        sql: One query.
        target: The dialect to write.
        schema: Of the database that is to run it; None leaves out what only a schema can tell.

    Raises:
        SQLParseError: It cannot be parsed, or the target has no words for it.
    """
    if target == "sqlite":
        return sql
    tree = parse_select(sql)
    if schema is not None:
        tree = _Repair(tree, replace(schema, dialect="sqlite"), rules_of(target)).repaired()
    elif target in _CASE_SENSITIVE_LIKE:
        tree = tree.transform(_ignoring_case)
    grammar = rules_of(target).grammar
    try:
        return tree.sql(dialect=grammar)
    except (SqlglotError, ValueError) as error:
        raise SQLParseError(f"The query cannot be written for {rules_of(target).engine}: {error}") from None


def _ignoring_case(node: exp.Expr) -> exp.Expr:
    return exp.ILike(**node.args) if isinstance(node, exp.Like) else node


@dataclass
class _Repair:
    """One query on its way to another dialect; every step changes the tree, and keeps its meaning.

    Attributes:
        tree: The query.
        schema: Of the database, under the query's dialect.
        target: The rules of the dialect to come.
    """

    tree: exp.Expr
    schema: Schema
    target: Rules

    def repaired(self) -> exp.Expr:
        """The tree, ready to be written."""
        found = resolve(self.tree, self.schema)
        self._names(found)  # first, since what the other steps copy has to have its name
        self._bare_columns(found)
        self._aliases(found)
        self._types(found)
        self._operators(found)
        self._derived_tables()
        return self.tree

    def _derived_tables(self) -> None:
        """A name for every sub-query in FROM: MySQL, and PostgreSQL before 16, ask for one."""
        for number, query in enumerate(self.tree.find_all(exp.Subquery)):
            if isinstance(query.parent, exp.From | exp.Join) and not query.alias and isinstance(query.this, exp.Query):
                query.set("alias", exp.TableAlias(this=exp.to_identifier(f"derived_{number}")))

    def _aliases(self, found: Resolution) -> None:
        """Aliases of result columns written out where the target does not know them."""
        for reference in found.references:
            node = reference.node
            if reference.kind != "alias" or reference.owner is None or isinstance(node.parent, exp.Ordered | exp.Group):
                continue
            if reference.clause not in self.target.aliases or reference.clause in ("order", "group"):
                meant = reference.owner.aliases[key_of(node.this, found.rules)]
                _put(node, exp.Paren(this=meant.copy()) if isinstance(meant, exp.Binary) else meant.copy())

    def _operators(self, found: Resolution) -> None:
        """What SQLite's operators and functions do differently."""
        name = self.target.name
        for node in list(self.tree.find_all(exp.Div, exp.Avg, exp.Like)):
            if isinstance(node, exp.Div) and _is_whole(node.left, found) and _is_whole(node.right, found):
                if name != "postgres":  # which divides whole numbers as SQLite does
                    _put(node, exp.IntDiv(this=node.left.copy(), expression=node.right.copy()))
            elif isinstance(node, exp.Div) and name == "mysql":
                node.left.replace(exp.cast(node.left.copy(), "double"))  # else four digits of a decimal number
            elif isinstance(node, exp.Avg) and name == "mysql" and not _is_precise(node.this, found):
                node.this.replace(exp.cast(node.this.copy(), "double"))
            elif isinstance(node, exp.Like) and name in _CASE_SENSITIVE_LIKE:
                column = base_column(node.this, found)
                if column is not None and column[1].kind != "text":
                    node.this.replace(exp.cast(node.this.copy(), "text"))
                _put(node, exp.ILike(**node.args))

    def _types(self, found: Resolution) -> None:
        """Text compared with numbers as text, as SQLite does; truth compared with 0 and 1; sums of text as numbers."""
        for node in list(self.tree.find_all(exp.Sum, exp.Avg)) if not self.target.loose_types else ():
            column = base_column(node.this, found)
            if column is not None and column[1].kind == "text":
                node.this.replace(self._number(node.this.copy()))
        for node in list(self.tree.find_all(*_COMPARISONS, exp.In, exp.Between)):
            column = base_column(node.this, found)
            other = _selected(node) or node.args.get("expression")
            across = base_column(other, found) if other is not None else None
            if column is None:
                continue
            if across is not None and other is not None:
                if {column[1].kind, across[1].kind} == {"text", "number"}:
                    for side, one in ((node.this, column), (other, across)):
                        if one[1].kind == "number":
                            side.replace(exp.cast(side.copy(), "text"))
                continue
            if column[1].kind == "text" and _counts(other, found):
                other.replace(exp.cast(other.copy(), "text"))
                continue
            parts = [other, *node.expressions, node.args.get("low"), node.args.get("high")]
            for part in parts:
                if isinstance(part, exp.Literal):
                    _put(part, _of_kind(part, column[1]))

    def _number(self, text: exp.Expr) -> exp.Expr:
        """A text as a number, 0 if it is none."""
        zero = exp.Literal.number(0)
        if self.target.name != "postgres":
            return exp.func("coalesce", exp.TryCast(this=text, to=exp.DataType.build("double")), zero)
        number = exp.cast(text, "double")
        is_number = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_NUMBER))
        return exp.case().when(is_number, number).else_(zero)

    def _bare_columns(self, found: Resolution) -> None:
        """Columns beside aggregates, of any row."""
        for scope in found.scopes:
            for reference in bare_references(scope, found, rules_of("")):
                _put(reference.node, exp.Min(this=reference.node.copy()))

    def _names(self, found: Resolution) -> None:
        """Names as the schema declares them, in quotes where the target needs them."""
        naming = self.target.naming
        for scope in found.scopes:
            for source in scope.sources:
                if source.table is not None and isinstance(source.node, exp.Table):
                    _name(source.node.this, source.table.name, naming)
        for reference in found.references:
            if reference.kind == "string":
                _put(reference.node, exp.Literal.string(reference.column))
            elif reference.kind == "column" and reference.source is not None:
                if reference.source.table is not None:
                    _name(reference.node.this, reference.column, naming)
                qualifier, source = reference.node.args.get("table"), reference.source
                if qualifier is not None and source.node.alias:
                    qualifier.set("this", source.node.alias)  # whose case counts in MySQL
                elif qualifier is not None and source.table is not None:
                    _name(qualifier, source.table.name, naming)
        for node in self.tree.find_all(exp.Identifier):
            if node.name.lower() in naming.reserved:
                node.set("quoted", True)


def _selected(node: exp.Expr) -> exp.Expr | None:
    """What the sub-query of an IN, or of a comparison, selects."""
    query = node.args.get("query") or node.args.get("expression")
    inner = query.unnest() if isinstance(query, exp.Subquery) else None
    return inner.expressions[0].unalias() if isinstance(inner, exp.Select) else None


def _counts(node: exp.Expr | None, found: Resolution) -> TypeGuard[exp.AggFunc]:
    """Whether an expression is an aggregate that gives a number."""
    if isinstance(node, exp.Min | exp.Max):
        column = base_column(node.this, found)
        return column is not None and column[1].kind == "number"
    return isinstance(node, exp.Count | exp.Sum | exp.Avg)


def _name(node: exp.Expr, declared: str, naming: Naming) -> None:
    node.set("this", declared)
    node.set("quoted", not naming.is_plain(declared))


def _put(old: exp.Expr, new: exp.Expr) -> None:
    """The new expression in the old one's place, with the comments and marks of the old one left behind."""
    old.replace(new)


def _of_kind(literal: exp.Literal, column: ColumnSchema) -> exp.Expr:
    if column.kind == "text" and not literal.is_string:
        return exp.Literal.string(literal.name)
    if column.kind == "boolean" and literal.name in ("0", "1"):
        return exp.Boolean(this=literal.name == "1")
    return literal


def _is_whole(node: exp.Expr, found: Resolution) -> bool:
    """Whether an expression surely is a whole number."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return node.is_int
    if isinstance(node, exp.Count | exp.Length):
        return True
    if isinstance(node, exp.Sum | exp.Min | exp.Max | exp.Neg | exp.Distinct):
        inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
        return _is_whole(inner, found)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_whole(node.left, found) and _is_whole(node.right, found)
    if isinstance(node, exp.Cast):
        return node.is_type(*exp.DataType.INTEGER_TYPES)
    column = base_column(node, found)
    return column is not None and "INT" in column[1].type.upper() and column[1].kind == "number"


def _is_precise(node: exp.Expr, found: Resolution) -> bool:
    """Whether an average keeps all digits in MySQL as it is, or cannot be told to."""
    column = base_column(node, found)
    precise = column is not None and any(name in column[1].type.upper() for name in ("DOUBLE", "FLOAT", "REAL"))
    return precise or isinstance(node, exp.Distinct)
