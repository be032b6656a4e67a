"""What README tells people to install: each line in a fresh environment, and a question of each database there."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest

from tests.support.environments import make_environment, run
from tests.support.release import ROOT
from tests.tools.database.servers import MARIADB, POSTGRES

LINES = sorted(
    set(re.findall(r"pip install '?(\.(?:\[[\w,-]+\])?)(?=['`\s])", (ROOT / "README.md").read_text("utf-8")))
)
STATEMENTS = ("CREATE TABLE sales (id INTEGER, amount INTEGER)", "INSERT INTO sales VALUES (1, 20), (2, 22)")
DRIVERS = {"csv": "duckdb", "duckdb": "duckdb", "postgres": "psycopg", "mysql": "pymysql"}
"""The module that each database needs; SQLite needs none. The extra has the database's name, for a CSV DuckDB's."""


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A table of sales in each kind of database."""
    folder = tmp_path_factory.mktemp("sales")
    (folder / "sales.csv").write_text("id,amount\n1,20\n2,22\n")
    with closing(sqlite3.connect(folder / "sales.sqlite")) as connection, connection:
        connection.executescript(";".join(STATEMENTS))
    with duckdb.connect(folder / "sales.duckdb") as connection:
        connection.execute(";".join(STATEMENTS))
    urls = {kind: str(folder / f"sales.{kind}") for kind in ("sqlite", "csv", "duckdb")}
    for kind, server in (("postgres", POSTGRES), ("mysql", MARIADB)):
        if not server.unavailable():
            urls[kind] = server.make_database(f"tt_{uuid4().hex[:12]}")
            for statement in STATEMENTS:
                server.run(urls[kind], statement)
    return urls


def test_readme_names_the_usual_installations() -> None:
    assert {".", ".[all]", ".[serve]"} <= set(LINES)


@pytest.mark.extra
@pytest.mark.parametrize("line", LINES)
def test_what_readme_installs_answers(line: str, databases: dict[str, str], tmp_path: Path) -> None:
    tracked = run("git", "ls-files", cwd=ROOT).splitlines()
    for name in tracked:  # pip builds within the folder that it installs
        (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / "clone" / name)
    programs = make_environment(tmp_path / "venv", line, cwd=tmp_path / "clone")
    given = f"import importlib.util as u, json; print(json.dumps([m for m in {[*DRIVERS.values()]} if u.find_spec(m)]))"
    drivers = json.loads(run(f"{programs}/python", "-c", given, cwd=tmp_path))
    if line == ".[all]":
        assert set(drivers) == set(DRIVERS.values())
    alone = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for kind, url in databases.items():
        question = ["--model", "offline", "--json", "What is the total amount of sales?"]
        command = [f"{programs}/tableturn", "ask", "--db", url, *question]
        ran = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
        if kind == "sqlite" or DRIVERS[kind] in drivers:
            assert ran.returncode == 0, f"{kind}: {ran.stdout}{ran.stderr}"
            assert json.loads(ran.stdout)["rows"] == [[42]], f"{kind}: {ran.stdout}"
        else:
            extra = "duckdb" if kind == "csv" else kind
            assert ran.returncode == 2, f"{kind}: {ran.stdout}{ran.stderr}"
            assert f"tableturn[{extra}]" in ran.stderr, f"{kind}: {ran.stderr}"
            assert len(ran.stderr.splitlines()) == 1, f"{kind}: {ran.stderr}"
