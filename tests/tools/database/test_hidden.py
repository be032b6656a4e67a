"""Databases that differ only in what is hidden cannot be told apart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryFailed, SettingsError

from ...corpus.hidden import statements, try_on_all


def test_databases_that_differ_in_what_is_hidden_look_the_same(tmp_path: Path) -> None:
    for sql, read, distinguished in try_on_all(tmp_path, islice(statements(), 0, None, 5)):
        assert (read, distinguished) == (False, False), sql or "the schema"


def _made(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def test_what_names_the_database_main_is_no_damage(tmp_path: Path) -> None:
    path = _made(
        tmp_path / "main.db",
        "CREATE TABLE t (x, y); INSERT INTO t VALUES (1, 2), (3, 4); CREATE TABLE vault (pin);"
        'CREATE VIEW plain AS SELECT main.t.x AS a FROM main.t; CREATE VIEW over AS SELECT * FROM "MAIN" . plain;'
        "CREATE VIEW theirs AS SELECT pin FROM main.vault; CREATE VIEW twice AS SELECT main.x FROM main.t AS main;"
        "CREATE TRIGGER fires AFTER INSERT ON t BEGIN UPDATE t SET x = (SELECT max(pin) FROM main.vault); END;",
    )
    with Database.open(path, deny=["vault"]) as database:
        assert [table.name for table in database.schema().tables] == ["t", "plain", "over"]
        for view in ("plain", "over"):
            assert database.execute(f"SELECT a FROM {view} ORDER BY a").rows == ((1,), (3,))
        for hidden in ("theirs", "twice", "vault", "main.vault", "main.t"):
            with pytest.raises(QueryFailed, match="no such table"):
                database.execute(f"SELECT * FROM {hidden}")


def test_a_view_does_not_lead_to_sqlites_own_tables(tmp_path: Path) -> None:
    merged = "SELECT name FROM (SELECT '' AS name) FULL JOIN {} USING (name)"
    named = ("sqlite_sequence", 'main."sqlite_sequence"', "[SQLITE_SEQUENCE]", "'sqlite_master'", "sqlite_temp_master")
    views = "".join(f"CREATE VIEW v{at} AS {merged.format(name)};" for at, name in enumerate(named))
    path = _made(
        tmp_path / "own.db",
        "CREATE TABLE shop (name); CREATE TABLE vault (id INTEGER PRIMARY KEY AUTOINCREMENT);"
        f"INSERT INTO vault VALUES (7); {views} CREATE VIEW over AS SELECT name FROM v0;",
    )
    with Database.open(path, deny=["vault"]) as database:
        assert [table.name for table in database.schema().tables] == ["shop"]
        for view in ("over", *(f"v{at}" for at in range(len(named)))):
            with pytest.raises(QueryFailed, match="no such table"):
                database.execute(f"SELECT * FROM {view}")


def test_what_only_contains_a_reserved_word_is_no_trouble(tmp_path: Path) -> None:
    path = _made(
        tmp_path / "log.db",
        "CREATE TABLE my_sqlite_log (sqlite_fan); INSERT INTO my_sqlite_log VALUES ('sqlite_fan'), ('sqlite_master');"
        "CREATE TABLE vault (pin); CREATE VIEW fans AS SELECT sqlite_fan FROM my_sqlite_log -- not in sqlite_schema\n;",
    )
    with Database.open(path, deny=["vault"]) as database:
        for sql, count in (
            ("SELECT sqlite_fan FROM my_sqlite_log -- sqlite_master", 2),
            ("SELECT * FROM my_sqlite_log WHERE sqlite_fan = 'sqlite_master' /* sqlite_stat1 */", 1),
            ("SELECT * FROM fans WHERE sqlite_fan IN ('sqlite_fan')", 1),
            ("SELECT 'a sqlite_schema' AS b", 1),
            ("SELECT sqlite_version()", 1),
        ):
            assert len(database.execute(sql).rows) == count, sql


def test_a_table_named_like_a_table_function(tmp_path: Path) -> None:
    path = _made(
        tmp_path / "named.db",
        "CREATE TABLE json_each (secret); INSERT INTO json_each VALUES ('S'); CREATE TABLE other (a)",
    )
    for deny in ([], ["other"]):
        with Database.open(path, deny=deny) as database:
            assert database.execute("SELECT secret FROM json_each").rows == (("S",),)
            assert database.execute("SELECT value FROM json_tree('5')").rows == ((5,),)
            assert database.compile_check("SELECT secret FROM json_each", database.schema().tables) is None
    for hiding in ({"deny": ["json_each"]}, {"allow": ["other"]}):
        with pytest.raises(SettingsError, match="rename it"):
            Database.open(path, **hiding)  # pyright: ignore[reportArgumentType]
