"""All that a query leaves open, what matters most first."""

from __future__ import annotations

from itertools import chain, islice

from ..database.schema import Schema
from ..sql.untrusted import analysis_or
from .counting import counts, zeros
from .dates import dates
from .left_out import left_out
from .likes import likes
from .missing import missing
from .money import net
from .query import Derivation, Look, Query, Rival, Said
from .ties import ties

MOST = 4
"""Rivals of one query."""

_LONGEST = 4_000
_DERIVATIONS: tuple[Derivation, ...] = (left_out, net, dates, likes, counts, missing, zeros, ties)


@analysis_or(())
def rivals(sql: str, schema: Schema, said: Said, most: int = MOST, look: Look | None = None) -> tuple[Rival, ...]:
    """The queries that differ from one in a matter that nothing settles; none where it cannot be read.

    Args:
        sql: A query in the schema's dialect that ran.
        schema: Everything that whoever asked may read.
        said: What settles a matter.
        most: How many at most.
        look: Looks up the values of a column where the schema did not count them.
    """
    if len(sql) > _LONGEST:
        return ()
    query = Query(sql, schema, said, look)
    found = chain.from_iterable(_derived(derive, query) for derive in _DERIVATIONS)
    return tuple(islice(found, most))


@analysis_or(())
def _derived(derive: Derivation, query: Query) -> tuple[Rival, ...]:
    """The rivals of one matter; what is not understood costs no other."""
    return tuple(derive(query))
