"""Whether benchmark data is whole: databases there and filled, gold queries running, the published counts met."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ...tools.database import Database
from ...tools.database.quoting import quoted
from ...tools.errors import DatabaseUnavailable, QueryError
from ..metrics import StrictJudge
from ..metrics.expected import GOLD_LIMITS
from ..official import OfficialDatabases
from ..official.execution import holds_rows, is_sqlite, open_read_only, sqlite_tables
from .load import LAYOUTS, find_split, load_dataset
from .question import Dataset, Question

PUBLISHED: Mapping[tuple[str, str], tuple[int, int]] = {
    ("spider", "dev"): (1034, 1034),
    ("spider", "train"): (7000, 7000),
    ("spider", "train_others"): (1659, 1659),
    ("spider", "test"): (2147, 2147),
    ("spider-syn", "dev"): (1034, 1034),
    ("spider-dk", "dev"): (535, 535),
    ("spider-realistic", "dev"): (508, 508),
    ("sparc", "dev"): (422, 1203),
    ("cosql", "dev"): (293, 1007),
    ("cosql", "train"): (2159, 7343),
    ("bird", "dev"): (1534, 1534),
    ("bird", "mini_dev"): (500, 500),
}
"""Interactions and questions of each split, as published."""


@dataclass(frozen=True)
class Finding:
    """Something wrong with a split.

    Attributes:
        kind: `missing_database`, `empty_database`, `gold_fails`, `gold_unfit` (it runs, but strict judging refuses it:
            it writes, gives too many rows, or another result each time) or `count`.
        where: The database, or the question's id.
        message: What is wrong.
        questions: How many questions it touches.
    """

    kind: str
    where: str
    message: str
    questions: int = 1


@dataclass(frozen=True)
class SplitReport:
    """What was found in one split."""

    dataset: str
    split: str
    interactions: int
    questions: int
    databases: int
    findings: tuple[Finding, ...]


def check_data(root: Path, progress: Callable[[str], None] = lambda _: None) -> list[SplitReport]:
    """Checks every split of every known dataset below a folder.

    Args:
        root: As for `load_dataset`.
        progress: Told each split's name before it is checked.

    Raises:
        SettingsError: A file is not in its published format.
    """
    reports: list[SplitReport] = []
    for name, layout in LAYOUTS.items():
        for split in layout.splits:
            if layout.published and find_split(layout, split, root) is not None:
                progress(f"{name} {split}")
                reports.append(check_dataset(load_dataset(name, split, root)))
    return reports


def check_dataset(dataset: Dataset) -> SplitReport:
    """Checks one split."""
    counts = len(dataset.interactions), len(dataset.questions)
    findings: list[Finding] = []
    expected = PUBLISHED.get((dataset.name, dataset.split))
    if expected is not None and counts != expected:
        message = f"{counts[0]} interactions with {counts[1]} questions, published: {expected[0]} with {expected[1]}"
        findings.append(Finding("count", dataset.split, message, abs(counts[1] - expected[1])))
    names = {question.database for question in dataset.questions}
    unusable = _database_findings(dataset)
    # An empty database still runs every query; a missing one runs none, which would only repeat the finding.
    missing = {finding.where for finding in unusable if finding.kind == "missing_database"}
    findings += unusable + _failing_golds(dataset, missing)
    return SplitReport(dataset.name, dataset.split, *counts, len(names), tuple(findings))


def empty_databases(dataset: Dataset) -> list[Finding]:
    """Databases with tables that hold no rows: there, wrong queries easily give the right result."""
    return [finding for finding in _database_findings(dataset) if finding.kind == "empty_database"]


def _database_findings(dataset: Dataset) -> list[Finding]:
    findings: list[Finding] = []
    for name, touched in sorted(Counter(question.database for question in dataset.questions).items()):
        try:
            if empty := _empty_tables(dataset.place(name)):
                told = f"tables without rows: {', '.join(empty)}"
                findings.append(Finding("empty_database", name, told, touched))
        except (DatabaseUnavailable, QueryError, OSError, sqlite3.Error) as error:
            findings.append(Finding("missing_database", name, f"{name} is no usable database: {error}", touched))
    return findings


def _empty_tables(place: str | Path) -> list[str]:
    if isinstance(place, Path) and is_sqlite(place):
        # Without reading the schema, which takes its time for as many databases as benchmarks have.
        with closing(open_read_only(place)) as connection:
            return [name for name in sqlite_tables(connection) if not holds_rows(connection, name)]
    with Database.open(place) as database:
        tables = [table.name for table in database.schema().tables if table.kind == "table"]
        first_row = "SELECT 1 FROM {} LIMIT 1"
        return [name for name in tables if not database.execute(first_row.format(quoted(name, database.dialect))).rows]


def _failing_golds(dataset: Dataset, missing: set[str]) -> list[Finding]:
    findings: list[Finding] = []
    with OfficialDatabases(dataset.database) as databases, StrictJudge(dataset) as judge:
        for question in dataset.questions:
            if question.database in missing:
                continue
            failing = [why for gold in question.golds if (why := _failure(dataset, question, gold, databases))]
            findings += [Finding("gold_fails", question.id, why) for why in failing]
            if not failing and (why := judge.unfit(question)):
                findings.append(Finding("gold_unfit", question.id, why))
    return findings


def _failure(dataset: Dataset, question: Question, gold: str, databases: OfficialDatabases) -> str:
    place = dataset.place(question.database)
    try:
        if isinstance(place, Path) and is_sqlite(place):
            databases.gold_rows(place, gold)
        else:
            with Database.open(place) as database:
                database.execute(gold, GOLD_LIMITS)
    except QueryError as error:
        return str(error)
    return ""
