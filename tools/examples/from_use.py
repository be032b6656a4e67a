"""Examples from what people approve, and the check that an example's SQL runs."""

from __future__ import annotations

from collections.abc import Callable

from ..database import Database, render_schema
from ..errors import QueryFailed
from ..sql import used_items
from .entry import Verify
from .example import Example


def example_of(
    database: Database, question: str, sql: str, *, simplified: str = "", source: str = "approved", shared: bool = False
) -> Example:
    """An example with the part of the database's schema that its SQL uses.

    Args:
        database: Where the SQL is the answer.
        question: Self-contained.
        sql: As approved.
        simplified: The question in plain common words, where known.
        source: Where it comes from.
        shared: Whether other databases' questions may see it.

    Raises:
        SQLParseError: The SQL is not one query.
    """
    schema = database.schema()
    used = used_items(sql, schema).tables
    part = schema.part(
        [(table.name, [column.name for column in table.columns]) for table in schema.tables if table.name in used]
    )
    return Example(question, sql, database.name, render_schema(part, samples=0), simplified, source, shared)


def runs_on(database: Database | Callable[[str], Database]) -> Verify:
    """A check for `ExampleStore.add`: the SQL has to run on its database.

    Args:
        database: The one database that all examples are of, or a function from a database's name to it.
    """

    def verify(example: Example) -> None:
        found = database if isinstance(database, Database) else database(example.database)
        if found.name != example.database:
            raise QueryFailed(f"the example is of database {example.database!r}, not of {found.name!r}")
        found.execute(example.sql)

    return verify
