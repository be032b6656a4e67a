"""All other readings of a query, most important first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from sqlglot import exp

from ..database.schema import Schema
from ..sql.parse import default_if_unparsed
from ..sql.query import Query
from ..sql.scope import Scope
from ..words import listed_words, words
from .columns import date_rivals, like_rivals, net_rivals
from .counting import count_rivals, zero_rivals
from .reading import Derivation, Look, QuestionContext, Reading, Rival
from .rows import exclusion_rivals, missing_rivals

MOST = 4
"""Rivals of one query."""

_LONGEST = 4_000

FURTHER = 50
"""Rows after the last place that are looked at for ties."""

_MOST_TIED = 200
"""Rows that a query may let through for its ties to be looked at."""

_ASKS_WHICH = listed_words("which who whose whom where with has have had having name")
"""Words by which a question asks for the thing that comes first, and not for the value by which it does."""


def tie_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield the query with more rows, and with its ORDER BY terms as columns."""
    query = reading.query
    tree, count, scope = query.tree, query.limit, query.scope(query.tree)
    if scope is None or tree.args.get("offset") is not None or tree.args.get("distinct"):
        return
    if not query.order or not isinstance(count, exp.Literal) or not count.is_int or int(count.name) > _MOST_TIED:
        return
    if tree.is_star or reading.context.has("any") or _is_unique(query, scope):
        return
    keys = [query.resolve_term(term.this, scope) for term in query.order]
    limit = int(count.name)
    if limit == 1 and not _asks_which(reading, keys):
        return
    edit = query.edit()
    for number, key in enumerate(keys):
        edit.of(scope.select).append("expressions", exp.alias_(key.copy(), f"tie_{number}", quoted=True))
    edit.of(count).replace(exp.Literal.number(limit + FURTHER))
    place = "last" if limit > 1 else "first"
    yield Rival(
        "ties",
        f"with those that share the {place} place",
        "what ties with the last one shown is left out",
        edit.sql,
        len(tree.expressions),
        limit,
    )


def _asks_which(reading: Reading, keys: Sequence[exp.Expr]) -> bool:
    """Whether the question asks for the top thing itself, not for its value or date."""
    query, context = reading.query, reading.context
    if all(output.unalias() in keys for output in query.tree.expressions):
        return False
    question_words = frozenset(word.folded for word in words(context.question))
    if not question_words.isdisjoint(_ASKS_WHICH):
        return True
    columns = [query.column(column) for key in keys for column in key.find_all(exp.Column)]
    values = [column.schema for column in columns if column is not None]
    return "what" in question_words and not any(value.kind == "time" or context.names(value.name) for value in values)


def _is_unique(query: Query, scope: Scope) -> bool:
    """Whether the order has no ties, because it includes a table's key."""
    if len(scope.sources) != 1 or scope.select.args.get("group") is not None:
        return False
    return any(column is not None and column.is_key for column in (query.column(term.this) for term in query.order))


_DERIVATIONS: tuple[Derivation, ...] = (
    exclusion_rivals, net_rivals, date_rivals, like_rivals, count_rivals, missing_rivals, zero_rivals, tie_rivals,
)  # fmt: skip


@default_if_unparsed(())
def rivals(
    sql: str, schema: Schema, context: QuestionContext, most: int = MOST, look: Look | None = None
) -> tuple[Rival, ...]:
    """Return queries that differ in one matter that the question leaves open.

    `look` looks up the values of a column if the schema did not count them.
    """
    if len(sql) > _LONGEST:
        return ()
    reading = Reading(Query.of(sql, schema.dialect, schema), context, look)
    derived = chain.from_iterable(_derive_rivals(derive, reading) for derive in _DERIVATIONS)
    return tuple(islice(derived, most))


@default_if_unparsed(())
def _derive_rivals(derive: Derivation, reading: Reading) -> tuple[Rival, ...]:
    """Return the rivals of one matter; none if it is not understood."""
    return tuple(derive(reading))
