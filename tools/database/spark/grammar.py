"""What a statement for Spark may be made of."""

from __future__ import annotations

import re

from ...errors import QueryRejected
from ..server.reading import Grammar
from .dialect import Spark4
from .functions import FUNCTIONS

_KINDS = frozenset(
    """
    ArrayCompact ArrayExcept ArrayFilter ArrayInsert ArrayIntersect ArraysZip Collation Csc DateFromUnixDate DecodeCase
    EqualNull Flatten FromBase32 FromJson FromTimeZone Getbit Inline Lambda Map MapContainsKey MapFromEntries MapKeys
    Nanvl Negative NextDay ParseUrl Posexplode PosexplodeOuter PropertyEQ Randn Reduce SafeAdd SafeMultiply
    SafeSubtract Sec Shuffle Stack StrToMap Struct ToBase32 ToBinary Transform VarMap _ExplodeOuter
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
# Before it reads a statement, the server puts settings and environment variables in the place of `${name}`.
_SUBSTITUTED = "${"
# What would begin a new line where the server tells a plan, as it is or by its escape.
_BREAK = re.compile(r"(?P<control>[\0-\x1f\x7f])|\\(?:(?P<escape>[nruU0-7])|.)", re.DOTALL)

GRAMMAR = Grammar(Spark4(), FUNCTIONS, kinds=_KINDS)


def check_text(statement: str) -> None:
    """Refuses what the server would make something else of than what was checked.

    Args:
        statement: As it was written by `Reader`, in one line.

    Raises:
        QueryRejected: It names a variable of the server's, or its texts or names have line breaks.
    """
    if _SUBSTITUTED in statement:
        raise QueryRejected("'${' may not be used here, for Spark reads settings by it: write concat('$', '{')")
    for found in _BREAK.finditer(statement):
        if found["control"] or found["escape"]:
            raise QueryRejected("texts and names with line breaks may not be used here: write chr(10) for one")
