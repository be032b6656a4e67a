"""MySQL and MariaDB as an `Engine`: every query in a read-only transaction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects import MySQL
from sqlglot.generator import Generator

from ...errors import DatabaseUnavailable, ResultTooLarge, TableturnError
from ..column_kinds import column_kind, enum_labels
from ..estimate import Estimate
from ..profile import ConnectionLost, read_profile
from ..schema import ColumnSchema, ForeignKey
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import Backend, ServerConnection
from ..server.engine import ServerEngine
from ..server.reading import Grammar, version_call
from ..session import Session, remark
from ..table import Cell

PROFILE = read_profile(__package__ or "")
_ASKED = PROFILE.statements
_SYSTEM = "('information_schema', 'performance_schema', 'mysql', 'sys')"

_Place = tuple[Cell, Cell]


def readable(schemas: Sequence[str]) -> str:
    """A condition for what may be read: these databases or, if there are none, all."""
    listed = ", ".join("'" + name.replace("\\", "\\\\").replace("'", "''") + "'" for name in schemas)
    return f"TABLE_SCHEMA IN ({listed})" if schemas else f"TABLE_SCHEMA NOT IN {_SYSTEM}"


def catalogue_version(connection: ServerConnection, only: str, owner: str) -> str:
    """Changes with tables and columns."""
    ((told,),) = connection.rows(_ASKED["version"].format(only=only))
    return f"{told} {owner}".strip()


def read_catalogue(connection: ServerConnection, only: str, owner: str) -> Catalogue:
    """What the login may read; the parameters are those of `catalogue_version`."""
    version = catalogue_version(connection, only, owner)
    ((database,),) = connection.rows("SELECT DATABASE()")
    keys = connection.rows(_ASKED["keys"].format(only=only))
    primary = {((schema, table), name): place for key, schema, table, name, place, *_ in keys if key == "PRIMARY"}
    columns: dict[_Place, list[ColumnSchema]] = {}
    for schema, table, name, declared, not_null, generated, comment in connection.rows(
        _ASKED["columns"].format(only=only)
    ):
        column = _column(str(name), str(declared))
        position = primary.get(((schema, table), name), 0)
        columns.setdefault((schema, table), []).append(
            replace(
                column,
                primary_key=int(position or 0),
                not_null=bool(not_null),
                generated=bool(generated),
                comment=str(comment or ""),
            )
        )
    views = {(schema, view): query for schema, view, query in connection.rows(_ASKED["views"].format(only=only))}
    relations = {
        (schema, table): Relation(
            str(schema),
            str(table),
            str(table) if schema == database else f"{schema}.{table}",
            tuple(columns[schema, table]),
            "view" if kind == "VIEW" else "table",
            "" if kind == "VIEW" else str(comment or ""),
            estimate if isinstance(estimate, int) else None,
            str(views.get((schema, table)) or ""),
            hides=bool(hides),
        )
        for schema, table, kind, estimate, comment, hides in connection.rows(_ASKED["relations"].format(only=only))
        if (schema, table) in columns
    }
    functions = frozenset(str(name) for (name,) in connection.rows(_ASKED["functions"]))
    return Catalogue(version, tuple(relations.values()), tuple(_references(keys, relations)), own_functions=functions)


def _column(name: str, declared: str) -> ColumnSchema:
    if declared.startswith("enum("):
        return ColumnSchema(name, declared, "text", samples=enum_labels(declared))
    return ColumnSchema(name, declared, "boolean" if declared == "tinyint(1)" else column_kind(declared, ()))


def _references(keys: Sequence[tuple[Cell, ...]], relations: Mapping[_Place, Relation]) -> Iterator[ForeignKey]:
    found: dict[tuple[Cell, ...], list[tuple[str, str]]] = {}
    for key, schema, table, name, _, ref_schema, ref_table, ref_name in keys:
        if ref_table is not None and (schema, table) in relations and (ref_schema, ref_table) in relations:
            found.setdefault((key, schema, table, ref_schema, ref_table), []).append((str(name), str(ref_name)))
    for (_, schema, table, ref_schema, ref_table), pairs in found.items():
        names, ref_names = zip(*pairs, strict=True)
        yield ForeignKey(relations[schema, table].shown, names, relations[ref_schema, ref_table].shown, ref_names)


def estimate(plan: Iterable[Mapping[str, Any]]) -> Estimate:
    """What a statement will cost.

    The tables of one SELECT are read in the order of the plan, each once for every row that those before it make.
    """
    selects: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for line in plan:
        if line["rows"] is not None:
            selects[line["id"]].append(line)
    costs = {number: _nested(lines) for number, lines in selects.items()}
    rows, outermost = 0.0, max((made for _, made in costs.values()), default=0.0)
    for number, (read, _) in costs.items():
        again = "DEPENDENT" in str(selects[number][0]["select_type"])
        rows += read * max(1.0, outermost) if again else read
    return Estimate(round(rows))


def _nested(lines: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Rows that are read, and rows that come of it."""
    read, made = 0.0, 1.0
    for line in lines:
        made *= float(line["rows"])
        read += made
        made *= float(line.get("filtered") or 100) / 100
    return read, made


