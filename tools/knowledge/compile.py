"""Definitions in queries: a metric's or a term's name in the place of its SQL, and the SQL put in its place.

A model that writes `METRIC('net revenue')` gets the expression as the file has it, not as it would write it again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from ..errors import KnowledgeError, SQLParseError
from ..sql.parse import parse_select
from ..values.text_words import stems
from .entry import Entry
from .fragment import outer_columns, parse_fragment

_NAMED = re.compile(r"\b(?:METRIC|TERM)\s*\(\s*'", re.IGNORECASE)


def names_definition(sql: str) -> bool:
    """Whether a query has the name of a definition in the place of its SQL."""
    return bool(_NAMED.search(sql))


def compiled(sql: str, entries: Sequence[Entry], dialect: str) -> str:
    """A query with the SQL of the definitions that it names; the same text where it names none.

    Args:
        sql: One query, with `METRIC('name')` and `TERM('name')`.
        entries: Those that it may name.
        dialect: Of the query and of the entries, by sqlglot's name.

    Raises:
        KnowledgeError: It names one that there is not.
    """
    if not names_definition(sql):
        return sql
    try:
        tree = parse_select(sql, dialect)
    except SQLParseError:
        return sql  # the engine says what is wrong with it
    by_name = {(entry.kind, phrase): entry for entry in entries if entry.sql for phrase in entry.phrases}
    for call in list(tree.find_all(exp.Anonymous)):
        kind = str(call.this).lower()
        if kind not in ("metric", "term") or not call.expressions or not call.expressions[0].is_string:
            continue
        name = str(call.expressions[0].this)
        entry = by_name.get((kind, tuple(stems(name))))  # pyright: ignore[reportArgumentType]
        if entry is None:
            there = ", ".join(repr(each.name) for each in entries if each.kind == kind and each.sql) or "none"
            raise KnowledgeError(f"there is no {kind} {name!r} with SQL of its own; there is {there}")
        call.replace(exp.Paren(this=_within(entry, call, dialect)))
    return tree.sql(dialect=dialect)


def _within(entry: Entry, call: exp.Expr, dialect: str) -> exp.Expr:
    """A definition's SQL in the names of the query that it is put into."""
    fragment = parse_fragment(entry.sql, dialect)
    select = call.find_ancestor(exp.Select)
    aliases: dict[str, str] = {}
    for table in _sources(select):
        aliases.setdefault(table.name.lower(), table.alias_or_name)
    for column in outer_columns(fragment):
        alias = aliases.get(column.table.lower())
        if alias is not None and alias.lower() != column.table.lower():
            column.set(
                "table", exp.to_identifier(alias, quoted=column.args["table"].quoted or not alias.isidentifier())
            )
    return fragment


def _sources(select: exp.Select | None) -> list[exp.Table]:
    """The tables that a SELECT itself reads."""
    if select is None:
        return []
    source = select.args.get("from_") or select.args.get("from")
    found = [source.this] if source is not None else []
    found += [join.this for join in select.args.get("joins") or ()]
    return [node for node in found if isinstance(node, exp.Table)]
