"""Spark as an `Engine`, through Spark Connect.

Spark has neither roles nor transactions of its own: what keeps a query from writing is its catalogue's grants, and here
three checks. The statement is read by a parser; it stands where Spark's own grammar lets nothing but a query stand; and
the plan that Spark makes of it is looked at before it runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from ...errors import DatabaseUnavailable, SettingsError
from ..column_kinds import column_kind
from ..quoting import quoted
from ..schema import ColumnSchema
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import CUT, SHORT, Backend, ServerConnection
from ..server.engine import ServerEngine
from ..session import Session, digest, remark
from ..table import Cell
from .connection import Driver, SparkConnection
from .statements import GRAMMAR, as_text, check_plan, check_text

_PORT = 15_002
_REFUSED = "Error occurred during query planning"
_PROBE = "tableturn_probe"
_PROBED = 3
_REMEDY = (
    "make one that only reads: in a catalogue that keeps grants (Unity Catalog, Polaris, Ranger), GRANT SELECT ON"
    " SCHEMA ... TO reader; where there is none, run the server as a user who may read the files but not write them"
)


Ask = Callable[[str], list[tuple[Cell, ...]]]
"""The rows of a statement of our own."""

# Tables are told one by one, which takes a server's answer each.
_AT_ONCE = 8
_SYSTEM = frozenset({"information_schema", "sys"})


class SparkBackend(Backend):
    """A catalogue of Spark's."""

    name = "Spark"
    dialect = "spark"
    grammar = GRAMMAR
    # A query is work shared out to machines, and takes a tenth of a second where it reads nothing.
    patience = 10.0

    def __init__(self, address: Address, driver: Driver, session: Session) -> None:
        catalogues = {name.rpartition(".")[0] for name in address.schemas}
        if len(catalogues) > 1:
            raise SettingsError(
                "the schemas must belong to one catalogue: write catalogue.schema with the same catalogue"
            )
        self._address = address
        self._driver = driver
        self._session = session
        self._named = catalogues.pop() if catalogues else ""
        self._schemas = tuple(name.rpartition(".")[2] for name in address.schemas)
        self._readable: frozenset[tuple[str, str, str]] = frozenset()
        try:
            url = urlsplit(address.url)
            host, port = url.hostname, url.port or _PORT
            driver.connect(address.url).close()
        except driver.errors as error:
            secrets = [part.partition("=")[2] for part in address.url.split(";")[1:] if part.startswith("token=")]
            raise DatabaseUnavailable(
                f"not a URL of Spark Connect: {without_password(address.url)} ({scrubbed(str(error), secrets)});"
                f" write sc://host:{_PORT}/;token=..."
            ) from None
        self.database = self._schemas[0] if self._schemas else self._named or "spark"
        self.location = f"sc://{host}:{port}/{','.join(address.schemas)}"

    def under(self, session: Session) -> SparkBackend:
        return SparkBackend(self._address, self._driver, session)

    def connect(self) -> SparkConnection:
        return SparkConnection(
            self._driver,
            self._address.url,
            remark(self._session.identity),
            self._named,
            lambda plan: check_plan(plan, self._readable),
        )

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        name, schemas = read_schemas(connection.rows, self._schemas)
        found = read_catalogue(connection.rows, schemas, self._session.key, connection.errors)
        self._readable = frozenset((name, relation.schema, relation.name) for relation in found.relations)
        return found

    def catalogue_version(self, connection: ServerConnection) -> str:
        _, schemas = read_schemas(connection.rows, self._schemas)
        return digest(read_names(connection.rows, schemas), self._session.key)

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        _, schemas = read_schemas(connection.rows, self._schemas)
        return _warnings(connection.rows, schemas, connection.errors)

    def check_text(self, statement: str) -> None:
        check_text(statement)

    def cut(self, column: ColumnSchema) -> str:
        name = self.quoted(column.name)
        value = as_text(name, column.type)
        return name if value == name and column.kind in SHORT else f"left({value}, {CUT})"


def open_engine(url: str, session: Session) -> ServerEngine:
    """Open the catalogue that a URL names."""
    return ServerEngine(SparkBackend(parted(url, roles=False), Driver(), session), session)


