"""The queries that PostgreSQL keeps count of, where its extension pg_stat_statements is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from ...errors import DatabaseUnavailable

if TYPE_CHECKING:
    from .catalogue import Asks

_WHERE = """
    SELECT format('%I.%I', n.nspname, c.relname)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'pg_stat_statements' ORDER BY c.relkind = 'v' DESC LIMIT 1
"""
_QUERIES = """
    SELECT s.query FROM {} s JOIN pg_catalog.pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() ORDER BY s.calls DESC LIMIT {}
"""
_LOAD = (
    "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart the server; "
    "or give a file of SQL to --from"
)


def read_log(connection: Asks, most: int) -> tuple[str, ...]:
    """See `ServerEngine.query_log`.

    Raises:
        DatabaseUnavailable: The extension is not there, or not loaded, or the login may not read it.
    """
    found = connection.rows(_WHERE)
    if not found:
        raise DatabaseUnavailable(
            "the server records no queries of this database: run CREATE EXTENSION pg_stat_statements in it; if that "
            f"is not enough, {_LOAD}"
        )
    try:
        return tuple(str(query) for (query,) in connection.rows(_QUERIES.format(found[0][0], int(most))))
    except psycopg.errors.ObjectNotInPrerequisiteState:
        raise DatabaseUnavailable(f"pg_stat_statements is not loaded: {_LOAD}") from None
    except psycopg.errors.InsufficientPrivilege:
        raise DatabaseUnavailable(f"this login may not read {found[0][0]}: GRANT SELECT on it") from None
