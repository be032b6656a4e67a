"""DuckDB: a file of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any


class DuckDB:
    """See `Candidate`."""

    name = "DuckDB"
    dialect = "duckdb"
    restricts = True
    has_state = True
    counts_rows = True
    estimates = True
    keeps_keys = True
    endless = "SELECT count(*) FROM range(1000000000000) AS a(n) WHERE n % 7 = 3"
    wide_cell = "SELECT string_agg(word || repeat('x', 700), '') FROM numbers"
    attacks: Sequence[str] = tuple((Path(__file__).parent / "duckdb.sql").read_text(encoding="utf-8").splitlines())

    def unavailable(self) -> str:
        return "" if find_spec("duckdb") else "duckdb is not installed"

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        path = Path(mkdtemp(dir=folder)) / "shop.duckdb"
        with closing(_connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
        return f"duckdb:///{path}"

    def change(self, url: str, statement: str) -> None:
        """A file that is open for reading cannot be written to: another one takes its place, as loaders do it."""
        path = _path(url)
        copy = path.with_suffix(".next")
        shutil.copy(path, copy)
        with closing(_connect(copy)) as connection:
            connection.execute(statement)
        os.replace(copy, path)

    def fingerprint(self, url: str) -> str:
        digest = hashlib.sha256()
        for path in sorted(_path(url).parent.rglob("*")):
            digest.update(path.name.encode() + (path.read_bytes() if path.is_file() else b""))
        return digest.hexdigest()


def _connect(path: Path) -> Any:
    import duckdb

    return duckdb.connect(str(path))


def _path(url: str) -> Path:
    return Path(url.removeprefix("duckdb:///"))
