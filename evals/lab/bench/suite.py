"""Test suites for Spider dev's databases: mutants of the gold queries, and how many of them the suites kill."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path

from ...datasets import load_dataset
from ..suite import SuiteReport, build_suite
from .registry import BenchOptions


def run(options: BenchOptions) -> dict[str, object]:
    """Mutants and those killed, over all schemas; `limit` is a number of schemas."""
    dataset = load_dataset("spider", "dev", options.data)
    golds: dict[str, list[str]] = defaultdict(list)
    for question in dataset.questions:
        golds[question.database].append(question.golds[0])
    with tempfile.TemporaryDirectory() as folder:
        reports = [
            build_suite(dataset.database(name), golds[name], Path(folder)) for name in list(golds)[: options.limit]
        ]
    mutants, killed = sum(report.mutants for report in reports), sum(report.killed for report in reports)
    return {
        "schemas": len(reports),
        "golds": sum(report.golds for report in reports),
        "databases": sum(report.databases for report in reports),
        "mutants": mutants,
        "killed": killed,
        "share": round(killed / mutants, 4),
        "lowest": {r.database: round(r.killed / r.mutants, 3) for r in sorted(reports, key=_share)[:3]},
        "seconds": round(sum(report.seconds for report in reports), 1),
    }


def _share(report: SuiteReport) -> float:
    return report.killed / report.mutants if report.mutants else 1.0
