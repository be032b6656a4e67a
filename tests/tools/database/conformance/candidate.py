"""What the suite needs to know of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class Candidate(Protocol):
    """An engine under test.

    Attributes:
        name: As `Engine.name` gives it.
        dialect: As `Engine.dialect` gives it.
        restricts: Whether allow and deny lists are kept; otherwise opening with them raises `SettingsError`.
        has_state: Whether `Engine.state` tells of changes; otherwise it is always empty.
        counts_rows: Whether the schema tells how many rows a table has.
        estimates: Whether it tells what a query will cost before it runs.
        keeps_keys: Whether tables are told with their primary and foreign keys.
        endless: A query that would run for minutes, and gives one row.
        wide_cell: A query that gives one text of two million characters.
        attacks: Statements beyond the shared ones that must be refused; `{folder}` stands for a writable folder.
    """

    name: str
    dialect: str
    restricts: bool
    has_state: bool
    counts_rows: bool
    estimates: bool
    keeps_keys: bool
    endless: str
    wide_cell: str
    attacks: Sequence[str]

    def unavailable(self) -> str:
        """Why it cannot be tested here; empty where it can."""
        ...

    def create(self, folder: Path, statements: Sequence[str]) -> str:
        """Makes a new database natively, with these statements, and gives the URL to open it by."""
        ...

    def change(self, url: str, statement: str) -> None:
        """Runs a statement that writes, as another program would, and commits it."""
        ...

    def fingerprint(self, url: str) -> str:
        """Everything in the database, and beside it, that an attack could have changed."""
        ...
