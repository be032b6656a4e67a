"""The confidence in an answer, from 0 to 1, and the doubts about it that a person can check.

It starts from what the writer of the query says of it (`Sure:`), put right by how often that model was right before.
A query without such a word starts from the record, and from what it decides by itself. What was found when it ran
counts for both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from ...tools.labels import Labels
from ...tools.readings import Agreement
from ...tools.sql.findings import NO_DATE
from ..advice import with_fallback
from ..model.track_record import ModelTrackRecord, get_record_file_path, read_model_track_record
from ..records import Attempt, QueryComplexity, Status, Turn
from ..resources import Run
from .choose_attempt import compare_attempts, differs, is_empty_or_zero_result, is_empty_result

if TYPE_CHECKING:
    from ...tools.sandbox import ResultComparison

BY_CODE = 0.3  # for an answer from pandas code whose SQL did not run: the code was never confirmed
SURE, FAIRLY_SURE = 0.9, 0.7  # confidence from which an answer is called sure, and fairly sure

DOUBTED = 0.8
"""Below this, where prompts ask a model why it is not surer, what it says against its query is told.

Of 120 questions with two readings 116 were then asked back or told of; of 382 right answers 9 % carried a doubt or
another reading.
"""

LONGEST_REASON = 200  # longest words of a model's or an engine's in a reason, in characters
STRENGTH = 20  # what is assumed of a model of which little is known counts as much as so many judged answers

OVER = 0.9  # the mean confidence that models state: one that is right less often overrates itself

FURTHEST = 0.02  # no word of a model's is taken to be nearer to 0 or 1 than this

BY_HAND: Mapping[str, float] = {
    "readings differ": -0.7,
    "rows lost": -0.7,
    "misread": -3.0,
    "approved": 4.0,
    "unfinished": -0.4,
}
"""Weights of signals that no published draft shows, in logits.

Rows that a sum repeats count twice: no other number stands beside it, and of Spider train's 2,021 gold queries with
joins 6 do so, of 150 right drafts none.
"""

WITHOUT_WORD = ("unexpected", "joins", "nested", "columns", "readings differ", "unheld values", "empty")
"""Signals that count only if the writer of a query does not say how sure it is.

