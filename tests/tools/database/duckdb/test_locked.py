"""The instance alone, without any check before it: what it refuses even if a statement gets through."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.database.session import Permissions
from tableturn.tools.errors import QueryError, ResultTooLarge

duckdb = pytest.importorskip("duckdb")

from tableturn.tools.database.duckdb.engine import find_database_or_tables  # noqa: E402
from tableturn.tools.database.duckdb.grammar import EXPLAIN  # noqa: E402
from tableturn.tools.database.duckdb.instance import DuckDBInstance  # noqa: E402
from tableturn.tools.database.duckdb.sources import find_sources  # noqa: E402

_REFUSED_BY_SETTINGS = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/passwd')",
    "SELECT * FROM read_text('{folder}/other.csv')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('https://example.com/x.csv')",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO '{folder}/x.csv'",
    "COPY (SELECT 1) TO '{folder}/sales.csv'",
    "EXPORT DATABASE '{folder}/e'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/y.duckdb' AS y",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 3",
    "SET lock_configuration = false",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "RESET memory_limit",
    "PRAGMA memory_limit = '100GB'",
    "CREATE SECRET s (TYPE s3)",
    "CREATE TABLE t (x INTEGER)",
    "CREATE OR REPLACE VIEW sales AS SELECT 1 AS a",
    "DROP VIEW sales",
    "CREATE SCHEMA s",
    "CREATE SEQUENCE s",
    "CALL enable_logging()",
)
_REFUSED_BY_ITS_PARSER = (
    *_REFUSED_BY_SETTINGS[8:],
    "COPY (SELECT 1) TO '{folder}/sales.csv' (USE_TMP_FILE false)",
    "ATTACH ':memory:' AS m",
    "CREATE TEMP TABLE sales (x INTEGER)",
    "SET VARIABLE x = 1",
    "PREPARE p AS SELECT 1",
    "PRAGMA version",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT 1",
    "BEGIN",
    "COMMIT",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY (SELECT 1) TO '{folder}/sales.csv' (USE_TMP_FILE false)",
)


def _opened(path: Path, folder: Path, permissions: Permissions) -> DuckDBInstance:
    return DuckDBInstance(*find_database_or_tables(find_sources(str(path)), folder), permissions, folder / "own")


@pytest.fixture
def instance(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBInstance]:
    (tmp_path / "sales.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.csv").write_text("word\nswordfish\n")
    yield _opened(tmp_path / "sales.csv", tmp_path_factory.mktemp("snapshot"), Permissions())
    assert (tmp_path / "sales.csv").read_text() == "a,b\n1,2\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.csv", "sales.csv"]


_WRITES = (
    "COPY (SELECT 1) TO '{file}'",
    "COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
    "COPY (SELECT 1 AS a) TO '{file}' (FORMAT parquet, USE_TMP_FILE false)",
    "COPY (SELECT 1 AS a) TO '{file}' (FORMAT json, OVERWRITE true)",
    "COPY (SELECT 1 AS a) TO '{file}' (APPEND)",
    "COPY (SELECT 1 AS a, 2 AS b) TO '{file}' (PARTITION_BY (a), OVERWRITE_OR_IGNORE)",
    "EXPORT DATABASE '{file}'",
)


@pytest.mark.parametrize("attack", _WRITES)
def test_no_setting_lets_a_named_file_be_written(instance: DuckDBInstance, tmp_path: Path, attack: str) -> None:
    """By its path or by the address under which it is read; the fixture looks at the file afterwards."""
    connection = instance.connect()
    ((scan,),) = connection.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'sales'").fetchall()
    address = scan.split("read_csv('")[1].split("'")[0]
    assert str(tmp_path) not in scan
    for file in (address, str(tmp_path / "sales.csv")):
        with pytest.raises(duckdb.Error):
            connection.execute(attack.replace("{file}", file)).fetchall()
    assert connection.execute("SELECT * FROM sales").fetchall() == [(1, 2)]


@pytest.mark.parametrize("attack", _REFUSED_BY_SETTINGS)
def test_settings_hold(instance: DuckDBInstance, tmp_path: Path, attack: str) -> None:
    connection = instance.connect()
    connection.execute("BEGIN TRANSACTION READ ONLY")
    with pytest.raises(duckdb.Error):
        connection.execute(attack.replace("{folder}", str(tmp_path))).fetchall()
    connection.rollback()
    assert connection.execute("SELECT * FROM sales").fetchall() == [(1, 2)]


@pytest.mark.parametrize("attack", _REFUSED_BY_ITS_PARSER)
def test_its_parser_holds(instance: DuckDBInstance, tmp_path: Path, attack: str) -> None:
    statement = attack.replace("{folder}", str(tmp_path))
    for asked in (statement, EXPLAIN + statement):
        with pytest.raises(QueryError) as refused:
            instance.execute(asked, Limits(), None)
        assert refused.value.kind in ("rejected", "syntax")


def test_hidden_tables_are_not_in_it(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (tmp_path / "sales.csv").write_text("a,b\n1,2\n")
    (tmp_path / "other.csv").write_text("word\nswordfish\n")
    instance = _opened(tmp_path, tmp_path_factory.mktemp("snapshot"), Permissions.of(deny=["other", "sales.b"]))
    told = instance.connect().execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall()
    assert [name for name, _ in told] == ["sales"]
    with pytest.raises(duckdb.Error):
        instance.connect().execute("SELECT b FROM sales")
    with pytest.raises(duckdb.PermissionException):
        instance.connect().execute(f"SELECT * FROM read_text('{tmp_path}/other.csv')")


def test_a_spilling_query_stays_in_its_folder(instance: DuckDBInstance, tmp_path: Path) -> None:
    connection = instance.connect()
    with pytest.raises(duckdb.OutOfMemoryException):
        connection.execute("SELECT list(n) FROM range(10000000000) AS a(n)").fetchall()
    assert not (tmp_path / ".tmp").exists()


def test_views_of_hidden_things_are_hidden(tmp_path: Path) -> None:
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as native:
        for statement in (
            "CREATE TABLE vault (owner VARCHAR, pin VARCHAR, twice VARCHAR AS (pin || pin))",
            "INSERT INTO vault VALUES ('Ann', 'swordfish')",
            "CREATE MACRO peek() AS (SELECT max(pin) FROM vault)",
            "CREATE TABLE plain (x INTEGER)",
            "CREATE VIEW direct AS SELECT pin FROM vault",
            "CREATE VIEW indirect AS SELECT * FROM direct",
            "CREATE VIEW by_macro AS SELECT peek() AS p",
            "CREATE VIEW by_name AS SELECT * FROM query_table('vault')",
            "CREATE VIEW harmless AS SELECT x FROM plain",
            "CREATE VIEW names AS SELECT owner FROM vault",
            "CREATE VIEW counted (many) AS SELECT count(*) FROM vault AS v WHERE v.owner > 'A'",
            "CREATE VIEW over_names AS SELECT upper(owner) AS loud FROM names",
            "CREATE VIEW filtered AS SELECT owner FROM vault WHERE pin LIKE 's%'",
            "CREATE VIEW over_filtered AS SELECT owner FROM filtered",
            "CREATE VIEW everything AS SELECT * FROM vault",
            "CREATE VIEW over_everything AS SELECT owner FROM everything",
            "CREATE VIEW natural_names AS SELECT count(*) AS n FROM vault NATURAL JOIN (SELECT 'swordfish' AS pin)",
            "CREATE VIEW merged AS SELECT count(*) AS n FROM vault JOIN (SELECT 'swordfish' AS pin) USING (pin)",
            "CREATE VIEW renamed AS SELECT b FROM vault AS v (a, b)",
            "CREATE VIEW rows AS SELECT v::VARCHAR AS r FROM vault AS v",
        ):
            native.execute(statement)
    with Database.open(path, deny=["vault.pin"]) as database:
        schema = database.schema()
        assert {table.name for table in schema.tables} == {
            *("vault", "plain", "harmless", "names", "counted", "over_names")
        }
        assert database.execute("SELECT loud, many FROM over_names, counted").rows == (("ANN", 1),)
        assert database.execute("SELECT * FROM vault").rows == (("Ann",),)
        assert "swordfish" not in repr(schema)


_BOMBS = (
    "SELECT repeat('x', 2000000000)",
    "SELECT length(string_agg(repeat(word, 20000), '')) FROM range(100000), sales",
    "SELECT max(length(replace(repeat(word, 20000), 'x', repeat(word, 20000) || i))) FROM range(100000) AS r(i), sales",
)


@pytest.mark.parametrize("bomb", _BOMBS)
def test_a_text_built_in_one_step_ends_its_query_alone(tmp_path: Path, bomb: str) -> None:
    (tmp_path / "sales.csv").write_text("word\nx\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Database.open(tmp_path / "sales.csv") as database:
        with pytest.raises(ResultTooLarge):
            database.execute(bomb, Limits(seconds=60))
        assert database.execute("SELECT count(*) FROM sales").rows == ((1,),)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "it is no part of this process"


def test_temporary_files_are_limited(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("word\nx\n")
    sql = "SELECT count(*) FROM (SELECT random() AS r, i FROM range(100000000) AS s(i) ORDER BY r OFFSET 90000000)"
    with Database.open(tmp_path / "sales.csv") as database:
        with pytest.raises(ResultTooLarge, match="disk"):
            database.execute(sql, Limits(seconds=120, disk_bytes=1_000_000))
        assert database.execute("SELECT count(*) FROM sales").rows == ((1,),)
