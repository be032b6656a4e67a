"""Results of a run: a JSON file for reports and comparisons, and records of models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from tableturn import __version__

from ...agent.model import ModelRunRecord, append_run_record, get_model_label, resolve_model
from ...agent.records import convert_cell
from ...tools.database import Schema, hide_url_secrets
from ...tools.errors import DatabaseUnavailable, SettingsError
from ...tools.record_files import read_json, read_text_file
from ...tools.whole_files import write_text_atomically
from ..adjudication.ruling import Ruling, add_verdict_scores, now
from ..datasets.load import Dataset, SingleDatabaseCache
from ..metrics.judging import StrictJudge, Verdict, classify_error, make_official_judge
from ..metrics.summary import compute_mean_redundancy, dump_scores, share
from .record import SHOWN_ROWS, RunSpec, TurnRecord, is_replay_model

RESULTS_FILE, HISTORY_FILE = "results.json", "history.jsonl"

JudgedAnswer = tuple[TurnRecord, Verdict]  # an answer, and how it was judged

_Certain = Literal["answered_rightly", "answered_wrongly", "declined_rightly", "declined_wrongly"]
_Asking = Literal["asked_usefully", "asked_in_vain", "asked_needlessly", "guessed_rightly", "not_judged"]
OutcomeKind = Literal[_Certain, _Asking]
"""The outcome of a question.

