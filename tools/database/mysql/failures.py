"""What the errors of MySQL and MariaDB mean, by their numbers."""

from __future__ import annotations

import pymysql

from ...errors import ResultTooLarge, TableturnError
from ..server.connection import ConnectionLost
from ..server.lists import read_lists

TOO_LARGE = -1
"""The number of our own error for a row that is too large to be taken."""


def failure(error: Exception, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for what the driver raised.

    Args:
        error: What was raised.
        longest: The most bytes that a value could have.
    """
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    message = " ".join(str(error.args[-1] if error.args else error).split())[:300]
    if number == TOO_LARGE:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if isinstance(error, OSError | pymysql.err.InterfaceError):
        return ConnectionLost(message)
    return read_lists(__package__ or "").faults.failure("" if number is None else str(number), message)
