"""The day's count: of one database and day, shared by processes, and never passed over."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from tableturn.tools.database.estimate import add_estimated_rows
from tableturn.tools.errors import DatabaseUnavailable, QueryTooCostly

MONDAY, TUESDAY = date(2024, 1, 1), date(2024, 1, 2)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_it_is_of_a_database_and_a_day() -> None:
    add_estimated_rows("a", 60, 100, MONDAY)
    with pytest.raises(QueryTooCostly, match="60 are counted"):
        add_estimated_rows("a", 41, 100, MONDAY)
    add_estimated_rows("a", 40, 100, MONDAY)
    add_estimated_rows("b", 100, 100, MONDAY)
    add_estimated_rows("a", 100, 100, TUESDAY)


def test_threads_side_by_side_do_not_pass_it() -> None:
    def take(_: int) -> bool:
        try:
            add_estimated_rows("a", 1, 25, MONDAY)
        except QueryTooCostly:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(40))) == 25


def test_processes_share_it(home: Path) -> None:
    add_estimated_rows("a", 60, 100)
    program = "from tableturn.tools.database.estimate import add_estimated_rows; add_estimated_rows('a', 60, 100)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "QueryTooCostly" in ran.stderr
    assert stat.S_IMODE(os.stat(home / "spent.sqlite").st_mode) == 0o600


def test_without_a_place_for_it_nothing_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write_text("no folder")
    with pytest.raises(DatabaseUnavailable, match="TABLETURN_HOME"):
        add_estimated_rows("a", 1, 100)
    home.unlink()
    home.mkdir()
    (home / "spent.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(DatabaseUnavailable, match="TABLETURN_HOME"):
        add_estimated_rows("a", 1, 100)


def test_more_than_can_be_added_up() -> None:
    with pytest.raises(QueryTooCostly):
        add_estimated_rows("a", 10**30, 100)


def test_days_that_are_over_are_not_kept(home: Path) -> None:
    add_estimated_rows("a", 60, 100, MONDAY)
    add_estimated_rows("a", 60, 100, TUESDAY)
    with closing(sqlite3.connect(home / "spent.sqlite")) as connection:
        assert [day for (day,) in connection.execute("SELECT DISTINCT day FROM spent")] == [str(TUESDAY)]
