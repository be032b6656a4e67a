"""The outcome of a run, as one JSON file that reports and comparisons read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tableturn import __version__

from ...agent.records import plain_cell
from ...tools.database import Database, Schema
from ...tools.database.server.address import without_password
from ...tools.errors import SettingsError
from ...tools.record_files import read_json
from ..datasets import Dataset
from ..metrics import Judge, StrictJudge, Verdict, as_json, official_judge, summarize
from ..metrics.clauses import ClauseJudge
from ..metrics.errors import error_class
from ..metrics.outcomes import outcome, outcome_scores
from ..metrics.redundancy import mean_redundancy, turn_redundancy
from ..official import OfficialDatabases
from .files import write_whole
from .record import SHOWN_ROWS, TurnRecord
from .spec import RunSpec

RESULTS_FILE = "results.json"


def run_results(
    spec: RunSpec, dataset: Dataset, answered: Sequence[tuple[TurnRecord, Verdict]], seconds: float
) -> dict[str, Any]:
    """Scores in both modes, cost, every question with its answer and gold, and our version.

    Args:
        spec: The run.
        dataset: Its split.
        answered: Records with strict verdicts, in the dataset's order.
        seconds: Wall time of this start of the run.
    """
    whole, answered = answered, [(record, verdict) for record, verdict in answered if verdict.question.golds]
    strict = [verdict for _, verdict in answered]
    with official_judge(dataset) as judge:
        official = [_judged_again(judge, record, verdict) for record, verdict in answered]
    with OfficialDatabases(dataset.database) as databases:
        clauses = ClauseJudge(dataset, databases)
        differences = [_difference(verdict, clauses) for verdict in strict]
    with StrictJudge(dataset) as judge:
        shown = [_by_attempt(record, verdict, judge) for record, verdict in answered]
    found = {
        "version": __version__,
        "run": asdict(spec),
        "strict": _scores(strict),
        "official": _scores(official),
        "linking": _linking(dataset, answered),
        "outcomes": outcome_scores(whole),
        "cost": {
            "llm_calls": sum(record.calls for record, _ in whole),
            "prompt_tokens": sum(record.tokens[0] for record, _ in whole),
            "completion_tokens": sum(record.tokens[1] for record, _ in whole),
            "turn_seconds": round(sum(record.seconds for record, _ in whole), 3),
            "wall_seconds": round(seconds, 3),
        },
        "questions": [
            _question(record, ours, theirs) | difference | more | _outcome(record, ours, dataset)
            for (record, ours), theirs, difference, more in zip(answered, official, differences, shown, strict=True)
        ]
        + [
            _without_gold(record, verdict) | _outcome(record, verdict, dataset)
            for record, verdict in whole
            if not verdict.question.golds
        ],
    }
    return without_passwords(found)


def without_passwords(results: dict[str, Any]) -> dict[str, Any]:
    """A run's results as they may be kept and shown: databases of one's own may be named by URLs with passwords."""
    scores = {
        mode: {
            **results[mode],
            "by_database": {without_password(name): score for name, score in results[mode]["by_database"].items()},
        }
        for mode in ("strict", "official")
        if "by_database" in results.get(mode, {})
    }
    questions = [{**question, "database": without_password(question["database"])} for question in results["questions"]]
    return {**results, **scores, "questions": questions}


def _judged_again(judge: Judge, record: TurnRecord, strict: Verdict) -> Verdict:
    """The verdict of another judge; none, again, where the model could not be asked."""
    verdict = judge.judge(strict.question, record.sql)
    return verdict if strict.asked else verdict.unasked(record.text)


def _linking(dataset: Dataset, answered: Sequence[tuple[TurnRecord, Verdict]]) -> dict[str, float]:
    """TRS@0.5 and CRS@0.5 over the turns in which schema items were linked; empty where none were."""
    found = (
        turn_redundancy(verdict.question.golds[0], schema, record.linked)
        for record, verdict, schema in with_schemas(dataset, answered)
    )
    return mean_redundancy([turn for turn in found if turn])


def with_schemas(
    dataset: Dataset, answered: Sequence[tuple[TurnRecord, Verdict]]
) -> Iterator[tuple[TurnRecord, Verdict, Schema]]:
    """The turns in which schema items were linked, each with its database's schema."""
    schemas: dict[str, Schema] = {}
    for record, verdict in answered:
        name = verdict.question.database
        if not record.linked:
            continue
        if name not in schemas:
            with Database.open(dataset.place(name)) as database:
                schemas[name] = database.schema()
        yield record, verdict, schemas[name]


