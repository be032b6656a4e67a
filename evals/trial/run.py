"""Trials: questions of your own asked and judged, compared, and used to set trust bounds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from ...agent import SQLAgent, make_settings
from ...agent.evidence import TrustBound, compute_fingerprints, write_trust_bound
from ...tools.database import Database
from ...tools.errors import ModelError, QueryError, SettingsError
from ...tools.examples import VERIFIED, database_identity
from ...tools.whole_files import append_lines, write_text_atomically
from ...tools.words import words
from ..adjudication.ruling import VERDICTS_FILE, now, read_rulings
from ..datasets.load import Dataset, ExpectedOutcome, GoldTurn
from ..metrics.judging import GOLD_LIMITS, ExpectedResult, Verdict, compute_expected_result, describe_unanswered
from ..metrics.statistics import compute_wilson_interval, find_confidence_level, number_repeats
from ..report.page import write_report
from ..runner.agents import CACHE_FILE, ReplyCache
from ..runner.record import RunSpec, TurnRecord
from ..runner.results import HISTORY_FILE, RESULTS_FILE, RunResults, get_used_model_name, read_results, write_results
from ..runner.run import JOURNAL_FILE, SPEC_FILE, Listener, check_output_folder, make_run_settings, run_evaluation
from .question import TrialQuestion, TrialTurn, format_row_count, read_trial_questions

TRIAL_KEYS = (
    *("trial", "tries", "pass_rate", "interval", "stable_rate", "unstable", "failed", "broken", "not_asked"),
    *("cost", "gate", "compared", "seconds"),
)
"""What the results of a trial have besides those of a run; `cost` has more in it."""

_DATASET = "trial "  # what a trial's specification calls its dataset; the database follows

_DID = {"needs_clarification": "it asked back", "unanswerable": "it declined", "failed": "it failed"}


@dataclass(frozen=True)
class TrialOptions:
    """The questions, database and options of a trial."""

    database: str  # a path, or a URL
    questions: Path  # the question file
    model: str | None = None  # as for `tableturn ask`
    base_url: str | None = None  # of an OpenAI-compatible server
    preset: str | None = None  # the agent's
    settings: dict[str, Any] = field(default_factory=dict[str, Any])  # fields that differ from the preset
    examples: str | None = None  # an example store
    tries: int = 1  # how often each question is asked
    jobs: int = 4  # conversations at once
    price: tuple[float, float] | None = None  # dollars a million prompt and completion tokens; None leaves money out
    gate: float | None = None  # the least share of questions that must pass; None for no gate


def run_trial(
    options: TrialOptions, out: Path, listener: Listener, questions: Sequence[TrialQuestion] | None = None
) -> dict[str, Any]:
    """Ask every question as often as wanted, judge the answers, and write results and a page.

    A trial that was interrupted goes on where it was when it is started again with the same folder; one that is done is
    held again, and compared with the last. The folder has `results.json`, which is returned, `previous.json`,
    `history.jsonl`, `report.html`, and every reply of the model. `questions` need not be in a file.
    """
    trial_questions = read_trial_questions(options.questions) if questions is None else questions
    with Database.open(options.database) as database:
        dataset, turns = make_trial_dataset(trial_questions, options.database, options.tries)
        fields = {name: getattr(options, name) for name in ("model", "preset", "settings", "examples", "base_url")}
        spec = RunSpec(_DATASET + database.location, "all", **fields)
        make_run_settings(spec, dataset)
        try:
            check_output_folder(spec, dataset, dataset, out)
        except SettingsError:
            # An interrupted trial of another kind is forgotten; a run of another command is not.
            spec_file = out / SPEC_FILE
            text = spec_file.read_text(encoding="utf-8", errors="replace") if spec_file.is_file() else ""
            if f'"dataset": "{_DATASET}' not in text:
                raise
            _delete_journal(out)
        previous = read_results(out) if (out / RESULTS_FILE).exists() else None
        if previous is not None and "trial" not in previous:
            raise SettingsError(f"{out / RESULTS_FILE} is not a results file of `tableturn trial`")
        judge = TrialJudge(database, turns).judge
        with closing(ReplyCache(out / CACHE_FILE)) as cache:
            start, replies = time.perf_counter(), cache.size()
            answers = run_evaluation(spec, dataset, out, jobs=options.jobs, listener=listener, judge=judge)
            new_replies = cache.size() - replies  # those that the model gave in this start
    rulings = read_rulings(out / VERDICTS_FILE, allow_missing=True)
    results = RunResults(dataset, answers).as_json(spec, time.perf_counter() - start, rulings)
    notes = {question.id: question.note for question in trial_questions}
    for record, (_, verdict) in zip(results["questions"], answers, strict=True):
        conditions = turns[record["id"]].model_dump(exclude_defaults=True, exclude={"question"})
        record |= {"accepted": conditions, "note": notes[_get_question_id(record)], "broken": verdict.broken}
    results = _make_trial_results(results, options, database.location)
    results["cost"]["new_replies"] = new_replies
    if results["not_asked"]:
        return results
    if previous is not None:
        results["compared"] = compare_trials(previous, results)
        if results["compared"]["as_before"]:
            results["recorded"] = previous.get("recorded", "")
        write_text_atomically(out / "previous.json", (out / RESULTS_FILE).read_text(encoding="utf-8"))
    write_results(results, out)
    figures = {name: results[name] for name in ("tries", "pass_rate", "seconds")}
    line = {**results["trial"], **figures, "calls": results["cost"]["calls"]}
    append_lines(out / HISTORY_FILE, json.dumps(line, ensure_ascii=False) + "\n")
    _delete_journal(out)
    write_report([out], out / "report.html")
    return results


def _delete_journal(out: Path) -> None:
    """Delete the run's journal but keep the replies."""
    for name in (JOURNAL_FILE, SPEC_FILE):
        (out / name).unlink(missing_ok=True)


