"""A query of one dialect written in another, for what is only ever composed in SQLite's: the offline translator's.

sqlglot translates syntax and functions. What it cannot know without a schema is put right here before it writes: names
that need quotes, columns beside aggregates, division of whole numbers, LIKE, and comparisons across types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..database.quoting import Naming
from ..database.schema import ColumnSchema, Schema
from ..errors import SQLParseError
from .checks.groups import bare_references, extreme_of
from .conditions import base_column
from .dialects import Rules, rules_of
from .lookup import key_of
from .parse import parse_select
from .resolve import resolve
from .scope import Resolution
from .untrusted import analysis

# MySQL's depends on the collation.
_CASE_SENSITIVE_LIKE = frozenset(
    {"postgres", "duckdb", "mysql", "snowflake", "spark", "bigquery", "trino", "clickhouse"}
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NUMBER = r"^\s*[-+]?[0-9]+(\.[0-9]*)?\s*$"
_JULIAN_DAY = {
    "postgres": "EXTRACT(JULIAN FROM CAST({0} AS TIMESTAMP))",
    "duckdb": "JULIAN(CAST({0} AS TIMESTAMP))",
    "mysql": "(TO_DAYS({0}) + TIME_TO_SEC(CAST({0} AS DATETIME)) / 86400)",
}


@analysis
def transpile(sql: str, source: str, target: str, schema: Schema | None = None) -> str:
    """A query in another dialect.

    Args:
        sql: One query.
        source: Its dialect, by sqlglot's name.
        target: The dialect to write.
        schema: Of the database that is to run it; None leaves out what only a schema can tell.

    Raises:
        SQLParseError: It cannot be parsed, or the target has no words for it.
    """
    tree = parse_select(sql, source)
    if source == target:
        return sql
    if schema is not None:
        tree = _Repair(tree, replace(schema, dialect=source), rules_of(target)).repaired()
    elif target in _CASE_SENSITIVE_LIKE and source == "sqlite":
        tree = tree.transform(_ignoring_case)
    try:
        return tree.sql(dialect=rules_of(target).grammar)
    except (SqlglotError, ValueError) as error:
        raise SQLParseError(f"The query cannot be written for {rules_of(target).engine}: {error}") from None


def _ignoring_case(node: exp.Expr) -> exp.Expr:
    return exp.ILike(**node.args) if isinstance(node, exp.Like) else node


def _like(node: exp.Expr) -> exp.Expr:
    """SQLite's LIKE, which looks at no case, for how other engines write it."""
    if isinstance(node, exp.ILike):
        return exp.Like(**node.args)
    if isinstance(node, exp.Like) and isinstance(node.this, exp.Lower) and isinstance(node.expression, exp.Lower):
        return exp.Like(this=node.this.this, expression=node.expression.this)
    return node


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
        if self.schema.dialect == "sqlite":
            self._bare_columns(found)
        self._aliases(found)
        if self.schema.dialect == "sqlite":
            if not self.target.is_sqlite:
                self._types(found)
            self._operators(found)
        elif self.target.is_sqlite:
            self.tree = self.tree.transform(_like)
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
        for node in list(self.tree.find_all(exp.Div, exp.Avg, exp.Like, exp.Anonymous, exp.Date)):
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
            elif isinstance(node, exp.Anonymous):
                self._function(node)
            elif isinstance(node, exp.Date) and node.this is not None and node.this.name.lower() == "now":
                _put(node, exp.CurrentDate())

    def _function(self, node: exp.Anonymous) -> None:
        arguments = node.expressions
        match node.name.lower():
            case "total" if len(arguments) == 1:
                _put(node, exp.func("coalesce", exp.Sum(this=arguments[0].copy()), exp.Literal.number("0.0")))
            case "julianday" if len(arguments) == 1 and self.target.name in _JULIAN_DAY:
                moment = arguments[0].sql(dialect=self.target.grammar)
                if moment.lower() == "'now'":
                    moment = "CURRENT_TIMESTAMP"
                written = _JULIAN_DAY[self.target.name].format(moment)
                _put(node, exp.maybe_parse(written, dialect=self.target.grammar))
            case "datetime" if len(arguments) == 1 and arguments[0].name.lower() == "now":
                _put(node, exp.CurrentTimestamp())
            case _:
                pass

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
        """Columns beside aggregates: of the row with the greatest or least where SQLite says so, else of any row."""
        strict = rules_of("")
        for scope in found.scopes:
            extreme = extreme_of(scope)
            if extreme is not None and self.target.name == "mysql":
                continue  # which has no way to say it, and takes the query as it is
            for reference in bare_references(scope, found, strict):
                _put(reference.node, _of_row(reference.node.copy(), extreme, self.target))

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


def _of_row(column: exp.Expr, extreme: exp.Expr | None, target: Rules) -> exp.Expr:
    """The value of a column in the row with the greatest or least of another, or in any row of its group."""
    if extreme is None:
        return exp.Min(this=column)
    if target.name == "postgres":
        order = (
            f"{extreme.this.sql(dialect=target.grammar)} {'DESC' if isinstance(extreme, exp.Max) else 'ASC'} NULLS LAST"
        )
        written = f"(ARRAY_AGG({column.sql(dialect=target.grammar)} ORDER BY {order}))[1]"
        return exp.maybe_parse(written, dialect=target.grammar)
    return (exp.ArgMax if isinstance(extreme, exp.Max) else exp.ArgMin)(this=column, expression=extreme.this.copy())
