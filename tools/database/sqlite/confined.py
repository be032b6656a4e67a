"""Connections that contain no hidden data: names are views over the visible data.

SQLite's authorizer is not asked about everything that a statement compares: the columns that USING and NATURAL merge
are an example. A list of such gaps would never be complete. So, where permissions are in force, a query never meets
the file's own tables:

- the file is attached under a name that nobody can guess, to a connection whose own database is empty;
- for every table that may be seen there is a temporary view of the same name over the columns that may be seen. SQLite
  plans through it, so that indexes are used as before;
- views of the file are declared again over these views. One that reads anything hidden is hidden, and so is one that
  calls both the file's own database and something else `main`;
- virtual tables that may be seen are visible whole, and are reached directly, as MATCH needs;
- every other name in the file, and every table function, is a temporary view that cannot be read. SQLite looks for an
  unqualified name among these first, so that none reaches the attached file.

What cannot be given a view are SQLite's own tables, of which some tell of hidden ones: the list of these views, the
counters and statistics of the file. No statement and no view may name one of them. A statement runs in a transaction
that has seen the very schema that the views were made for.

What is not promised: the order of rows that no ORDER BY gives, and time. Both can depend on indexes over what is
hidden.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace

from ...errors import QueryError, QueryFailed, QueryRejected
from ..quoting import get_naming_rules, quote, unquote
from .catalogue import FileCatalogue
from .functions import TABLE_FUNCTIONS
from .tokens import find_possible_table_names, find_words, split_words
from .visibility import DeclaredTable

_READS = frozenset({"select", "values", "with"})
# How the names begin that SQLite keeps to itself: no view can be called so.
_RESERVED_PREFIX = "sqlite_"
_OWN = "master schema temp_master temp_schema sequence stmt stat1 stat2 stat3 stat4"
# Those that are refused whether the file has them or not, for that may follow from what is hidden.
_OWN_TABLES = frozenset(_RESERVED_PREFIX + name for name in _OWN.split())
_CREATE_VIEW = "CREATE VIEW "
# What SQLite says of a file, once it is attached, in which a view or a trigger names a table as `main.t`: that names
# another database then.
_OF_MAIN = "cannot reference objects in database"
_NOT_A_FUNCTION = re.compile(r"^'(.*)' is not a function$", re.DOTALL)
_NO_TABLE = "no such table: "


# As SQLite compares names: letters beyond ASCII keep their case.
_fold_name = get_naming_rules().key


class SchemaChanged(Exception):
    """An error raised if the file's schema has changed since the connection was made."""