Beside the word of a careful and of a hasty reader none of them told right answers from wrong ones any better.
"""

_LINK, _FIGURE = re.compile(r"://|\bwww\.|\w\.[^\W\d_]{2,}/"), re.compile(r"\d{2,}")

NO_REACH = QueryComplexity(0.0, 0, 0)


@dataclass(frozen=True)
class AnswerEvidence:
    """The facts known about an answer, as inputs of the confidence."""

    sure: float | None = None  # how sure the writer of its query says it is, from 0 to 1; None where it does not say
    unheld: int = 0  # texts and numbers that it looks for and that their columns do not hold
    empty: bool = False  # whether nothing came out
    reach: QueryComplexity = NO_REACH
    columns: int = 1  # of the result
    agreeing: int = 0  # other drafts, pandas code among them, with the same result
    differing: int = 0  # those with another
    readings: int = 0  # rival readings of the question that were run
    same_readings: int = 0  # those of them that give the same
    rows_lost: int = 0  # 1 if the answer itself tells of rows that it lacks, or may lack; 2 if of repeated ones
    misread: bool = False  # whether SQLite reads a name in it as a text, or nothing came of what no row can fulfil
    approved: bool = False  # whether a person approved the query for this question
    unfinished: bool = False  # whether the turn ended without converging

    def compute_signals(self) -> dict[str, float]:
        """Return the inputs of the confidence computation by name; 0 for unknown inputs."""
        others = self.agreeing + self.differing
        return {
            "drafts agree": self.agreeing / others if others else 0.0,
            "drafts differ": self.differing / others if others else 0.0,
            "readings differ": 1 - self.same_readings / self.readings if self.readings else 0.0,
            "rows lost": float(self.rows_lost),
            "unheld values": float(min(self.unheld, 1)),
            "empty": float(self.empty),
            "unexpected": min(self.reach.unexpected, 3.0),
            "joins": float(min(self.reach.joins, 3)),
            "nested": float(min(self.reach.nested, 2)),
            "columns": float(min(max(self.columns - 1, 0), 3)),
            "unsure": 0.0 if self.sure is None else 1 - self.sure,
            "said": float(self.sure is not None),
            "misread": float(self.misread),
            "approved": float(self.approved),
            "unfinished": float(self.unfinished),
        }


def gather_answer_evidence(
    attempt: Attempt,
    status: Status = "converged",
    others: Sequence[Attempt] = (),
    comparison: ResultComparison | None = None,
    rivals: Agreement | None = None,
    rows_lost: int = 0,
) -> AnswerEvidence:
    """Return the facts known about an attempt that ran."""
    votes = [compare_attempts(attempt, other) for other in others if other.source == "candidate"]
    if comparison is not None:
        votes.append(True if comparison.agree else False if comparison.conclusive else None)
    rivals = rivals or Agreement()
    return AnswerEvidence(
        sure=attempt.confidence if attempt.comments.sure is None else attempt.comments.sure,
        unheld=sum(literal.missing for literal in attempt.literals),
        empty=attempt.result is not None and is_empty_result(attempt.result),
        reach=attempt.reach or NO_REACH,
        columns=len(attempt.result.columns) if attempt.result else 1,
        agreeing=votes.count(True),
        differing=votes.count(False),
        readings=rivals.ran,
        same_readings=rivals.same,
        rows_lost=rows_lost,
        misread=bool(attempt.misread or _list_unmet_conditions(attempt)),
        approved=attempt.source in ("verified", "edited"),
        unfinished=status == "capped",
    )


@dataclass(frozen=True)
class ConfidenceWeights:
    """The weights of the confidence signals, in logits."""

    prior: float  # the share of right answers that is assumed of a model without a record
    intercept: float  # beside the logit of the model's own share
    signals: Mapping[str, float]  # by name, as `Evidence.signals` has them


@cache
def load_weights() -> ConfidenceWeights:
    """Return the packaged confidence weights, fitted by `evals.lab train evidence`."""
    fields: dict[str, Any] = json.loads((files(__package__ or "") / "data" / "evidence.json").read_text("utf-8"))
    return ConfidenceWeights(fields["prior"], fields["intercept"], {**BY_HAND, **fields["signals"]})


def confidence(
    signals: Mapping[str, float], standing: ModelTrackRecord | None = None, weights: ConfidenceWeights | None = None
) -> float:
    """Return the probability that an answer is right."""
    weights, standing, has_word = (weights or load_weights(), standing or ModelTrackRecord(), bool(signals["said"]))
    if has_word:
        sure = min(max(1 - signals["unsure"], FURTHEST), 1 - FURTHEST)
        value = logit(sure) + logit(estimate_model_accuracy(standing, OVER)) - logit(OVER)
    else:
        value = weights.intercept + logit(estimate_model_accuracy(standing, weights.prior))
    names = (name for name in weights.signals if not (has_word and name in WITHOUT_WORD))
    value += sum(weights.signals[name] * signals[name] for name in names)
    return round(1 / (1 + math.exp(-value)), 3)


def estimate_model_accuracy(standing: ModelTrackRecord, prior: float) -> float:
    """Return a model's estimated accuracy on a database, by scores there and elsewhere."""
    for past in (standing.others, standing.database):
        prior = (past.right + STRENGTH * prior) / (past.n + STRENGTH)
    return prior


def logit(share: float) -> float:
    """Return the logarithm of the odds of a probability."""
    return math.log(share / (1 - share))


def choose_confidence_level(value: float, reason: str) -> Literal["sure", "fairly_sure", "unsure"]:
    """Return the level of confidence that is shown for a probability and a reason for doubt.

    Of certainty itself, as of a query that a person wrote, the reason speaks for it.
    """
    if value == 1 or (value >= SURE and not reason):
        return "sure"
    return "unsure" if value < FAIRLY_SURE and reason else "fairly_sure"


def _list_unmet_conditions(attempt: Attempt) -> tuple[str, ...]:
    """Return what no row can fulfil, with the reason: dates of no calendar, and conditions if nothing came out."""
    is_empty = attempt.never and attempt.result is not None and is_empty_or_zero_result(attempt.result)
    return tuple(fact for fact in attempt.never if is_empty or fact.endswith(NO_DATE))


