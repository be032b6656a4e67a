"""The parts of a run: its specification, and a record of each question."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ...tools.errors import DatabaseUnavailable, TableturnError
from ..datasets import GoldTurn

REPLAY = "replay:"  # the prefix of a model's name that is followed by files of predictions, with commas between them

History = Literal["gold", "predicted"]


def is_replay_model(model: str | None) -> bool:
    """Whether a model name refers to files of recorded predictions."""
    return model is not None and model.startswith(REPLAY)


@dataclass(frozen=True)
class RunSpec:
    """The specification of a run: the data, model and settings that the answers depend on."""

    dataset: str  # a benchmark's name, or a file of your own questions
    split: str = "dev"  # the part of the dataset, such as `dev`
    # The model, as for `tableturn ask --model`. `replay:FILE,FILE` names files of predictions: drafts side by side
    # (with `candidates`), or a draft and its revisions. None in runs of version 0.2 that chose none.
    model: str | None = None
    preset: str | None = None  # the agent's preset; None for its default
    settings: dict[str, Any] = field(default_factory=dict[str, Any])  # fields that differ from the preset
    # The SQL of earlier turns that a turn sees: `gold`, or the agent's own (`predicted`).
    history: History = "predicted"
    limit: int | None = None  # the number of interactions, taken from the start; None for all
    without: tuple[str, ...] = ()  # databases left out
    examples: str | None = None  # an example store; None for the built-in examples
    base_url: str | None = None  # the address of an OpenAI-compatible server
    # The name of the baseline that answers instead of the agent, such as `zero-shot`; None for the agent.
    baseline: str | None = None
    embedding: str = "hashed"  # the embedding of the example store
    # The model that describes schemas, where the settings have them described; None for `model`.
    annotator: str | None = None


SHOWN_ROWS = 10  # the most rows of a result that a record keeps, for people to look at

NOT_ASKED = "not_asked"
"""The status of a question whose model or database was out of reach: no answer, and asked again on resuming."""


@dataclass(frozen=True)
class TurnRecord:
    """The stored record of a run's answer to one turn."""

    id: str  # the question's id
    sql: str  # the answer's query; empty if there is none
    # The answer's status; `failed` if an error ended the turn, `not_asked` if the model or database was out of reach.
    status: str
    rephrased: str = ""  # the question made self-contained
    text: str = ""  # the answer in words, or why there is none
    confidence: float = 0.0  # how sure the answer is, from 0 to 1
    columns: tuple[str, ...] = ()  # the result's column names
    rows: tuple[tuple[Any, ...], ...] = ()  # the result's first ten rows
    row_count: int = 0  # the number of rows in the result
    # Every query that the turn ran, with `sql`, `error`, `row_count`, `feedback`.
    attempts: tuple[dict[str, Any], ...] = ()
    usage: Mapping[str, int | float] | None = None  # `llm_calls`, `prompt_tokens`, `completion_tokens`, `seconds`
    usage_by_node: Mapping[str, Mapping[str, int | float]] | None = None  # the same for each node
    notes: tuple[str, ...] = ()  # what was left out, repaired or switched off
    seconds: float = 0.0  # wall time of the turn
    # Schema items that the question is about with a probability of at least 0.1, by the linker: table, column or None,
    # probability.
    linked: tuple[tuple[str, str | None, float], ...] = ()
    asked_back: str = ""  # what the agent asked back before it answered; empty if it did not
    # What the confidence is computed from, by name; None in records of earlier versions.
    evidence: Mapping[str, float] | None = None

    @property
    def was_asked(self) -> bool:
        """Whether model and database could be reached, so that the record has an answer."""
        return self.status != NOT_ASKED

    @property
    def has_asked_back(self) -> bool:
        """Whether the agent asked the person back, before or instead of an answer."""
        return bool(self.asked_back) or self.status == "needs_clarification"

    @property
    def calls(self) -> int:
        """The number of requests that a model answered."""
        return int((self.usage or {}).get("llm_calls", 0))

    @property
    def tokens(self) -> tuple[int, int]:
        """The numbers of prompt and completion tokens."""
        usage = self.usage or {}
        return int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))


class Answerer(Protocol):
    """A source of answers to any number of interactions at once."""

    def answer(self, turns: Sequence[GoldTurn], records: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the missing records of one interaction's turns in order, as soon as each is ready.

        Nothing follows a turn that could not be asked if later turns build on its answer. `records` are those that
        an earlier start of the run made, by question id.
        """
        ...

    def close(self) -> None: ...


def make_failure_record(turn: GoldTurn, error: Exception) -> TurnRecord:
    """Return the record of a failed turn: counted wrong, or not asked if there is no database."""
    text = str(error) if isinstance(error, TableturnError) else f"crashed: {error!r}"
    return TurnRecord(turn.id, "", NOT_ASKED if isinstance(error, DatabaseUnavailable) else "failed", text=text)
