"""The database: opened read-only by the engine, queried inside limits, its schema read and rendered.

>>> from tableturn.tools.database import Database, render_schema
>>> with Database.open("shop.db") as database:
...     print(render_schema(database.schema()))
...     print(database.execute("SELECT count(*) FROM orders").rows)
"""

from .cancellation import Cancellation
from .database import Database
from .render import SchemaStyle, render_schema
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .table import Cell, Limits, Table

__all__ = [
    "Cancellation",
    "Cell",
    "ColumnSchema",
    "Database",
    "ForeignKey",
    "Limits",
    "Schema",
    "SchemaStyle",
    "Table",
    "TableSchema",
    "render_schema",
]