`answered_wrongly` also if it should have been declined and was not, even if no query came at all; `asked_usefully` if
asking back was right and led to a right answer, `asked_in_vain` if it did not; `guessed_rightly` if an ambiguous
question was answered as it was meant without asking.
"""


def classify_outcome(record: TurnRecord, verdict: Verdict) -> OutcomeKind:
    """Classify the outcome of a question, such as answered rightly or declined wrongly."""
    goal, asked, declined = verdict.question.expected_outcome, record.has_asked_back, record.status == "unanswerable"
    if not record.was_asked or (goal != "decline" and verdict.ex is None):
        return "not_judged"
    if goal == "decline":
        return "declined_rightly" if declined else "asked_needlessly" if asked else "answered_wrongly"
    if asked and goal == "ask_back":
        return "asked_usefully" if verdict.ex else "asked_in_vain"
    if asked or declined:
        return "declined_wrongly" if declined else "asked_needlessly"
    if not verdict.ex:
        return "answered_wrongly"
    return "guessed_rightly" if goal == "ask_back" else "answered_rightly"


def compute_outcome_scores(answers: Sequence[JudgedAnswer]) -> dict[str, object]:
    """Return counts of outcomes, and precision and recall of declining and asking back."""
    if all(verdict.question.expects is None for _, verdict in answers):
        return {}
    kinds = [classify_outcome(*pair) for pair in answers]
    pairs = [pair for pair, kind in zip(answers, kinds, strict=True) if kind != "not_judged"]
    declines = [
        (verdict.question.expected_outcome == "decline", record.status == "unanswerable") for record, verdict in pairs
    ]
    asks = [(verdict.question.expected_outcome == "ask_back", record.has_asked_back) for record, verdict in pairs]
    return {
        "n": len(answers),
        "counts": {kind: kinds.count(kind) for kind in get_args(OutcomeKind)},
        **{
            name: {
                "recall": share(did for should, did in two if should),
                "precision": share(s for s, did in two if did),
            }
            for name, two in (("declined", declines), ("asked", asks))
        },
        # Of right questions back, those that led to a right answer.
        "useful": share(kind == "asked_usefully" for kind in kinds if kind in ("asked_usefully", "asked_in_vain")),
    }


def get_used_model_name(model: str | None, base_url: str | None) -> str:
    """Return the name of the model that `model` and `base_url` resolve to."""
    chat_model = resolve_model(model, base_url=base_url)
    return "offline" if chat_model is None else get_model_label(chat_model)


def add_model_records(results: Mapping[str, Any], path: Path) -> bool:
    """Append a line per judged database to the record of models; return whether any was added.

    What is to be declined does not count, nor a question without usable gold. Tries at a question count once, as right
    if all of them are.
    """
    name, base_url = results["run"]["model"], results["run"]["base_url"]
    model = name if is_replay_model(name) else get_used_model_name(name, base_url)
    by_database: dict[str, dict[tuple[str, int], list[Mapping[str, Any]]]] = {}
    for record in results["questions"]:
        if record["ex"] is not None and record["expects"] != "decline" and not record.get("broken"):
            question_id = record["interaction"].rpartition("~")[0] if "trial" in results else record["id"]
            by_question = by_database.setdefault(get_short_database_name(record["database"]), {})
            by_question.setdefault((question_id, record["turn"]), []).append(record)
    for database, groups in sorted(by_database.items()):
        words = [{(record.get("ruling") or {}).get("verdict") for record in tries} for tries in groups.values()]
        is_ruled = results["by_verdict"]["ruled"] and all(None not in verdicts for verdicts in words)
        usages = [record["usage"] or {} for tries in groups.values() for record in tries]
        calls, tokens = (sum(usage.get(key, 0) for usage in usages) for key in ("llm_calls", "prompt_tokens"))
        right = sum(all(record["ex"] for record in tries) for tries in groups.values())
        by_verdict = words.count({"right"}) if is_ruled else None
        append_run_record(ModelRunRecord(model, database, len(groups), right, by_verdict, calls, tokens, now()), path)
    return bool(by_database)


def get_short_database_name(database: str) -> str:
    """Return a database's short name, without a URL's server and password.

    >>> tuple(map(get_short_database_name, ["shop.sqlite", "postgresql://me:secret@db.example/shop", "concert_singer"]))
    ('shop', 'shop', 'concert_singer')
    """
    return Path(urlsplit(database).path if "://" in database else database).stem


@dataclass(frozen=True)
class RunResults:
    """The results of a run, or of a majority vote among several runs."""

    dataset: Dataset  # its questions
    answers: Sequence[JudgedAnswer]  # in their order, with strict verdicts, or a trial's

    @cached_property
    def official(self) -> list[Verdict]:
        """The official verdicts on answers to questions with a gold query."""
        with make_official_judge(self.dataset) as judge:
            pairs = [(judge.judge(strict.question, record.sql), record) for record, strict in self.answers_with_gold]
        return [verdict if record.was_asked else verdict.mark_as_not_asked(record.text) for verdict, record in pairs]

    @property
    def answers_with_gold(self) -> list[JudgedAnswer]:
        """The answers to questions that have a gold query."""
        return [(record, verdict) for record, verdict in self.answers if verdict.question.golds]

    def find_linked_turns(self) -> Iterator[tuple[str, Schema, TurnRecord]]:
        """Yield gold query, schema and record of each turn in which schema items were linked."""
        with SingleDatabaseCache() as databases:
            for record, verdict in self.answers_with_gold:
                if not record.linked:
                    continue
                with suppress(DatabaseUnavailable):
                    location = self.dataset.locate(verdict.question.database)
                    yield verdict.question.golds[0], databases.open(location).schema(), record

    @cached_property
    def linking(self) -> dict[str, float]:
        """The schema linker's redundancy scores."""
        return compute_mean_redundancy((sql, schema, record.linked) for sql, schema, record in self.find_linked_turns())

    def as_json(self, spec: RunSpec, seconds: float = 0.0, rulings: Sequence[Ruling] = ()) -> dict[str, Any]:
        """Return the contents of `results.json`; `seconds` is the wall time since the last start."""
        by_id = {verdict.question.id: verdict for verdict in self.official}
        records = [record for record, _ in self.answers]
        tokens = [record.tokens for record in records]
        verdicts = [verdict for _, verdict in self.answers if verdict.question.golds or verdict.ex is not None]
        with StrictJudge(self.dataset) as judge:
            questions = [
                _describe_turn(record, verdict, by_id.get(verdict.question.id), judge, self.dataset.is_conversational)
                for record, verdict in self.answers
            ]
        results = {
            "version": __version__,
            "run": asdict(spec),
            "strict": dump_scores(verdicts),
            "official": dump_scores(self.official),
            "linking": self.linking,
            "outcomes": compute_outcome_scores(self.answers),
            "cost": {
                "llm_calls": sum(record.calls for record in records),
                "prompt_tokens": sum(prompt for prompt, _ in tokens),
                "completion_tokens": sum(completion for _, completion in tokens),
                "turn_seconds": round(sum(record.seconds for record in records), 3),
                "wall_seconds": round(seconds, 3),
            },
            "questions": questions,
            "recorded": "",  # until it is added to a record of models
        }
        add_verdict_scores(results, self.dataset, [verdict for _, verdict in self.answers_with_gold], rulings)
        hide_passwords(results)
        return results


