"""The same question with another gold: one of the two cannot be what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..datasets import Question
from .dispute import Dispute, Golds


def twin_disputes(golds: Golds) -> Iterator[Dispute]:
    """Golds whose results differ from that of the same question, asked after the same turns of the same database."""
    twins: dict[tuple[str, ...], list[Question]] = {}
    for turns in golds.dataset.interactions:
        asked: tuple[str, ...] = (turns[0].database,)
        for turn in turns:
            asked = (*asked, _words(turn.text))
            twins.setdefault(asked, []).append(turn)
    for alike in twins.values():
        for question in alike:
            others = [twin for twin in alike if twin is not question and golds.contradicts(question, twin.golds[0])]
            if others:
                told = "; ".join(f"question {twin.id} has {twin.golds[0]}" for twin in others[:2])
                yield Dispute(question, "twin", f"the same question with another gold: {told}")


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w.%<>=']+", text.casefold()))
