"""A private cluster: what it is told, what it tells, and what happens to a session that it drops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.server.engine import ServerEngine
from tableturn.tools.database.spark.engine import SparkConnection
from tableturn.tools.database.table import Limits
from tableturn.tools.errors import DatabaseUnavailable, QueryError, QueryFailed, SettingsError

from tests.support.spark_cluster import SparkCluster, missing

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("no_hurry")]

SECRET = "s3cr3t-horse"
_TABLES = (
    "CREATE DATABASE shop",
    "CREATE TABLE sold (id INT COMMENT 'its number', price DECIMAL(8, 2), tags ARRAY<STRING>,"
    " place STRUCT<city: STRING, zip: INT>, seen TIMESTAMP, late BOOLEAN, picture BINARY, day DATE)"
    " PARTITIONED BY (day) COMMENT 'One row a sale'",
    "INSERT INTO sold VALUES (1, 12.50, array('a', 'b'), named_struct('city', 'Oslo', 'zip', 150),"
    " TIMESTAMP'2024-05-06 07:08:09+00:00', true, X'00ff', DATE'2024-01-02')",
    "CREATE TABLE shop.shelf (id INT)",
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    if missing():
        pytest.skip(f"no cluster: install {missing()}")
    with SparkCluster(tmp_path_factory.mktemp("spark")) as started:
        started.run(*_TABLES)
        yield started


@pytest.fixture(scope="module")
def database(cluster: SparkCluster) -> Iterator[Database]:
    with Database.open(cluster.url) as opened:
        yield opened


def test_the_token_is_never_shown(cluster: SparkCluster, database: Database) -> None:
    token = cluster.url.partition("token=")[2]
    assert token
    assert token not in repr((database.location, database.name, database.warnings, database.schema()))
    with pytest.raises(DatabaseUnavailable) as caught:
        Database.open(cluster.url.replace(token, SECRET))
    assert SECRET not in str(caught.value)


def test_a_login_that_may_write_is_told(database: Database) -> None:
    told = " ".join(database.warnings)
    assert "make tables" in told
    assert "write to tables" in told
    assert "GRANT SELECT" in told


def test_probing_wrote_nothing(cluster: SparkCluster, database: Database) -> None:
    assert database.warnings
    assert [row[1] for row in cluster.run("SHOW TABLES IN default")] == ["sold"]
    assert cluster.run("SELECT count(*) FROM sold") == [(1,)]


def test_schemas_comments_and_partitions(database: Database) -> None:
    tables = {table.name: table for table in database.schema().tables}
    assert set(tables) == {"sold", "shop.shelf"}
    assert tables["sold"].comment == "One row a sale (partitioned by day)"
    columns = {column.name: column for column in tables["sold"].columns}
    assert columns["id"].comment == "its number"
    assert [columns[name].type for name in ("price", "tags", "place")] == [
        "decimal(8,2)",
        "array<string>",
        "struct<city:string,zip:int>",
    ]
    assert columns["seen"].kind == columns["day"].kind == "time"


def test_values(database: Database) -> None:
    ((price, tags, place, seen, late, picture, day),) = database.execute(
        "SELECT price, tags, place, seen, late, picture, day FROM sold"
    ).rows
    assert (price, tags, place) == (12.5, '["a","b"]', '{"city":"Oslo","zip":150}')
    assert str(seen).startswith("2024-05-0")
    assert (late, picture, day) == (1, b"\x00\xff", "2024-01-02")


def test_only_the_schemas_that_are_named(cluster: SparkCluster) -> None:
    with Database.open(f"{cluster.url}?schema=shop") as shop:
        assert [table.name for table in shop.schema().tables] == ["shelf"]
        with pytest.raises(QueryFailed, match="no such table"):
            shop.execute("SELECT * FROM default.sold")
    with Database.open(f"{cluster.url}?schema=spark_catalog.shop") as shop:
        assert shop.execute("SELECT count(*) FROM shelf").rows == ((0,),)
    with pytest.raises(SettingsError, match="one catalogue"):
        Database.open(f"{cluster.url}?schema=a.x,b.y")


def test_plans_are_looked_at_whatever_the_parser_lets_pass(database: Database, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("secret", encoding="utf-8")
    connection = cast("SparkConnection", cast("ServerEngine", database.engine)._take_connection())
    for sql in (
        f"SELECT * FROM text.`{tmp_path}/x.txt`",
        f"SELECT id FROM sold WHERE id IN (SELECT length(value) FROM text.`{tmp_path}/x.txt`)",
        "SELECT TRANSFORM(id) USING 'cat' AS (x STRING) FROM sold",
        "INSERT INTO sold SELECT * FROM sold",
        "DROP TABLE sold",
        "CREATE TABLE other AS SELECT 1 AS x",
        "SET spark.sql.shuffle.partitions = 1",
    ):
        connection.begin(60)
        with pytest.raises((QueryError, *connection.errors)):
            connection.query(sql, Limits()).fetchmany(1)
        connection.end()
    connection.close()
    assert database.execute("SELECT count(*) FROM sold").rows == ((1,),)


def test_a_dropped_session_is_taken_up_again(cluster: SparkCluster, database: Database) -> None:
    engine = cast("ServerEngine", database.engine)
    database.execute("SELECT 1")
    connection = cast("SparkConnection", engine._take_connection())
    connection._client.close()
    engine._return_connection(connection, usable=True)
    assert database.execute("SELECT count(*) FROM sold").rows == ((1,),)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("pyspark.sql.connect", reason="needs the extra spark")
    with pytest.raises(DatabaseUnavailable) as caught:
        Database.open(f"sc://localhost:1/;token={SECRET}")
    assert SECRET not in str(caught.value)
    with pytest.raises(DatabaseUnavailable, match="not a URL of Spark Connect"):
        Database.open(f"sc://localhost/path;token={SECRET}")
