"""Databases that differ only in what is hidden cannot be told apart."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError

from ...corpus.hidden import DENY, make, statements


def _outcome(database: Database, sql: str) -> object:
    try:
        table = database.execute(sql)
    except QueryError as error:
        return error.kind, str(error)
    return table.columns, table.types, sorted(table.rows, key=repr)


def test_databases_that_differ_in_what_is_hidden_look_the_same(tmp_path: Path) -> None:
    databases: list[Database] = []
    for mark in (3, 4, 0):
        (tmp_path / str(mark)).mkdir()
        databases.append(Database.open(make(tmp_path / str(mark) / "shop.db", mark), deny=DENY))
    first, *others = databases
    assert all(database.schema().tables == first.schema().tables for database in others)
    for sql in islice(statements(), 0, None, 5):
        assert all(_outcome(database, sql) == _outcome(first, sql) for database in others), sql
    for database in databases:
        database.close()