TOO_LARGE = -1
"""The number of our own error for a row that is too large to be taken."""


def failure(error: Exception, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for what the driver raised."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else None
    message = " ".join(str(error.args[-1] if error.args else error).split())[:300]
    if number == TOO_LARGE:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if isinstance(error, OSError) or type(error).__name__ == "InterfaceError":
        return ConnectionLost(message)
    return PROFILE.faults.failure("" if number is None else str(number), message)


_LISTED = 50
_TOLD = 3
_LONGEST = 200
# What a statement is written with, which its result doesn't depend on: words that will go, or have another spelling.
_OF_FORM = (1287, 1681, 3719, 3778)


def diagnostics(count: int, rows: Callable[[str], list[tuple[Cell, ...]]]) -> tuple[str, ...]:
    """A line for each kind of warning, with how many there were in all.

    Args:
        count: What the server counted, which comes with every result; it is asked for more only where that is not 0.
        rows: Runs a statement of our own, before anything else is sent.
    """
    if not count:
        return ()
    first: dict[Cell, str] = {}
    for level, code, message in rows(f"SHOW WARNINGS LIMIT {_LISTED}"):
        if level != "Note" and code not in _OF_FORM:
            first.setdefault(code, " ".join(str(message).split())[:_LONGEST])
    told = [f"The server warns: {message}." for message in list(first.values())[:_TOLD]]
    return (*told, f"There were {count:,} warnings in all.") if told and count > len(told) else tuple(told)


if TYPE_CHECKING:
    from .connection import BoundedConnection, MySQLConnection

_CONNECT_SECONDS = 10
_TEXTS = frozenset(
    {"ssl_ca", "ssl_cert", "ssl_key", "ssl_key_password", "unix_socket", "read_default_file", "read_default_group"}
)
_FLAGS = frozenset({"ssl_disabled", "ssl_verify_cert", "ssl_verify_identity"})
_IGNORED = frozenset({"charset"})


def _regexp_like(writer: Generator, node: exp.RegexpLike) -> str:
    """As an operator, which MariaDB has too."""
    if node.args.get("flag"):
        return writer.func("REGEXP_LIKE", node.this, node.expression, node.args["flag"])
    return writer.binary(node, "REGEXP")


def _json_text(writer: Generator, node: exp.JSONExtractScalar) -> str:
    """As functions, for MariaDB lacks `->>`."""
    return writer.func("JSON_UNQUOTE", writer.func("JSON_EXTRACT", node.this, node.expression))


GRAMMAR = Grammar(
    MySQL(),
    PROFILE.functions,
    writes=((exp.RegexpLike, _regexp_like), (exp.JSONExtractScalar, _json_text), (exp.CurrentVersion, version_call)),
    names_by_text=True,
)


class MySQLBackend(Backend):
    """A database of a MySQL or MariaDB server."""

    dialect = "mysql"
    grammar = GRAMMAR

    def __init__(self, address: Address, session: Session) -> None:
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        if find_spec("pymysql") is None:
            raise DatabaseUnavailable("MySQL and MariaDB need their driver: pip install 'tableturn[mysql]'")
        try:
            url = make_url(address.url)
        except (ArgumentError, ValueError):
            raise DatabaseUnavailable(
                f"not a URL of MySQL: {without_password(address.url)}; write mysql://user@host:3306/database"
            ) from None
        self._address = address
        self._session = session
        self._options = _options(dict(url.query))
        self._options.update(
            {name: value for name, value in url.translate_connect_args().items() if name != "username"}
        )
        if url.username:
            self._options["user"] = url.username
        self.database = url.database or "mysql"
        self.location = f"mysql://{url.host or 'localhost'}:{url.port or 3306}/{url.database or ''}"
        named = (url.database,) if url.database else ()
        self._readable = readable(address.schemas or named)
        self.name = "MySQL"
        connection = self.connect()
        self.name = "MariaDB" if connection.is_mariadb else "MySQL"
        connection.close()

    def under(self, session: Session) -> MySQLBackend:
        return MySQLBackend(self._address, session)

    def connect(self) -> MySQLConnection:
        import pymysql

        from .connection import MySQLConnection

        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                for statement in (*PROFILE.setup, _mode_setting()):
                    cursor.execute(statement)
        except (pymysql.err.Error, OSError) as error:
            message = scrubbed(str(error.args[-1] if error.args else error), [str(self._options.get("password") or "")])
            raise DatabaseUnavailable(f"{self.name} cannot be reached: {message}") from None
        return MySQLConnection(connection, self._kill, partial(remark, self._session.identity))

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        return read_catalogue(connection, self._readable, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return catalogue_version(connection, self._readable, self._session.key)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were written since the server was started.
        return " ".join(str(told) for _, told in connection.rows(_ASKED[f"changes_{self.name.lower()}"]))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """One line for each grant of more than reading, and one with the remedy."""
        found: list[str] = []
        for (grant,) in connection.rows("SHOW GRANTS"):
            given = _GRANT.match(str(grant))
            if given is None:
                continue
            powers = {power.strip().upper() for power in _LISTED_COLUMNS.sub("", given["powers"]).split(",")} - _READING
            if powers:
                files = (
                    "; with FILE, it reads and writes files on the server"
                    if powers & {"FILE", "ALL PRIVILEGES"}
                    else ""
                )
                listed = ", ".join(sorted(powers)[:6])
                found.append(f"the login may do more than read: {listed} on {given['where']}{files}")
        if found:
            found.append(
                "create one that can only read: CREATE USER reader IDENTIFIED BY '...';"
                " GRANT SELECT ON my_database.* TO reader;"
            )
        return tuple(found)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        # The server may keep no queries, or the login may not read them.
        import pymysql

        ((kept,),) = connection.rows("SELECT @@performance_schema")
        if not int(str(kept)):
            raise DatabaseUnavailable(
                "the server records no queries: set performance_schema = ON in its configuration and restart it; or"
                " give a file of SQL to --from"
            )
        try:
            return tuple(str(query) for (query,) in connection.rows(_ASKED["log"].format(int(most))))
        except pymysql.err.OperationalError:
            raise DatabaseUnavailable(
                "this login may not read the server's queries: GRANT SELECT ON performance_schema.* to it"
            ) from None

    def _connected(self) -> BoundedConnection:
        from .connection import DECODERS, BoundedConnection

        options: dict[str, Any] = {
            **self._options,
            "conv": DECODERS,
            "charset": "utf8mb4",
            "autocommit": True,
            "local_infile": False,
            "connect_timeout": _CONNECT_SECONDS,
            "program_name": "tableturn",
        }
        return BoundedConnection(**options)

    def _kill(self, number: int) -> None:
        connection = self._connected()
        try:
            with connection.cursor() as cursor:
                cursor.execute(_ASKED["kill"].format(number=int(number)))
        finally:
            connection.close()


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    return ServerEngine(MySQLBackend(parted(url, roles=False), session), session)


def _mode_setting() -> str:
    """The server's own mode, less what changes how a statement is read."""
    kept = "CONCAT(',', @@SESSION.sql_mode, ',')"
    for mode in PROFILE.modes:
        kept = f"REPLACE({kept}, ',{mode},', ',')"
    return f"SET SESSION sql_mode = TRIM(BOTH ',' FROM {kept})"


def _options(query: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a URL that the driver takes."""
    options: dict[str, Any] = {}
    for name, value in query.items():
        if name in _TEXTS:
            options[name] = value
        elif name in _FLAGS:
            options[name] = str(value).lower() in ("1", "true", "yes", "on")
        elif name not in _IGNORED:
            raise DatabaseUnavailable(f"MySQL's driver knows no parameter {name!r} in a URL")
    return options


_GRANT = re.compile(r"^GRANT (?P<powers>.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(?P<where>\S+) TO ", re.IGNORECASE)
_LISTED_COLUMNS = re.compile(r"\([^)]*\)")
_READING = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROXY"}
