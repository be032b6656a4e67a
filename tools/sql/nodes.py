"""Facts about single nodes of a parsed query."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from .dialects import fold
from .scope import QuerySource, SourceColumn

_UNTYPED_AGGREGATES = frozenset({"total", "string_agg", "median", "percentile", "percentile_cont", "percentile_disc"})


def is_aggregate_call(node: exp.Expr) -> bool:
    """Whether an expression is an aggregate call, even of a function unknown to sqlglot."""
    untyped = isinstance(node, exp.Anonymous) and node.name.lower() in _UNTYPED_AGGREGATES
    return untyped or isinstance(node, exp.AggFunc)


def get_argument(aggregate: exp.Expr) -> exp.Expr | None:
    """Return the argument of an aggregate call, even of an unknown one, without a DISTINCT."""
    node = next(iter(aggregate.expressions), None) if isinstance(aggregate, exp.Anonymous) else aggregate.this
    return node.expressions[0] if isinstance(node, exp.Distinct) and len(node.expressions) == 1 else node


def split_at_and(condition: exp.Expr | None) -> list[exp.Expr]:
    """Split a condition or clause into the parts that AND connects; [] for None."""
    parts: list[exp.Expr] = []
    stack = [condition] if condition is not None else []
    while stack:
        part = stack.pop().unnest()
        if isinstance(part, exp.Where | exp.Having | exp.Qualify):
            stack.append(part.this)
        elif isinstance(part, exp.And):
            stack += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def get_join_conditions(source: QuerySource) -> list[exp.Expr]:
    """Return the conditions of the ON clause that joins a source, split at AND."""
    return split_at_and(source.join and source.join.args.get("on"))


def get_limit_count(query: exp.Expr) -> exp.Expr | None:
    """Return the row count in LIMIT or FETCH FIRST, or None."""
    limit = query.args.get("limit")
    return limit and (limit.args.get("expression") or limit.args.get("count"))


def write_without_tables(node: exp.Expr) -> str:
    """Write an expression as SQL without table names, needless parentheses and quotes, to compare it."""
    copy = node.unnest().copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    for table in copy.find_all(exp.Table):
        table.set("alias", None)
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("quoted", False)
        identifier.set("this", str(identifier.this).lower())
    for inner in list(copy.find_all(exp.Paren)):
        if isinstance(inner.this, exp.Column | exp.Literal):
            inner.replace(inner.this)
    return copy.sql()


def count_only_rows(tree: exp.Expr, condition: exp.Expr) -> bool:
    """Make the aggregates of an expression count only rows that meet a condition; return whether there are any."""
    aggregates = [node for node in tree.find_all(exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None]
    for node in aggregates:
        value = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
        counted = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
        value.replace(exp.Case().when(condition.copy(), counted))
    return bool(aggregates)


def normalize_constant_text(text: str) -> str:
    """Return a text constant case-folded, without wildcards and spaces at the ends."""
    return text.strip("% ").casefold()


def find_counted_conditions(inner: exp.Expr, select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions on rows in an aggregate: of CASE or IF, or a summed condition."""
    inner = inner.unnest()
    if isinstance(inner, exp.Predicate | exp.Connector):
        yield inner
    for branch in inner.find_all(exp.If):
        if branch.find_ancestor(exp.Select) is select:
            simple = isinstance(branch.parent, exp.Case) and branch.parent.this is not None
            yield from [branch.parent] if simple and branch.parent else split_at_and(branch.this)


def is_source_key_bound(source: QuerySource, bound: Collection[SourceColumn]) -> bool:
    """Whether the bound columns include the whole key of a source."""
    key = source.table.key if source.table is not None else ()
    return bool(key) and all((id(source), fold(column)) in bound for column in key)
