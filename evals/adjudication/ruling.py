"""Rulings by people and models on answers: their file, and the scores that follow from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ...prompts.judge import Kind, Word
from ...tools.database import Database, Limits, Schema, hide_url_secrets
from ...tools.errors import DatabaseUnavailable, QueryError, SQLParseError
from ...tools.record_files import decode_text, read_file, read_lines
from ...tools.sql import regularize
from ...tools.terminal import warn
from ...tools.whole_files import append_lines, find_incomplete_last_line
from ..datasets.load import ClosingContext, Dataset, GoldTurn, join_operators, parse_record
from ..metrics.judging import StrictJudge, Verdict
from ..metrics.summary import format_percent

VERDICTS_FILE = "verdicts.jsonl"  # the verdict file that lies beside a run

# An id that moves with what is put before its question: the number in a file without ids, with try and turn in a trial.
_BY_PLACE = re.compile(r"\d+|.*~\d+\.\d+", re.DOTALL)
_FIELDS = {"verdict", "kind", "why", "by"}  # what a ruling says, beside what it is on


class Ruling(BaseModel):
    """A verdict on a query; it also holds for every query with the same result."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = ""  # its name; empty for any
    id: str = ""  # the question's; empty if its text tells it from others
    question: str = Field(min_length=1)
    sql: str = Field(min_length=1)  # the query that is judged, which may be the gold query itself
    gold: str = ""  # the question's, which tells questions of the same words apart; empty for any
    database: str = ""  # likewise; a trial has one, whatever it is called
    verdict: Word  # `right` for an answer that whoever asked would accept, beside gold or against it
    kind: Kind | Literal[""] = ""  # what is wrong with it, if something is
    why: str = ""
    by: str = ""  # a person, or `model NAME`
    at: str = ""  # when, in ISO 8601
    accepted: bool = True  # False for a proposal, which counts for nothing until a person takes it over


