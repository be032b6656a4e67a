"""The outcome of a run: one JSON file that reports and comparisons read, and lines of the record of models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from operator import and_
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from tableturn import __version__

from ...agent.model.record import Record, add_record, record_file
from ...agent.model.resolve import model_label, resolve_model
from ...agent.records import plain_cell
from ...tools.database import Database, Schema
from ...tools.database.server.address import without_password
from ...tools.errors import SettingsError
from ...tools.record_files import read_json
from ...tools.whole_files import write_whole
from ..adjudication.ruling import Ruling, with_verdicts
from ..datasets import Dataset
from ..metrics import BirdJudge, OfficialJudge, StrictJudge, as_json, official_judge, summarize
from ..metrics.judging import ClauseJudge, Verdict, error_class
from ..metrics.redundancy import mean_redundancy
from ..official import OfficialDatabases
from .model import is_replay
from .record import SHOWN_ROWS, TurnRecord
from .spec import RunSpec

_Answered = tuple[TurnRecord, Verdict]

OutcomeKind = Literal[
    "answered_rightly",
    "answered_wrongly",
    "declined_rightly",
    "declined_wrongly",
    "asked_usefully",
    "asked_in_vain",
    "asked_needlessly",
    "guessed_rightly",
    "not_judged",
]
"""What became of a question.

