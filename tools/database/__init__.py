"""Databases: opened read-only, queried within limits, their schemas read and rendered.

>>> from tableturn.tools.database import Database, render_schema
>>> with Database.open("shop.db") as database:
...     print(render_schema(database.schema()))
...     print(database.execute("SELECT count(*) FROM orders").rows)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .database import Database, open_database
from .egress import Egress
from .engine import Engine, TooComplex
from .estimate import Estimate
from .rendering.render import SchemaStyle, render_schema
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .session import Identity, Permissions, Policy, Rights, Session, asked_in
from .table import Cell, Limits, Table
from .watchdog import Cancellation

if TYPE_CHECKING:
    from .permissions_file import Access, PermissionsFile

__all__ = [
    "Access",
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
    "Permissions",
    "PermissionsFile",
    "Policy",
    "Rights",
    "Schema",
    "SchemaStyle",
    "Session",
    "Table",
    "TableSchema",
    "TooComplex",
    "asked_in",
    "open_database",
    "render_schema",
]


def __getattr__(name: str) -> Any:
    # What checks the file is slow to load, and the processes that run queries have no need of it.
    if name in ("Access", "PermissionsFile"):
        from . import permissions_file

        return getattr(permissions_file, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
