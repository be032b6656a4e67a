"""PostgreSQL as an `Engine`: every query in a read-only transaction, as the session's person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects import Postgres

from ...errors import DatabaseUnavailable, QueryFailed, ResultTooLarge, TableturnError
from ..column_kinds import column_kind
from ..estimate import Estimate
from ..profile import ConnectionLost, read_profile
from ..quoting import literal, quoted
from ..schema import ColumnKind, ColumnSchema, ForeignKey
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import CUT, SHORT, Backend, ServerConnection
from ..server.engine import ServerEngine
from ..server.reading import Grammar, version_call
from ..session import Session, remark
from ..table import Cell

PROFILE = read_profile(__package__ or "")
_ASKED = PROFILE.statements
_LABELS = 20
# By `pg_type.typcategory`: arrays, shapes, rows and ranges have no kind of their own.
_KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys("AGCR", "other"),
    **dict.fromkeys("DT", "time"),
    "N": "number",
    "B": "boolean",
    "S": "text",
}


def readable(schemas: Sequence[str]) -> str:
    """A query for what may be read, in these schemas or, if there are none, in all."""
    listed = ", ".join(map(literal, schemas))
    return _ASKED["readable"].format(only=f"AND n.nspname IN ({listed})" if schemas else "")


def catalogue_version(connection: ServerConnection, found: str, owner: str) -> str:
    """Changes with tables, columns, comments, privileges and the path."""
    ((told,),) = connection.rows(_ASKED["version"].format(readable=found))
    return f"{told}{owner}"


def read_catalogue(connection: ServerConnection, found: str, owner: str) -> Catalogue:
    """What the role may read; the parameters are those of `catalogue_version`."""
    version = catalogue_version(connection, found, owner)
    labels: dict[Cell, list[Cell]] = {}
    for type_, label in connection.rows(_ASKED["enums"]):
        labels.setdefault(type_, []).append(label)
    columns: dict[Cell, dict[Cell, ColumnSchema]] = {}
    types: set[str] = set()
    for row in connection.rows(_ASKED["columns"].format(readable=found)):
        table, number, name, declared, not_null, generated, comment, type_, class_, category = row
        columns.setdefault(table, {})[number] = ColumnSchema(
            str(name),
            str(declared),
            _kind(str(declared), str(class_), str(category)),
            not_null=bool(not_null),
            generated=bool(generated),
            comment=str(comment or ""),
            samples=tuple(labels.get(type_, ())[:_LABELS]),
        )
        if class_ != "b":
            types.add(str(declared).replace('"', "").lower())
    keys = connection.rows(_ASKED["keys"].format(readable=found))
    _mark_primary_keys(keys, columns)
    relations = {
        table: Relation(
            str(schema),
            str(name),
            str(name) if visible else f"{schema}.{name}",
            tuple(columns[table].values()),
            "view" if kind in ("v", "m") else "table",
            str(comment or ""),
            estimate if isinstance(estimate, int) else None,
            str(query or ""),
            bool(unshown),
            bool(hides),
        )
        for table, schema, name, visible, kind, comment, estimate, query, unshown, hides in connection.rows(
            _ASKED["relations"].format(readable=found)
        )
        if table in columns
    }
    functions = connection.rows(_ASKED["functions"])
    return Catalogue(
        version,
        tuple(relations.values()),
        tuple(_references(keys, columns, relations)),
        frozenset(types),
        own_functions=frozenset(str(name) for name, _ in functions),
        row_functions=frozenset(str(name) for name, on_row in functions if on_row),
    )


def _kind(declared: str, class_: str, category: str) -> ColumnKind:
    """By the type's category, which domains share; `other` is left to the values."""
    if class_ == "e":
        return "text"
    return _KINDS.get(category) or column_kind(declared, ())


def _mark_primary_keys(keys: Sequence[tuple[Cell, ...]], columns: Mapping[Cell, dict[Cell, ColumnSchema]]) -> None:
    for kind, table, numbers, _, _ in keys:
        places = list(map(int, str(numbers).split()))
        # A part of a key is none: what is left of it, where the rest is hidden, does not tell rows apart.
        if kind == "p" and columns[table].keys() >= set(places):
            for position, number in enumerate(places, 1):
                columns[table][number] = replace(columns[table][number], primary_key=position)


def _references(
    keys: Sequence[tuple[Cell, ...]],
    columns: Mapping[Cell, Mapping[Cell, ColumnSchema]],
    relations: Mapping[Cell, Relation],
) -> Iterator[ForeignKey]:
    """The foreign keys of which all may be read, at both ends."""
    for kind, table, numbers, ref_table, ref_numbers in keys:
        if kind != "f" or table not in relations or ref_table not in relations:
            continue
        pairs = list(zip(map(int, str(numbers).split()), map(int, str(ref_numbers).split()), strict=True))
        if all(number in columns[table] and ref_number in columns[ref_table] for number, ref_number in pairs):
            yield ForeignKey(
                relations[table].shown,
                tuple(columns[table][number].name for number, _ in pairs),
                relations[ref_table].shown,
                tuple(columns[ref_table][number].name for _, number in pairs),
            )


