"""The tables of a server's store, with the name prefix that `conversation_store` looks for."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.schema import CreateColumn

_SET_UP = 7_282_253  # the number of the lock under which tables are made

METADATA = sa.MetaData()
THREADS = sa.Table(
    "tableturn_threads",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("database", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("chat", sa.String(64), index=True),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("changed", sa.Float, nullable=False),
    sa.Index("tableturn_threads_of", "person", "database", "changed"),
)
TURNS = sa.Table(
    "tableturn_turns",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("thread", sa.String(64), nullable=False),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("database", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("notes", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("worker", sa.String(64), nullable=False),
    sa.Column("begun", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
    sa.Column("answer", sa.JSON),
    sa.Column("error_kind", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("feedback", sa.JSON),
    sa.Column("prompt_tokens", sa.BigInteger, nullable=False, default=0),
    sa.Column("completion_tokens", sa.BigInteger, nullable=False, default=0),
    sa.Column("stop", sa.Integer, nullable=False, default=0),
    sa.Column("decision", sa.JSON(none_as_null=True)),
    sa.Column("approve", sa.Boolean),
    sa.Column("rights", sa.JSON(none_as_null=True)),
    sa.Column("wording", sa.Text),
    sa.Index("tableturn_turns_of", "thread", "begun"),
    sa.Index("tableturn_turns_begun", "begun"),
)
RUNNING = TURNS.c.status == sa.literal_column("'running'")  # no parameter, for which no partial index could be used
sa.Index(
    "tableturn_turns_running",
    TURNS.c.thread,
    unique=True,
    sqlite_where=sa.and_(RUNNING, TURNS.c.thread != ""),
    postgresql_where=sa.and_(RUNNING, TURNS.c.thread != ""),
)
"""One turn at a time in a thread, whichever worker takes it."""
RUNNING_INDEX = sa.Index("tableturn_turns_going", TURNS.c.worker, sqlite_where=RUNNING, postgresql_where=RUNNING)
"""The few turns that run: they are looked at again and again, however many are kept."""
WORKERS = sa.Table(
    "tableturn_workers",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("seen", sa.Float, nullable=False),
)
USAGE = sa.Table(
    "tableturn_spent",
    METADATA,
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("worker", sa.String(64), primary_key=True),  # with a digest of the person whose turns they were
    sa.Column("prompt_tokens", sa.BigInteger, nullable=False),
    sa.Column("completion_tokens", sa.BigInteger, nullable=False),
)
"""What models were asked, by the day: it stays when turns and threads are deleted."""

ENDED_SESSIONS = sa.Table(
    "tableturn_ended_sessions",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("until", sa.Float, nullable=False),
)


def create_tables(connection: sa.Connection) -> None:
    """Create the tables, or add the columns that an earlier version lacks, one worker at a time."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_SET_UP})"))
    METADATA.create_all(connection)
    RUNNING_INDEX.create(connection, checkfirst=True)  # where an earlier version made the table
    for table in METADATA.sorted_tables:
        columns = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                change = f"ADD COLUMN {CreateColumn(column).compile(dialect=connection.dialect)}"
            elif isinstance(column.type, sa.BigInteger) and not isinstance(columns[column.name], sa.BigInteger):
                if connection.dialect.name == "sqlite":
                    continue  # its integers have 64 bits, whatever they are declared as
                change = f"ALTER COLUMN {column.name} TYPE BIGINT"
            else:
                continue
            connection.execute(sa.text(f"ALTER TABLE {table.name} {change}"))