def _describe_turn(
    record: TurnRecord, verdict: Verdict, official: Verdict | None, judge: StrictJudge, conversational: bool
) -> dict[str, Any]:
    """Return a question with its answer and verdict, as stored in results.json."""
    question, kind = verdict.question, classify_error(verdict, judge.clauses) if official else None
    gold = judge.get_gold_table(question) if official else None
    return {
        "question": question.text,
        "hint": question.evidence,
        **{name: getattr(question, name) for name in ("database", "interaction", "turn", "golds", "disputed")},
        **{name: getattr(verdict, name) for name in ("hardness", "ex", "em", "valid", "error")},
        "official_ex": official.ex if official else verdict.ex,
        "expects": question.expects.outcome if question.expects else None,
        **asdict(record),
        "error_class": kind,
        "clauses": judge.clauses.find_prediction_differences(question, verdict.sql) if kind else (),
        # Revision chain, figure 3.
        "attempts_right": [judge.judge(question, item["sql"]).ex if official else None for item in record.attempts],
        "gold_columns": gold.columns if gold else (),
        "gold_rows": [[convert_cell(cell) for cell in row] for row in gold.rows[:SHOWN_ROWS]] if gold else (),
        "gold_row_count": len(gold.rows) if gold else None,
        "outcome": classify_outcome(record, verdict) if conversational else None,
    }


def hide_passwords(results: dict[str, Any]) -> None:
    """Remove the passwords from database URLs in a run's results."""
    for scores in (results["strict"], results["official"]):
        scores["by_database"] = {hide_url_secrets(name): score for name, score in scores["by_database"].items()}
    for question in results["questions"]:
        question["database"] = hide_url_secrets(question["database"])


def write_results(results: dict[str, Any], out: Path) -> None:
    """Write `results.json` atomically into the run's folder."""
    write_text_atomically(out / RESULTS_FILE, json.dumps(results))


def read_results(out: Path) -> dict[str, Any]:
    """Return the results of a finished run."""
    path = out / RESULTS_FILE
    if not path.exists():
        raise SettingsError(f"there is no finished run in {out}: name another, or finish it with `tableturn eval`")
    results = read_json(read_text_file(path), path)
    if not isinstance(results, dict):
        raise SettingsError(f"{path} is not a results file of `tableturn eval`: finish the run again")
    if "by_question" in results:
        # Version 0.2 kept a trial's turns by question, and nothing else of a run.
        results["questions"] = [
            {
                **turn,
                "interaction": f"{question['id']}~{number}",
                "id": f"{question['id']}~{number}.{place}",
                "ex": turn["passed"],
                "error": turn["why"],
                "accepted": conditions,
            }
            for question in results.pop("by_question")
            for number, attempt in enumerate(question["tries"], 1)
            for place, (turn, conditions) in enumerate(zip(attempt["turns"], question["accepted"], strict=True), 1)
        ]
    return results
