"""A worked dialogue for the rephrasing prompt (CREDIT-SQL 3.1, appendix A)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DialogueTurn:
    """One turn of a worked dialogue.

    Attributes:
        question: As the person put it.
        rephrased: Self-contained, "Give me ..."; empty where the turn was answered by asking back.
        reply: What was asked back; empty where the question was rephrased.
    """

    question: str
    rephrased: str = ""
    reply: str = ""


@dataclass(frozen=True)
class Dialogue:
    """A dialogue over one database."""

    database: str
    turns: tuple[DialogueTurn, ...]
