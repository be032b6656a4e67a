"""The person who asked, as a run plays them: says what was meant where the agent asks back, and never any SQL."""

from __future__ import annotations

from rapidfuzz import fuzz

from ...agent import Answer
from ...tools.database import Schema
from ...tools.sql import explain
from ..datasets import Question


def told(turn: Question, answer: Answer, schema: Schema) -> str:
    """The reply to what was asked back: the choice nearest to what the asker means, else that in their words.

    Args:
        turn: Says what its asker means; where asking back is right and it does not, its gold does, in plain words.
        answer: What was asked back, with the choices on offer.
        schema: Of the database that was asked.

    Returns:
        Empty where the person has nothing to say.
    """
    meant = turn.expects.meant if turn.expects else ""
    if not meant and turn.expects is not None and turn.expects.outcome == "ask_back" and turn.golds:
        meant = explain(turn.golds[0], schema)
    if not meant or not answer.choices:
        return meant
    return max(answer.choices, key=lambda choice: fuzz.token_set_ratio(choice.lower(), meant.lower()))
