"""A shop in a folder of its own, opened for reading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database, Limits

from .conformance.tables import UNHURRIED
from .people import mariadb, postgres
from .shop import make_shop

__all__ = ["mariadb", "postgres"]


@pytest.fixture(scope="session")
def shop_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("shop") / "shop.db")


@pytest.fixture(scope="session")
def shop(shop_path: Path) -> Iterator[Database]:
    with Database.open(shop_path) as database:
        yield database


@pytest.fixture
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine does not make queries of a server fail that give no limits of their own."""
    monkeypatch.setattr("tableturn.tools.database.database._DEFAULT_LIMITS", Limits(seconds=UNHURRIED))
    monkeypatch.setattr("tableturn.tools.database.spark.engine.SparkBackend.patience", UNHURRIED)
