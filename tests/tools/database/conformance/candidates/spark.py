"""Spark: a schema of its own on a private cluster with two workers, which starts once and ends with the tests."""

from __future__ import annotations

import atexit
import hashlib
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from tests.support.spark_cluster import SparkCluster, missing

# Spark has no such type, and its own catalogue keeps no keys.
_TYPES = re.compile(r"\bDOUBLE PRECISION\b")
_KEYS = re.compile(r",?\s*(?:PRIMARY KEY \([^)]*\)|FOREIGN KEY \([^)]*\) REFERENCES \w+ \([^)]*\))| PRIMARY KEY")


class Spark:
    """See `Candidate`."""

    name = "Spark"
    dialect = "spark"
    restricts = False
    has_state = False
    counts_rows = True
    estimates = False
    keeps_keys = False
    endless = "SELECT count(*) FROM range(1000000000000) WHERE id % 7 = 3"
    wide_cell = "SELECT repeat('x', 2000000)"
    attacks: Sequence[str] = tuple((Path(__file__).parent / "spark.sql").read_text(encoding="utf-8").splitlines())

    def unavailable(self) -> str:
        wanted = missing()
        return f"no cluster: install {wanted}" if wanted else ""

    @cached_property
    def cluster(self) -> SparkCluster:
        folder = TemporaryDirectory(prefix="tableturn-spark-")
        atexit.register(folder.cleanup)
        cluster = SparkCluster(Path(folder.name))
        atexit.register(cluster.stop)
        return cluster

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        del folder
        schema = f"tt_{uuid4().hex[:12]}"
        self.cluster.run(f"CREATE DATABASE {schema}")
        url = f"{self.cluster.url}?schema={schema}"
        for statement in statements:
            self.change(url, statement)
        return url

    def change(self, url: str, statement: str) -> None:
        self.cluster.run(f"USE {url.rpartition('=')[2]}", _KEYS.sub("", _TYPES.sub("DOUBLE", statement)))

    def fingerprint(self, url: str) -> str:
        schema = url.rpartition("=")[2]
        told: list[Any] = [
            self.cluster.run(f"SHOW {what}") for what in ("NAMESPACES", "USER FUNCTIONS", f"TABLES IN {schema}")
        ]
        told += [sorted(map(repr, self.cluster.run(f"SELECT * FROM {schema}.{row[1]}"))) for row in told[-1]]
        told += [self.cluster.run("SHOW TABLES IN default")]
        told += sorted(
            (str(path), path.stat().st_mtime_ns)
            for path in (self.cluster.folder / "tables").rglob("*")
            if path.is_file()
        )
        return hashlib.sha256(repr(told).encode()).hexdigest()
