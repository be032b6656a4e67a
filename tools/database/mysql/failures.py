"""What the errors of MySQL and MariaDB mean, by their numbers."""

from __future__ import annotations

import pymysql

from ...errors import (
    DatabaseUnavailable,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)
from ..server.connection import ConnectionLost

TOO_LARGE = -1
"""The number of our own error for a row that is too large to be taken."""

_KINDS: dict[int, QueryErrorKind] = {
    1109: "unknown_table",
    1146: "unknown_table",
    1051: "unknown_table",
    1054: "unknown_column",
    1052: "ambiguous_column",
    1055: "aggregate_misuse",
    1056: "aggregate_misuse",
    1111: "aggregate_misuse",
    1140: "aggregate_misuse",
    3593: "aggregate_misuse",
    4015: "aggregate_misuse",
    4016: "aggregate_misuse",
    1305: "unknown_function",
    1630: "unknown_function",
    1582: "unknown_function",
    1064: "syntax",
    1149: "syntax",
    1248: "syntax",
    1292: "type_mismatch",
    1366: "type_mismatch",
    1367: "type_mismatch",
    1411: "type_mismatch",
    1525: "type_mismatch",
    3146: "type_mismatch",
    4078: "type_mismatch",
    4079: "type_mismatch",
}
# Interrupted; out of time, as MySQL and as MariaDB say it; waited too long for a lock.
_ENDED = (1317, 3024, 1969, 1205, 4032)
_REFUSED = (1044, 1142, 1143, 1227, 1290, 1370, 1792, 1223)
_LOST = (0, 1053, 1080, 1158, 1159, 1160, 1161, 1927, 2003, 2006, 2013, 2055)
_RESOURCES = (1037, 1038, 1041, 1114, 1153, 1436, 1153, 1116)
_LOGIN = (1045, 1049, 1698)


def failure(error: Exception, longest: int) -> TableturnError | ConnectionLost:
    """The typed error for what the driver raised.

    Args:
        error: What was raised.
        longest: The most bytes that a value could have.
    """
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    message = " ".join(str(error.args[-1] if error.args else error).split())[:300]
    if number == TOO_LARGE:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if isinstance(error, OSError | pymysql.err.InterfaceError) or number in _LOST:
        return ConnectionLost(message)
    if number in _ENDED:
        return QueryTimeout(message)
    if number in _REFUSED:
        return QueryRejected(f"the database refuses: {message}")
    if number in _RESOURCES:
        return ResultTooLarge(message)
    if number in _LOGIN:
        return DatabaseUnavailable(message)
    return QueryFailed(message, _KINDS.get(number or 0))
