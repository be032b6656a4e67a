"""What the role may do that it should not, and how to make one that may not."""

from __future__ import annotations

from .catalogue import Asks

_GROUPS = {
    "pg_read_server_files": "read files on the server",
    "pg_write_server_files": "write files on the server",
    "pg_execute_server_program": "run programs on the server",
    "pg_write_all_data": "write to every table",
    "pg_signal_backend": "end other people's queries",
}

_POWERS = """
    SELECT rolname, rolsuper, rolcreaterole OR rolcreatedb OR rolreplication, rolbypassrls
    FROM pg_catalog.pg_roles WHERE rolname = current_user
"""

_WRITES = """
    SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
"""

_UNBOUND = """
    SELECT count(*) FROM pg_catalog.pg_class c
    WHERE c.relrowsecurity AND NOT row_security_active(c.oid) AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
"""

_REMEDY = (
    "create one that can only read: CREATE ROLE reader LOGIN PASSWORD '...';"
    " GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;"
)


def warnings(connection: Asks) -> tuple[str, ...]:
    """One line for each thing that the role may do beside reading, and one with the remedy."""
    ((role, super_, manages, _),) = connection.rows(_POWERS)
    found: list[str] = []
    if super_:
        found.append(f"the role {role} is a superuser")
    else:
        if manages:
            found.append(f"the role {role} may create roles or databases, or replicate")
        groups = connection.rows(
            "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname IN "
            f"({', '.join(map(repr, _GROUPS))}) AND pg_has_role(oid, 'USAGE') ORDER BY rolname"
        )
        found += [f"the role {role} may {_GROUPS[str(group)]} ({group})" for (group,) in groups]
        ((tables,),) = connection.rows(_WRITES)
        if tables:
            found.append(f"the role {role} may write to {tables} tables")
    ((unbound,),) = connection.rows(_UNBOUND)
    if unbound:
        found.append(f"row-level policies of {unbound} tables do not apply to the role {role}")
    return (*found, _REMEDY) if found else ()
