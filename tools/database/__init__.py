"""Databases: opened read-only, queried within limits, their schemas read and rendered.

>>> from tableturn.tools.database import Database, render_schema
>>> with Database.open("shop.db") as database:
...     print(render_schema(database.schema()))
...     print(database.execute("SELECT count(*) FROM orders").rows)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import make_lazy_importer

if TYPE_CHECKING:
    from .database import Database, open_database
    from .duckdb.notices import Notice
    from .egress import Egress
    from .engine import Engine, QueryTooComplex
    from .estimate import Estimate
    from .permissions_file import AccessRules, PermissionsFile
    from .quoting import quote
    from .rendering.render import SchemaStyle, render_schema
    from .schema import ColumnSchema, ForeignKey, Schema, TableSchema
    from .server.address import hide_url_secrets
    from .session import Identity, Permissions, Policy, Rights, Session, tag_statements_with_thread
    from .table import Cell, Limits, Table
    from .watchdog import Cancellation

__all__ = [
    "AccessRules",
    "Cancellation",
    "Cell",
    "ColumnSchema",
    "Database",
    "Egress",
    "Engine",
    "Estimate",
    "ForeignKey",
    "Identity",
    "Limits",
    "Notice",
    "Permissions",
    "PermissionsFile",
    "Policy",
    "QueryTooComplex",
    "Rights",
    "Schema",
    "SchemaStyle",
    "Session",
    "Table",
    "TableSchema",
    "hide_url_secrets",
    "open_database",
    "quote",
    "render_schema",
    "tag_statements_with_thread",
]

# Most of it is slow to load, and the processes that run queries have no need of it.
__getattr__ = make_lazy_importer(
    __name__,
    {
        "database": "Database open_database",
        "duckdb.notices": "Notice",
        "egress": "Egress",
        "engine": "Engine QueryTooComplex",
        "estimate": "Estimate",
        "permissions_file": "AccessRules PermissionsFile",
        "quoting": "quote",
        "rendering.render": "SchemaStyle render_schema",
        "schema": "ColumnSchema ForeignKey Schema TableSchema",
        "server.address": "hide_url_secrets",
        "session": "Identity Permissions Policy Rights Session tag_statements_with_thread",
        "table": "Cell Limits Table",
        "watchdog": "Cancellation",
    },
)
