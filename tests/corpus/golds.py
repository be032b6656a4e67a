"""What must hold on gold queries and published predictions, as `evals.lab bench` looks at them all."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain, islice
from typing import TypedDict, cast

from pandas import DataFrame
from tableturn.evals.datasets import load_dataset, read_predictions
from tableturn.evals.lab.bench.gold import ALL_SPLITS, DatasetDatabases, read_golds
from tableturn.evals.lab.bench.registry import BenchOptions, Figures, Measure, divide
from tableturn.evals.lab.bench.replays import read_dialogue_drafts, read_published_drafts, read_strong_model_drafts
from tableturn.evals.metrics.judging import OfficialJudge, Verdict
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError, SQLParseError
from tableturn.tools.sql import check, regularize
from tableturn.tools.values import ValueIndex

Query = tuple[str, str, str, DatasetDatabases]
"""A database, a question, its gold query, and the databases."""


def _golds(*splits: tuple[str, str], distinct: bool = True) -> Callable[[BenchOptions], Iterator[Query]]:
    """Return what yields the gold queries of splits whose database is there."""

    def cases(options: BenchOptions) -> Iterator[Query]:
        with DatasetDatabases(load_dataset("spider", "dev", options.folder)) as databases:
            for gold in islice(read_golds(options.folder, splits, distinct=distinct), options.limit):
                if databases.get(gold.database) is not None:
                    yield gold.database, gold.text, gold.golds[0], databases

    return cases


def _regularize(case: Query) -> Iterator[Mapping[str, str]]:
    """Yield what became of a query, and the query: its rows stay (in order), and it stays if regularised again."""
    name, _, sql, databases = case
    expected, schema = databases.run(name, sql), databases.open(name).schema()
    outcome = "not_running"
    if not isinstance(expected, QueryError):
        outcome = "changed"
        with suppress(SQLParseError):
            regular = regularize(sql, schema)
            if databases.run(name, regular) == expected:
                outcome = "idempotent" if regularize(regular, schema) == regular else "same_result"
    yield {"outcome": outcome, "sql": sql}


def _tell_regular(table: DataFrame) -> Figures:
    """Return queries that run, how many keep their rows, how many are stable, and at most ten that `changed`."""
    counts = Counter(table["outcome"])
    return {
        "queries": len(table) - counts["not_running"],
        "same_result": counts["same_result"] + counts["idempotent"],
        "idempotent": counts["idempotent"],
        "not_running": counts["not_running"],
        "changed": list(table["sql"][table["outcome"] == "changed"])[:10],
    }


measure_regularize = Measure(_golds(*ALL_SPLITS), _regularize, _tell_regular)


_training_golds = _golds(("spider", "train"), ("spider", "train_others"), ("cosql", "train"))


def _drafts(options: BenchOptions) -> Iterator[tuple[str, Query]]:
    """Yield training golds, published drafts and a strong model's, each with whether it is a gold, right or wrong."""
    yield from (("golds", case) for case in _training_golds(options))
    data, limit = options.folder, options.limit
    replays = [read_strong_model_drafts(data, limit), read_published_drafts(data, limit)]
    for name, system in (("sparc", "gpt-5.2"), ("sparc", "gemini-3-pro"), ("cosql", "gemini-3-pro")):
        replays.append(read_dialogue_drafts(data, name, [f"{system}_zero_shot"], limit))
    for replay in replays:
        with DatasetDatabases(replay.asked) as databases, OfficialJudge(replay.asked) as judge:
            for drafts in replay.drafts.values():
                for question in replay.asked.questions:
                    sql = drafts.get(question.id, "")
                    right = replay.is_right(judge.judge(question, sql), sql)
                    if right is not None and databases.get(question.database) is not None:
                        yield ("right" if right else "wrong"), (question.database, question.text, sql, databases)