def list_answer_doubts(
    attempt: Attempt,
    evidence: AnswerEvidence,
    comparison: ResultComparison | None = None,
    attempts: Sequence[Attempt] = (),
    labels: Labels | None = None,
    question: str = "",
) -> list[str]:
    """Return the reasons to doubt an answer, in the language of the labels.

    A model's own words with a link, or with a figure of neither the question nor the query, are not told.
    Other readings of the question, rows that are lost and values that no row has are told in the answer itself.
    """
    doubts, labels = list[str](), labels or Labels()
    if evidence.approved:
        return doubts
    if comparison is not None and differs(comparison):
        doubts.append(f"{labels.say('code_differs')} ({comparison.reason})")
    drafts = evidence.agreeing + evidence.differing - (comparison is not None)
    if differing := evidence.differing - differs(comparison):
        doubts.append(_format_disagreement(differing, drafts, labels))
    if attempt.misread:
        names = labels.join([f"“{name}”" for name in attempt.misread])
        doubts.append(labels.say("misread_names", len(attempt.misread), names=names))
    doubts += map(labels.translate, _list_unmet_conditions(attempt))
    if attempt.comments.doubt and evidence.sure is not None and evidence.sure < DOUBTED:
        words = _shorten_to_one_line(attempt.comments.doubt)
        known = {*_FIGURE.findall(f"{question} {attempt.sql}")}
        if not _LINK.search(words) and known.issuperset(_FIGURE.findall(words)):
            doubts.append(labels.say("model_says", words=words))
    if evidence.unfinished:
        others = [other for other in attempts if other.source != "candidate" and other is not attempt]
        differing = [compare_attempts(attempt, other) for other in others].count(False)
        if others and (error := others[-1].error):
            doubts.append(labels.say("later_failed", error=_shorten_to_one_line(labels.say_error(error)).rstrip(".")))
        elif differing:
            doubts.append(_format_disagreement(differing, len(others), labels))
        if not doubts:
            doubts.append(labels.say("kept_changing"))
    return doubts


def _format_disagreement(differing: int, others: int, labels: Labels) -> str:
    return labels.say("other_differs") if others == 1 else labels.say("others_differ", differing, others=others)


def _shorten_to_one_line(text: str) -> str:
    """Return the text on one line, cut at a word if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1].rsplit(" ", 1)[0] + "…"


@dataclass(frozen=True)
class AnswerConfidence:
    """The confidence in an answer, with the reasons against the answer."""

    value: float  # from 0 to 1; 0 where there is no answer
    alone: float = 0.0  # the same without what the model's record says, which grows: bounds are set on it
    reason: str = ""  # what speaks against it, in words; empty where nothing does
    signals: Mapping[str, float] = field(default_factory=dict[str, float])  # what was weighed; see `Evidence.signals`


UNKNOWN = AnswerConfidence(0.0, 0.0, "the confidence could not be computed")


@with_fallback("confidence", UNKNOWN)
def assess_answer_confidence(
    attempts: Sequence[Attempt],
    attempt: Attempt | None,
    status: Status,
    comparison: ResultComparison | None,
    turn: Turn,
    run: Run,
    rivals: Agreement,
    labels: Labels,
    rows_lost: int = 0,
) -> AnswerConfidence:
    """Return the confidence in a turn's answer; reads the model's track record."""
    if turn.stop and turn.stop.kind == "schema":
        return AnswerConfidence(1.0, 1.0)
    if status not in ("converged", "capped"):
        return AnswerConfidence(0.0)
    if attempt is None or attempt.result is None:
        return AnswerConfidence(BY_CODE, BY_CODE, labels.say("not_confirmed"))
    evidence = gather_answer_evidence(attempt, status, attempts, comparison, rivals, rows_lost)
    path = get_record_file_path(run.resources.settings.record)  # the agent's own settings say where, not the run's
    model = run.translator.model
    past = read_model_track_record(model, run.resources.database.name, path) if path else ModelTrackRecord()
    signals = evidence.compute_signals()
    doubts = list_answer_doubts(attempt, evidence, comparison, attempts, labels, turn.question)
    key, of = ("record_here", past.database) if past.database.n >= STRENGTH else ("record_elsewhere", past.others)
    if of.n >= STRENGTH and of.right < FAIRLY_SURE * of.n:
        doubts.append(labels.say(key, of.n, right=labels.number(of.right)))
    return AnswerConfidence(confidence(signals, past), confidence(signals), "; ".join(doubts), signals)
