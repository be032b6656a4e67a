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
from tableturn.evals.lab.bench.gold import ALL_SPLITS, DatasetDatabases, golds
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
            for gold in islice(golds(options.folder, splits, distinct=distinct), options.limit):
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


def _drafts(options: BenchOptions) -> Iterator[tuple[str, Query]]:
    """Yield published drafts and a strong model's, each with whether it is right or wrong."""
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


def measure_check(options: BenchOptions) -> Figures:
    """Return how many golds, right drafts and wrong ones have a finding of each kind, and what it says of golds.

    Of the drafts that do not run, `foreseen` are those with an error, and `right_reason` those with the engine's.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    accused, missed = list[str](), list[str]()
    failing = foreseen = 0
    training = _golds(("spider", "train"), ("spider", "train_others"), ("cosql", "train"))
    for group, case in chain((("golds", case) for case in training(options)), _drafts(options)):
        name, _, sql, databases = case
        database = databases.open(name)
        findings = check(sql, database.schema(), values=_values(database), compiles=database.compile_check)
        counts["queries"][group] += 1
        for kind in {finding.kind for finding in findings}:
            counts[kind][group] += 1
        if group == "golds":
            accused += [f"{name}: {finding.message} {sql}" for finding in findings]
        elif isinstance(failed := databases.run(name, sql), QueryError):
            kinds = [finding.kind for finding in findings if finding.severity == "error"]
            failing, foreseen = failing + 1, foreseen + bool(kinds)
            if failed.kind not in kinds[:1]:
                missed.append(f"{name}: {sql}: {failed.kind} ({failed})")
    right_reason = failing - len(missed)
    return {
        **counts,
        "accused_golds": accused,
        "failing": failing,
        "foreseen": foreseen,
        "right_reason": right_reason,
        "failing_predictions_foreseen": divide(right_reason, failing) if failing else 1.0,
        "missed": missed[:20],
    }


@cache
def _values(database: Database) -> ValueIndex:
    return ValueIndex.open(database)


class Outcome(TypedDict):
    """The official tool's outcome for one question."""

    exec: int
    exact: int
    hardness: str


def measure_parity(options: BenchOptions) -> Figures:
    """Return each system's differences from the official tool's outcomes; questions that differ are named."""
    whole = load_dataset("spider", "dev", options.folder)
    dataset = whole.first(options.limit)
    figures: Figures = {}
    for path in sorted((options.folder / "predictions" / "spider_dev").glob("*.sql")):
        predictions = read_predictions(path, whole)
        outcomes = options.folder / "official_scores" / f"spider_dev.{path.stem}.json"
        with OfficialJudge(dataset) as judge:
            verdicts = [judge.judge(question, predictions[question.id]) for question in dataset.questions]
        expected = cast("list[Outcome]", json.loads(outcomes.read_text(encoding="utf-8")))
        figures[path.stem] = compare(verdicts, expected)
    return figures


def compare(verdicts: list[Verdict], expected: list[Outcome]) -> dict[str, object]:
    """Count differences between our verdicts and the official outcomes of the same questions."""
    pairs = list(zip(verdicts, expected, strict=False))
    differing = {
        "ex": [verdict.question.id for verdict, outcome in pairs if verdict.ex != bool(outcome["exec"])],
        "em": [verdict.question.id for verdict, outcome in pairs if verdict.em != bool(outcome["exact"])],
        "hardness": [verdict.question.id for verdict, outcome in pairs if verdict.hardness != outcome["hardness"]],
    }
    counts: dict[str, object] = {f"{name}_differences": len(ids) for name, ids in differing.items()}
    return {**counts, "n": len(pairs), "differing": differing}
