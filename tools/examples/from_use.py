"""Examples from what people approve, and the check that an example's SQL runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ..database import Database, Limits, render_schema
from ..errors import QueryFailed
from ..sql import used_items
from .entry import Verify
from .example import Example


def database_identity(database: Database) -> str:
    """What tells one database from every other, also from those whose files have the same name.

    Its short name and a digest of the file's real path: a database that moves leaves its private examples behind.
    """
    code = hashlib.sha256(database.location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{database.name}@{code}"


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
        shared: Whether other databases' questions may see it; otherwise it is found under `database_identity` alone.

    Raises:
        SQLParseError: The SQL is not one query.
    """
    schema = database.schema()
    used = used_items(sql, schema).tables
    part = schema.part(
        [(table.name, [column.name for column in table.columns]) for table in schema.tables if table.name in used]
    )
    text = render_schema(part, samples=0)
    return Example(question, sql, database.name, text, simplified, source, shared, owner=database_identity(database))


def runs_on(database: Database | Callable[[str], Database], limits: Limits | None = None) -> Verify:
    """A check for `ExampleStore.add`: the SQL has to run on its database.

    Args:
        database: The one database that all examples are of, or a function from a database's name to it.
        limits: How far a query may go; the database's own where None.
    """

    def verify(example: Example) -> None:
        found = database if isinstance(database, Database) else database(example.database)
        if found.name != example.database:
            raise QueryFailed(f"the example is of database {example.database!r}, not of {found.name!r}")
        if example.owner and not example.shared and example.owner != database_identity(found):
            raise QueryFailed(
                f"the example belongs to another database called {found.name!r}: "
                "leave out its owner to give it to this one"
            )
        found.execute(example.sql, limits)

    return verify
