"""What must hold on gold queries and published predictions, as `evals.lab bench` looks at them all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypedDict, cast

from sqlglot import exp
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench.gold import ALL_SPLITS, Databases, golds
from tableturn.evals.lab.bench.registry import BenchOptions, Figures, divide
from tableturn.evals.metrics import OfficialJudge, Verdict, read_predictions
from tableturn.tools.database import Database, Schema
from tableturn.tools.errors import QueryError, SQLParseError
from tableturn.tools.results import same_result
from tableturn.tools.sql import Asked, Finding, check, parse_select, regularize

Query = tuple[str, str, str, Databases]
"""A database, a question, its gold query, and the databases."""


def _golds(*splits: tuple[str, str], distinct: bool = True) -> Callable[[BenchOptions], Iterator[Query]]:
    """Return what yields the gold queries of splits whose database is there."""

    def cases(options: BenchOptions) -> Iterator[Query]:
        with Databases(load_dataset("spider", "dev", options.folder)) as databases:
            for gold in islice(golds(options.folder, splits, distinct=distinct), options.limit):
                if databases.get(gold.database) is not None:
                    yield gold.database, gold.question, gold.sql, databases

    return cases


def _regularize(case: Query) -> tuple[str, str]:
    """Return what became of a query, and the query: its rows stay (in order), and it stays if regularised again."""
    name, _, sql, databases = case
    expected, schema = databases.run(name, sql), databases.open(name).schema()
    if isinstance(expected, QueryError):
        return "not_running", sql
    try:
        regular = regularize(sql, schema)
    except SQLParseError:
        return "changed", sql
    if databases.run(name, regular) != expected:
        return "changed", sql
    return ("idempotent" if regularize(regular, schema) == regular else "same_result"), sql


def measure_regularize(options: BenchOptions) -> Figures:
    """Return queries that run, how many keep their rows, how many are stable, and at most ten that `changed`."""
    outcomes = [_regularize(case) for case in _golds(*ALL_SPLITS)(options)]
    counts = Counter(outcome for outcome, _ in outcomes)
    return {
        "queries": len(outcomes) - counts["not_running"],
        "same_result": counts["same_result"] + counts["idempotent"],
        "idempotent": counts["idempotent"],
        "not_running": counts["not_running"],
        "changed": [sql for outcome, sql in outcomes if outcome == "changed"][:10],
    }


def _plant(case: Query) -> tuple[bool, list[tuple[str, bool]]]:
    """Return whether a gold query raises an alarm, and each planted join with whether it is found.

    Planted is a join from a table that refers to an aggregated one, if it changes the result. COUNT(*) names no table
    whose rows it means to count, so that nothing is planted there.
    """
    name, _, sql, databases = case
    database = databases.open(name)
    planted = [(f"{name}: {query}", _is_proved(query, database)) for query in _planted(sql, database)]
    return _is_proved(sql, database), planted


def measure_grain(options: BenchOptions) -> Figures:
    """Return `planted` queries, the share `found` of them, and the share of gold queries that are sent back."""
    cases = _golds(("spider", "train"), ("spider", "train_others"), ("cosql", "train"))
    outcomes = [_plant(case) for case in cases(options)]
    planted = [each for _, some in outcomes for each in some]
    return {
        "planted": len(planted),
        "found": divide(sum(found for _, found in planted), len(planted)) if planted else None,
        "golds": len(outcomes),
        "false_alarms": divide(sum(alarm for alarm, _ in outcomes), len(outcomes)) if outcomes else None,
        "missed": [query for query, found in planted if not found][:20],
    }


def _is_proved(sql: str, database: Database) -> bool:
    findings = check(sql, database.schema(), gives_row=database.gives_row)
    return any(finding.kind == "repeated_rows" and finding.proof for finding in findings)


def _planted(sql: str, database: Database) -> Iterator[str]:
    """The query with the first join added that changes its result; nothing where none does."""
    try:
        regular = regularize(sql, database.schema())
        joined = list(_joined(regular, database.schema()))
        before = database.execute(regular) if joined else None
    except (QueryError, SQLParseError):
        return
    for query, outer in joined:
        try:
            after = database.execute(outer)
        except QueryError:
            continue
        if before is not None and not same_result(before.rows, after.rows, ordered=False):
            yield query
            return


def _joined(sql: str, schema: Schema) -> Iterator[tuple[str, str]]:
    """The query joined with each table that refers to one whose column it aggregates; also with an outer join.

    The outer one drops no row, so that only repeated rows change its result.
    """
    tree = parse_select(sql, schema.dialect)
    if not isinstance(tree, exp.Select):
        return
    names = {table.alias_or_name.lower(): table.name for table in tree.find_all(exp.Table)}
    for aggregate in tree.find_all(exp.Sum, exp.Avg, exp.Count):
        if aggregate.find_ancestor(exp.Select) is not tree or not isinstance(aggregate.this, exp.Column):
            continue
        label = aggregate.this.table
        for key in schema.foreign_keys:
            held = names.get(label.lower(), "")
            if key.ref_table.lower() != held.lower() or key.table.lower() in {name.lower() for name in names.values()}:
                continue
            on = " AND ".join(
                f'"{key.table}"."{one}" = "{label}"."{other}"'
                for one, other in zip(key.columns, key.ref_columns, strict=True)
            )
            table = exp.to_table(f'"{key.table}"')
            inner, outer = (tree.copy().join(table, on=on, join_type=kind, dialect="sqlite") for kind in ("", "left"))
            yield inner.sql("sqlite"), outer.sql("sqlite")


def _checked(options: BenchOptions) -> Iterator[tuple[bool, Query]]:
    """Yield Spider's training golds, and published predictions, on which the rules were not developed."""
    yield from ((True, case) for case in _golds(("spider", "train"), distinct=False)(options))
    with Databases(load_dataset("spider", "dev", options.folder)) as databases:
        for name, sql in islice(_predictions(options.folder), options.limit):
            if databases.get(name) is not None:
                yield False, (name, "", sql, databases)


