"""The servers that tests use: named by the environment, found on this machine, or started for the tests alone.

`TABLETURN_TEST_POSTGRES` and `TABLETURN_TEST_MARIADB` are URLs of logins that may make databases. Without them, a
server on this machine that lets the usual login in without a password is used, else a private one is started where its
programs are installed; it ends with the tests. Databases that tests make are dropped at the end.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from glob import glob
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

_START_SECONDS = 30


@contextmanager
def locked(url: str, table: str) -> Generator[None]:
    """Hold a lock on a table against everybody else."""
    from sqlalchemy import create_engine

    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:").replace("mariadb:", "mariadb+pymysql:"))
    with engine.connect() as connection:
        postgres = connection.dialect.name == "postgresql"
        statement = f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE" if postgres else f"LOCK TABLES {table} WRITE"
        connection.exec_driver_sql(statement)
        yield
        if not postgres:
            connection.exec_driver_sql("UNLOCK TABLES")
    engine.dispose()


class Server(Protocol):
    """A server with an administrator's login."""

    def unavailable(self) -> str:
        """Why there is none; empty where there is."""
        ...

    def make_database(self, name: str, options: str = "") -> str:
        """Makes a database that is dropped at the end, and gives its URL."""
        ...

    def run(self, url: str, sql: str) -> list[tuple[Any, ...]]:
        """Runs and commits a statement."""
        ...


class _Base:
    variable = ""
    usual = ""
    packages = ""

    def __init__(self) -> None:
        self._made: list[str] = []

    def unavailable(self) -> str:
        return "" if self.root else f"no server: set {self.variable}, or install {self.packages}"

    @cached_property
    def root(self) -> str:
        """The URL of the administrator's login; empty where there is no server."""
        given = os.environ.get(self.variable, "")
        if given:
            return given
        for url in (self.usual, self.start()):
            if url and self.answers(url):
                return url
        return ""

    def answers(self, url: str) -> bool:
        try:
            self.run(url, "SELECT 1")
        except Exception:  # noqa: BLE001 - no driver, no server, or another login: there is none to use
            return False
        return True

    def make_database(self, name: str, options: str = "") -> str:
        self.run(self.root, f"CREATE DATABASE {name} {options}")
        if not self._made:
            atexit.register(self._drop)
        self._made.append(name)
        return urlunsplit(urlsplit(self.root)._replace(path=f"/{name}"))

    def run(self, url: str, sql: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def start(self) -> str:
        raise NotImplementedError

    def drop(self, name: str) -> None:
        self.run(self.root, f"DROP DATABASE IF EXISTS {name}")

    def _drop(self) -> None:
        for name in self._made:
            self.drop(name)


class Postgres(_Base):
    """PostgreSQL."""

    variable = "TABLETURN_TEST_POSTGRES"
    usual = "postgresql://postgres@127.0.0.1:5432/postgres"
    packages = "Debian's package postgresql"

    def run(self, url: str, sql: str) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def drop(self, name: str) -> None:
        self.run(self.root, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def start(self) -> str:
        found = sorted(glob("/usr/lib/postgresql/*/bin")) or [os.path.dirname(shutil.which("initdb") or "")]
        if not found[-1]:
            return ""
        folder, port = _folder(), _free_port()
        programs = Path(found[-1])
        _as_other(
            "postgres", folder, [str(programs / "initdb"), "-D", f"{folder}/data", "-U", "postgres", "-A", "trust"]
        )
        _as_other(
            "postgres",
            folder,
            [str(programs / "postgres"), "-D", f"{folder}/data", "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"],
            stays=True,
        )
        return self._awaited(f"postgresql://postgres@127.0.0.1:{port}/postgres")

    def _awaited(self, url: str) -> str:
        return _awaited(self, url)


class MariaDB(_Base):
    """MariaDB."""

    variable = "TABLETURN_TEST_MARIADB"
    usual = "mariadb://root@127.0.0.1:3306/test"
    packages = "Debian's package mariadb-server"

    def run(self, url: str, sql: str) -> list[tuple[Any, ...]]:
        import pymysql

        parts = urlsplit(url)
        with (
            closing(
                pymysql.connect(
                    host=parts.hostname or "127.0.0.1",
                    port=parts.port or 3306,
                    user=parts.username,
                    password=parts.password or "",
                    database=parts.path.strip("/") or None,
                    autocommit=True,
                    charset="utf8mb4",
                )
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(sql)
            return list(cursor.fetchall())

    def start(self) -> str:
        install, server = shutil.which("mariadb-install-db"), shutil.which("mariadbd", path=f"/usr/sbin:{os.defpath}")
        if install is None or server is None:
            return ""
        folder, port = _folder(), _free_port()
        data = f"--datadir={folder}/data"
        _as_other("mysql", folder, [install, "--no-defaults", data, "--auth-root-authentication-method=normal"])
        _as_other(
            "mysql",
            folder,
            [server, "--no-defaults", data, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder}/socket"],
            stays=True,
        )
        return _awaited(self, f"mariadb://root@127.0.0.1:{port}/mysql")


def _awaited(server: _Base, url: str) -> str:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        if server.answers(url):
            return url
        time.sleep(0.2)
    return ""


def _folder() -> Path:
    folder = Path(mkdtemp(prefix="tableturn-server-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _as_other(user: str, folder: Path, command: Sequence[str], *, stays: bool = False) -> None:
    """Runs a server's program, which refuses to run as root, as the user that its package has made."""
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
        as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    if not stays:
        subprocess.run(command, check=False, **quiet, **as_user)
        return
    process = subprocess.Popen(command, **quiet, **as_user)

    def end() -> None:
        # To PostgreSQL this means not to wait for those who are connected; MariaDB doesn't listen to it.
        process.send_signal(signal.SIGINT if user == "postgres" else signal.SIGTERM)
        process.wait()

    atexit.register(end)


POSTGRES = Postgres()
MARIADB = MariaDB()
