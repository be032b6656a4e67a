"""Trials: asking a team's own questions, judging by what each accepts, and comparing with the last time."""

from __future__ import annotations

import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from ...tools.database import Database, Table
from ...tools.errors import QueryError, SettingsError
from ...tools.json_lines import append_lines
from ...tools.record_files import read_json
from ...tools.whole_files import write_whole
from ..adjudication.ruling import rulings_beside
from ..closing import OneOpen
from ..datasets import Dataset, Question
from ..datasets.question import Expects
from ..metrics import Verdict
from ..metrics.expected import GOLD_LIMITS, Expected, expected
from ..metrics.statistics import wilson
from ..report import write_report
from ..runner import Listener, run_evaluation
from ..runner.model import CACHE_FILE, kept_replies
from ..runner.record import TurnRecord
from ..runner.results import HISTORY_FILE, RESULTS_FILE, read_results, run_results, used_model, write_results
from ..runner.run import JOURNAL_FILE, run_settings
from ..runner.spec import SPEC_FILE, RunSpec, check_folder
from .question import TrialFile, TrialQuestion, TrialTurn, holds_value, missing_columns, read_trial

_DID = {
    "needs_clarification": "it asked back",
    "unanswerable": "it declined",
    "failed": "it failed",
}


class TrialJudge:
    """Judges by what each question accepts; queries run on the database as it is now.

    Args:
        place: The database.
        turns: What is accepted, by the question's id in the run.
    """

    def __init__(self, place: str | Path, turns: Mapping[str, TrialTurn]) -> None:
        self._place = place
        self._turns = turns
        self._databases = OneOpen()
        self._expected = lru_cache(64)(self._run_accepted)

    def judge(self, question: Question, record: TurnRecord) -> Verdict:
        """Judge an answer: `error` says why it is not accepted."""
        why, broken, ran = self._fault(self._turns[question.id], record)
        verdict = Verdict(question, record.sql, not why, None, ran, "", why, broken=broken)
        return verdict if record.asked else verdict.unasked(record.text)

    def close(self) -> None:
        """See `Judging`."""
        self._databases.close()

    def _fault(self, turn: TrialTurn, record: TurnRecord) -> tuple[str, bool, bool]:
        """Why an answer is not accepted, whether the question is at fault, and whether the answer's query runs."""
        if turn.must == "decline":
            return "" if record.status == "unanswerable" else f"it must decline, but {_did(record)}", False, False
        if turn.must == "ask_back":
            asked = bool(record.asked_back) or record.status == "needs_clarification"
            if not asked or not (turn.sql or turn.value is not None or turn.rows is not None or turn.columns):
                return "" if asked else f"it must ask back, but {_did(record)}", False, False
        if not record.sql or record.status in _DID:
            return f"{_did(record)}: {record.text}", False, False
        try:
            table = self._databases.at(self._place).execute(record.sql, GOLD_LIMITS)
        except QueryError as error:
            return f"its query does not run: {error}", False, False
        outcomes = [self._expected(sql) for sql in turn.sql]
        wanted = [outcome for outcome in outcomes if isinstance(outcome, Expected)]
        if outcomes and not wanted:
            return f"the question's own query does not run: {outcomes[0]}", True, True
        return _refusal(turn, wanted, table), False, True

    def _run_accepted(self, sql: str) -> Expected | QueryError:
        try:
            return expected(self._databases.at(self._place), sql)
        except QueryError as error:
            return error


def _refusal(turn: TrialTurn, wanted: Sequence[Expected], table: Table) -> str:
    """Why a result is not accepted; empty where it is."""
    if wanted and not any(outcome.allows(table) for outcome in wanted):
        return _difference(wanted[0].table, table)
    if turn.quantity is not None and not holds_value(turn.quantity, table.rows):
        found = ", ".join(map(str, table.rows[0][:5])) if len(table.rows) == 1 else _rows(table)
        return f"it must be {turn.value}, not {found}"
    if turn.count is not None and not turn.count.holds(len(table.rows), table.truncated):
        return f"it must have {turn.count} rows, not {len(table.rows)}"
    if missing := missing_columns(turn.columns, table.columns):
        return f"it lacks the column {missing[0]}; it has {', '.join(table.columns)}"
    return ""


def _did(record: TurnRecord) -> str:
    return _DID.get(record.status, "it answered")


def _rows(table: Table) -> str:
    return f"{len(table.rows)}{' or more' if table.truncated else ''} row{'' if len(table.rows) == 1 else 's'}"


