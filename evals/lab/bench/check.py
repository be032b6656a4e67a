"""Static checks against reality: errors reported on gold SQL, and published predictions that fail foreseen to fail.

Rules were developed on the training golds; the predictions are on dev and are only reported on.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import median

from ....tools.errors import QueryError
from ....tools.sql import Asked, Finding, check
from ...datasets import load_dataset
from ...metrics import read_predictions
from .gold import Databases, golds
from .registry import BenchOptions

_COUNTED = ("predictions", "failing", "foreseen", "right_reason", "with_suggestion", "false_alarms")


def run(options: BenchOptions) -> dict[str, object]:
    """Errors on Spider's training golds; of the published predictions that fail to run, those foreseen with the reason.

    `false_alarms` are predictions that run although the check foresaw a failure.
    """
    data = options.folder
    with Databases(load_dataset("spider", "dev", data)) as databases:
        return _on_golds(databases, data, options.limit) | _on_predictions(databases, data, options.limit)


def _on_golds(databases: Databases, data: Path, limit: int | None) -> dict[str, object]:
    errors: list[str] = []
    warnings: Counter[str] = Counter()
    seconds: list[float] = []
    for gold in islice(golds(data, (("spider", "train"),), distinct=False), limit):
        schema = databases.schema(gold.database)
        if schema is None:
            continue
        started = time.perf_counter()
        findings = check(gold.sql, schema, asked=Asked(gold.question))
        seconds.append(time.perf_counter() - started)
        errors += [f"{gold.database}: {finding.message} {gold.sql}" for finding in _errors(findings)[:1]]
        warnings.update({finding.kind for finding in findings if finding.severity == "warning"})
    return {
        "golds": len(seconds),
        "gold_errors": len(errors),
        "gold_error_share": round(len(errors) / len(seconds), 5),
        "gold_error_list": errors,
        "gold_warnings": dict(warnings),
        "ms": round(median(seconds) * 1000, 3),
    }


def _on_predictions(databases: Databases, data: Path, limit: int | None) -> dict[str, object]:
    counts = Counter(dict.fromkeys(_COUNTED, 0))
    missed: list[str] = []

    @cache
    def outcome(database: str, sql: str) -> tuple[QueryError | None, Finding | None]:
        ran = databases.run(database, sql)
        findings = _errors(check(sql, databases.open(database).schema()))
        foreseen = [finding for finding in findings if finding.kind != "always_empty"]
        return ran if isinstance(ran, QueryError) else None, foreseen[0] if foreseen else None

    for database, sql in islice(_predictions(data), limit):
        if databases.get(database) is None:
            continue
        failed, finding = outcome(database, sql)
        kind = finding.kind if finding is not None else None
        counts["predictions"] += 1
        counts["false_alarms"] += failed is None and kind is not None
        if failed is not None:
            counts["failing"] += 1
            counts["foreseen"] += kind is not None
            counts["right_reason"] += kind == failed.kind
            counts["with_suggestion"] += finding is not None and bool(finding.suggestion)
            if kind != failed.kind:
                missed.append(f"{database}: {failed.kind} ({failed}), foreseen {kind}: {sql}")
    share = counts["right_reason"] / counts["failing"] if counts["failing"] else 1.0
    return {**counts, "failing_predictions_foreseen": round(share, 4), "missed": missed[:20]}


def _errors(findings: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error"]


def _predictions(data: Path) -> Iterator[tuple[str, str]]:
    """Published predictions, with their databases."""
    dataset = load_dataset("spider", "dev", data)
    for path in sorted((data / "predictions" / "spider_dev").glob("*.sql")):
        found = read_predictions(path, dataset)
        yield from ((question.database, found[question.id]) for question in dataset.questions if question.id in found)
    for path in sorted((data / "predictions" / "multi_turn").glob("*.json")):
        for interaction in json.loads(path.read_text(encoding="utf-8")):
            yield from ((turn["db_id"], turn["prediction"]) for turn in interaction["turns"])
