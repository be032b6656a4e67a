"""Asks back: interrupts the graph until a person says what was meant."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import interrupt

from ..effects import Body
from ..resources import Run
from ..state import AgentState, Update, step, turn_of

DEFAULT_QUESTION = "What do you mean by that?"


def clarify(state: AgentState, run: Run) -> Body[Update]:
    """CoSQL's AMBIGUOUS turns: the interrupt carries the question and the readings that the schema offers.

    Resumed with the person's words, or with the 1-based number of a choice. Where the reply is empty, or a number that
    no choice has, it asks again.
    """
    yield from ()
    turn = turn_of(state)
    question, choices = turn.rephrasing.reply or DEFAULT_QUESTION, turn.rephrasing.choices
    request: Update = {"kind": "clarify", "question": question, "choices": list(choices)}
    text, problem = _read_reply(interrupt(request), choices)
    while problem:
        text, problem = _read_reply(interrupt(request | {"question": f"{problem} {question}"}), choices)
    asked = replace(turn, clarification=(question, text), clarifications=turn.clarifications + 1)
    return step("rephrase", asked, messages=[AIMessage(question), HumanMessage(text)])


def _read_reply(reply: object, choices: tuple[str, ...]) -> tuple[str, str]:
    """The choice that a bare number stands for, or the words themselves; and what is wrong with them, if anything."""
    words = str(reply).strip()
    if not words:
        return "", "The reply was empty."
    if words in choices or not choices or not (words.isdecimal() and len(words) < 3):
        return words, ""
    if 1 <= int(words) <= len(choices):
        return choices[int(words) - 1], ""
    return "", f"There is no choice {int(words)}: give a number from 1 to {len(choices)}, or say it in words."
