"""Answers on their way to a model: without the rows that may not leave, and masked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..agent import Answer
from ..tools.masking import mask

if TYPE_CHECKING:
    from ..agent import SQLAgent


def for_model(answer: Answer) -> Answer:
    """The answer as far as it may leave."""
    return Answer(answer.kept, answer.thread)


def masked(value: Any, agent: SQLAgent) -> Any:
    """JSON values with their texts masked as the policy says."""
    masks = agent.resources.database.session.policy.egress.mask
    return _masked(value, masks) if masks else value


def _masked(value: Any, masks: Any) -> Any:
    if isinstance(value, str):
        return mask(value, masks)
    if isinstance(value, dict):
        return {name: _masked(each, masks) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each, masks) for each in value]
    return value
