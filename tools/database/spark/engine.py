"""Spark as an `Engine`, through Spark Connect.

Spark has neither roles nor transactions of its own: what keeps a query from writing is its catalogue's grants, and here
three checks. The statement is read by a parser; it stands where Spark's own grammar lets nothing but a query stand; and
the plan that Spark makes of it is looked at before it runs.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from ...errors import DatabaseUnavailable, SettingsError
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import ServerConnection
from ..server.engine import ServerEngine
from ..server.remarks import remark
from ..session import Session
from .catalogue import listed, place, quoted, read_catalogue, read_names, read_schemas, version_of
from .connection import Driver, SparkConnection
from .grammar import GRAMMAR, check_text
from .plans import check_plan
from .rights import warnings

_CUT = 1_000
_PORT = 15_002


class SparkBackend:
    """See `Backend`."""

    name = "Spark"
    dialect = "spark"
    grammar = GRAMMAR

    def __init__(self, address: Address, driver: Driver, session: Session) -> None:
        """Nothing is connected yet.

        Raises:
            DatabaseUnavailable: The URL is none of Spark Connect's.
            SettingsError: The URL takes on roles, or names schemas of several catalogues.
        """
        if address.role:
            raise SettingsError("switching to a person's role works only on PostgreSQL: leave `role` out of the URL")
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
        self._secrets = [part.partition("=")[2] for part in address.url.split(";")[1:] if part.startswith("token=")]
        try:
            url = urlsplit(address.url)
            host, port = url.hostname, url.port or _PORT
            driver.connect(address.url).close()
        except driver.errors as error:
            raise DatabaseUnavailable(
                f"not a URL of Spark Connect: {without_password(address.url)} ({scrubbed(str(error), self._secrets)});"
                f" write sc://host:{_PORT}/;token=..."
            ) from None
        self.database = self._schemas[0] if self._schemas else self._named or "spark"
        self.location = f"sc://{host}:{port}/{','.join(address.schemas)}"

    def under(self, session: Session) -> SparkBackend:
        """See `Backend`."""
        return SparkBackend(self._address, self._driver, session)

    def connect(self) -> SparkConnection:
        """See `Backend`."""
        client = self._driver.connect(self._address.url)
        return SparkConnection(client, self._driver, remark(self._session.identity), self._named, self._check)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """See `Backend`."""
        name, schemas = read_schemas(connection.rows, self._schemas)
        found = read_catalogue(connection.rows, schemas, self._session.key, connection.errors)
        self._readable = frozenset((name, relation.schema, relation.name) for relation in found.relations)
        return found

    def catalogue_version(self, connection: ServerConnection) -> str:
        """See `Backend`."""
        _, schemas = read_schemas(connection.rows, self._schemas)
        return version_of(read_names(connection.rows, schemas), self._session.key)

    def state(self, connection: ServerConnection) -> str:
        """See `Backend`: there is no common way to tell."""
        del connection
        return ""

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """See `Backend`."""
        _, schemas = read_schemas(connection.rows, self._schemas)
        return warnings(connection.rows, schemas, connection.errors)

    def quoted(self, name: str) -> str:
        """See `Backend`."""
        return quoted(name)

    def source(self, relation: Relation) -> str:
        """See `Backend`."""
        return place(relation.schema, relation.name)

    def sample(self, relation: Relation, rows: int) -> str:
        """See `Backend`."""
        return f"SELECT {listed(relation.columns, _CUT)} FROM {self.source(relation)} LIMIT {int(rows)}"

    def _check(self, explained: str) -> None:
        check_plan(explained, self._readable)


class SparkEngine(ServerEngine):
    """The tables of a catalogue of Spark's under one session; see `Engine`."""

    # A query is work shared out to machines, and takes a tenth of a second where it reads nothing.
    patience = 10.0

    def __init__(self, backend: SparkBackend, session: Session) -> None:
        """See `ServerEngine`."""
        super().__init__(backend, session)
        self._spark = backend

    def under(self, session: Session) -> SparkEngine:
        """See `Engine`."""
        return SparkEngine(self._spark.under(session), session)

    def _read(self, sql: str) -> str:
        statement = super()._read(sql)
        check_text(statement)
        return statement


def open_engine(url: str, session: Session) -> SparkEngine:
    """Opens the catalogue that a URL names.

    Raises:
        DatabaseUnavailable: The client is missing, or the server cannot be reached.
        SettingsError: The session has permissions, or the URL parameters that are not for Spark.
    """
    try:
        driver = Driver()
    except ImportError:
        raise DatabaseUnavailable("Spark needs its client: pip install 'tableturn[spark]'") from None
    return SparkEngine(SparkBackend(parted(url), driver, session), session)
