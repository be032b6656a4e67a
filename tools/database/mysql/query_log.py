"""The queries that MySQL and MariaDB keep count of, in their performance_schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql

from ...errors import DatabaseUnavailable

if TYPE_CHECKING:
    from ..server.connection import ServerConnection

_QUERIES = """
    SELECT DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest
    WHERE SCHEMA_NAME = DATABASE() AND DIGEST_TEXT IS NOT NULL ORDER BY COUNT_STAR DESC LIMIT {}
"""


def read_log(connection: ServerConnection, most: int) -> tuple[str, ...]:
    """See `ServerEngine.query_log`.

    Raises:
        DatabaseUnavailable: The server keeps no queries, or the login may not read them.
    """
    ((kept,),) = connection.rows("SELECT @@performance_schema")
    if not int(str(kept)):
        raise DatabaseUnavailable(
            "the server records no queries: set performance_schema = ON in its configuration and restart it; or give a "
            "file of SQL to --from"
        )
    try:
        return tuple(str(query) for (query,) in connection.rows(_QUERIES.format(int(most))))
    except pymysql.err.OperationalError:
        raise DatabaseUnavailable(
            "this login may not read the server's queries: GRANT SELECT ON performance_schema.* to it"
        ) from None
