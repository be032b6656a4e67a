"""Databases for the agent's tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.sample import build_sample


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches and conversations of a test stay its own; no model of the developer's is asked."""
    folder = tmp_path_factory.getbasetemp() / "folders"
    monkeypatch.setenv("TABLETURN_CACHE", str(folder / "cache"))
    monkeypatch.setenv("TABLETURN_HOME", str(folder / "home"))
    for name in (
        "TABLETURN_MODEL",
        "TABLETURN_EXAMPLES",
        "TABLETURN_EMBEDDING",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "AZURE_OPENAI_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A tiny shop: three customers, four orders."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total REAL, placed DATE
            );
            INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', 'Lyon'), (3, 'Cy', 'Paris');
            INSERT INTO orders VALUES
                (1, 1, 10.5, '2024-01-02'), (2, 1, 20.0, '2024-02-03'), (3, 2, 5.0, '2024-03-04'), (4, 3, NULL, NULL);
            """
        )
    return path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own sample database."""
    return build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")
