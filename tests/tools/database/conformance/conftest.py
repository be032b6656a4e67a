"""One database an engine, made once, and opened for everybody who only reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Cancellation, Database, Limits, Table
from tableturn.tools.database.fetch import Sink

from ..own_client import own_rows, plain
from .candidate import Candidate
from .candidates.duckdb import DuckDB
from .candidates.mariadb import MariaDB, SQLAlchemyMariaDB
from .candidates.postgres import Postgres
from .candidates.spark import Spark
from .candidates.sqlite import SQLite
from .tables import STATEMENTS

CANDIDATES: tuple[Candidate, ...] = (SQLite(), DuckDB(), Postgres(), MariaDB(), SQLAlchemyMariaDB(), Spark())
_EXTRA = ("Spark",)


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(
            candidate,
            id=candidate.name,
            marks=[pytest.mark.extra, pytest.mark.filterwarnings("ignore")] if candidate.name in _EXTRA else [],
        )
        for candidate in CANDIDATES
    ],
)
def candidate(request: pytest.FixtureRequest) -> Candidate:
    reason = request.param.unavailable()
    if reason:
        pytest.skip(reason)
    return request.param


@pytest.fixture(autouse=True)
def _unhurried(candidate: Candidate, request: pytest.FixtureRequest) -> None:
    """Where queries are work for several processes; others are fast, and held to their limits of time by some."""
    if candidate.name in _EXTRA:
        request.getfixturevalue("no_hurry")


@pytest.fixture(scope="session")
def url(candidate: Candidate, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that no test changes."""
    return candidate.create(tmp_path_factory.mktemp("conformance"), STATEMENTS)


class _Compared(Database):
    """A database that runs each query in its engine's own client too, and sees that the rows are the same."""

    url = ""

    def execute(
        self, sql: str, limits: Limits | None = None, cancellation: Cancellation | None = None, sink: Sink | None = None
    ) -> Table:
        found = super().execute(sql, limits, cancellation, sink)
        if sink is None and not found.truncated and self.url:
            assert own_rows(self.url, sql) == plain(found.rows)
        return found


@pytest.fixture(scope="session")
def database(url: str, candidate: Candidate) -> Iterator[Database]:
    with _Compared.open(url) as opened:
        assert isinstance(opened, _Compared)
        opened.url = "" if candidate.name in _EXTRA else url
        yield opened


@pytest.fixture
def own_url(candidate: Candidate, tmp_path: Path) -> str:
    """A database for a test that changes it."""
    return candidate.create(tmp_path, STATEMENTS)