def write_results(results: dict[str, Any], out: Path) -> None:
    """Writes the file into the run's folder, whole."""
    write_whole(out / RESULTS_FILE, json.dumps(results))


def read_results(out: Path) -> dict[str, Any]:
    """Reads the outcome of a finished run.

    Raises:
        SettingsError: The folder holds none.
    """
    path = out / RESULTS_FILE
    try:
        found = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{out} holds no finished run ({error}): finish it with `tableturn eval`") from error
    if not isinstance(found, dict):
        raise SettingsError(f"{path} is not what `tableturn eval` writes: finish the run again")
    return found


def recorded_in(out: Path) -> str:
    """The record of models to which a run was added when it ended, so that it is not added twice; empty for none."""
    return str(read_results(out).get("recorded") or "") if (out / RESULTS_FILE).exists() else ""


def _difference(verdict: Verdict, clauses: ClauseJudge) -> dict[str, Any]:
    """Where a wrong answer went wrong."""
    found = error_class(verdict, clauses)
    differing = clauses.differing(verdict.question, verdict.sql) if found else ()
    return {"error_class": found, "clauses": differing}


def _by_attempt(record: TurnRecord, verdict: Verdict, judge: StrictJudge) -> dict[str, Any]:
    """Whether each attempt was right (revision chain, figure 3), and the gold's result for people to look at."""
    right = [judge.judge(verdict.question, attempt["sql"]).ex for attempt in record.attempts]
    gold = judge.gold_table(verdict.question)
    if gold is None:
        return {"attempts_right": right, "gold_columns": (), "gold_rows": (), "gold_row_count": None}
    rows = [[plain_cell(cell) for cell in row] for row in gold.rows[:SHOWN_ROWS]]
    return {
        "attempts_right": right,
        "gold_columns": gold.columns,
        "gold_rows": rows,
        "gold_row_count": len(gold.rows),
    }


def _scores(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    scores = as_json(summarize(verdicts), verdicts)
    scores.pop("per_question")
    return scores


def _outcome(record: TurnRecord, verdict: Verdict, dataset: Dataset) -> dict[str, Any]:
    """What became of a question, where declining or asking back may be right."""
    return {"outcome": outcome(record, verdict) if dataset.conversational else None}


def _without_gold(record: TurnRecord, verdict: Verdict) -> dict[str, Any]:
    """A question that is to be declined: right or wrong by its outcome alone."""
    fields = _question(record, verdict, verdict)
    shown = {"gold_columns": (), "gold_rows": (), "gold_row_count": None}
    return {**fields, "error_class": None, "clauses": (), "attempts_right": [None] * len(record.attempts), **shown}


def _question(record: TurnRecord, ours: Verdict, theirs: Verdict) -> dict[str, Any]:
    question = ours.question
    return {
        "question": question.text,
        "database": question.database,
        "interaction": question.interaction,
        "turn": question.turn,
        "golds": question.golds,
        "disputed": question.disputed,
        "hardness": ours.hardness,
        "ex": ours.ex,
        "em": ours.em,
        "official_ex": theirs.ex,
        "valid": ours.valid,
        "error": ours.error,
        "expects": question.expects.outcome if question.expects else None,
        **asdict(record),
    }
