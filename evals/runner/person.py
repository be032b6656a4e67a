"""The person who asked, as a run plays them: says what was meant where the agent asks back, and never any SQL."""

from __future__ import annotations

from rapidfuzz import fuzz

from ...agent import Answer
from ..datasets import Question


def told(turn: Question, answer: Answer) -> str:
    """The reply to what was asked back: the choice nearest to what the asker means, else that in their words.

    Args:
        turn: Says what its asker means; without that there is no reply.
        answer: What was asked back, with the choices on offer.

    Returns:
        Empty where the person has nothing to say.
    """
    meant = turn.expects.meant if turn.expects else ""
    if not meant or not answer.choices:
        return meant
    return max(answer.choices, key=lambda choice: fuzz.token_set_ratio(choice.lower(), meant.lower()))
