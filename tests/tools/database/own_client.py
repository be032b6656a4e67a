"""What an engine's own client gives for a query, without anything of ours in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from decimal import Decimal
from typing import Any

from .servers import MARIADB, POSTGRES


def own_rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    """Run a query through psycopg, PyMySQL, duckdb or sqlite3."""
    kind, _, path = url.removeprefix("sqlalchemy+").partition("?")[0].partition("://")
    if kind == "postgresql":
        return plain(POSTGRES.run(f"{kind}://{path}", sql))
    if "mariadb" in kind or "mysql" in kind:
        return plain(MARIADB.run(f"mariadb://{path}", sql))
    if kind == "sqlite":
        with closing(sqlite3.connect(path.removeprefix("/"))) as connection:
            return plain(connection.execute(sql).fetchall())
    import duckdb

    with closing(duckdb.connect(path.removeprefix("/"), read_only=True)) as connection:
        return plain(connection.execute(sql).fetchall())


def plain(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Return rows whose cells are numbers, texts, bytes and None, in an order of their own."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(cell: Any) -> Any:
    if isinstance(cell, bool | int | Decimal | float):
        return float(cell)
    return cell if cell is None or isinstance(cell, bytes) else str(cell)
