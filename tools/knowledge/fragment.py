"""SQL of definitions: read, its names looked up in the schema, and written with every column qualified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ..database.schema import Schema
from ..errors import KnowledgeError, SQLParseError
from ..sql.dialects import rules_of
from ..sql.keywords import KEYWORDS
from ..sql.parse import parse
from ..sql.suggest import nearest_names, one_of
from .entry import Item


@dataclass(frozen=True)
class Fragment:
    """A condition or an expression.

    Attributes:
        sql: With qualified columns.
        tables: Those that must stand in FROM, in the order in which it names them.
        columns: What it reads of them.
    """

    sql: str
    tables: tuple[str, ...]
    columns: tuple[Item, ...]


def parse_fragment(sql: str, dialect: str) -> exp.Expr:
    """The tree of a condition or an expression.

    Raises:
        KnowledgeError: It is not one.
    """
    try:
        tree = parse(f"SELECT {sql}", dialect).tree
    except SQLParseError as error:
        raise KnowledgeError(f"{sql!r} is no SQL expression: {error}") from None
    if (
        not isinstance(tree, exp.Select)
        or len(tree.expressions) != 1
        or set(filter(tree.args.get, tree.args)) != {"expressions"}
    ):
        raise KnowledgeError(f"{sql!r} is more than one expression: give a condition, or what is computed")
    return tree.expressions[0].unalias().copy()


def fragment_kind(tree: exp.Expr) -> Literal["metric", "term"] | None:
    """What SQL can define: a metric where it computes over rows, a term where it is a condition; None for neither."""
    if any(node.find_ancestor(exp.Select) is None for node in tree.find_all(exp.AggFunc)):
        return "metric"
    inner = tree.unnest()
    value = isinstance(inner, exp.Literal | exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.DPipe)
    return None if value else "term"


def outer_columns(tree: exp.Expr) -> Iterator[exp.Column]:
    """The columns that belong to the query around the fragment, not to a sub-query in it."""
    for column in list(tree.find_all(exp.Column)):
        if column.find_ancestor(exp.Select) is None:
            yield column


def read_fragment(sql: str, schema: Schema, about: Sequence[str] = ()) -> Fragment:
    """A fragment with its names as the schema has them.

    Args:
        sql: A condition or an expression.
        schema: What it is checked against.
        about: Tables in which columns without a table are looked for first; those that are read where it names none.

    Raises:
        KnowledgeError: It is none, or names what the schema lacks; the message has the nearest name.
    """
    tree = parse_fragment(sql, schema.dialect)
    columns: list[Item] = []
    for column in outer_columns(tree):
        table, name = _place(column, schema, about)
        column.set("table", exp.to_identifier(table, quoted=True))
        column.set("this", exp.to_identifier(name, quoted=True))
        columns.append((table, name))
    for table in tree.find_all(exp.Table):
        find_table(schema, table.name)
    if not columns and not (about and fragment_kind(tree) == "metric"):
        raise KnowledgeError(
            f"{sql!r} names no column: qualify columns by their tables, as in orders.total; "
            "of COUNT(*) say the table with `about`"
        )
    # Names are quoted only where they must be: models copy what they see.
    naming = rules_of(schema.dialect).naming
    for identifier in tree.find_all(exp.Identifier):
        name = str(identifier.this)
        identifier.set("quoted", name.lower() in KEYWORDS or not naming.is_plain(name))
    tables = tuple(dict.fromkeys(table for table, _ in columns)) or tuple(dict.fromkeys(about))
    return Fragment(tree.sql(dialect=schema.dialect), tables, tuple(dict.fromkeys(columns)))


def _place(column: exp.Column, schema: Schema, about: Sequence[str]) -> Item:
    if column.table:
        table = find_table(schema, column.table)
        return table, find_column(schema, table, column.name)
    holders = [table.name for table in schema.tables if table.column(column.name) is not None]
    likely = [table for table in holders if table in about] or holders
    if not likely:
        names = {held.name for table in schema.tables for held in table.columns}
        raise KnowledgeError(f"there is no column {column.name!r}{_near(column.name, names)}")
    if len(likely) > 1:
        raise KnowledgeError(f"{column.name!r} is a column of {one_of(likely)}: qualify it by its table")
    return likely[0], find_column(schema, likely[0], column.name)


def find_table(schema: Schema, name: str) -> str:
    """A table's name as the schema has it.

    Raises:
        KnowledgeError: There is no such table.
    """
    found = schema.table(name)
    if found is None:
        holders = [table.name for table in schema.tables if table.column(name) is not None]
        if holders:
            raise KnowledgeError(f"{name!r} is a column of {one_of(holders)}: qualify it by its table")
        raise KnowledgeError(f"there is no table {name!r}{_near(name, [table.name for table in schema.tables])}")
    return found.name


def find_column(schema: Schema, table: str, name: str) -> str:
    """A column's name as the schema has it.

    Raises:
        KnowledgeError: The table has no such column.
    """
    found, held = schema.column(table, name), schema.table(table)
    if found is None:
        names = [column.name for column in held.columns] if held else []
        raise KnowledgeError(f"{table} has no column {name!r}{_near(name, names)}")
    return found.name


def _near(name: str, known: Sequence[str] | set[str]) -> str:
    near = nearest_names(name, known, 2)
    return f"; did you mean {one_of(near)}?" if near else ""


def counted_where(expression: str, condition: str, dialect: str) -> str:
    """An aggregate expression over those rows alone that a condition holds for."""
    tree, where = parse_fragment(expression, dialect), parse_fragment(condition, dialect)
    aggregates = [node for node in tree.find_all(exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None]
    if not aggregates:
        raise KnowledgeError(f"{expression!r} has no aggregate that `where` could limit: write the condition into it")
    for node in aggregates:
        inner = node.this
        holder = inner if isinstance(inner, exp.Distinct) else node
        value = holder.expressions[0] if isinstance(inner, exp.Distinct) else inner
        counted = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
        case = exp.Case().when(where.copy(), counted)
        if isinstance(inner, exp.Distinct):
            inner.set("expressions", [case])
        else:
            node.set("this", case)
    return tree.sql(dialect=dialect)
