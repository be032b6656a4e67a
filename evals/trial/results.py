"""What a trial found: pass rate, cost, time, unstable questions, and what changed since the last one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...tools.errors import SettingsError
from ...tools.record_files import read_json
from ..metrics.proportion import wilson
from ..pairing import paired
from ..runner.files import write_whole
from ..runner.record import TurnRecord
from .judge import TrialVerdict
from .question import TrialFile, TrialQuestion

if TYPE_CHECKING:
    from .run import TrialOptions

RESULTS_FILE, PREVIOUS_FILE, HISTORY_FILE = "results.json", "previous.json", "history.jsonl"

Answered = tuple[TurnRecord, TrialVerdict]
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
        os.replace(path, out / PREVIOUS_FILE)
    write_whole(path, json.dumps(results, ensure_ascii=False))
    line = {
        **results["trial"],
        "questions": results["questions"],
        "tries": results["tries"],
        "pass_rate": results["pass_rate"],
        "calls": results["cost"]["calls"],
        "seconds": results["seconds"],
    }
    with (out / HISTORY_FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_trial_results(out: Path) -> dict[str, Any]:
    """The results of the last trial of a folder.

    Raises:
        SettingsError: It holds none.
    """
    path = out / RESULTS_FILE
    try:
        found = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{out} holds no finished trial ({error}): hold one with `tableturn trial`") from error
    if not isinstance(found, dict) or "trial" not in found:
        raise SettingsError(f"{path} is not what `tableturn trial` writes")
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
    outcomes = [verdict.passed for _, verdict in answered]
    passed = False if False in outcomes else None if None in outcomes else True
    why = ""
    if not passed:
        place, text = next((n, v.why) for n, (_, v) in enumerate(answered, 1) if v.passed is passed)
        why = f"turn {place}: {text}" if len(answered) > 1 else text
    turns = [
        _turn(turn.question, record, verdict) for turn, (record, verdict) in zip(question.turns, answered, strict=True)
    ]
    return {"passed": passed, "why": why, "turns": turns}


def _turn(question: str, record: TurnRecord, verdict: TrialVerdict) -> dict[str, Any]:
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
        "passed": verdict.passed,
        "why": verdict.why,
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