`answered_wrongly` also where it should have been declined and was not, be it that no query came at all;
`asked_usefully` where asking back was right and led to a right answer, `asked_in_vain` where it did not;
`guessed_rightly` where an ambiguous question was answered as it was meant without asking.
"""


def outcome(record: TurnRecord, verdict: Verdict) -> OutcomeKind:
    """What became of one question."""
    expects = verdict.question.expects
    wanted = expects.outcome if expects else "answer"
    asked = _asked_back(record)
    declined = record.status == "unanswerable"
    if not record.asked or (wanted != "decline" and verdict.ex is None):
        return "not_judged"
    if wanted == "decline":
        return "declined_rightly" if declined else "asked_needlessly" if asked else "answered_wrongly"
    if asked and wanted == "ask_back":
        return "asked_usefully" if verdict.ex else "asked_in_vain"
    if declined:
        return "declined_wrongly"
    if asked:
        return "asked_needlessly"
    if wanted == "ask_back":
        return "guessed_rightly" if verdict.ex else "answered_wrongly"
    return "answered_rightly" if verdict.ex else "answered_wrongly"


def outcome_scores(answered: Sequence[_Answered]) -> dict[str, object]:
    """Counts of every kind, and the shares that say how far declining and asking back can be trusted.

    Returns:
        Empty where every question expects nothing but a query. `declined` and `asked`: of those that should have been,
        how many were (`recall`), and of those that were, how many should have been (`precision`); `useful`: of the
        times that it asked back rightly, how many led to a right answer.
    """
    if all(verdict.question.expects is None for _, verdict in answered):
        return {}
    kinds = [outcome(record, verdict) for record, verdict in answered]
    counts = Counter(kinds)
    judged = [pair for pair, kind in zip(answered, kinds, strict=True) if kind != "not_judged"]
    wanted = [verdict.question.expects.outcome if verdict.question.expects else "answer" for _, verdict in judged]
    declined = [record.status == "unanswerable" for record, _ in judged]
    asked = [_asked_back(record) for record, _ in judged]
    return {
        "n": len(answered),
        "counts": {kind: counts[kind] for kind in get_args(OutcomeKind)},
        "declined": _agreement([outcome == "decline" for outcome in wanted], declined),
        "asked": _agreement([outcome == "ask_back" for outcome in wanted], asked),
        "useful": _share(counts["asked_usefully"], counts["asked_usefully"] + counts["asked_in_vain"]),
    }


def _asked_back(record: TurnRecord) -> bool:
    return bool(record.asked_back) or record.status == "needs_clarification"


def _agreement(should: Sequence[bool], did: Sequence[bool]) -> dict[str, float | None]:
    both = sum(map(and_, should, did))
    return {"recall": _share(both, sum(should)), "precision": _share(both, sum(did))}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def used_model(model: str | None, base_url: str | None) -> str:
    """The name of the model that a choice comes to."""
    found = resolve_model(model, base_url=base_url)
    return "offline" if found is None else model_label(found)


def chosen_record(given: Path | None, spec: RunSpec) -> Path | None:
    """Where a run is recorded; None for nowhere.

    Args:
        given: As a person says: a file, `off`, or None for the one in the data folder, to which recorded predictions
            and baselines are not added: they say nothing of what the model does in the agent.
        spec: The run.
    """
    if given is None and (spec.baseline or is_replay(spec.model)):
        return None
    return record_file(given)


def add_records(spec: RunSpec, answered: Sequence[_Answered], results: Mapping[str, Any], path: Path) -> None:
    """Adds a line a database: what was judged, and what it took.

    Args:
        spec: The run.
        answered: All of its answers.
        results: What came of it.
        path: The record.

    Raises:
        SettingsError: The file cannot be written.
    """
    ruled = results["by_verdict"]["ruled"]
    by_verdict = {one["id"]: one["ruling"]["verdict"] for one in results["questions"] if ruled and one["ruling"]}
    model = str(spec.model) if is_replay(spec.model) else used_model(spec.model, spec.base_url)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    by_database: dict[str, list[_Answered]] = {}
    for record, verdict in answered:
        if verdict.ex is not None:
            by_database.setdefault(short_name(verdict.question.database), []).append((record, verdict))
    for database, pairs in sorted(by_database.items()):
        right = sum(verdict.ex is True for _, verdict in pairs)
        words = [by_verdict.get(verdict.question.id) for _, verdict in pairs]
        right_verdict = None if None in words else words.count("right")
        calls, tokens = sum(record.calls for record, _ in pairs), sum(record.tokens[0] for record, _ in pairs)
        add_record(Record(model, database, len(pairs), right, right_verdict, calls, tokens, now), path)


def short_name(database: str) -> str:
    """A database's name in the record, as answers to its questions have it: of a URL neither server nor password.

    >>> short_name("shop.sqlite"), short_name("postgresql://me:secret@db.example/shop"), short_name("concert_singer")
    ('shop', 'shop', 'concert_singer')
    """
    return Path(urlsplit(database).path if "://" in database else database).stem


RESULTS_FILE, HISTORY_FILE = "results.json", "history.jsonl"


def run_results(
    spec: RunSpec, dataset: Dataset, answered: Sequence[_Answered], seconds: float, rulings: Sequence[Ruling] = ()
) -> dict[str, Any]:
    """Scores in both modes, cost, every question with its answer and gold, and our version.

    Args:
        spec: The run.
        dataset: Its split.
        answered: Records with strict verdicts, in the dataset's order.
        seconds: Wall time of this start of the run.
        rulings: Of its verdict file.
    """
    with_gold = [(record, verdict) for record, verdict in answered if verdict.question.golds]
    strict = [verdict for _, verdict in with_gold]
    with official_judge(dataset) as judge:
        official = [_judge_again(judge, record, verdict) for record, verdict in with_gold]
    with OfficialDatabases(dataset.database) as databases, StrictJudge(dataset) as judge:
        clauses = ClauseJudge(dataset, databases)
        questions = [
            _question(record, ours, theirs)
            | _tell_difference(ours, clauses)
            | _judge_attempts(record, ours, judge)
            | _outcome(record, ours, dataset)
            for (record, ours), theirs in zip(with_gold, official, strict=True)
        ]
    # A question that is to be declined is right or wrong by its outcome alone.
    questions += [
        _question(record, verdict, verdict)
        | {"error_class": None, "clauses": (), "attempts_right": [None] * len(record.attempts), **_NO_GOLD}
        | _outcome(record, verdict, dataset)
        for record, verdict in answered
        if not verdict.question.golds
    ]
    found = {
        "version": __version__,
        "run": asdict(spec),
        "strict": _scores([verdict for _, verdict in answered if verdict.question.golds or verdict.ex is not None]),
        "official": _scores(official),
        "linking": _linking(dataset, with_gold),
        "outcomes": outcome_scores(answered),
        "cost": {
            "llm_calls": sum(record.calls for record, _ in answered),
            "prompt_tokens": sum(record.tokens[0] for record, _ in answered),
            "completion_tokens": sum(record.tokens[1] for record, _ in answered),
            "turn_seconds": round(sum(record.seconds for record, _ in answered), 3),
            "wall_seconds": round(seconds, 3),
        },
        "questions": questions,
    }
    with_verdicts(found, dataset, strict, rulings)
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


def _judge_again(judge: OfficialJudge | BirdJudge, record: TurnRecord, strict: Verdict) -> Verdict:
    """Return the verdict of another judge; none, again, where the model could not be asked."""
    verdict = judge.judge(strict.question, record.sql)
    return verdict if strict.asked else verdict.unasked(record.text)


def _linking(dataset: Dataset, answered: Sequence[tuple[TurnRecord, Verdict]]) -> dict[str, float]:
    """TRS@0.5 and CRS@0.5 over the turns in which schema items were linked; empty where none were."""
    linked = with_schemas(dataset, answered)
    return mean_redundancy((verdict.question.golds[0], schema, record.linked) for record, verdict, schema in linked)


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


def evaluation_of(results: dict[str, Any]) -> dict[str, Any]:
    """Return the evaluation in what `read_results` gives: all of it, or that of a trial.

    Raises:
        SettingsError: It is a trial of an earlier version, which kept none.
    """
    if "trial" not in results:
        return results
    if "evaluation" not in results:
        raise SettingsError("the trial is of an earlier version: hold it again with `tableturn trial`")
    return results["evaluation"]


def recorded_in(out: Path) -> str:
    """The record of models to which a run was added when it ended, so that it is not added twice; empty for none."""
    return str(read_results(out).get("recorded") or "") if (out / RESULTS_FILE).exists() else ""


def _tell_difference(verdict: Verdict, clauses: ClauseJudge) -> dict[str, Any]:
    """Return where a wrong answer went wrong."""
    found = error_class(verdict, clauses)
    differing = clauses.differing(verdict.question, verdict.sql) if found else ()
    return {"error_class": found, "clauses": differing}


_NO_GOLD: Mapping[str, Any] = {"gold_columns": (), "gold_rows": (), "gold_row_count": None}


def _judge_attempts(record: TurnRecord, verdict: Verdict, judge: StrictJudge) -> dict[str, Any]:
    """Return whether each attempt was right (revision chain, figure 3), and the gold's result for people to look at."""
    right = [judge.judge(verdict.question, attempt["sql"]).ex for attempt in record.attempts]
    gold = judge.gold_table(verdict.question)
    if gold is None:
        return {"attempts_right": right, **_NO_GOLD}
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
    """Return what became of a question, if declining or asking back may be right."""
    return {"outcome": outcome(record, verdict) if dataset.conversational else None}


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