def make_trial_dataset(items: Sequence[TrialQuestion], place: str, tries: int) -> tuple[Dataset, dict[str, TrialTurn]]:
    """Return the questions, each repeated `tries` times, and the accepted answers by id."""
    path = None if "://" in place else Path(place).absolute()
    name = path.name if path else place
    questions: list[GoldTurn] = []
    turns: dict[str, TrialTurn] = {}
    for question, number in product(items, range(1, tries + 1)):
        interaction, repeat = f"{question.id}~{number}", number if number > 1 else None
        for position, turn in enumerate(question.turns, 1):
            key, expects = f"{interaction}.{position}", ExpectedOutcome(turn.must or "answer", turn.reply)
            turns[key], fields = turn, (tuple(turn.sql), interaction, position, turn.evidence)
            questions.append(GoldTurn(key, name, turn.question, *fields, expects=expects, repeat=repeat))
    return Dataset("trial", "all", tuple(questions), (path.parent,) if path else ()), turns


class TrialJudge:
    """A judge that compares answers with what each question of a trial accepts."""

    def __init__(self, database: Database, turns: Mapping[str, TrialTurn]) -> None:
        self._database, self._turns = database, turns
        self._get_outcome = lru_cache(64)(self._run_accepted_query)

    def judge(self, question: GoldTurn, record: TurnRecord) -> Verdict:
        """Judge an answer; `error` of the verdict says why the answer is not accepted."""
        verdict = self._judge_answer(question, record)
        outcomes = [self._get_outcome(sql) for sql in self._turns[question.id].sql] if record.was_asked else []
        if outcomes and all(isinstance(outcome, QueryError) for outcome in outcomes):  # whatever was answered
            reason = f"the question's own query does not run: {outcomes[0]}"
            return replace(verdict, ex=False, error=reason, broken=True)
        return verdict

    def _judge_answer(self, question: GoldTurn, record: TurnRecord) -> Verdict:
        verdict = Verdict(question, record.sql, ex=False)
        turn, did = self._turns[question.id], _DID.get(record.status, "it answered")
        asked_back = record.has_asked_back
        if turn.must == "decline":
            reason = "" if record.status == "unanswerable" else f"it must decline, but {did}"
        elif turn.must == "ask_back" and not (asked_back and turn.conditions):
            reason = "" if asked_back else f"it must ask back, but {did}"
        elif not record.sql or record.status in _DID:
            reason = f"{did}: {record.text}"
        else:
            return self._judge_query(turn, verdict)
        return replace(verdict, ex=not reason, error=reason)

    def _judge_query(self, turn: TrialTurn, verdict: Verdict) -> Verdict:
        try:
            table = self._database.execute(verdict.sql, GOLD_LIMITS)
        except QueryError as error:
            return replace(verdict, error=f"its query does not run: {error}")
        outcomes = map(self._get_outcome, turn.sql)
        expected = [outcome for outcome in outcomes if isinstance(outcome, ExpectedResult)]
        if not expected or any(outcome.allows(table) for outcome in expected):
            reason = turn.explain_mismatch(table)
        elif len(expected[0].table.rows) != len(table.rows):
            reason = f"it gives {format_row_count(table)}, not {len(expected[0].table.rows)}"
        elif (width := len(expected[0].table.columns)) != len(table.columns):
            columns = f"{len(table.columns)} column{'' if len(table.columns) == 1 else 's'}"
            reason = f"it gives {columns} ({', '.join(table.columns[:6])}), not {width}"
        else:
            reason = "its values or their order differ from the accepted query's"
        return replace(verdict, ex=not reason, error=reason, valid=True)

    def _run_accepted_query(self, sql: str) -> ExpectedResult | QueryError:
        try:
            return compute_expected_result(self._database, sql)
        except QueryError as error:
            return error


