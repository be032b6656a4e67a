"""What answers a run's questions, as the runner sees it: an agent, a baseline, or workers on a cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from ...tools.errors import TableturnError
from ..datasets import Question
from .record import NOT_ASKED, TurnRecord


class Answering(Protocol):
    """Answers interactions, any number of them at once."""

    def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Records of the turns of one interaction that `recorded` lacks, in order, each as soon as it is there.

        Nothing follows a turn that the model could not be asked where later turns would build on its answer.

        Args:
            turns: All turns of the interaction.
            recorded: Records that an earlier start of the run made, by question id.
        """
        ...

    def close(self) -> None:
        """Closes what is open."""
        ...


def failed(turn: Question, error: Exception) -> TurnRecord:
    """The record of a turn that failed with an error: a wrong answer, while the other questions still count."""
    text = str(error) if isinstance(error, TableturnError) else f"crashed: {error!r}"
    return TurnRecord(id=turn.id, sql="", status="failed", text=text)


def not_asked(turn: Question, why: str) -> TurnRecord:
    """The record of a turn for which the model gave no reply: nothing to judge."""
    return TurnRecord(id=turn.id, sql="", status=NOT_ASKED, text=why)


def asked_text(turn: Question) -> str:
    """What a baseline is asked: the question, with the evidence that comes with it; agents are given it apart."""
    return f"{turn.text}\n({turn.evidence})" if turn.evidence else turn.text
