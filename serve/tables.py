"""The tables in which a server keeps threads and their turns."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    and_,
    inspect,
    literal_column,
    text,
)
from sqlalchemy.schema import CreateColumn

_SET_UP = 7_282_253  # the number of the lock under which tables are made

METADATA = MetaData()
THREADS = Table(
    "tableturn_threads",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("person", Text, nullable=False),
    Column("database", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("chat", String(64), index=True),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Index("tableturn_threads_of", "person", "database", "changed"),
)
TURNS = Table(
    "tableturn_turns",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("person", Text, nullable=False),
    Column("database", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("worker", String(64), nullable=False),
    Column("begun", Float, nullable=False),
    Column("ended", Float),
    Column("answer", JSON),
    Column("error_kind", Text),
    Column("error", Text),
    Column("feedback", JSON),
    Column("prompt_tokens", BigInteger, nullable=False, default=0),
    Column("completion_tokens", BigInteger, nullable=False, default=0),
    Column("stop", Integer, nullable=False, default=0),
    Column("decision", JSON(none_as_null=True)),
    Column("approve", Boolean),
    Column("rights", JSON(none_as_null=True)),
    Index("tableturn_turns_of", "thread", "begun"),
    Index("tableturn_turns_begun", "begun"),
)
RUNNING = TURNS.c.status == literal_column("'running'")  # no parameter, for which no partial index could be used
Index(
    "tableturn_turns_running",
    TURNS.c.thread,
    unique=True,
    sqlite_where=and_(RUNNING, TURNS.c.thread != ""),
    postgresql_where=and_(RUNNING, TURNS.c.thread != ""),
)
"""One turn at a time in a thread, whichever worker takes it."""
GOING = Index("tableturn_turns_going", TURNS.c.worker, sqlite_where=RUNNING, postgresql_where=RUNNING)
"""The few turns that run: they are looked at again and again, however many are kept."""
WORKERS = Table(
    "tableturn_workers",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("seen", Float, nullable=False),
)
SPENT = Table(
    "tableturn_spent",
    METADATA,
    Column("day", String(10), primary_key=True),
    Column("worker", String(64), primary_key=True),  # with a digest of the person whose turns they were
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("completion_tokens", BigInteger, nullable=False),
)
"""What models were asked, by the day: it stays when turns and threads are deleted."""

ENDED = Table(
    "tableturn_ended_sessions",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("until", Float, nullable=False),
)

TABLES = frozenset(METADATA.tables)  # the tables that a store makes


def set_up(on: Connection) -> None:
    """Make the tables, and what those of an earlier version lack; one worker after another."""
    if on.dialect.name == "postgresql":
        on.execute(text(f"SELECT pg_advisory_xact_lock({_SET_UP})"))
    METADATA.create_all(on)
    GOING.create(on, checkfirst=True)  # where an earlier version made the table
    for table in METADATA.sorted_tables:
        there = {column["name"]: column["type"] for column in inspect(on).get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                change = f"ADD COLUMN {CreateColumn(column).compile(dialect=on.dialect)}"
            elif isinstance(column.type, BigInteger) and not isinstance(there[column.name], BigInteger):
                if on.dialect.name == "sqlite":
                    continue  # its integers have 64 bits, whatever they are declared as
                change = f"ALTER COLUMN {column.name} TYPE BIGINT"
            else:
                continue
            on.execute(text(f"ALTER TABLE {table.name} {change}"))