def _warnings(ask: Ask, schemas: Sequence[str], errors: tuple[type[Exception], ...]) -> tuple[str, ...]:
    """Return one line for each thing that the login may do beside reading, and one with the remedy.

    EXPLAIN is what asks: it plans a statement, with all that a catalogue has to say against it, and never runs it. What
    only the file system refuses is found when files are written, so that this is not seen.
    """

    def is_planned(statement: str) -> bool:
        try:
            return not any(str(row[0]).startswith(_REFUSED) for row in ask(f"EXPLAIN {statement}"))
        except errors:
            return False

    found: list[str] = []
    if is_planned(f"CREATE TABLE {place(schemas[0], _PROBE)} (x INT)"):
        found.append(f"Spark would let this login make tables in {schemas[0]}")
    tables = [place(*name) for name in read_names(ask, schemas)[:_PROBED]]
    if any(is_planned(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 0") for table in tables):
        found.append("Spark would let this login write to tables")
    return (*found, _REMEDY) if found else ()


def place(schema: str, name: str) -> str:
    """Return a table's name with its schema, as SQL."""
    return f"{quoted(schema, 'spark')}.{quoted(name, 'spark')}"


def read_schemas(ask: Ask, schemas: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the catalogue's name, and the schemas to read: those named, else all, the current one first."""
    ((catalogue, current),) = ask("SELECT current_catalog(), current_schema()")
    if schemas:
        return str(catalogue), tuple(schemas)
    others = sorted({str(row[0]) for row in ask("SHOW NAMESPACES")} - _SYSTEM - {current})
    return str(catalogue), (str(current), *others)


def read_names(ask: Ask, schemas: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return schema and name of each table and view, in the order of the schemas."""
    # What belongs to a session alone is of no schema.
    return tuple(
        (schema, str(name))
        for schema in schemas
        for held, name, *_ in sorted(ask(f"SHOW TABLES IN {quoted(schema, 'spark')}"), key=lambda row: str(row[1]))
        if held
    )


def read_catalogue(ask: Ask, schemas: Sequence[str], owner: str, errors: tuple[type[Exception], ...]) -> Catalogue:
    """Return what may be read, asking from several threads at once; names are looked up in the first schema.

    A table that cannot be told, perhaps for want of a grant, is left out: its error is one of `errors`.
    """
    names = read_names(ask, schemas)

    def told(name: tuple[str, str]) -> Relation | Exception:
        try:
            return _relation(*name, ask, first=name[0] == schemas[0])
        except errors as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tableturn-spark") as threads:
        read = list(threads.map(told, names))
    relations = tuple(relation for relation in read if isinstance(relation, Relation))
    if names and not relations and "PARSE" in str(read[0]):
        raise DatabaseUnavailable("the server cannot describe its tables as JSON: Spark 4.0 or newer is needed")
    functions = {str(name).rpartition(".")[2].lower() for (name,) in ask("SHOW USER FUNCTIONS")}
    return Catalogue(digest(names, owner), relations, own_functions=frozenset(functions))


def _relation(schema: str, name: str, ask: Ask, *, first: bool) -> Relation:
    ((told,),) = ask(f"DESCRIBE TABLE EXTENDED {place(schema, name)} AS JSON")
    table: Mapping[str, Any] = json.loads(str(told))
    partitions: Sequence[str] = table.get("partition_columns") or ()
    comment = str(table.get("comment") or "")
    if partitions:
        comment = f"{comment} (partitioned by {', '.join(partitions)})".lstrip()
    return Relation(
        schema,
        name,
        name if first else f"{schema}.{name}",
        tuple(_column(column) for column in table["columns"]),
        "view" if "VIEW" in str(table.get("type", "")) else "table",
        comment,
        (table.get("statistics") or {}).get("num_rows"),
    )


def _column(told: Mapping[str, Any]) -> ColumnSchema:
    declared = _declared(told["type"])
    return ColumnSchema(
        str(told["name"]),
        declared,
        "text" if "<" in declared else column_kind(declared, ()),
        not_null=not told.get("nullable", True),
        comment=str(told.get("comment") or ""),
    )


def _declared(told: Mapping[str, Any]) -> str:
    """Return a type as SQL writes it."""
    name = str(told["name"])
    if name == "decimal":
        return f"decimal({told['precision']},{told['scale']})"
    if name in ("char", "varchar"):
        return f"{name}({told['length']})"
    if name == "array":
        return f"array<{_declared(told['element_type'])}>"
    if name == "map":
        return f"map<{_declared(told['key_type'])},{_declared(told['value_type'])}>"
    if name == "struct":
        fields = (f"{field['name']}:{_declared(field['type'])}" for field in told["fields"])
        return f"struct<{','.join(fields)}>"
    if name == "interval":
        return f"interval {told.get('start_unit', '')} to {told.get('end_unit', '')}".replace(" to None", "")
    return name
