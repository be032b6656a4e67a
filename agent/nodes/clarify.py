"""Asks back: interrupts the graph until a person says what was meant."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import interrupt

from ...prompts.replies import Rephrasing
from ..effects import Body
from ..records import load
from ..resources import Run
from ..state import AgentState

DEFAULT_QUESTION = "What do you mean by that?"


def clarify(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """CoSQL's AMBIGUOUS turns: the interrupt carries the question and the readings that the schema offers.

    Resumed with the person's words, or with the 1-based number of a choice.
    """
    yield from ()
    rephrasing = load(Rephrasing, state["rephrasing"])
    asked = rephrasing.reply or DEFAULT_QUESTION
    said = interrupt({"kind": "clarify", "question": asked, "choices": list(rephrasing.choices)})
    text = _chosen(str(said).strip(), rephrasing.choices)
    return {
        "clarification": [asked, text],
        "clarifications": state.get("clarifications", 0) + 1,
        "messages": [AIMessage(asked), HumanMessage(text)],
        "next": "rephrase",
    }


def _chosen(said: str, choices: tuple[str, ...]) -> str:
    """The choice that a bare number stands for, or the words themselves."""
    number = int(said) if said.isdecimal() and len(said) < 3 else 0
    return choices[number - 1] if 1 <= number <= len(choices) else said
