"""Data frames and LangChain's `SQLDatabase` as databases, and what is said where a driver is missing."""

from __future__ import annotations

import datetime
import sqlite3
import subprocess
import sys
import uuid
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas
import pytest
from tableturn import SQLAgent
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable, QueryError

pytest.importorskip("duckdb")


@pytest.fixture
def orders() -> pandas.DataFrame:
    return pandas.DataFrame({"id": [1, 2, 3], "city": ["Oslo", "Bergen", None], "total": [1.5, 2.0, 4.0]})


def test_frames(orders: pandas.DataFrame) -> None:
    with Database.open({"orders": orders, "other table": orders.head(1)}) as database:
        assert {table.name for table in database.schema().tables} == {"orders", "other_table"}
        assert database.execute("SELECT sum(total) FROM orders").rows == ((7.5,),)
    with Database.open(orders) as database:
        assert database.execute("SELECT city FROM data ORDER BY id").rows == (("Oslo",), ("Bergen",), (None,))


def test_frames_are_kept_as_they_were(orders: pandas.DataFrame) -> None:
    with Database.open(orders) as database, Database.open(orders.copy()) as same:
        assert database.location == same.location
        orders.loc[0, "total"] = 100.0
        assert database.execute("SELECT max(total) FROM data").rows == ((4.0,),)
    with Database.open(orders) as changed:
        assert changed.engine.state() != database.location.partition(":")[2]


def test_columns_of_frames(orders: pandas.DataFrame) -> None:
    odd = pandas.DataFrame([[1, "x", 3]], columns=["a", "A", 7], index=pandas.Index(["k"], name="key"))
    mixed = pandas.DataFrame({"m": [1, "x", None], "l": [[1, 2], None, []]})
    with Database.open({"odd": odd, "mixed": mixed}) as database:
        assert database.execute("SELECT * FROM odd").rows == (("k", 1, "x", 3),)
        assert [row[0] for row in database.execute("SELECT m FROM mixed").rows] == ["1", "x", None]


def test_permissions_on_frames(orders: pandas.DataFrame) -> None:
    with Database.open({"orders": orders}, deny=["orders.city"]) as database:
        assert database.execute("SELECT * FROM orders WHERE id = 1").rows == ((1, 1.5),)
        with pytest.raises(QueryError):
            database.execute("SELECT city FROM orders")


def test_the_agent_answers_on_frames(orders: pandas.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_CACHE", str(tmp_path))
    with SQLAgent({"orders": orders}, model="offline") as agent:
        assert agent.ask("How many orders are there?").rows == ((3,),)


def test_langchains_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.utilities import SQLDatabase
    with closing(sqlite3.connect(tmp_path / "x.db")) as native:
        native.execute("CREATE TABLE t (x INTEGER)")
        native.execute("INSERT INTO t VALUES (7)")
        native.commit()
    opened = SQLDatabase.from_uri(f"sqlite:///{tmp_path / 'x.db'}")
    with Database.open(opened) as database:
        assert database.execute("SELECT x FROM t").rows == ((7,),)
        with pytest.raises(QueryError):
            database.execute("DELETE FROM t")
    assert opened.run("SELECT x FROM t") == "[(7,)]"
    opened._engine.dispose()


@pytest.mark.parametrize("limits", [{"include_tables": ["t"]}, {"ignore_tables": ["secret"]}])
def test_langchains_database_that_shows_some_tables(tmp_path: Path, limits: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from langchain_community.utilities import SQLDatabase
    with closing(sqlite3.connect(tmp_path / "x.db")) as native:
        native.executescript("CREATE TABLE t (x INTEGER); CREATE TABLE secret (x INTEGER)")
    opened = SQLDatabase.from_uri(f"sqlite:///{tmp_path / 'x.db'}", **limits)
    with pytest.raises(DatabaseUnavailable, match="role that may read only"):
        Database.open(opened)
    opened._engine.dispose()


def test_other_objects() -> None:
    for given in (7, {}, {"a": 1}, None, [1]):
        with pytest.raises(DatabaseUnavailable):
            Database.open(given)  # pyright: ignore[reportArgumentType]


def test_cells() -> None:
    with Database.open(pandas.DataFrame({"x": [1]})) as database:
        sql = (
            "SELECT true, 1.50::DECIMAL(9, 2), 12::DECIMAL(9, 0), DATE '2024-01-02', TIMESTAMP '2024-01-02 03:04:05',"
            " TIME '03:04:05', [1, 2], {'a': 'é'}, MAP {'k': 1}, 'ab'::BLOB, 'nan'::DOUBLE, NULL,"
            " '00000000-0000-0000-0000-000000000001'::UUID, INTERVAL 1 DAY, 170141183460469231731687303715884105727"
        )
        (row,) = database.execute(sql).rows
    assert row[:6] == (1, 1.5, 12, "2024-01-02", "2024-01-02 03:04:05", "03:04:05")
    assert row[6:9] == ("[1, 2]", '{"a": "é"}', '{"k": 1}')
    assert row[9:13] == (b"ab", "nan", None, str(uuid.UUID(int=1)))
    assert row[13] == str(datetime.timedelta(days=1))
    assert row[14] == 2**127 - 1


@pytest.mark.parametrize(("module", "name"), [("duckdb", "t.csv"), ("openpyxl", "t.xlsx")])
def test_a_missing_driver_is_told_in_one_line(tmp_path: Path, module: str, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    # Where a process that reads files finds modules, too.
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.modules[{module!r}] = None\n"
        "from tableturn.tools.database import Database\n"
        f"Database.open({str(tmp_path / name)!r})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'tableturn[duckdb]'" in ran.stderr.strip().splitlines()[-1]