def now() -> str:
    """Return the current time in UTC as an ISO 8601 text, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_rulings(path: Path, allow_missing: bool = False) -> list[Ruling]:
    """Read the rulings of a verdict file in order; the last ruling on a query counts."""
    if allow_missing and not path.exists():
        return []
    content = read_file(path)
    # A last line that a killed process left half written is passed over, and the next one takes its place.
    if incomplete_line := find_incomplete_last_line(content):
        _warn_of_incomplete_line(path, incomplete_line)
    records = read_lines(decode_text(content.removesuffix(incomplete_line), path), path)
    return [parse_record(Ruling, record, f"verdicts: {path}, record {n}") for n, record in enumerate(records, 1)]


@lru_cache  # once, however often the file is read
def _warn_of_incomplete_line(path: Path, line: bytes) -> None:
    warn(f"verdicts: {path}: its last line is incomplete and was skipped: {line.decode(errors='replace')}")


def append_rulings(path: Path, rulings: Iterable[Ruling]) -> None:
    """Append rulings to a verdict file; create the file if necessary."""
    append_lines(path, "".join(ruling.model_dump_json() + "\n" for ruling in rulings))


@dataclass(frozen=True)
class RuledAnswer:
    """The verdict on an answer, with its basis and reason."""

    verdict: Word | None  # none if gold and answer disagree and nobody has judged: never guessed
    # What it rests on: gold alone, a ruling on this very query, one on a query with the same result, nothing.
    basis: Literal["gold", "ruling", "result", "none"]
    why: str = ""  # the ruling's reason; empty if gold decides
    kind: str = ""  # the ruling's
    proposal: Ruling | None = None  # what a judge proposes if nobody has decided; it counts for nothing
    gold_proposal: Ruling | None = None  # likewise of the gold query

    def as_json(self) -> dict[str, Any]:
        """Return the verdict on the answer as a JSON object."""
        proposals = {"proposal": self.proposal, "gold_proposal": self.gold_proposal}
        return {**vars(self), **{name: item and item.model_dump(include=_FIELDS) for name, item in proposals.items()}}


class Adjudicator(ClosingContext):
    """A judge of answers that applies the rulings of a verdict file.

    A ruling is on an answer by its SQL up to regularisation, or by the same result as the query that was judged.
    """

    def __init__(self, dataset: Dataset, rulings: Iterable[Ruling]) -> None:
        self._dataset = dataset
        self._judge = StrictJudge(dataset)
        self.close = self._judge.close
        self._schema = cache(self._read_database_schema)
        self._rulings: dict[str, list[Ruling]] = {}
        for ruling in rulings:
            if ruling.dataset in ("", dataset.name):
                # Golds are judged with whole operators, and a ruling may be on the gold as it was published.
                texts = {"sql": join_operators(ruling.sql), "gold": join_operators(ruling.gold)}
                rulings_of_question = self._rulings.setdefault(_collapse_spaces(ruling.question), [])
                rulings_of_question.append(ruling.model_copy(update=texts))

    def judge_answer(self, question: GoldTurn, sql: str, ex: bool | None, valid: bool) -> RuledAnswer:
        """Return the verdict on an answer; `ex` says if it matches gold, None if that is unknown."""
        rulings, proposals = self.find_rulings(question)
        form = self.normalize_sql(question, sql) if rulings or proposals else ""
        if form in rulings:
            ruling = rulings[form]
            return RuledAnswer(ruling.verdict, "ruling", ruling.why, ruling.kind)
        if not sql.strip() or (ex is False and not valid):
            return RuledAnswer("wrong", "gold")
        golds = [self.normalize_sql(question, gold) for gold in question.golds] if form else []

        def is_ruling_on_same_result(query: str, ruling: Ruling) -> bool:
            # Gold says as much as a ruling on gold, and as one that something else is right.
            if ex is not None and query in golds:
                return ex
            if ex and ruling.verdict == "right":
                return False
            return self._judge.judge(replace(question, golds=(ruling.sql,)), sql).ex is True

        alike = [ruling for query, ruling in rulings.items() if is_ruling_on_same_result(query, ruling)]
        if len({ruling.verdict for ruling in alike}) == 1:
            return RuledAnswer(alike[-1].verdict, "result", alike[-1].why, alike[-1].kind)
        if ex and not alike:
            return RuledAnswer("right", "gold")
        gold_proposal = proposals.get(golds[0]) if golds and golds[0] not in rulings else None
        return RuledAnswer(None, "none", proposal=proposals.get(form), gold_proposal=gold_proposal)

    def find_rulings(self, question: GoldTurn) -> tuple[dict[str, Ruling], dict[str, Ruling]]:
        """Return the latest accepted and the latest proposed rulings on a question, by query."""
        rulings: dict[str, Ruling] = {}
        proposals: dict[str, Ruling] = {}
        for ruling in self._rulings.get(_collapse_spaces(question.text), ()):
            if is_ruling_on(ruling, question, self._dataset):
                by_query, form = rulings if ruling.accepted else proposals, self.normalize_sql(question, ruling.sql)
                by_query.pop(form, None)
                by_query[form] = ruling
        return rulings, proposals

    def normalize_sql(self, question: GoldTurn, sql: str) -> str:
        """Return a query in regular form, or with normalized spaces if it cannot be parsed."""
        with suppress(SQLParseError):
            if schema := self._schema(question.database):
                return regularize(sql, schema)
        return _collapse_spaces(sql)

    def _read_database_schema(self, name: str) -> Schema | None:
        with suppress(DatabaseUnavailable), Database.open(self._dataset.locate(name)) as database:
            return database.schema()
        return None


def is_ruling_on(ruling: Ruling, question: GoldTurn, dataset: Dataset) -> bool:
    """Whether a ruling is about a question: by text and id, or by gold SQL if ids change."""
    if _collapse_spaces(ruling.question) != _collapse_spaces(question.text):
        return False
    if ruling.id and not (ruling.gold and dataset.root is None and _BY_PLACE.fullmatch(ruling.id)):
        return ruling.id == question.id
    if ruling.database not in ("", hide_url_secrets(question.database)) and dataset.name != "trial":
        return False
    return not ruling.gold or _collapse_spaces(join_operators(ruling.gold)) in map(_collapse_spaces, question.golds)


def get_question_key(question: GoldTurn, dataset: Dataset) -> tuple[str, ...]:
    """Return a question's key: its id, or text, gold and database if the dataset's ids change."""
    if dataset.root is not None or not _BY_PLACE.fullmatch(question.id):
        return (question.id,)
    return *map(_collapse_spaces, (question.text, *question.golds[:1])), question.database


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class VerdictScores:
    """Execution accuracy by people's verdicts, with the number of answers of each verdict."""

    n: int  # questions that were asked
    right: int  # answers that a verdict calls right, or that gold calls right and no verdict calls otherwise
    wrong: int  # answers that a verdict calls wrong, or that do not run
    unclear: int  # answers whose verdict is unclear
    unjudged: int  # answers that differ from gold and have no verdict
    proposed: int  # the unjudged answers for which a judge has proposed a verdict
    low: float | None  # EX if all open answers were wrong
    high: float | None  # EX if all open answers were right
    ex: float | None  # the share of right answers among right and wrong ones; None while any answer is unjudged


