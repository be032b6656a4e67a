"""What the authorizer is not asked about: joins that compare columns without naming them in an expression.

SQLite (as of 3.40) compiles NATURAL JOIN and USING without asking whether the compared columns may be read,
so that a join against a guessed value would tell whether a hidden column holds it; and EXPLAIN shows index names,
which often are column names. Only statements on a database with something hidden are looked at.
"""

from __future__ import annotations

from ..errors import QueryError, QueryFailed, QueryRejected
from .visibility import Visibility
from .words import first_word, names_after_using, words


def refuse_hidden_joins(sql: str, visibility: Visibility) -> None:
    """Refuse what would compare hidden columns behind the authorizer's back.

    Raises:
        QueryFailed: USING names a column that is hidden in some table.
        QueryRejected: The statement has a NATURAL JOIN, or is an EXPLAIN.
    """
    hidden = frozenset(name for names in visibility.hidden_columns.values() for name in names)
    read = words(sql)
    if first_word(read) == "explain":
        raise QueryRejected("EXPLAIN may not be used on a database with hidden parts")
    if hidden and "natural" in read:
        raise QueryRejected("NATURAL JOIN may not be used where columns are hidden: name the columns with ON")
    for name in names_after_using(read):
        if name in hidden:
            raise QueryFailed(f"no such column: {name}", "unknown_column")


def conceal(error: QueryError, visibility: Visibility) -> QueryError:
    """The error as it would be if hidden columns didn't exist: none of them is ambiguous."""
    name = str(error).rpartition(" ")[2].rpartition(".")[2].lower()
    if error.kind == "ambiguous_column" and any(name in names for names in visibility.hidden_columns.values()):
        return QueryFailed(f"no such column: {name}", "unknown_column")
    return error
