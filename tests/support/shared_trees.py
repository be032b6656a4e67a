"""A check that whoever reads a statement leaves its tree, which all readers share, as it was parsed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from weakref import WeakKeyDictionary, WeakSet

import pytest
from sqlglot import exp
from tableturn.tools.database.schema import Schema
from tableturn.tools.sql.query import Query

_Outline = tuple[object, ...]

_outlines: WeakKeyDictionary[Query, _Outline] = WeakKeyDictionary()
_used: WeakSet[Query] = WeakSet()


@contextmanager
def note_queries() -> Generator[None]:
    """Note every query that is asked for, as long as it is cached, and its tree at first."""
    read = Query.of

    def note(sql: str, dialect: str, schema: Schema | None = None) -> Query:
        query = read(sql, dialect, schema)
        if query not in _outlines:
            _outlines[query] = _outline(query.tree)
        _used.add(query)
        return query

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Query, "of", staticmethod(note))
        yield


def check_trees() -> None:
    """Raise `AssertionError` if the tree of a query noted since the last check is no longer what it was at first."""
    noted = tuple(_used)
    _used.clear()
    for query in noted:
        if _outline(query.tree) != _outlines[query]:
            raise AssertionError(
                f"a reader changed the shared tree of {query.sql!r}: it now writes {query.tree.sql()!r}"
            )


def _outline(tree: exp.Expr) -> _Outline:
    """Return all that a tree is written from: more than its SQL tells, and without a copy of it."""
    plain = (str, int, float, type(None))
    return tuple(
        (type(node), node.arg_key, *((key, value) for key, value in node.args.items() if isinstance(value, plain)))
        for node in tree.walk()
    )
