"""The node that asks back: it interrupts the graph until a person replies."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import interrupt

from ..effects import Body
from ..resources import Run
from ..state import AgentState, Update, load_turn, make_update

DEFAULT_QUESTION = "What do you mean by that?"


def clarify(state: AgentState, run: Run) -> Body[Update]:
    """Ask the person a question through an interrupt, and add the reply to the turn.

    Resumed with the person's words, or with the 1-based number of a choice. Where the reply is empty, or a number that
    no choice has, it asks again.
    """
    yield from ()
    turn = load_turn(state)
    question, choices = turn.rephrasing.reply or DEFAULT_QUESTION, turn.rephrasing.choices
    request: Update = {"kind": "clarify", "question": question, "choices": list(choices)}
    text, problem = _parse_choice_reply(interrupt(request), choices)
    while problem:
        text, problem = _parse_choice_reply(interrupt(request | {"question": f"{problem} {question}"}), choices)
    asked = replace(turn, clarification=(question, text), clarifications=turn.clarifications + 1)
    return make_update("rephrase", asked, messages=[AIMessage(question), HumanMessage(text)])


def _parse_choice_reply(reply: object, choices: tuple[str, ...]) -> tuple[str, str]:
    """Return the chosen or typed words, and a description of any problem with the reply."""
    words = str(reply).strip()
    if not words:
        return "", "The reply was empty."
    if words in choices or not choices or not (words.isdecimal() and len(words) < 3):
        return words, ""
    if 1 <= int(words) <= len(choices):
        return choices[int(words) - 1], ""
    return "", f"There is no choice {int(words)}: give a number from 1 to {len(choices)}, or say it in words."
