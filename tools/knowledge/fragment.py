"""SQL of definitions: read with its names looked up in the schema, put into queries, and found in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from ..database.schema import Schema
from ..errors import KnowledgeError, SQLParseError
from ..sql import Query, spell_tables
from ..sql.dialects import KEYWORDS, rules_of
from ..words import did_you_mean, listed, nearest_names, stems
from .entry import Entry, Item

_NAMED = re.compile(r"\b(?:METRIC|TERM)\s*\(\s*'", re.IGNORECASE)
_LONGEST = 20_000  # characters of a query in which definitions are looked for


@dataclass(frozen=True)
class Fragment:
    """A condition or an expression, with qualified columns."""

    sql: str
    tables: tuple[str, ...]  # those that must stand in FROM, in the order in which it names them
    columns: tuple[Item, ...]  # what it reads of them


def parse_fragment(sql: str, dialect: str) -> exp.Expr:
    """Return the tree of a condition or an expression; raise `KnowledgeError` if it is not one."""
    try:
        tree = Query.of(f"SELECT {sql}", dialect).tree
    except SQLParseError as error:
        raise KnowledgeError(f"{sql!r} is no SQL expression: {error}") from None
    parts = {name for name, part in tree.args.items() if part}
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or parts != {"expressions"}:
        raise KnowledgeError(f"{sql!r} is more than one expression: give a condition, or what is computed")
    return tree.expressions[0].unalias().copy()


def fragment_kind(tree: exp.Expr) -> Literal["metric", "term"] | None:
    """Return what SQL can define: a metric if it computes over rows, a term if it is a condition; None for neither."""
    if any(node.find_ancestor(exp.Select) is None for node in tree.find_all(exp.AggFunc)):
        return "metric"
    inner = tree.unnest()
    value = isinstance(inner, exp.Literal | exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.DPipe)
    return None if value else "term"


def outer_columns(tree: exp.Expr) -> list[exp.Column]:
    """Return the columns that belong to the query around the fragment, not to a sub-query in it."""
    return [column for column in tree.find_all(exp.Column) if column.find_ancestor(exp.Select) is None]


def read_fragment(sql: str, schema: Schema, about: Sequence[str] = ()) -> Fragment:
    """Return a fragment with its names as the schema has them.

    Columns without a table are looked for in the tables `about` first, which are those read where it names none.

    Raises:
        KnowledgeError: It is none, or names what the schema lacks; the message has the nearest name.
    """
    tree = parse_fragment(spell_tables(f"SELECT {sql}", schema).removeprefix("SELECT "), schema.dialect)
    columns: list[Item] = []
    for column in outer_columns(tree):
        table, name = _place(column, schema, about)
        name_table(column, schema.path(table))
        column.set("this", exp.to_identifier(name, quoted=True))
        columns.append((table, name))
    for node in tree.find_all(exp.Table):
        find_table(schema, node.name, node.db)
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
    tables = dict.fromkeys(table for table, _ in columns) or dict.fromkeys(about)
    return Fragment(tree.sql(dialect=schema.dialect), tuple(tables), tuple(dict.fromkeys(columns)))


def _place(column: exp.Column, schema: Schema, about: Sequence[str]) -> Item:
    if column.table:
        table = find_table(schema, column.table, column.db)
        return table, find_column(schema, table, column.name)
    holders = _holders(schema, column.name)
    likely = [table for table in holders if table in about] or holders
    if not likely:
        names = {held.name for table in schema.tables for held in table.columns}
        raise KnowledgeError(f"there is no column {column.name!r}{_near(column.name, names)}")
    if len(likely) > 1:
        raise KnowledgeError(f"{column.name!r} is a column of {listed(likely, 'or')}: qualify it by its table")
    return likely[0], find_column(schema, likely[0], column.name)


def _holders(schema: Schema, column: str) -> list[str]:
    return [table.name for table in schema.tables if table.column(column) is not None]


def name_table(column: exp.Column, path: Sequence[str]) -> None:
    """Write a table's name before a column, its schema's before it where that is a part of it."""
    for key, name in zip(("table", "db"), path[::-1], strict=False):
        column.set(key, exp.to_identifier(name, quoted=True))


def find_table(schema: Schema, name: str, within: str = "") -> str:
    """Return a table's name as the schema has it; raise `KnowledgeError` if there is no such table `within` it."""
    found = schema.table(f"{within}.{name}") or schema.table(name)
    if found is None:
        if holders := _holders(schema, name):
            raise KnowledgeError(f"{name!r} is a column of {listed(holders, 'or')}: qualify it by its table")
        raise KnowledgeError(f"there is no table {name!r}{_near(name, [table.name for table in schema.tables])}")
    return found.name


def find_column(schema: Schema, table: str, name: str) -> str:
    """Return a column's name as the schema has it; raise `KnowledgeError` if the table has no such column."""
    found, held = schema.column(table, name), schema.table(table)
    if found is None:
        names = [column.name for column in held.columns] if held else []
        raise KnowledgeError(f"{table} has no column {name!r}{_near(name, names)}")
    return found.name


def _near(name: str, known: Sequence[str] | set[str]) -> str:
    near = did_you_mean(nearest_names(name, known, 2))
    return f"; {near}" if near else ""