def _difference(wanted: Table, table: Table) -> str:
    if len(wanted.rows) != len(table.rows):
        return f"it gives {_rows(table)}, not {len(wanted.rows)}"
    if len(wanted.columns) != len(table.columns):
        columns = f"{len(table.columns)} column{'' if len(table.columns) == 1 else 's'}"
        return f"it gives {columns} ({', '.join(table.columns[:6])}), not {len(wanted.columns)}"
    return "it gives other values, or another order, than the accepted query"


T = TypeVar("T")

PREVIOUS_FILE = "previous.json"

Answered = tuple[TurnRecord, Verdict]
_Asked = Mapping[str, Any]
"""A question of a trial's results."""


def trial_results(
    file: TrialFile,
    judged: Sequence[Answered],
    options: TrialOptions,
    model: str,
    location: str,
    seconds: float,
    new_replies: int,
) -> dict[str, Any]:
    """Everything that was found; of a trial in which some questions could not be asked, what there is.

    A question counts as passed by the share of its tries that pass; the interval is over questions, as tries at
    the same question say little new. Calls and dollars are what the answers take without kept replies; `new_replies`
    are those that the model gave in this start.
    """
    by_id = {record.id: (record, verdict) for record, verdict in judged}
    questions = [_question(question, options.tries, by_id) for question in file.questions]
    known = [question for question in questions if question["share"] is not None]
    passed = sum(question["share"] for question in known)
    interval = wilson(passed, len(known))
    rate = passed / len(known) if known else None
    return {
        "trial": {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "database": location,
            "questions_file": str(options.questions),
            "model": model,
            "preset": options.preset or "full",
            "settings": options.settings,
        },
        "questions": len(questions),
        "tries": options.tries,
        "pass_rate": rate,
        "interval": [interval.low, interval.high] if interval else None,
        "stable_rate": fmean(question["share"] == 1 for question in known) if known else None,
        "unstable": [question["id"] for question in known if 0 < question["share"] < 1],
        "failed": [_failure(question) for question in known if question["share"] < 1],
        "broken": [question["id"] for question in questions if question["broken"]],
        "not_asked": [question["id"] for question in questions if question["share"] is None],
        "cost": {**_cost([record for record, _ in judged], options.price), "new_replies": new_replies},
        "seconds": round(seconds, 3),
        "gate": None
        if options.gate is None
        else {"least": options.gate, "met": rate is not None and rate >= options.gate},
        "compared": None,
        "by_question": questions,
    }


def keep_results(results: dict[str, Any], out: Path) -> None:
    """Compares with the last trial of the folder, then takes its place."""
    path = out / RESULTS_FILE
    if path.exists():
        before = read_trial_results(out)
        results["compared"] = compared(before, results)
        write_whole(out / PREVIOUS_FILE, path.read_text(encoding="utf-8"))
    write_results(results, out)
    line = {
        **results["trial"],
        "questions": results["questions"],
        "tries": results["tries"],
        "pass_rate": results["pass_rate"],
        "calls": results["cost"]["calls"],
        "seconds": results["seconds"],
    }
    append_lines(out / HISTORY_FILE, json.dumps(line, ensure_ascii=False) + "\n")


def read_trial_results(out: Path) -> dict[str, Any]:
    """The results of the last trial of a folder.

    Raises:
        SettingsError: It holds none.
    """
    found = read_results(out)
    if "trial" not in found:
        raise SettingsError(f"{out / RESULTS_FILE} is not what `tableturn trial` writes")
    return found