# A scan that several processes share is told as the part of one.
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"

_HASHED = "hashed SubPlan"
_KEPT = frozenset({"Materialize", "Memoize"})
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class _Step:
    """A step of a plan: it gives so many rows, so many times, and reads a table where one is named."""

    plan: Plan
    times: float

    @property
    def table(self) -> tuple[str, str] | None:
        name = self.plan.get("Relation Name")
        return (str(self.plan.get("Schema", "")), str(name)) if name else None

    @property
    def rows(self) -> float:
        return float(self.plan.get("Plan Rows", 0))


def estimate(sql: str, rows: Callable[[str], list[tuple[Cell, ...]]]) -> Estimate | None:
    """What a statement will cost."""
    ((told,),) = rows(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}")
    steps = list(_steps(json.loads(str(told))[0]["Plan"], 1.0))
    tables = {step.table for step in steps if step.table is not None}
    held = {
        (str(schema), str(name)): (int(size or 0), bool(private)) for schema, name, size, private in _held(tables, rows)
    }
    read = sum(_read(step, held) * step.times for step in steps if step.table is not None)
    size = sum(_read(step, held) * step.times * int(step.plan.get("Plan Width", 0)) for step in steps if step.table)
    joined = sum(
        step.rows * step.times
        for step in steps
        if ("Join" in step.plan["Node Type"] or step.plan["Node Type"] == "Nested Loop")
    )
    return Estimate(round(read + joined), round(size), any(private for _, private in held.values()))


def _steps(plan: Plan, times: float) -> Iterator[_Step]:
    yield _Step(plan, times)
    below: list[Plan] = plan.get("Plans", [])
    looped = plan["Node Type"] == "Nested Loop" and len(below) > 1
    for child in below:
        how = child.get("Parent Relationship")
        again = times
        if looped and how == "Inner":
            again = times * float(below[0].get("Plan Rows", 1))
        elif how == "SubPlan" and _HASHED not in repr(plan.get("Filter", "")) + repr(plan.get("Output", "")):
            again = times * max(1.0, float(plan.get("Plan Rows", 1)))
        elif how == "InitPlan":
            again = 1.0
        # What is kept is read once, however often it is gone through.
        yield from _steps(child, 1.0 if plan["Node Type"] in _KEPT else again)


def _read(step: _Step, held: Mapping[tuple[str, str], tuple[int, bool]]) -> float:
    """Rows that a scan reads: all of the table's, where it is no index that finds them."""
    assert step.table is not None
    whole = held.get(step.table, (0, False))[0] if step.plan["Node Type"] == "Seq Scan" else 0
    return max(step.rows, float(whole))


def _held(tables: set[tuple[str, str]], rows: Callable[[str], list[tuple[Cell, ...]]]) -> list[tuple[Cell, ...]]:
    if not tables:
        return []
    names = ", ".join(f"({literal(schema)}, {literal(name)})" for schema, name in sorted(tables))
    return rows(_ASKED["sizes"].format(names=names))


TOO_LARGE = "tableturn: a value or row is too large"
"""What a statement makes the server say of a row that may not be sent."""

