"""The reading of a query with LIMIT by which what shares the last place is in the answer too."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ..database.schema import Schema
from ..sql.parse import default_if_unparsed
from ..sql.query import Query
from ..sql.scope import Scope
from ..words import listed_words, name_stems, stems, words
from .compare import Rival

FURTHER = 50
"""Rows after the last place that are looked at for ties."""

_LONGEST = 4_000  # characters of a query
_MOST_TIED = 200
"""Rows that a query may let through for its ties to be looked at."""

_ASKS_WHICH = listed_words("which who whose whom where with has have had having name")
"""Words by which a question asks for the thing that comes first, and not for the value by which it does."""


@default_if_unparsed(None)
def tie_reading(sql: str, schema: Schema, question: str) -> Rival | None:
    """Return the query with more rows, and with its ORDER BY terms as columns; None if nothing can tie."""
    if len(sql) > _LONGEST:
        return None
    query = Query.of(sql, schema.dialect, schema)
    tree, count, scope = query.tree, query.limit, query.scope(query.tree)
    if scope is None or tree.args.get("offset") is not None or tree.args.get("distinct"):
        return None
    if not query.order or not isinstance(count, exp.Literal) or not count.is_int or int(count.name) > _MOST_TIED:
        return None
    asked = frozenset(word.folded for word in words(question))
    if tree.is_star or "any" in asked or _is_unique(query, scope):
        return None
    keys = [query.resolve_term(term.this, scope) for term in query.order]
    limit = int(count.name)
    if limit == 1 and not _asks_which(query, question, asked, keys):
        return None
    edit = query.edit()
    for number, key in enumerate(keys):
        edit.of(scope.select).append("expressions", exp.alias_(key.copy(), f"tie_{number}", quoted=True))
    edit.of(count).replace(exp.Literal.number(limit + FURTHER))
    return Rival(
        "ties",
        f"with those that share the {'last' if limit > 1 else 'first'} place",
        "what ties with the last one shown is left out",
        edit.sql,
        len(tree.expressions),
        limit,
    )


def _asks_which(query: Query, question: str, asked: frozenset[str], keys: Sequence[exp.Expr]) -> bool:
    """Whether the question asks for the top thing itself, not for its value or date."""
    if all(output.unalias() in keys for output in query.tree.expressions):
        return False
    if not asked.isdisjoint(_ASKS_WHICH):
        return True
    columns = [query.column(column) for key in keys for column in key.find_all(exp.Column)]
    values = [column.schema for column in columns if column is not None]
    known = frozenset(stems(question))
    return "what" in asked and not any(
        value.kind == "time" or known.issuperset(name_stems(value.name)) for value in values
    )


def _is_unique(query: Query, scope: Scope) -> bool:
    """Whether the order has no ties, because it includes a table's key."""
    if len(scope.sources) != 1 or scope.select.args.get("group") is not None:
        return False
    return any(column is not None and column.is_key for column in (query.column(term.this) for term in query.order))
