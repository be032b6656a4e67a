"""SQLite: a file."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

_COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


class SQLite:
    """See `Candidate`."""

    name = "SQLite"
    dialect = "sqlite"
    restricts = True
    has_state = True
    counts_rows = True
    estimates = True
    keeps_keys = True
    endless = _COUNT + "SELECT count(*) FROM c"
    wide_cell = "SELECT hex(zeroblob(1000000))"
    attacks: Sequence[str] = (
        "ATTACH DATABASE '{folder}/x.db' AS x",
        "ATTACH ':memory:' AS x",
        "DETACH DATABASE main",
        "VACUUM",
        "VACUUM INTO '{folder}/x.db'",
        "VACUUM main INTO '{folder}/y.db'",
        "REINDEX",
        "REINDEX customer",
        "ANALYZE",
        "ANALYZE customer",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "PRAGMA journal_mode = WAL",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 5",
        "PRAGMA application_id = 5",
        "PRAGMA table_info(customer)",
        "PRAGMA database_list",
        "PRAGMA data_version",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA temp_store_directory = '{folder}'",
        "PRAGMA incremental_vacuum",
        "PRAGMA optimize",
        "PRAGMA hard_heap_limit = 1",
        "PRAGMA integrity_check",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_table_info('customer')",
        "SELECT * FROM pragma_user_version",
        "SELECT * FROM dbstat",
        "SELECT * FROM sqlite_dbpage",
        "SELECT * FROM sqlite_stmt",
        "SELECT * FROM sqlite_temp_master",
        "SELECT load_extension('{folder}/x.so')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('{folder}/x', 'a')",
        "SELECT edit('a')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'00')",
        "SELECT sqlite_compileoption_get(0)",
        "SELECT sqlite_source_id()",
        "SELECT sqlite_log(1, 'a')",
        "SELECT last_insert_rowid()",
        "SELECT total_changes()",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "CREATE VIRTUAL TABLE temp.v USING rtree(id, a, b)",
        "CREATE VIRTUAL TABLE v USING csv(filename='/etc/passwd')",
        "CREATE TEMP TABLE t (x)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON customer BEGIN DELETE FROM orders; END",
        "INSERT INTO sqlite_master VALUES ('table', 't', 't', 2, 'CREATE TABLE t (x)')",
        "UPDATE sqlite_master SET sql = ''",
        "DELETE FROM sqlite_master",
        "REPLACE INTO customer VALUES (1, 'x', 'y')",
        "INSERT OR REPLACE INTO customer VALUES (1, 'x', 'y')",
        "INSERT INTO customer VALUES (1, 'x', 'y') ON CONFLICT DO NOTHING",
        "INSERT INTO customer DEFAULT VALUES",
        "INSERT INTO customer VALUES (9, 'x', 'y') RETURNING *",
        "DELETE FROM customer RETURNING *",
        "UPDATE customer SET name = 'x' RETURNING id",
        "EXPLAIN DELETE FROM customer",
        "EXPLAIN QUERY PLAN DROP TABLE customer",
        "BEGIN IMMEDIATE",
        "BEGIN EXCLUSIVE",
        "END",
        ".tables",
        ".shell touch {folder}/x",
    )

    def unavailable(self) -> str:
        return ""

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        path = Path(mkdtemp(dir=folder)) / "shop.db"
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        return f"sqlite:///{path}"

    def change(self, url: str, statement: str) -> None:
        with closing(sqlite3.connect(_path(url))) as connection:
            connection.execute(statement)
            connection.commit()

    def fingerprint(self, url: str) -> str:
        digest = hashlib.sha256()
        for path in sorted(_path(url).parent.rglob("*")):
            digest.update(path.name.encode() + (path.read_bytes() if path.is_file() else b""))
        return digest.hexdigest()


def _path(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))