@dataclass(frozen=True)
class Confinement:
    """The schema, blocked names and reserved names of a confined connection, in lower case."""

    schema: str  # the name under which the file is attached; nobody else knows it
    version: int  # the schema cookie that the views were made for
    blocked_names: frozenset[str]  # names that lead nowhere
    reserved_names: frozenset[str]  # names of SQLite's own tables: no statement and no view may hold them

    def check_statement(self, sql: str) -> None:
        """Refuse a statement that is not a plain query, or that names SQLite's own tables."""
        if next((word for word in split_words(sql) if word != ";"), "") not in _READS:
            raise QueryRejected("only SELECT, VALUES and WITH may be used on a database with hidden parts")
        for name in find_possible_table_names(sql):
            if name in self.reserved_names:
                raise QueryFailed(f"{_NO_TABLE}{name}", "unknown_table")

    def conceal_hidden_names(self, error: QueryError) -> QueryError:
        """Return the error as it would read if hidden names did not exist."""
        message = re.sub(rf"(main\.)?{self.schema} |{self.schema}", "", str(error))
        no_function = _NOT_A_FUNCTION.match(message)
        if no_function and _fold_name(no_function[1]) in self.blocked_names:
            message = f"{_NO_TABLE}{no_function[1].lower()}"
        elif message.startswith("no such table-valued function: "):
            message = _NO_TABLE + message.partition(": ")[2].lower()
        elif message.startswith(_NO_TABLE):
            message = _NO_TABLE + message.removeprefix(_NO_TABLE).lower().removeprefix("temp.")
        elif message == str(error):
            return error
        return QueryFailed(message, "unknown_table") if message.startswith(_NO_TABLE) else type(error)(message)

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction for a statement; raise `SchemaChanged` if the schema has changed."""
        connection.execute("BEGIN")
        if connection.execute(f"PRAGMA {self.schema}.schema_version").fetchone()[0] != self.version:
            raise SchemaChanged


def confine_connection(connection: sqlite3.Connection, uri: str, catalogue: FileCatalogue) -> Confinement:
    """Attach a database file to an empty database, and declare views of the visible tables."""
    schema = f"t{secrets.token_hex(16)}"
    _attach_database_file(connection, uri, schema)
    names = _list_query_names(connection, schema)
    system_names = frozenset(name for name in names if name.startswith(_RESERVED_PREFIX))
    direct = {_fold_name(entry.name) for entry in catalogue.visible if entry.kind == "virtual"}
    confinement = Confinement(schema, catalogue.version[2], names - system_names - direct, system_names | _OWN_TABLES)
    confinement.begin(connection)
    try:
        return replace(confinement, blocked_names=_declare_views(connection, confinement, catalogue))
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def _attach_database_file(connection: sqlite3.Connection, uri: str, schema: str) -> None:
    """Attach the file; ignore declarations that SQLite allows only in a main file."""
    attach = f"ATTACH ? AS {schema}"
    try:
        connection.execute(attach, (uri,))
    except sqlite3.DatabaseError as error:
        if _OF_MAIN not in str(error):
            raise
        connection.execute("PRAGMA writable_schema = ON").close()
        try:
            connection.execute(attach, (uri,))
        finally:
            connection.execute("PRAGMA writable_schema = OFF").close()


def _declare_views(connection: sqlite3.Connection, rules: Confinement, catalogue: FileCatalogue) -> frozenset[str]:
    """Declare a view for each visible table, and return the names that cannot be used."""
    visibility = catalogue.visibility

    def declare_visible_view(entry: DeclaredTable, source: str) -> None:
        rows = connection.execute(f"PRAGMA {rules.schema}.table_xinfo({quote(entry.name)})")
        names = [str(row[1]) for row in rows if visibility.shows(entry.name, row[1])]
        # In capitals it is what the authorizer is told where the number of a row is meant.
        column_list = ", ".join(f"t.{quote(name)} AS {quote('rowid' if name == 'ROWID' else name)}" for name in names)
        connection.execute(f"CREATE TEMP VIEW {quote(entry.name)} AS SELECT {column_list} FROM {source} AS t")

    def block_name(name: str) -> None:
        nothing = quote(f"{rules.schema} {name}")
        connection.execute(f"CREATE TEMP VIEW {quote(name)} AS SELECT * FROM {nothing}")

    entries = [entry for entry in catalogue.visible if entry.kind != "virtual"]
    views = [entry for entry in entries if entry.kind == "view"]
    for entry in entries:
        if entry.kind == "table":
            declare_visible_view(entry, f"{rules.schema}.{quote(entry.name)}")
    for entry in views:
        # The views of the file, over those that stand for its tables.
        if entry.sql.startswith(_CREATE_VIEW) and rules.reserved_names.isdisjoint(find_possible_table_names(entry.sql)):
            is_complete = entry.key not in visibility.hidden_columns
            name = quote(entry.name if is_complete else f"{rules.schema}_{entry.name}")
            # One that names the schema, or cannot be understood, is found unreadable, and blocked.
            with suppress(sqlite3.Error):
                connection.execute(f"CREATE TEMP VIEW {name} {_extract_view_body(entry.sql[len(_CREATE_VIEW) :])}")
                if not is_complete:
                    declare_visible_view(entry, name)
    blocked_names = rules.blocked_names - {_fold_name(entry.name) for entry in entries}
    for name in sorted(blocked_names):
        block_name(name)
    # A view can read one that turns out to be unreadable.
    while unreadable := [entry for entry in views if not _is_readable_view(connection, entry.name)]:
        views = [entry for entry in views if entry not in unreadable]
        for entry in unreadable:
            connection.execute(f"DROP VIEW IF EXISTS temp.{quote(entry.name)}")
            block_name(_fold_name(entry.name))
            blocked_names |= {_fold_name(entry.name)}
    return blocked_names


def _extract_view_body(text: str) -> str:
    """Return the text after the name of a view, without `main.` before table names."""
    # Unless something else may be called `main` in it.
    spans = list(find_words(text))
    start = spans[0][1] if spans else 0
    main = [number for number, (offset, _, word) in enumerate(spans) if offset >= start and unquote(word) == "main"]
    if not any(number + 1 == len(spans) or spans[number + 1][2] != "." for number in main):
        for number in reversed(main):
            text = text[: spans[number][0]] + text[spans[number + 1][1] :]
    return text[start:]


def _is_readable_view(connection: sqlite3.Connection, name: str) -> bool:
    try:
        connection.execute(f"SELECT 1 FROM temp.{quote(name)} LIMIT 0").close()
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    return True


def _list_query_names(connection: sqlite3.Connection, schema: str) -> frozenset[str]:
    """Return all names that a query could use: the file's tables and SQLite's table functions."""

    def select_names(sql: str) -> set[str]:
        return {_fold_name(str(name)) for (name,) in connection.execute(f"SELECT {sql}")}

    functions = select_names("name FROM pragma_module_list") | select_names("'pragma_' || name FROM pragma_pragma_list")
    tables = select_names(f"name FROM {schema}.sqlite_master WHERE type IN ('table', 'view')")
    return frozenset(tables | functions - TABLE_FUNCTIONS)
