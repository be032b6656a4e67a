"""MariaDB: a database of its own on the test server, read by root, whom only the checks hold back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from ...servers import MARIADB

_ADAPTER = "sqlalchemy+mariadb+pymysql://"
_NUMBERS = "(SELECT a.n FROM numbers a, numbers b, numbers c, numbers d)"
_OBJECTS = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, CREATE_TIME FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA IN (DATABASE(), 'd', 's', 'shop') ORDER BY 1, 2",
    "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY 1",
    "SELECT User, Host FROM mysql.user ORDER BY 1, 2",
    "SELECT * FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME IN"
    " ('GENERAL_LOG', 'SQL_MODE', 'LOCAL_INFILE', 'MAX_STATEMENT_TIME', 'READ_ONLY') ORDER BY 1",
)


class MariaDB:
    """See `Candidate`."""

    name = "MariaDB"
    dialect = "mysql"
    restricts = False
    # It is looked at every few minutes only.
    has_state = False
    counts_rows = True
    estimates = True
    keeps_keys = True
    endless = f"SELECT count(*) FROM {_NUMBERS} AS x"
    wide_cell = "SELECT repeat('x', 2000000)"
    attacks: Sequence[str] = tuple((Path(__file__).parent / "mariadb.sql").read_text(encoding="utf-8").splitlines())

    def unavailable(self) -> str:
        return MARIADB.unavailable()

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        del folder
        url = MARIADB.make_database(f"tt_{uuid4().hex[:12]}")
        for statement in statements:
            MARIADB.run(url, statement)
        return url

    def change(self, url: str, statement: str) -> None:
        MARIADB.run(url, statement)

    def fingerprint(self, url: str) -> str:
        tables = [str(row[0]) for row in MARIADB.run(url, "SHOW TABLES")]
        told = [
            MARIADB.run(
                url,
                f"SELECT * FROM `{table}` ORDER BY 1, 2"
                if table not in ("owners", "spare")
                else f"SELECT * FROM `{table}`",
            )
            for table in tables
        ]
        told += [MARIADB.run(url, sql) for sql in _OBJECTS]
        return hashlib.sha256(repr((tables, told)).encode()).hexdigest()


class SQLAlchemyMariaDB(MariaDB):
    """The SQLAlchemy adapter over the same server."""

    name = "SQLAlchemy"

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        return super().create(folder, statements).replace("mariadb://", _ADAPTER)

    def change(self, url: str, statement: str) -> None:
        super().change(url.replace(_ADAPTER, "mariadb://"), statement)

    def fingerprint(self, url: str) -> str:
        return super().fingerprint(url.replace(_ADAPTER, "mariadb://"))
