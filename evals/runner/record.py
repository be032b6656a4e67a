"""What is kept of one answered question, and who answers: an agent, a baseline, or workers on a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...tools.errors import TableturnError
from ..datasets import Question

SHOWN_ROWS = 10
"""The most rows of a result that a record keeps, for people to look at."""

NOT_ASKED = "not_asked"
"""The status of a question that the model could not be asked: no answer, and asked again when the run is resumed."""


@dataclass(frozen=True)
class TurnRecord:
    """An answer as a run keeps it.

    Attributes:
        id: The question's id.
        sql: The answer's query; empty if there is none.
        status: The answer's status; `failed` if an error ended the turn, `not_asked` if the model could not be asked.
        rephrased: The question made self-contained.
        text: The answer in words, or why there is none.
        confidence: How sure the answer is, from 0 to 1.
        columns: The result's column names.
        rows: The result's first ten rows.
        row_count: The number of rows in the result.
        attempts: Every query that the turn ran, with `sql`, `error`, `row_count`, `feedback`.
        usage: `llm_calls`, `prompt_tokens`, `completion_tokens`, `seconds`.
        usage_by_node: The same for each node.
        notes: What was left out, repaired or switched off.
        seconds: Wall time of the turn.
        asked_back: What the agent asked back before it answered; empty if it did not.
        evidence: What the confidence is computed from, by name; None in records of earlier versions.
        linked: Schema items that the question is about with a probability of at least 0.1, by the linker: table, column
            or None, probability.
    """

    id: str
    sql: str
    status: str
    rephrased: str = ""
    text: str = ""
    confidence: float = 0.0
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    row_count: int = 0
    attempts: tuple[dict[str, Any], ...] = ()
    usage: Mapping[str, int | float] | None = None
    usage_by_node: Mapping[str, Mapping[str, int | float]] | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    linked: tuple[tuple[str, str | None, float], ...] = ()
    asked_back: str = ""
    evidence: Mapping[str, float] | None = None

    @property
    def asked(self) -> bool:
        """Whether this is an answer, right or wrong."""
        return self.status != NOT_ASKED

    @property
    def has_asked_back(self) -> bool:
        """Whether the agent asked back, be it in place of an answer."""
        return bool(self.asked_back) or self.status == "needs_clarification"

    @property
    def calls(self) -> int:
        """Requests that a model answered."""
        return int((self.usage or {}).get("llm_calls", 0))

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion tokens."""
        usage = self.usage or {}
        return int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))


class Answering(Protocol):
    """Answers interactions, any number of them at once."""

    def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield records of the turns of one interaction that `recorded` lacks, in order, each as soon as it is there.

        Nothing follows a turn that the model could not be asked if later turns build on its answer. `recorded` are
        those that an earlier start of the run made, by question id.
        """
        ...

    def close(self) -> None: ...


def failed(turn: Question, error: Exception) -> TurnRecord:
    """Return the record of a turn that an error ended: a wrong answer, while the other questions still count."""
    text = str(error) if isinstance(error, TableturnError) else f"crashed: {error!r}"
    return TurnRecord(turn.id, "", "failed", text=text)


def not_asked(turn: Question, why: str) -> TurnRecord:
    """Return the record of a turn for which the model gave no reply: nothing to judge."""
    return TurnRecord(turn.id, "", NOT_ASKED, text=why)