def _check(case: tuple[str, Query]) -> Iterator[Mapping[str, object]]:
    """Yield the kinds of a query's findings, what they say of a gold, and whether a draft that fails was foreseen."""
    group, (name, _, sql, databases) = case
    database = databases.open(name)
    findings = check(sql, database.schema(), values=_values(database), compiles=database.compile_check)
    failed = databases.run(name, sql) if group != "golds" else None
    errors = [finding.kind for finding in findings if finding.severity == "error"]
    is_error = isinstance(failed, QueryError)
    yield {
        "group": group,
        "kinds": {"queries", *(finding.kind for finding in findings)},
        "said": [f"{name}: {finding.message} {sql}" for finding in findings],
        "failing": is_error,
        "foreseen": is_error and bool(errors),
        "right_reason": is_error and failed.kind in errors[:1],
        "failed": f"{name}: {sql}: {failed.kind} ({failed})" if is_error else "",
    }


def _tell_findings(table: DataFrame) -> Figures:
    """Return how many golds, right drafts and wrong ones have a finding of each kind, and what it says of golds.

    Of the drafts that do not run, `foreseen` are those with an error, and `right_reason` those with the engine's.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for group, kinds in zip(table["group"], table["kinds"], strict=True):
        for kind in kinds:
            counts[kind][group] += 1
    failing, foreseen, right_reason = (int(table[name].sum()) for name in ("failing", "foreseen", "right_reason"))
    return {
        **counts,
        "accused_golds": list(chain(*table["said"][table["group"] == "golds"])),
        "failing": failing,
        "foreseen": foreseen,
        "right_reason": right_reason,
        "failing_predictions_foreseen": divide(right_reason, failing) if failing else 1.0,
        "missed": list(table["failed"][table["failing"] & ~table["right_reason"]])[:20],
    }


measure_check = Measure(_drafts, _check, _tell_findings)


@cache
def _values(database: Database) -> ValueIndex:
    return ValueIndex.open(database)


class Outcome(TypedDict):
    """The official tool's outcome for one question."""

    exec: int
    exact: int
    hardness: str


Judged = tuple[str, list[Verdict], list[Outcome]]
"""A system, our verdicts on its predictions, and the official outcomes of the same questions."""


def _judge_predictions(options: BenchOptions) -> Iterator[Judged]:
    whole = load_dataset("spider", "dev", options.folder)
    dataset = whole.head(options.limit)
    for path in sorted((options.folder / "predictions" / "spider_dev").glob("*.sql")):
        predictions = read_predictions(path, whole)
        outcomes = options.folder / "official_scores" / f"spider_dev.{path.stem}.json"
        with OfficialJudge(dataset) as judge:
            verdicts = [judge.judge(question, predictions[question.id]) for question in dataset.questions]
        yield path.stem, verdicts, cast("list[Outcome]", json.loads(outcomes.read_text(encoding="utf-8")))


def _compare(case: Judged) -> Iterator[Mapping[str, object]]:
    """Yield in what each of our verdicts differs from the official outcome of the same question."""
    system, verdicts, expected = case
    for verdict, outcome in zip(verdicts, expected, strict=False):
        yield {
            "system": system,
            "question": verdict.question.id,
            "ex": verdict.ex != bool(outcome["exec"]),
            "em": verdict.em != bool(outcome["exact"]),
            "hardness": verdict.hardness != outcome["hardness"],
        }


def _tell_differences(table: DataFrame) -> Figures:
    """Return each system's differences from the official tool's outcomes; questions that differ are named."""
    figures: Figures = {}
    for system, rows in table.groupby("system"):
        differing = {name: list(rows["question"][rows[name]]) for name in ("ex", "em", "hardness")}
        counts: dict[str, object] = {f"{name}_differences": len(ids) for name, ids in differing.items()}
        figures[str(system)] = {**counts, "n": len(rows), "differing": differing}
    return figures


measure_parity = Measure(_judge_predictions, _compare, _tell_differences)
