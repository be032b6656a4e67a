"""Which definitions an answer rests on: read from its query, not from what a model says of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from ..database.schema import Schema
from ..errors import KnowledgeError, SQLParseError
from ..sql import Query
from ..values.text_words import stems
from .entry import Entry
from .fragment import parse_fragment

_LONGEST = 20_000


def used_entries(sql: str, entries: Sequence[Entry], question: str, schema: Schema) -> tuple[Entry, ...]:
    """The entries that a query uses, in their order.

    One with SQL where the query has that SQL; a term in words alone where the question has its name; a description or a
    rule where the query reads its column, and of coded values where it looks for one of them.

    Args:
        sql: The query that was run.
        entries: Those that were shown for it.
        question: Self-contained.
        schema: Of the database.
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
        if entry.kind in ("term", "metric"):
            if entry.sql:
                return _has(written, entry.sql, schema.dialect)
            return any(set(phrase) <= asked for phrase in entry.phrases) and (about or not entry.about)
        if entry.kind == "never":
            return False
        if entry.kind == "join":
            return all(item in read for item in entry.about)
        if entry.values and not entry.text:
            return about and any(query.constants.looks_for(code.casefold()) for code, _ in entry.values)
        return about

    return tuple(filter(used, entries))


def _has(written: Iterable[str], sql: str, dialect: str) -> bool:
    """Whether a query has a fragment, or each part of a fragment that is joined by AND."""
    try:
        tree = parse_fragment(sql, dialect)
    except KnowledgeError:
        return False
    parts = list(tree.flatten()) if isinstance(tree, exp.And) else [tree]
    return _plain(tree) in written or all(_plain(part) in written for part in parts)


def _plain(node: exp.Expr) -> str:
    """An expression as text, without the names of tables, parentheses around it and quotes."""
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
