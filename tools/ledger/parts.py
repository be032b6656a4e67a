"""Parts of the queries that count, and of what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot import exp

from ..database.rendering.text import one_line
from ..database.schema import ColumnSchema, Schema, TableSchema
from ..database.table import Cell
from ..sql.query import Query, TableColumn
from ..sql.scope import QuerySource, Scope, get_argument
from ..words import make_word_set, stem_name, words
from .path import ROWID, JoinPath, JoinStep, NotCountedError, find_key, find_row_table, make_column

_CELL = 40  # characters of a value that is shown
_TEXTS = ("char", "text", "string", "clob")
_EACH = make_word_set(
    "each every all jede jeder jedes jeden jedem alle aller allen chaque tous toutes cada todos todas ogni tutti tutte"
    " elke ieder iedere каждый каждая каждого каждой каждом каждую все всех"
)
_BETWEEN = make_word_set("of the our der die den das de des les las los le la i gli unserer")


def to_int(cell: Cell) -> int:
    return int(cell) if isinstance(cell, int | float | str) else 0


def render_cell(cell: Cell) -> str:
    """Return a cell as a short text on one line."""
    return one_line(str(cell), _CELL)


def get_source_name(query: Query, source: QuerySource) -> str:
    """Return the table that a source is, or the tables that a CTE or sub-query reads."""
    if source.table is not None:
        return source.table.name
    scope = query.find_scope(source.query.unnest()) if source.query is not None else None
    inner = scope.sources if scope is not None else ()
    return ", ".join(dict.fromkeys(get_source_name(query, other) for other in inner)) or "a sub-query"


def name_rows(query: Query, source: QuerySource) -> str:
    """Return the table whose rows a source gives; '' if a CTE or sub-query changes the rows."""
    table = find_row_table(query, source)
    return table.name if table is not None else ""


def write_condition(query: Query, step: JoinStep) -> str:
    return " and ".join(query.text(link.condition or link.ends[0][1]) for link in step.links)


def write_expression(query: Query, node: exp.Expr) -> str:
    """Return an expression as SQL, without the query's own names of CTEs and sub-queries."""
    copy = node.copy()
    pairs = zip(*(query.find(exp.Column, within=tree) for tree in (node, copy)), strict=True)
    for new in (new for old, new in pairs if (at := query.reference(old)) and at.source and at.source.table is None):
        new.set("table", None)
    return copy.sql(dialect=query.rules.grammar)


def find_exclusion(query: Query, node: exp.Expr) -> exp.Expr | None:
    """Return the NOT IN or `<> ALL` condition that a sub-query is compared in, or None."""
    enclosing = query.list_enclosing(node)[not isinstance(node, exp.In) :]
    predicate, around, *_ = [*(each for each in enclosing if not isinstance(each, exp.Paren)), None, None]
    if isinstance(node, exp.All):
        return predicate if isinstance(predicate, exp.NEQ) else None
    return around if isinstance(predicate, exp.In | exp.EQ) and isinstance(around, exp.Not) else None


def excludes_constants(query: Query, condition: exp.Expr) -> bool:
    """Whether a condition leaves out what equals constants, but for the empty text."""
    node = condition.this.unnest() if isinstance(condition, exp.Not) else condition
    kinds = exp.In | exp.EQ if isinstance(condition, exp.Not) else exp.NEQ
    operands = node.expressions or [node.expression] if isinstance(node, kinds) and not node.args.get("query") else ()
    return any(query.literal(operand) not in (None, "") for operand in operands)


def make_case(conditions: Sequence[exp.Expr], value: exp.Expr) -> exp.Expr:
    if not conditions:
        return value.copy()
    return exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=value.copy())])


def make_count(conditions: Sequence[exp.Expr], key: exp.Expr | None) -> exp.Expr:
    """Return an expression that counts the rows, or distinct keys, that meet conditions."""
    if key is not None:
        return exp.Count(this=exp.Distinct(expressions=[make_case(conditions, key)]))
    return exp.Count(this=make_case(conditions, exp.Literal.number(1)) if conditions else exp.Star())


def copy_select_without(query: Query, scope: Scope, condition: exp.Expr) -> exp.Select:
    """Return a copy of a SELECT without one of its conditions in WHERE."""
    nodes = (part.node for part in query.conditions(scope) if part.clause == "where" and part.node is not condition)
    select = scope.select.copy()
    select.set("where", None)
    return select.where(*(node.copy() for node in nodes), copy=False)


def find_sum(path: JoinPath) -> exp.Expr | None:
    """Return the expression that the SELECT sums over the counted rows; None if none."""
    for node in path.query.find_aggregates(path.scope, exp.Sum):
        inner = get_argument(node)
        sources = path.query.find_sources(inner, path.scope) if inner is not None and not inner.find(exp.Query) else []
        if inner is not None and sources and all(source is path.subject for source in sources):
            return inner.unnest()
    return None


def asks_for_each(question: str, *names: str) -> bool:
    """Whether a question says "each" or "all", in some languages, right before a table or its columns."""
    stems = {stem for name in names for stem in stem_name(name)}
    said = [word for word in words(question) if word.folded not in _BETWEEN]
    return any(word.folded in _EACH and noun.stem in stems for word, noun in pairwise(said))


def list_visible_ctes(query: Query, select: exp.Expr) -> list[exp.Expr]:
    """Return the CTEs that are visible in a SELECT, outermost first."""
    result, inside = list[exp.Expr](), None
    for node in query.list_enclosing(select):
        if (clause := node.args.get("with_")) is not None:
            ctes = list(clause.expressions)
            until = next((place for place, cte in enumerate(ctes) if cte is inside), len(ctes))
            result = [*(cte.copy() for cte in ctes[:until]), *result]
        inside = node if isinstance(node, exp.CTE) else inside
    return result


def list_key_columns(query: Query, source: QuerySource) -> Iterator[exp.Expr]:
    """Yield the key columns that identify the rows of a source."""
    table = source.table
    names = [(source.columns or {})[name] for name in find_key(query, source)]
    if not names and table is not None and table.kind == "table" and ROWID in query.rules.hidden:
        names = [ROWID]
    if not names:
        raise NotCountedError(f"{get_source_name(query, source)} has no key")
    yield from (make_column(source, name) for name in names)


def is_text_column(column: ColumnSchema) -> bool:
    kind = column.type.lower()
    return column.kind == "text" and (not kind or any(part in kind for part in _TEXTS))


def write_missing(column: TableColumn, use: str) -> exp.Expr:
    """Return the condition that a column's value is NULL, or blank if it is a grouped text."""
    missing: exp.Expr = column.node.is_(exp.Null())
    if use == "averaged" or not is_text_column(column.schema):
        return missing
    blank = exp.EQ(this=exp.Trim(this=column.node.copy()), expression=exp.Literal.string(""))
    return exp.or_(missing, blank, copy=False)


def may_leave_out_rows(table: TableSchema, schema: Schema, *, by_joins: bool = True) -> bool:
    """Whether a view gives fewer rows than the tables that it reads may have, going by its text."""
    text = table.definition.lower()
    views = {other.name.lower() for other in schema.tables if other.kind == "view" and other is not table}
    is_joined = by_joins and re.search(r"\bjoin\b|\bfrom\b[^()]*,", text) is not None
    return is_joined or bool({*re.findall(r"\w+", text)} & (_REDUCING | views))


_REDUCING = frozenset({"where", "having", "limit", "except", "intersect", "group", "distinct"})
