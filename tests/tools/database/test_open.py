"""Opening: every way in which a path or URL can be wrong, and files that change while they are open."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable, QueryFailed, QueryRejected

from .traces import trace


@pytest.mark.parametrize(
    "form", ["{path}", "sqlite:///{path}", "sqlite:///file:{path}?mode=ro&uri=true", "sqlite:///file:{path}?uri=true"]
)
def test_forms_of_a_name(shop_path: Path, form: str) -> None:
    with Database.open(form.format(path=shop_path)) as database:
        assert database.name == "shop"
        assert Path(database.location) == shop_path.resolve()
        assert database.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_relative_names(shop_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop_path.parent)
    for form in ("shop.db", "sqlite:///shop.db", "sqlite:///./shop.db", Path("shop.db")):
        with Database.open(form) as database:
            assert Path(database.location) == shop_path.resolve()


def test_names_with_signs_of_their_own(shop_path: Path, tmp_path: Path) -> None:
    for name in ("a b?mode=rwc.db", "ü%20#x.db", "a&immutable=1.db"):
        path = tmp_path / name
        shutil.copy(shop_path, path)
        with Database.open(path) as database:
            assert database.schema().name == path.stem
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.db", "no such database file"),
        ("sqlite:///{folder}/missing.db", "no such database file"),
        ("missing/folder/x.db", "no such database file"),
        ("", "folder"),
        ("text.db", "not an SQLite database"),
        ("short.db", "not an SQLite database"),
        ("empty.db", "has no tables"),
        ("tableless.db", "has no tables"),
        ("garbled.db", "damaged|not an SQLite database|cannot open"),
        (
            "postgresql://me:secret@127.0.0.1:1/shop",
            r"^postgresql://me:\*\*\*@127\.0\.0\.1:1/shop cannot be reached: connection to server [^?]*refused:"
            " check the address, the login and the database's name, and that the server runs$",
        ),
        (
            "mysql+pymysql://me:secret@127.0.0.1:1/shop",
            r"^mysql://127\.0\.0\.1:1/shop cannot be reached: .*Connection refused.*: check the address, the login",
        ),
        ("nosuch://me:secret@host/shop", "nosuch:// is not the address of a known kind of database"),
        ("sqlite://", "memory"),
        ("sqlite:///:memory:", "memory"),
        ("sqlite:///file:x?mode=memory&uri=true", "memory"),
        ("://", "not a database URL"),
    ],
)
def test_what_cannot_be_opened_says_why(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "text.db").write_text("name,city\nAnna,Oslo\n" * 20)
    (tmp_path / "short.db").write_bytes(b"SQLite")
    (tmp_path / "empty.db").touch()
    (tmp_path / "garbled.db").write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 40)
    connection = sqlite3.connect(tmp_path / "tableless.db")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    before = trace(tmp_path)
    place = name.format(folder=tmp_path) if "://" in name else str(tmp_path / name)
    with pytest.raises(DatabaseUnavailable, match=says) as caught:
        Database.open(place)
    assert "\n" not in str(caught.value)
    assert trace(tmp_path) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser can read everything")
def test_unreadable_file(shop_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    shutil.copy(shop_path, path)
    path.chmod(0)
    with pytest.raises(DatabaseUnavailable, match="cannot read"):
        Database.open(path)


def test_locked_file(shop_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    shutil.copy(shop_path, path)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseUnavailable, match="locked"):
        Database.open(path)
    writer.execute("ROLLBACK")
    writer.close()
    Database.open(path).close()


@pytest.mark.parametrize("deny", [[], ["secret"]])
@pytest.mark.parametrize(
    "sql",
    [
        "WITH x AS (SELECT 1) DELETE FROM nowhere",
        "WITH x AS (SELECT 1) UPDATE secret SET a = 1",
        "WITH x AS (SELECT 1 AS a) DELETE FROM town",
    ],
)
def test_a_write_is_refused_as_one_whatever_its_table(tmp_path: Path, sql: str, deny: list[str]) -> None:
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.executescript("CREATE TABLE town(a); CREATE TABLE secret(a)")
    connection.close()
    with Database.open(tmp_path / "t.db", deny=deny) as database:
        with pytest.raises(QueryRejected, match=r"this connection only reads, but .*: write a SELECT"):
            database.execute(sql)
        with pytest.raises(QueryFailed, match="no such table: nowhere"):
            database.execute("SELECT 'delete', \"update\" FROM nowhere -- insert")


def test_file_left_in_the_middle_of_a_write(tmp_path: Path) -> None:
    path, copy = tmp_path / "whole.db", tmp_path / "torn.db"
    writer = sqlite3.connect(path)
    writer.execute("CREATE TABLE t (x)")
    writer.executemany("INSERT INTO t VALUES (?)", ((i,) for i in range(20_000)))
    writer.commit()
    writer.execute("PRAGMA cache_size = 5")
    writer.execute("UPDATE t SET x = x + 1")
    for end in ("", "-journal"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    writer.rollback()
    writer.close()
    with pytest.raises(DatabaseUnavailable, match="middle of a write"):
        Database.open(copy)


def test_closed_database(shop_path: Path) -> None:
    database = Database.open(shop_path)
    database.execute("SELECT 1")
    database.close()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        database.execute("SELECT 1")
    with pytest.raises(DatabaseUnavailable, match="closed"):
        database.schema()


def test_file_that_goes_away(shop_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    shutil.copy(shop_path, path)
    with Database.open(path) as database:
        path.unlink()
        with pytest.raises(DatabaseUnavailable, match="gone"):
            database.execute("SELECT 1")


def test_schema_is_read_again_when_it_changes(shop_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    shutil.copy(shop_path, path)
    with Database.open(path) as database:
        first = database.schema()
        assert database.schema() is first
        with pytest.raises(QueryFailed):
            database.execute("SELECT * FROM later")
        writer = sqlite3.connect(path)
        writer.execute("INSERT INTO customer VALUES (77, 'Eva', 'Oslo')")
        writer.commit()
        assert database.schema() is first
        assert database.execute("SELECT count(*) FROM customer").rows == ((5,),)
        writer.execute("CREATE TABLE later (x)")
        writer.execute("CREATE VIRTUAL TABLE later_note USING rtree(id, a, b)")
        writer.commit()
        writer.close()
        assert database.execute("SELECT * FROM later").columns == ("x",)
        assert database.execute("SELECT * FROM later_note, place").rows == ()
        assert database.schema().version != first.version
        assert database.schema().table("later") is not None


def test_replaced_file(shop_path: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "shop.db", tmp_path / "other.db"
    shutil.copy(shop_path, path)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE fresh AS SELECT 5 AS x")
    connection.commit()
    connection.close()
    with Database.open(path) as database:
        assert database.schema().table("fresh") is None
        other.replace(path)
        assert database.execute("SELECT x FROM fresh").rows == ((5,),)
        assert [table.name for table in database.schema().tables] == ["fresh"]


def _write_ahead(path: Path) -> sqlite3.Connection:
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (x)")
    writer.execute("INSERT INTO t VALUES (1)")
    writer.commit()
    return writer


def test_write_ahead_file_without_a_writer_gets_no_company(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    _write_ahead(path).close()
    before = trace(tmp_path)
    assert list(before) == ["wal.db"]
    with Database.open(path) as database:
        assert database.execute("SELECT x FROM t").rows == ((1,),)
        assert database.schema().tables[0].row_count == 1
        assert trace(tmp_path) == before
    assert trace(tmp_path) == before


def test_write_ahead_file_with_a_writer_shows_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    writer = _write_ahead(path)
    with Database.open(path) as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((1,),)
        writer.execute("INSERT INTO t VALUES (2)")
        writer.commit()
        assert database.execute("SELECT count(*) FROM t").rows == ((2,),)
        writer.execute("CREATE TABLE u AS SELECT 3 AS y")
        writer.commit()
        assert database.execute("SELECT y FROM u").rows == ((3,),)
        writer.close()


def test_writer_that_comes_later_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    _write_ahead(path).close()
    with Database.open(path) as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((1,),)
        writer = sqlite3.connect(path)
        writer.execute("INSERT INTO t VALUES (2)")
        writer.execute("CREATE TABLE u AS SELECT 3 AS y")
        writer.commit()
        assert database.execute("SELECT count(*) FROM t").rows == ((2,),)
        assert database.execute("SELECT y FROM u").rows == ((3,),)
        assert database.schema().table("u") is not None
        writer.close()
        assert database.execute("SELECT count(*) FROM t").rows == ((2,),)