def _check(case: tuple[bool, Query]) -> tuple[bool, str, QueryError | None, Finding | None]:
    """Return whether a query is a gold, its text, why it does not run, and the error that is foreseen."""
    is_gold, (name, question, sql, databases) = case
    findings = check(sql, databases.open(name).schema(), asked=Asked(question) if is_gold else None)
    errors = [each for each in findings if each.severity == "error" and (is_gold or each.kind != "always_empty")]
    ran = None if is_gold else databases.run(name, sql)
    return is_gold, f"{name}: {sql}", ran if isinstance(ran, QueryError) else None, errors[0] if errors else None


def measure_check(options: BenchOptions) -> Figures:
    """Return errors on golds; of the predictions that fail to run, those foreseen, and those with the right reason.

    `false_alarms` are predictions that run although the check foresaw a failure.
    """
    outcomes = [_check(case) for case in _checked(options)]
    of_golds = [(sql, finding) for is_gold, sql, _, finding in outcomes if is_gold]
    errors = [f"{finding.message} {sql}" for sql, finding in of_golds if finding is not None]
    predicted = [(sql, failed, finding) for is_gold, sql, failed, finding in outcomes if not is_gold]
    failing = [(sql, failed, finding) for sql, failed, finding in predicted if failed is not None]
    missed = [
        f"{sql}: {failed.kind} ({failed}), foreseen {finding and finding.kind}"
        for sql, failed, finding in failing
        if finding is None or finding.kind != failed.kind
    ]
    right = len(failing) - len(missed)
    return {
        "golds": len(of_golds),
        "gold_errors": len(errors),
        "gold_error_list": errors,
        "predictions": len(predicted),
        "failing": len(failing),
        "foreseen": sum(finding is not None for _, _, finding in failing),
        "right_reason": right,
        "false_alarms": sum(failed is None and finding is not None for _, failed, finding in predicted),
        "failing_predictions_foreseen": divide(right, len(failing)) if failing else 1.0,
        "missed": missed[:20],
    }


def _predictions(data: Path) -> Iterator[tuple[str, str]]:
    """Yield published predictions, with their databases."""
    dataset = load_dataset("spider", "dev", data)
    for path in sorted((data / "predictions" / "spider_dev").glob("*.sql")):
        found = read_predictions(path, dataset)
        yield from ((question.database, found[question.id]) for question in dataset.questions if question.id in found)
    for path in sorted((data / "predictions" / "multi_turn").glob("*.json")):
        for interaction in json.loads(path.read_text(encoding="utf-8")):
            yield from ((turn["db_id"], turn["prediction"]) for turn in interaction["turns"])


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
