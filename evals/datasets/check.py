"""Whether benchmark data is whole: databases there and filled, gold queries running, the published counts met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...tools.database import Database
from ...tools.database.quoting import quoted
from ...tools.errors import DatabaseUnavailable, QueryError
from ..metrics import StrictJudge
from ..metrics.judging import UNFIT
from .load import LAYOUTS, load_dataset
from .question import Dataset

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
    """Something wrong with a split."""

    # `missing_database`, `empty_database`, `gold_fails`, `gold_unfit` (it writes, gives too many rows, or another
    # result each time) or `count`.
    kind: str
    where: str  # the database, or the question's id
    message: str
    questions: int = 1  # how many questions it touches


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
    """Check every split of every known dataset below a folder, telling each split's name before it is checked.

    Raises:
        SettingsError: A file is not in its published format.
    """
    splits = ((name, split, layout) for name, layout in LAYOUTS.items() for split in layout.splits)
    reports: list[SplitReport] = []
    for name, split, layout in splits:
        if layout.file(split, root) is not None:
            progress(f"{name} {split}")
            reports.append(check_dataset(load_dataset(name, split, root)))
    return reports


def check_dataset(dataset: Dataset) -> SplitReport:
    """Check one split."""
    counts = len(dataset.interactions), len(dataset.questions)
    findings: list[Finding] = []
    published = PUBLISHED.get((dataset.name, dataset.split), counts)
    if counts != published:
        message = f"{counts[0]} interactions with {counts[1]} questions, published: {published[0]} with {published[1]}"
        findings.append(Finding("count", dataset.split, message, abs(counts[1] - published[1])))
    findings += _check_databases(dataset)
    # An empty database still runs every query; a missing one runs none, which would only repeat the finding.
    missing = {finding.where for finding in findings if finding.kind == "missing_database"}
    with StrictJudge(dataset) as judge:
        for question in dataset.questions:
            if question.database not in missing and (why := judge.unfit(question)):
                kind = "gold_unfit" if why.startswith(UNFIT) else "gold_fails"
                findings.append(Finding(kind, question.id, why))
    databases = len({question.database for question in dataset.questions})
    return SplitReport(dataset.name, dataset.split, *counts, databases, tuple(findings))


def empty_databases(dataset: Dataset) -> list[Finding]:
    """Return the databases with tables that hold no rows: there, wrong queries easily give the right result."""
    return [finding for finding in _check_databases(dataset) if finding.kind == "empty_database"]


def _check_databases(dataset: Dataset) -> Iterator[Finding]:
    for name, touched in sorted(Counter(question.database for question in dataset.questions).items()):
        try:
            with Database.open(dataset.place(name)) as database:
                tables = [table.name for table in database.schema().tables if table.kind == "table"]
                rows = {one: f"SELECT 1 FROM {quoted(one, database.dialect)} LIMIT 1" for one in tables}
                empty = [one for one, sql in rows.items() if not database.execute(sql).rows]
        except (DatabaseUnavailable, QueryError) as error:
            yield Finding("missing_database", name, f"{name} is not a usable database: {error}", touched)
        else:
            if empty:
                yield Finding("empty_database", name, f"tables without rows: {', '.join(empty)}", touched)
