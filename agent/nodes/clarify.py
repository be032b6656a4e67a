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

    Resumed with the person's words, or with the 1-based number of a choice. Where they say nothing, or a number that no
    choice has, it asks again.
    """
    yield from ()
    rephrasing = load(Rephrasing, state["rephrasing"])
    asked = rephrasing.reply or DEFAULT_QUESTION
    request: dict[str, Any] = {"kind": "clarify", "question": asked, "choices": list(rephrasing.choices)}
    text, lacking = _chosen(interrupt(request), rephrasing.choices)
    while lacking:
        text, lacking = _chosen(interrupt(request | {"question": f"{lacking} {asked}"}), rephrasing.choices)
    return {
        "clarification": [asked, text],
        "clarifications": state.get("clarifications", 0) + 1,
        "messages": [AIMessage(asked), HumanMessage(text)],
        "next": "rephrase",
    }


def _chosen(reply: object, choices: tuple[str, ...]) -> tuple[str, str]:
    """The choice that a bare number stands for, or the words themselves; and what is wrong with them, if anything."""
    said = str(reply).strip()
    if not said:
        return "", "There were no words in the reply."
    if said in choices or not choices or not (said.isdecimal() and len(said) < 3):
        return said, ""
    if 1 <= int(said) <= len(choices):
        return choices[int(said) - 1], ""
    return "", f"There is no choice {int(said)}: give a number from 1 to {len(choices)}, or say it in words."