_UNDEFINED_FUNCTION = "42883"
_NAMED = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_GONE = ("08", "57P")


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for what a driver raised."""
    code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
    told = getattr(getattr(error, "diag", None), "message_primary", None)
    message = " ".join(str(told or error).split())[:300]
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if not code or code.startswith(_GONE):
        is_gone = any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)
        return ConnectionLost(message) if is_gone else QueryFailed(message)
    if code == _UNDEFINED_FUNCTION:
        # One code stands for functions that are not there and for operators and functions of other types.
        named = _NAMED.match(message)
        unknown = named is not None and named[1].lower() not in PROFILE.functions
        return QueryFailed(message, "unknown_function" if unknown else "type_mismatch")
    if code == "42P01" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        return QueryFailed(message, "unknown_column")
    return PROFILE.faults.failure(code, message)


if TYPE_CHECKING:
    from .connection import PostgresConnection

_SCHEME = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
_PARAMETER = re.compile(r'invalid URI query parameter: "[\w ]+"')


GRAMMAR = Grammar(
    Postgres(),
    PROFILE.functions,
    str.lower,
    writes=((exp.CurrentVersion, version_call),),
    reserved=PROFILE.reserved,
    groups_by_key=True,
)


class PostgresBackend(Backend):
    """A database of a PostgreSQL server, as the session's person."""

    name = "PostgreSQL"
    dialect = "postgres"
    grammar = GRAMMAR

    def __init__(self, address: Address, session: Session) -> None:
        self._address = address
        self._session = session
        self._role = address.role_of(session.identity)
        self._conninfo = _conninfo(address.url)
        self._readable = readable(address.schemas)
        self.database = ""
        self.location = ""
        self._locate()

    def under(self, session: Session) -> PostgresBackend:
        return PostgresBackend(self._address, session)

    def connect(self) -> PostgresConnection:
        import psycopg

        from .connection import CellAdapters, PostgresConnection

        path = ", ".join(map(quoted, self._address.schemas))
        try:
            connection = psycopg.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, context=CellAdapters()
            )
        except psycopg.Error as error:
            message = scrubbed(str(error), [self._secret])
            raise DatabaseUnavailable(f"PostgreSQL cannot be reached: {message}") from None
        searched = (f"SET search_path = {path}",) if path else ()
        connection.execute("; ".join((*PROFILE.setup, *searched)).encode())
        return PostgresConnection(connection, self._person(), partial(remark, self._session.identity))

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        return read_catalogue(connection, self._readable, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return catalogue_version(connection, self._readable, self._session.key)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were ever written, by the server's statistics.
        return "".join(str(told) for (told,) in connection.rows(_ASKED["changes"]))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return one line for each thing that the role may do beside reading, and one with the remedy."""
        ((role, super_, manages, _),) = connection.rows(_ASKED["powers"])
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
            ((tables,),) = connection.rows(_ASKED["writes"])
            if tables:
                found.append(f"the role {role} may write to {tables} tables")
        ((unbound,),) = connection.rows(_ASKED["unbound"])
        if unbound:
            found.append(f"row-level policies of {unbound} tables do not apply to the role {role}")
        return (*found, _REMEDY) if found else ()

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        # The extension may not be there, or not loaded, or the login may not read it.
        import psycopg

        found = connection.rows(_ASKED["log_view"])
        if not found:
            raise DatabaseUnavailable(
                "the server records no queries of this database: run CREATE EXTENSION pg_stat_statements in it; if"
                f" that is not enough, {_LOAD}"
            )
        try:
            return tuple(str(query) for (query,) in connection.rows(_ASKED["log"].format(found[0][0], int(most))))
        except psycopg.errors.ObjectNotInPrerequisiteState:
            raise DatabaseUnavailable(f"pg_stat_statements is not loaded: {_LOAD}") from None
        except psycopg.errors.InsufficientPrivilege:
            raise DatabaseUnavailable(f"this login may not read {found[0][0]}: GRANT SELECT on it") from None

    def cut(self, column: ColumnSchema) -> str:
        name = quoted(column.name)
        if column.kind in SHORT:
            return name
        return f"substring({name} FROM 1 FOR {CUT})" if column.type == "bytea" else f"left({name}::text, {CUT})"

    @property
    def _secret(self) -> str:
        from psycopg.conninfo import conninfo_to_dict

        return str(conninfo_to_dict(self._conninfo).get("password") or "")

    def _locate(self) -> None:
        """Asks the driver, which looks into the environment and service files too, where the database is."""
        connection = self.connect()
        try:
            info = connection.info
            port = f":{info.port}" if info.port else ""
            self.database = info.dbname
            self.location = f"postgresql://{info.host}{port}/{info.dbname}"
            if self._address.schemas:
                self.location += f"?schema={','.join(self._address.schemas)}"
        finally:
            connection.close()

    def _person(self) -> str:
        """What makes a transaction the person's: settings that policies can read, and the role."""
        identity = self._session.identity
        told = {
            "user": identity.name,
            "groups": json.dumps(identity.groups),
            "claims": json.dumps(dict(identity.claims)),
        }
        # As settings that were never made read as null, they are made for nobody in particular too.
        settings = "".join(
            f"; SELECT set_config('tableturn.{name}', {literal(value)}, true)" for name, value in told.items()
        )
        return settings + (f"; SET LOCAL ROLE {quoted(self._role)}" if self._role else "")


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    return ServerEngine(PostgresBackend(parted(url), session), session)


def _conninfo(url: str) -> str:
    """What libpq reads: it knows the parameters, PG* variables, service files and .pgpass."""
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
    except ImportError:
        raise DatabaseUnavailable("PostgreSQL needs its driver: pip install 'tableturn[postgres]'") from None
    try:
        return make_conninfo(
            _SCHEME.sub("postgresql://", url),
            client_encoding="UTF8",
            fallback_application_name="tableturn",
        )
    except psycopg.Error as error:
        told = _PARAMETER.search(str(error))
        raise DatabaseUnavailable(
            f"not a URL of PostgreSQL: {without_password(url)}{f': {told[0]}' if told else ''};"
            " write postgresql://user@host:5432/database"
        ) from None


_GROUPS = {
    "pg_read_server_files": "read files on the server",
    "pg_write_server_files": "write files on the server",
    "pg_execute_server_program": "run programs on the server",
    "pg_write_all_data": "write to every table",
    "pg_signal_backend": "end other people's queries",
}

_REMEDY = (
    "create one that can only read: CREATE ROLE reader LOGIN PASSWORD '...';"
    " GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;"
)


_LOAD = (
    "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart the server; "
    "or give a file of SQL to --from"
)