def _make_trial_results(results: dict[str, Any], options: TrialOptions, location: str) -> dict[str, Any]:
    """Return a run's results with the pass rates, failures and costs of the trial.

    A question counts as passed by the share of its tries that pass; the interval is over questions, as tries at
    the same question say little new. Calls and dollars are what the answers take without kept replies.
    """
    outcomes = _collect_question_outcomes(results)
    scores = [question for question in outcomes if question["share"] is not None]
    shares = [question["share"] for question in scores]
    interval, rate = compute_wilson_interval(sum(shares), len(shares)), fmean(shares) if shares else None
    cost, price, least = results["cost"], options.price, options.gate
    dollars = price and round((cost["prompt_tokens"] * price[0] + cost["completion_tokens"] * price[1]) / 1e6, 6)
    fields = {"time": now(), "database": location, "questions_file": str(options.questions.absolute())}
    fields |= {"model": get_used_model_name(options.model, options.base_url), "preset": options.preset or "full"}
    misses = [{name: item[name] for name in ("id", "question", "why", "share")} for item in scores if item["share"] < 1]
    return results | {
        "trial": {**fields, "settings": options.settings, "questions": len(outcomes)},
        "tries": options.tries,
        "pass_rate": rate,
        "interval": interval and list(interval),
        "stable_rate": fmean(share == 1 for share in shares) if shares else None,
        "unstable": [question["id"] for question in scores if 0 < question["share"] < 1],
        "failed": misses,
        "broken": list(dict.fromkeys(_get_question_id(record) for record in results["questions"] if record["broken"])),
        "not_asked": [question["id"] for question in outcomes if question["share"] is None],
        "cost": cost | {"calls": cost["llm_calls"], "dollars": dollars},
        "gate": None if least is None else {"least": least, "met": rate is not None and rate >= least},
        "compared": None,
        "seconds": cost["wall_seconds"],
    }


def _get_question_id(record: Mapping[str, Any]) -> str:
    """Return a question's id in the question file, without the number of the try."""
    return record["interaction"].rpartition("~")[0]


