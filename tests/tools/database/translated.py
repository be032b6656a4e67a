"""Translation of SQLite's gold queries and statements to another engine's dialect.

sqlglot translates syntax and functions. What it cannot know without a schema is put right here before it writes: names
that need quotes, columns beside aggregates, division of whole numbers, LIKE, and comparisons across types.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError
from tableturn.tools.database.schema import Schema
from tableturn.tools.errors import SQLParseError
from tableturn.tools.sql.checks.failure import find_ungrouped_columns
from tableturn.tools.sql.dialects import DialectRules, get_dialect_rules
from tableturn.tools.sql.parse import parse
from tableturn.tools.sql.query import Query

# MySQL's depends on the collation.
_CASE_SENSITIVE_LIKE = frozenset(
    {"postgres", "duckdb", "mysql", "snowflake", "spark", "bigquery", "trino", "clickhouse"}
)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NUMBER = r"^\s*[-+]?[0-9]+(\.[0-9]*)?\s*$"


def translate_to_dialect(sql: str, target: str, schema: Schema | None = None) -> str:
    """Translate a SQLite query to another dialect.

    Args:
        sql: One query.
        target: The dialect to write.
        schema: Of the database that is to run it; None leaves out what only a schema can tell.

    Raises:
        SQLParseError: It cannot be parsed, or the target has no words for it.
    """
    if target == "sqlite":
        return sql
    parsed, rules = parse(sql), get_dialect_rules(target)
    tree = parsed.tree.copy()
    if schema is not None:
        found = Query(parsed.sql, parsed.tokens, tree, parsed.rules, schema)
        _use_declared_names(tree, found, rules)  # first, since what the other steps copy has to have its name
        for scope in found.scopes:
            for reference in find_ungrouped_columns(scope, found, get_dialect_rules("")):
                reference.node.replace(exp.Min(this=reference.node.copy()))  # of any row
        _expand_aliases(found, rules)
        _cast_mixed_types(tree, found, rules)
        _convert_operators(tree, found, rules)
        # MySQL, and PostgreSQL before 16, ask for a name for every sub-query in FROM.
        for number, query in enumerate(tree.find_all(exp.Subquery)):
            if isinstance(query.parent, exp.From | exp.Join) and not query.alias and isinstance(query.this, exp.Query):
                query.set("alias", exp.TableAlias(this=exp.to_identifier(f"derived_{number}")))
    elif target in _CASE_SENSITIVE_LIKE:
        for node in list(tree.find_all(exp.Like)):
            node.replace(exp.ILike(**node.args))
    try:
        return tree.sql(dialect=rules.grammar)
    except (SqlglotError, ValueError) as error:
        raise SQLParseError(f"The query cannot be written for {rules.engine}: {error}") from None


def _use_declared_names(tree: exp.Expr, found: Query, target: DialectRules) -> None:
    """Spell table and column names as the schema declares them, quoted if necessary."""

    def set_declared_name(node: exp.Expr, declared: str) -> None:
        node.set("this", declared)
        node.set("quoted", not target.naming.can_be_unquoted(declared))

    for scope in found.scopes:
        for source in scope.sources:
            if source.table is not None and isinstance(source.node, exp.Table):
                set_declared_name(source.node.this, source.table.name)
    for reference in found.resolution.references:
        source, node = reference.source, reference.node
        if reference.kind == "string":
            node.replace(exp.Literal.string(reference.column))
        elif reference.kind == "column" and source is not None:
            if source.table is not None:
                set_declared_name(node.this, reference.column)
            qualifier = node.args.get("table")
            if qualifier is not None and source.node.alias:
                qualifier.set("this", source.node.alias)  # whose case counts in MySQL
            elif qualifier is not None and source.table is not None:
                set_declared_name(qualifier, source.table.name)
    for node in tree.find_all(exp.Identifier):
        if node.name.lower() in target.naming.reserved_words:
            node.set("quoted", True)


def _expand_aliases(found: Query, target: DialectRules) -> None:
    """Replace aliases of result columns by their expressions if the target does not know them."""
    for reference in found.resolution.references:
        node = reference.node
        if reference.kind != "alias" or reference.owner is None or isinstance(node.parent, exp.Ordered | exp.Group):
            continue
        if reference.clause not in target.aliases or reference.clause in ("order", "group"):
            meant = reference.owner.aliases[found.rules.key(node.this)].copy()
            node.replace(exp.Paren(this=meant) if isinstance(meant, exp.Binary) else meant)


def _cast_mixed_types(tree: exp.Expr, found: Query, target: DialectRules) -> None:
    """Rewrite comparisons and sums across types to work as they do in SQLite."""
    for node in list(tree.find_all(exp.Sum, exp.Avg)) if not target.loose_types else ():
        column = found.column(node.this)
        if column is not None and column.schema.kind == "text":
            text, zero = node.this.copy(), exp.Literal.number(0)  # 0 if it is no number
            if target.name == "postgres":
                is_number = exp.RegexpLike(this=text.copy(), expression=exp.Literal.string(_NUMBER))
                number = exp.case().when(is_number, exp.cast(text, "double")).else_(zero)
            else:
                number = exp.func("coalesce", exp.TryCast(this=text, to=exp.DataType.build("double")), zero)
            node.this.replace(number)
    for node in list(tree.find_all(*_COMPARISONS, exp.In, exp.Between)):
        column = found.column(node.this)
        if column is None:
            continue
        # What the sub-query of an IN, or of a comparison, selects; else the other side.
        query = node.args.get("query") or node.args.get("expression")
        inner = query.unnest() if isinstance(query, exp.Subquery) else None
        other = inner.expressions[0].unalias() if isinstance(inner, exp.Select) else node.args.get("expression")
        across = found.column(other) if other is not None else None
        kind = column.schema.kind
        if across is not None and other is not None:
            if {kind, across.schema.kind} == {"text", "number"}:
                side = node.this if kind == "number" else other
                side.replace(exp.cast(side.copy(), "text"))
        elif kind == "text" and other is not None and _is_number_aggregate(other, found):
            other.replace(exp.cast(other.copy(), "text"))
        else:
            for part in (other, *node.expressions, node.args.get("low"), node.args.get("high")):
                if not isinstance(part, exp.Literal):
                    continue
                if kind == "text" and not part.is_string:
                    part.replace(exp.Literal.string(part.name))
                elif kind == "boolean" and part.name in ("0", "1"):
                    part.replace(exp.Boolean(this=part.name == "1"))


def _convert_operators(tree: exp.Expr, found: Query, target: DialectRules) -> None:
    """Rewrite division, averages and LIKE to behave as they do in SQLite."""
    name = target.name
    for node in list(tree.find_all(exp.Div, exp.Avg, exp.Like)):
        if isinstance(node, exp.Div) and _is_whole_number(node.left, found) and _is_whole_number(node.right, found):
            if name != "postgres":  # which divides whole numbers as SQLite does
                node.replace(exp.IntDiv(this=node.left.copy(), expression=node.right.copy()))
        elif isinstance(node, exp.Div) and name == "mysql":
            node.left.replace(exp.cast(node.left.copy(), "double"))  # else four digits of a decimal number
        elif isinstance(node, exp.Avg) and name == "mysql" and not isinstance(node.this, exp.Distinct):
            column = found.column(node.this)
            if column is None or not any(word in column.schema.type.upper() for word in ("DOUBLE", "FLOAT", "REAL")):
                node.this.replace(exp.cast(node.this.copy(), "double"))
        elif isinstance(node, exp.Like) and name in _CASE_SENSITIVE_LIKE:
            column = found.column(node.this)
            if column is not None and column.schema.kind != "text":
                node.this.replace(exp.cast(node.this.copy(), "text"))
            node.replace(exp.ILike(**node.args))


def _is_number_aggregate(node: exp.Expr, found: Query) -> bool:
    """Whether an expression is an aggregate that returns a number."""
    if isinstance(node, exp.Min | exp.Max):
        column = found.column(node.this)
        return column is not None and column.schema.kind == "number"
    return isinstance(node, exp.Count | exp.Sum | exp.Avg)


def _is_whole_number(node: exp.Expr, found: Query) -> bool:
    """Whether an expression is certain to give a whole number."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return node.is_int
    if isinstance(node, exp.Count | exp.Length):
        return True
    if isinstance(node, exp.Sum | exp.Min | exp.Max | exp.Neg | exp.Distinct):
        return _is_whole_number(node.expressions[0] if isinstance(node, exp.Distinct) else node.this, found)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        return _is_whole_number(node.left, found) and _is_whole_number(node.right, found)
    if isinstance(node, exp.Cast):
        return node.is_type(*exp.DataType.INTEGER_TYPES)
    column = found.column(node)
    return column is not None and "INT" in column.schema.type.upper() and column.schema.kind == "number"
