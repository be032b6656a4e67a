"""Asking back and declining; the node interrupts the graph until a person replies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import interrupt

from ...prompts.reply_types import Rephrasing
from ..effects import Body
from ..records import Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, end_turn, load_turn, make_update

DEFAULT_QUESTION = "What do you mean by that?"
_DECLINED = {
    "unanswerable": "This database does not hold what the question asks for.",
    "small_talk": "Ask me something about this database.",
}
"""The answer where the translator gives no reply of its own."""


def decline_or_ask(turn: Turn, rephrasing: Rephrasing, settings: Settings, notes: Iterable[str] = ()) -> Update | None:
    """Return the update that ends the turn or asks a question back; None if answerable."""
    if not settings.clarify:
        return None
    if rephrasing.intent in _DECLINED:
        turn = replace(turn, rephrasing=rephrasing)
        return end_turn(turn, "declined", rephrasing.reply or _DECLINED[rephrasing.intent], "unanswerable", notes)
    if rephrasing.intent == "ambiguous" and turn.clarifications < settings.max_clarifications:
        return make_update("clarify", replace(turn, rephrasing=rephrasing), notes)
    return None


def clarify(state: AgentState, run: Run) -> Body[Update]:
    """Ask the person a question through an interrupt, and add the reply to the turn.

    Resumed with the person's words, or with a choice: its number, or words that no other has. Where the reply is
    empty, or a number that no choice has, it asks again.
    """
    yield from ()
    turn = load_turn(state)
    question, choices = turn.rephrasing.reply or DEFAULT_QUESTION, turn.rephrasing.choices
    request: Update = {"kind": "clarify", "question": question, "choices": list(choices)}
    text, problem = _parse_choice_reply(interrupt(request), choices)
    while problem:
        text, problem = _parse_choice_reply(interrupt(request | {"question": f"{problem} {question}"}), choices)
    # Words of a person's own may point at what was offered.
    offer = question if text in choices or not choices else f"{question} ({'; '.join(choices)})"
    new_turn = replace(turn, clarification=(offer, text), clarifications=turn.clarifications + 1)
    return make_update("rephrase", new_turn, messages=[AIMessage(question), HumanMessage(text)])


_ORDINALS = {
    word: number
    for words in (
        "first second third fourth fifth sixth",
        "1st 2nd 3rd 4th 5th 6th",
        "erste zweite dritte vierte fünfte",
    )
    for number, word in enumerate(words.split(), 1)
}
_NUMBERED_REPLY = re.compile(
    rf"(?:(?:the|die|das|der|option|choice|number|nr\.?|no\.?) )?#?(?P<number>\d{{1,2}}|{'|'.join(_ORDINALS)})"
    r"(?: (?:one|option|choice))?",
    re.IGNORECASE,
)


def _parse_choice_reply(reply: object, choices: tuple[str, ...]) -> tuple[str, str]:
    """Return the chosen or typed words, and a description of any problem with the reply."""
    words = str(reply).strip()
    if not words:
        return "", "The reply was empty."
    plain = words.strip(" .,;:!?)\"'“”")
    if words in choices or not choices or not plain:
        return words, ""
    if match := _NUMBERED_REPLY.fullmatch(plain):
        number = _ORDINALS.get(match["number"].lower()) or int(match["number"])
        if 1 <= number <= len(choices):
            return choices[number - 1], ""
        return "", f"There is no choice {number}: give a number from 1 to {len(choices)}, or say it in words."
    naming = [choice for choice in choices if re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", choice, re.IGNORECASE)]
    return naming[0] if len(naming) == 1 else words, ""