def counted_where(expression: str, condition: str, dialect: str) -> str:
    """Write an aggregate expression over those rows alone that a condition holds for."""
    tree, where = parse_fragment(expression, dialect), parse_fragment(condition, dialect)
    aggregates = [node for node in tree.find_all(exp.AggFunc) if node.find_ancestor(exp.AggFunc) is None]
    if not aggregates:
        raise KnowledgeError(f"{expression!r} has no aggregate that `where` could limit: write the condition into it")
    for node in aggregates:
        distinct = node.this if isinstance(node.this, exp.Distinct) else None
        value = distinct.expressions[0] if distinct else node.this
        counted = exp.Literal.number(1) if isinstance(value, exp.Star) else value.copy()
        case = exp.Case().when(where.copy(), counted)
        if distinct:
            distinct.set("expressions", [case])
        else:
            node.set("this", case)
    return tree.sql(dialect=dialect)


def compiled(sql: str, entries: Sequence[Entry], dialect: str) -> str:
    """Return a query with the SQL of the definitions that it names; the same text if it names none.

    A model that writes `METRIC('net revenue')` gets the expression as the file has it, not as it would write it again.

    Raises:
        KnowledgeError: It names one that there is not.
    """
    if not _NAMED.search(sql):
        return sql
    try:
        tree = Query.of(sql, dialect).edit().tree
    except SQLParseError:
        return sql  # the engine says what is wrong with it
    by_name = {f"{entry.kind} {' '.join(phrase)}": entry for entry in entries if entry.sql for phrase in entry.phrases}
    for call in list(tree.find_all(exp.Anonymous)):
        kind = str(call.this).lower()
        if kind not in ("metric", "term") or not call.expressions or not call.expressions[0].is_string:
            continue
        name = str(call.expressions[0].this)
        entry = by_name.get(f"{kind} {' '.join(stems(name))}")
        if entry is None:
            there = ", ".join(repr(each.name) for each in entries if each.kind == kind and each.sql) or "none"
            raise KnowledgeError(f"there is no {kind} {name!r} with SQL of its own; there is {there}")
        call.replace(exp.Paren(this=_within(entry, call, dialect)))
    return tree.sql(dialect=dialect)


def _within(entry: Entry, call: exp.Expr, dialect: str) -> exp.Expr:
    """Return a definition's SQL in the names of the query that it is put into."""
    fragment = parse_fragment(entry.sql, dialect)
    select = call.find_ancestor(exp.Select)
    source = (select.args.get("from_") or select.args.get("from")) if select else None
    joins = (select.args.get("joins") or ()) if select else ()
    aliases: dict[str, str] = {}
    for node in filter(None, (source, *joins)):
        if isinstance(node.this, exp.Table):
            aliases.setdefault(_dotted(node.this.parts), node.this.alias_or_name)
            aliases.setdefault(node.this.name.lower(), node.this.alias_or_name)
    for column in outer_columns(fragment):
        alias = aliases.get(_dotted(column.parts[:-1]))
        if alias is not None and alias.lower() != column.table.lower():
            column.set("db", None)
            quoted = column.args["table"].quoted or not alias.isidentifier()
            column.set("table", exp.to_identifier(alias, quoted=quoted))
    return fragment


def _dotted(parts: Iterable[exp.Expr]) -> str:
    return ".".join(part.name.lower() for part in parts)


def used_entries(sql: str, entries: Sequence[Entry], question: str, schema: Schema) -> tuple[Entry, ...]:
    """Return the entries that a query uses, in their order: read from it, not from what a model says of it.

    One with SQL where the query has that SQL; a term in words alone where the question has its name; a description or a
    rule where the query reads its column, and of coded values where it looks for one of them.
    """
    if not entries or len(sql) > _LONGEST:
        return ()
    try:
        query = Query.of(sql, schema.dialect, schema)
        items = query.used
    except SQLParseError:
        return ()
    written = {_plain(node) for node in query.tree.find_all(exp.Condition)}
    read = items.columns | {(table, "") for table in items.tables}
    asked = set(stems(question))

    def used(entry: Entry) -> bool:
        about = any(item in read for item in entry.about)
        match entry.kind:
            case "term" | "metric" if entry.sql:
                return _has(written, entry.sql, schema.dialect)
            case "term" | "metric":
                return any(set(phrase) <= asked for phrase in entry.phrases) and (about or not entry.about)
            case "never":
                return False
            case "join":
                return all(item in read for item in entry.about)
            case _ if entry.values and not entry.text:
                return about and any(query.constants.looks_for(code.casefold()) for code, _ in entry.values)
            case _:
                return about

    return tuple(filter(used, entries))


def _has(written: Iterable[str], sql: str, dialect: str) -> bool:
    """Whether a query has a fragment, or each part of a fragment that is joined by AND."""
    try:
        tree = parse_fragment(sql, dialect)
    except KnowledgeError:
        return False
    return _plain(tree) in written or all(_plain(part) in written for part in and_parts(tree))


def and_parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that are joined by AND."""
    yield from tree.flatten() if isinstance(tree, exp.And) else (tree,)


def _plain(node: exp.Expr) -> str:
    """Write an expression without the names of tables, parentheses around it and quotes."""
    copy = node.copy()
    while isinstance(copy, exp.Paren):
        copy = copy.this
    for column in copy.find_all(exp.Column):
        column.set("table", None)
        column.set("db", None)
    for table in copy.find_all(exp.Table):
        table.set("alias", None)
    for identifier in copy.find_all(exp.Identifier):
        identifier.set("quoted", False)
        identifier.set("this", str(identifier.this).lower())
    for inner in list(copy.find_all(exp.Paren)):
        if inner is not copy and isinstance(inner.this, exp.Column | exp.Literal):
            inner.replace(inner.this)
    return copy.sql()