def _collect_question_outcomes(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each question with its share of passed tries, and why one failed."""
    summaries: list[dict[str, Any]] = []
    for name, records in groupby(results["questions"], _get_question_id):
        tries = [list(turns) for _, turns in groupby(records, itemgetter("interaction"))]
        passes: list[bool | None] = []
        reason = ""
        for turns in tries:
            outcomes = [turn["ex"] for turn in turns]
            passes.append(False if False in outcomes else None if None in outcomes else True)
            if not passes[-1] and not reason:
                index = outcomes.index(passes[-1])
                reason = f"turn {index + 1}: {turns[index]['error']}" if len(turns) > 1 else turns[0]["error"]
        question = " / ".join(turn["question"] for turn in tries[0])
        share = None if None in passes else fmean(map(bool, passes))
        conditions = [turn["accepted"] for turn in tries[0]]
        summaries.append({"id": name, "question": question, "why": reason, "share": share, "accepted": conditions})
    return summaries


def compare_trials(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Compare two trials, question by question.

    A question is the same by its words: without ids, numbers move with what is put in between. One whose words or
    turns were changed counts as another question.
    """
    outcomes = map(_collect_question_outcomes, (before, now))
    old, new = (dict(zip(number_repeats(item["question"] for item in items), items, strict=True)) for items in outcomes)
    pairs = [(old[words], question) for words, question in new.items() if words in old]
    changes = [
        {
            **{name: b[name] for name in ("id", "question", "why")},
            "before": a["share"],
            "now": b["share"],
            "expects_otherwise": a["accepted"] != b["accepted"],
        }
        for a, b in pairs
        if a["share"] is not None and b["share"] is not None
    ]
    groups = {
        "added": [question for words, question in new.items() if words not in old],
        "removed": [question for words, question in old.items() if words not in new],
    }
    answers = [[(record["id"], record["sql"], record["ex"]) for record in side["questions"]] for side in (before, now)]
    fields = {name: before["trial"][name] for name in ("model", "database")}
    return {
        "with": before["trial"]["time"],
        **fields,
        "pass_rate": before["pass_rate"],
        "better": [change for change in changes if change["now"] > change["before"]],
        "worse": [change for change in changes if change["now"] < change["before"]],
        # A trial in which nothing differs says nothing new of its model.
        "as_before": fields == {name: now["trial"][name] for name in fields} and answers[0] == answers[1],
        "same": sum(change["now"] == change["before"] for change in changes),
        "expects_otherwise": [b["id"] for a, b in pairs if a["accepted"] != b["accepted"]],
        **{word: [question["id"] for question in questions] for word, questions in groups.items()},
        **{f"{word}_questions": [question["question"] for question in questions] for word, questions in groups.items()},
    }


def fit_trust_bound(
    trial: TrialOptions, labels: Path | None, alpha: float, certainty: float, out: Path, file: Path, listener: Listener
) -> TrustBound:
    """Ask a trial's questions, and save the lowest confidence at which answers are trusted.

    Without `labels`, they are the answers that were approved or corrected. At most a share `alpha` of the trusted
    answers is wrong, with that certainty.
    """
    with SQLAgent(
        trial.database,
        model=trial.model,
        settings=make_settings(trial.settings, preset=trial.preset),
        examples=trial.examples,
        base_url=trial.base_url,
    ) as agent:
        resources, settings = agent.resources, agent.settings
        identity, model = database_identity(resources.database), resources.translator(settings).model
        prints = compute_fingerprints(resources, settings)
        questions = _read_approved_answers(agent) if labels is None else read_trial_questions(labels)
        # Evaluations change these, and a bound must be set with them as people will ask.
        own_fields = {name: getattr(settings, name) for name in ("conventions", "today", "ledger")}
    # An approved answer would give away what is right for its own question.
    fields = {**own_fields, **trial.settings, "verified": False, "own_examples": 0, "record": "off", "trust": "off"}
    results = run_trial(replace(trial, settings=fields), out, listener, questions)
    if results["not_asked"]:
        raise ModelError(describe_unanswered([record["error"] for record in results["questions"]]))
    level = find_confidence_level(list_judged_answers(results), alpha, certainty)
    bound = TrustBound(identity, model, alpha, certainty, **asdict(level), fingerprints=prints, time=now())
    write_trust_bound(bound, file)
    return bound


def list_judged_answers(results: Mapping[str, Any]) -> list[tuple[float, bool]]:
    """Return confidence and correctness of each of a trial's answers.

    The same query for the same question counts once, and as wrong if it was ever judged so: a bound takes labels that
    are independent of each other.
    """
    answers: dict[tuple[tuple[str, ...], str], tuple[float, bool]] = {}
    for _, turns in groupby(results["questions"], lambda turn: turn["interaction"]):
        dialogue: tuple[str, ...] = ()
        for turn in turns:
            dialogue = (*dialogue, _normalize_question(turn["question"]))
            if turn["status"] not in ("converged", "capped") or not turn["sql"] or turn["broken"]:
                continue
            key = (dialogue, " ".join(turn["sql"].casefold().split()))
            if key not in answers or not turn["ex"]:
                answers[key] = (turn["confidence"], turn["ex"])
    return list(answers.values())


def _normalize_question(question: str) -> str:
    """Return a question's words, which identify it across trials."""
    return " ".join(word.folded for word in words(question)) or question.strip()


def _read_approved_answers(agent: SQLAgent) -> list[TrialQuestion]:
    """Return trial questions that accept the answers which a person approved or corrected."""
    database = agent.resources.database
    identity, store = database_identity(database), agent.resources.examples.open_own_store()
    queries: dict[str, tuple[str, list[str]]] = {}
    for example in (hit.example for hit in store.seen_by(database).visible(identity)) if store else ():
        if example.owner == identity and example.source in VERIFIED:
            queries.setdefault(_normalize_question(example.question), (example.question, []))[1].append(example.sql)
    if not queries:
        raise SettingsError(
            "no answer about this database has been approved or corrected yet: pass --labels with a trial's questions"
        )
    return [
        TrialQuestion.model_validate({"id": number, "turns": [{"question": question, "sql": sql}]})
        for number, (question, sql) in enumerate(queries.values(), 1)
    ]
