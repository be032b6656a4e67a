"""CoSQL's raw dialogues: what a person said, and whether answering, declining or asking back was right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..official.execution import whole_operators
from .question import Expects, Question
from .readers import Records

_DECLINING = ("REJECT", "SORRY", "CANNOT_UNDERSTAND")
_YES = re.compile(r"\s*(yes|yeah|yep|yup|sure|correct|right|exactly|ok(ay)?)\b[\s.,!:;-]*", re.IGNORECASE)
_OFFER = re.compile(
    r"^.*?\b(?:(?:do|did|would) you (?:mean|want|like|need)|you mean|are you asking)\b[\s:,]*(?:to (?:know|see)\b\s*)?",
    re.IGNORECASE | re.DOTALL,
)
_FEW_WORDS = 3
"""A reply of so many words after its "yes" says nothing of its own."""


def acts(records: Records) -> list[Question]:
    """Questions of the dialogues whose acts say what was right, in their order.

    A turn that was asked back about carries what its asker meant and the query of the answer that followed; thanks and
    greetings, and turns whose acts contradict each other, are left out.
    """
    return [question for number, record in enumerate(records) for question in _dialogue(str(number), record)]


def _dialogue(number: str, record: Mapping[str, Any]) -> Iterator[Question]:
    turns: Sequence[Mapping[str, Any]] = record["turns"]
    place = turn = 0
    while place + 1 < len(turns):
        said, reply = turns[place], turns[place + 1]
        place += 1
        if not said["isUser"] or reply["isUser"]:
            continue
        found = _read(said, reply, turns[place + 1 : place + 3])
        if found is None:
            continue
        expects, gold = found
        turn += 1
        # The reply to what was asked back belongs to the same turn.
        place += 2 if expects.outcome == "ask_back" else 0
        golds = (whole_operators(gold),) if gold else ()
        yield Question(
            f"{number}.{turn}", record["db_name"], str(said["text"]).strip(), golds, number, turn, expects=expects
        )


def _read(
    said: Mapping[str, Any], reply: Mapping[str, Any], following: Sequence[Mapping[str, Any]]
) -> tuple[Expects, str] | None:
    """What a turn expects, and its gold query; None where its acts do not tell."""
    kind, label, query = said["type"], reply.get("label"), str(reply.get("query") or "").strip()
    if kind in ("INFORM_SQL", "INFER_SQL") and label == "CONFIRM_SQL" and query:
        return Expects("answer"), query
    if kind == "CANNOT_ANSWER" and label in _DECLINING and not query:
        return Expects("decline"), ""
    if kind == "AMBIGUOUS" and label == "CLARIFY" and not query and len(following) == 2:
        told, answer = following
        gold = str(answer.get("query") or "").strip()
        if told["isUser"] and not answer["isUser"] and gold and answer.get("label") == "CONFIRM_SQL":
            return Expects("ask_back", _meant(str(reply["text"]), str(told["text"]))), gold
    return None


def _meant(asked: str, told: str) -> str:
    """What the person meant: their own words, or what was offered where they only agreed."""
    told = told.strip()
    agreed = _YES.match(told)
    if agreed and len(told[agreed.end() :].split()) <= _FEW_WORDS:
        return _OFFER.sub("", asked.strip()).rstrip("?. ") or told
    return told