def compared(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Two trials, question by question.

    A question is the same by its id and words, else by its words alone: without ids, numbers move with what is put in
    between. One whose words or turns were changed counts as another question.
    """
    old, new = before["by_question"], now["by_question"]
    same = paired(new, old, lambda question: (question["id"], question["question"]), lambda found: found["question"])
    both = [(a, b) for b, a in same if a["share"] is not None and b["share"] is not None]
    added, removed = (_without(questions, [pair[side] for pair in same]) for side, questions in enumerate((new, old)))
    return {
        "with": before["trial"]["time"],
        "model": before["trial"]["model"],
        "database": before["trial"]["database"],
        "pass_rate": before["pass_rate"],
        "better": [_change(a, b) for a, b in both if b["share"] > a["share"]],
        "worse": [_change(a, b) for a, b in both if b["share"] < a["share"]],
        "as_before": all(before["trial"][name] == now["trial"][name] for name in ("model", "database"))
        and _answers(before) == _answers(now),
        "same": sum(a["share"] == b["share"] for a, b in both),
        "expects_otherwise": [b["id"] for b, a in same if _expects_otherwise(a, b)],
        "added": [question["id"] for question in added],
        "added_questions": [question["question"] for question in added],
        "removed": [question["id"] for question in removed],
        "removed_questions": [question["question"] for question in removed],
    }


def paired(before: Sequence[T], after: Sequence[T], *keys: Callable[[T], Hashable]) -> list[tuple[T, T]]:
    """What is in both, in the order of `before`, each thing once.

    Args:
        before: One list.
        after: The other.
        keys: What makes two things the same; a later key is for those that earlier ones leave over.
    """
    found: dict[int, T] = {}
    left = list(enumerate(after))
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, thing in left:
            waiting[key(thing)].append(place)
        for place, thing in enumerate(before):
            if place not in found and waiting[key(thing)]:
                found[place] = after[waiting[key(thing)].popleft()]
        over = {place for places in waiting.values() for place in places}
        left = [(place, thing) for place, thing in left if place in over]
    return [(thing, found[place]) for place, thing in enumerate(before) if place in found]


def _without(questions: Sequence[_Asked], some: Sequence[_Asked]) -> list[_Asked]:
    known = set(map(id, some))
    return [question for question in questions if id(question) not in known]


def _expects_otherwise(before: _Asked, now: _Asked) -> bool:
    """Whether the question file accepts something else by now."""
    return before["accepted"] != now["accepted"]


def _answers(results: Mapping[str, Any]) -> list[tuple[str, str, bool | None]]:
    """What was answered, and whether it passed: a trial in which nothing differs says nothing new of its model."""
    tries = [(question["id"], attempt) for question in results["by_question"] for attempt in question["tries"]]
    return [(name, turn["sql"], turn["passed"]) for name, attempt in tries for turn in attempt["turns"]]


def _change(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": now["id"],
        "question": now["question"],
        "before": before["share"],
        "now": now["share"],
        "why": next((attempt["why"] for attempt in now["tries"] if attempt["why"]), ""),
        "expects_otherwise": _expects_otherwise(before, now),
        "sql_before": _last_sql(before),
        "sql_now": _last_sql(now),
    }


def _last_sql(question: Mapping[str, Any]) -> str:
    return question["tries"][0]["turns"][-1]["sql"]


def _failure(question: Mapping[str, Any]) -> dict[str, Any]:
    why = next(attempt["why"] for attempt in question["tries"] if attempt["passed"] is False)
    return {"id": question["id"], "question": question["question"], "why": why, "share": question["share"]}


def _question(question: TrialQuestion, tries: int, by_id: Mapping[str, Answered]) -> dict[str, Any]:
    attempts = [_try(question, number, by_id) for number in range(1, tries + 1)]
    unknown = any(attempt["passed"] is None for attempt in attempts)
    return {
        "id": question.id,
        "question": question.title,
        "note": question.note,
        "accepted": [turn.model_dump(exclude_defaults=True, exclude={"question"}) for turn in question.turns],
        "share": None if unknown else fmean(attempt["passed"] for attempt in attempts),
        "broken": any(turn["broken"] for attempt in attempts for turn in attempt["turns"]),
        "tries": attempts,
    }


def _try(question: TrialQuestion, number: int, by_id: Mapping[str, Answered]) -> dict[str, Any]:
    """One try: all of its turns must pass; the first that does not says why."""
    answered = [by_id[f"{question.id}~{number}.{place}"] for place in range(1, len(question.turns) + 1)]
    outcomes = [verdict.ex for _, verdict in answered]
    passed = False if False in outcomes else None if None in outcomes else True
    why = ""
    if not passed:
        place, text = next((n, v.error) for n, (_, v) in enumerate(answered, 1) if v.ex is passed)
        why = f"turn {place}: {text}" if len(answered) > 1 else text
    turns = [
        _turn(turn.question, record, verdict) for turn, (record, verdict) in zip(question.turns, answered, strict=True)
    ]
    return {"passed": passed, "why": why, "turns": turns}


def _turn(question: str, record: TurnRecord, verdict: Verdict) -> dict[str, Any]:
    return {
        "question": question,
        "sql": record.sql,
        "status": record.status,
        "text": record.text,
        "asked_back": record.asked_back,
        "columns": record.columns,
        "rows": record.rows,
        "row_count": record.row_count,
        "confidence": record.confidence,
        "calls": record.calls,
        "tokens": record.tokens,
        "seconds": record.seconds,
        "passed": verdict.ex,
        "why": verdict.error,
        "broken": verdict.broken,
    }


def _cost(records: Sequence[TurnRecord], price: tuple[float, float] | None) -> dict[str, Any]:
    prompt, completion = (sum(record.tokens[side] for record in records) for side in (0, 1))
    dollars = None if price is None else round((prompt * price[0] + completion * price[1]) / 1e6, 6)
    return {
        "calls": sum(record.calls for record in records),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "dollars": dollars,
        "turn_seconds": round(sum(record.seconds for record in records), 3),
    }


PAGE_FILE = "report.html"
_TRIAL = "trial "
"""What a trial's specification calls its dataset; the database follows."""


@dataclass(frozen=True)
class TrialOptions:
    """What a trial asks, of what.

    Attributes:
        database: A path, or a URL.
        questions: The question file.
        model: As for `tableturn ask`.
        base_url: Of an OpenAI-compatible server.
        preset: The agent's.
        settings: Fields that differ from the preset.
        examples: An example store.
        tries: How often each question is asked.
        jobs: Conversations at once.
        price: Dollars a million prompt and completion tokens; None leaves money out.
        gate: The least share of questions that must pass; None for no gate.
    """

    database: str
    questions: Path
    model: str | None = None
    base_url: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    examples: str | None = None
    tries: int = 1
    jobs: int = 4
    price: tuple[float, float] | None = None
    gate: float | None = None


def run_trial(options: TrialOptions, out: Path, listener: Listener) -> dict[str, Any]:
    """Asks every question as often as wanted, judges the answers, and writes results and a page.

    A trial that was interrupted goes on where it was when it is started again with the same folder; one that is done is
    held again, and compared with the last.

    Args:
        options: The trial.
        out: Its folder: `results.json`, `previous.json`, `history.jsonl`, `report.html`, and every reply of the model.
        listener: Told about each answer.

    Returns:
        The results, as in `results.json`.

    Raises:
        SettingsError: The question file or a setting is wrong, or the folder holds something else.
        DatabaseUnavailable: The database cannot be used.
        ModelError: The model cannot be set up.
        RunStopped: The model could not be asked several questions in a row.
    """
    file = read_trial(options.questions)
    with Database.open(options.database) as database:
        location = database.location
    dataset, turns = trial_dataset(file, options.database, options.tries)
    spec = RunSpec(
        _TRIAL + location,
        "all",
        options.model,
        options.preset,
        options.settings,
        examples=options.examples,
        base_url=options.base_url,
    )
    run_settings(spec, dataset)
    _begin(spec, dataset, out)
    start = time.perf_counter()
    kept = kept_replies(out / CACHE_FILE)
    judge = TrialJudge(dataset.place(dataset.questions[0].database), turns)
    judged = run_evaluation(spec, dataset, out, jobs=options.jobs, listener=listener, judging=judge)
    label = used_model(options.model, options.base_url)
    new = kept_replies(out / CACHE_FILE) - kept
    seconds = time.perf_counter() - start
    results = trial_results(file, judged, options, label, location, seconds, new)
    if not results["not_asked"]:
        results["evaluation"] = run_results(spec, dataset, judged, seconds, rulings_beside(out, None))
        keep_results(results, out)
        _forget(out)
        write_report([out], out / PAGE_FILE)
    return results


def trial_dataset(file: TrialFile, place: str, tries: int) -> tuple[Dataset, dict[str, TrialTurn]]:
    """The questions as a run asks them, each as often as wanted, and what is accepted by their ids there."""
    path = None if "://" in place else Path(place).absolute()
    name = path.name if path else place
    questions: list[Question] = []
    turns: dict[str, TrialTurn] = {}
    for question in file.questions:
        for number in range(1, tries + 1):
            interaction = f"{question.id}~{number}"
            for position, turn in enumerate(question.turns, 1):
                key = f"{interaction}.{position}"
                turns[key] = turn
                questions.append(
                    Question(
                        key,
                        name,
                        turn.question,
                        tuple(turn.sql),
                        interaction,
                        position,
                        turn.evidence,
                        expects=Expects(turn.must or "answer", turn.reply),
                        repeat=number if number > 1 else None,
                    )
                )
    return Dataset("trial", "all", tuple(questions), (path.parent,) if path else ()), turns


def _begin(spec: RunSpec, dataset: Dataset, out: Path) -> None:
    """Readies the folder: an interrupted trial of the same kind goes on, another one is forgotten.

    Raises:
        SettingsError: The folder holds a run of another command.
    """
    kept = out / SPEC_FILE
    if not kept.exists():
        check_folder(spec, dataset, out)
        if (out / RESULTS_FILE).exists():
            read_trial_results(out)
        return
    try:
        found = read_json(kept.read_text(encoding="utf-8"))
        dataset_name = found.get("dataset", "") if isinstance(found, dict) else ""
    except (OSError, ValueError) as error:
        raise SettingsError(f"{out} cannot hold a trial: {error}") from error
    if not str(dataset_name).startswith(_TRIAL):
        raise SettingsError(f"{out} holds a run of `tableturn eval`: name another folder with --out")
    try:
        check_folder(spec, dataset, out)
    except SettingsError:
        _forget(out)


def _forget(out: Path) -> None:
    """Leaves nothing to resume; replies are kept."""
    for name in (JOURNAL_FILE, SPEC_FILE):
        (out / name).unlink(missing_ok=True)