def score_outcomes(outcomes: Mapping[str, RuledAnswer]) -> dict[str, Any]:
    """Return `VerdictScores` as a dictionary, with the verdict on each answer by question id."""
    counts, n = Counter(outcome.verdict for outcome in outcomes.values()), len(outcomes)
    right, wrong, open_count = counts["right"], counts["wrong"], counts[None]
    proposal_count = sum(outcome.verdict is None and outcome.proposal is not None for outcome in outcomes.values())
    low, high = (right / n, (n - wrong) / n) if n else (None, None)
    ex = right / (right + wrong) if right + wrong and not open_count else None
    scores = VerdictScores(n, right, wrong, counts["unclear"], open_count, proposal_count, low, high, ex)
    return {**asdict(scores), "per_question": {name: outcome.as_json() for name, outcome in outcomes.items()}}


def format_ex(scores: Mapping[str, Any]) -> str:
    """Format EX by verdict in percent, as a range if some answers have no verdict."""
    if scores.get("ex") is not None or scores.get("low") is None:
        return format_percent(scores.get("ex"))
    return f"{format_percent(scores['low'])} to {format_percent(scores['high'])}"


def format_scores_line(scores: Mapping[str, Any], verdicts: Iterable[Verdict]) -> str:
    """Return a line with EX by gold, EX by verdict, and the number of answers per verdict."""
    if scores["low"] is None:
        return "EX by gold -, by verdict -: nothing was asked"
    outcomes = [verdict.ex for verdict in verdicts if verdict.was_asked and verdict.ex is not None]
    by_gold = format_percent(sum(outcomes) / len(outcomes) if outcomes else None)
    # Gold that cannot be run judges nothing, a person still can.
    bases = ("", "") if len(outcomes) == scores["n"] else (f" of {len(outcomes)}", f" of {scores['n']}")
    counts = ", ".join(f"{scores[word]} {word}" for word in ("right", "wrong", "unclear"))
    open_text = f", {scores['unjudged']} unjudged" if scores["unjudged"] else ""
    proposal_text = f" ({scores['proposed']} with a proposal)" if scores["proposed"] else ""
    gold, verdict = f"EX by gold {by_gold}{bases[0]}", f"by verdict {format_ex(scores)}{bases[1]}"
    return f"{gold}, {verdict}: {counts}{open_text}{proposal_text}"


def add_verdict_scores(
    results: dict[str, Any], dataset: Dataset, verdicts: Iterable[Verdict], rulings: Sequence[Ruling]
) -> None:
    """Add `by_verdict` scores to a run's results, and the `ruling` of each question."""
    scores = score_outcomes(apply_rulings(dataset, verdicts, rulings))
    per_question = scores.pop("per_question")
    results["by_verdict"] = {**scores, "ruled": bool(rulings)}
    for record in results["questions"]:
        record["ruling"] = per_question.get(record["id"])


def apply_rulings(dataset: Dataset, verdicts: Iterable[Verdict], rulings: Iterable[Ruling]) -> dict[str, RuledAnswer]:
    """Return the verdict on each answer under the rulings, by question id."""
    with Adjudicator(dataset, rulings) as adjudicator:
        return {
            verdict.question.id: adjudicator.judge_answer(verdict.question, verdict.sql, verdict.ex, verdict.valid)
            for verdict in verdicts
            if verdict.was_asked
        }


def select_new_decisions(
    decisions: Iterable[Ruling], earlier: Iterable[Ruling], dataset: Dataset | None
) -> tuple[list[Ruling], list[str]]:
    """Return the decisions that differ from `earlier`, and why others were refused.

    They must be on questions of the dataset, if one is given, and what they call right must run there.
    """
    get_identity = attrgetter("dataset", "id", "question", "gold", "database", "sql")
    latest = {get_identity(ruling): ruling.model_dump(include=_FIELDS) for ruling in earlier if ruling.accepted}
    rulings: list[Ruling] = []
    refusals: list[str] = []
    for number, ruling in enumerate(decisions, 1):
        fields = ruling.model_dump(include=_FIELDS)
        if latest.get(get_identity(ruling)) == fields:
            continue
        if dataset is not None and (reason := _explain_inapplicable_ruling(ruling, dataset)):
            refusals.append(f"decision {number} ({ruling.question}): {reason}")
        else:
            latest[get_identity(ruling)] = fields
            rulings.append(ruling)
    return rulings, refusals


def _explain_inapplicable_ruling(ruling: Ruling, dataset: Dataset) -> str:
    """Return why a ruling cannot apply to the dataset, or ''."""
    if ruling.dataset not in ("", dataset.name):
        return f"the verdict is about {ruling.dataset}, not {dataset.name}"
    question = next((question for question in dataset.questions if is_ruling_on(ruling, question, dataset)), None)
    if question is None:
        return f"no question of {dataset.name} {dataset.split} has this id, text and gold"
    if ruling.verdict == "right":
        with Database.open(dataset.locate(question.database)) as database:
            try:
                database.execute(join_operators(ruling.sql), Limits(seconds=30.0, rows=1))
            except QueryError as error:
                return f"the query does not run, so it cannot be right: {error}"
    return ""
