"""Making a question self-contained, in plain words, with its intent (CREDIT-SQL 3.1; revision chain 3.1.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args

from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.errors import ReplyError
from ..tools.examples.seeds import SeedDialogue
from ..tools.knowledge.entry import Entry
from ..tools.linking.linked import PastTurn
from .parts import NO_SCHEMA, Parts
from .replies import Intent, Rephrasing
from .reply_text import clean_reply, find_json, text_field
from .task import Task

_GIVE_ME = re.compile(r"\bgive me\b[^\n\"”]*", re.IGNORECASE)
_LINE = re.compile(r"^\W*(rephrased|ask back|cannot answer|small talk)\W*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_LINE_INTENTS: dict[str, Intent] = {
    "rephrased": "answerable",
    "ask back": "ambiguous",
    "cannot answer": "unanswerable",
    "small talk": "small_talk",
}
_HINT = 'Reply with one JSON object that has at least the keys "intent" and "rephrased", and nothing else.'


@dataclass(frozen=True)
class RephraseTask(Task[Rephrasing]):
    """Asks for the question in the regular form "Give me ...", as if it had been the only one.

    Attributes:
        question: This turn's, as the person put it.
        history: Earlier turns, oldest first.
        schema: What the database offers; a turn that asks for something else is unanswerable. The style `credit`
            shows its name alone, as the paper does.
        ranked: Whether that is in order of probability, not as declared.
        asks_back: Whether the reply may ask back or decline; for the style `credit`.
        clarification: What was asked back about this question and what the person answered, once that happened.
        simplify: Whether the simplified form is asked for in the same call.
        style: `credit` follows the paper's dialogue prompt; `full` asks for JSON with the intent and the choices.
        dialogues: Worked dialogues, most useful first.
        evidence: Notes that come with the question; empty if none.
        definitions: What is known of the database's words, most specific first.
    """

    name: ClassVar[str] = "rephrase"

    question: str
    history: tuple[PastTurn, ...]
    schema: Schema
    clarification: tuple[str, str] | None = None
    simplify: bool = True
    style: Literal["credit", "full"] = "full"
    dialogues: tuple[SeedDialogue, ...] = ()
    ranked: bool = True
    asks_back: bool = True
    evidence: str = ""
    definitions: tuple[Entry, ...] = ()

    compiles: ClassVar[bool] = False

    @property
    def template(self) -> str:
        """See `Task.template`."""
        return f"rephrase_{self.style}"

    def parts(self) -> Parts:
        """See `Task.parts`."""
        shown = NO_SCHEMA if self.style == "credit" else self.schema
        lines = tuple(entry.line for entry in self.definitions)
        return Parts(shown, self.history, dialogues=self.dialogues, samples=0, ranked=self.ranked, definitions=lines)

    def context(self, shown: Parts) -> dict[str, object]:
        """See `Task.context`."""
        return {"schema_text": render_schema(shown.schema, "compact", samples=0)}

    def parse(self, text: str) -> Rephrasing:
        """The rephrasing, from JSON, from labelled lines, or from a bare "Give me ..." sentence."""
        reply = clean_reply(text)
        record = find_json(reply)
        return _from_json(record, self.question) if record is not None else _from_lines(reply, self.question)


def _from_json(record: dict[str, object], question: str) -> Rephrasing:
    rephrased = text_field(record, "rephrased", "rephrased_question", "question")
    answer = text_field(record, "reply", "clarification", "response", "reason")
    label = text_field(record, "intent", "type", "label").lower().replace(" ", "_").replace("-", "_")
    intent = cast("Intent", label) if label in get_args(Intent) else "answerable"
    if intent == "answerable" and not rephrased:
        raise ReplyError("the model's reply gives no rephrased question", "malformed", _HINT)
    return Rephrasing(
        rephrased=rephrased or question,
        simplified=text_field(record, "simplified", "simplified_question") or rephrased or question,
        intent=intent,
        reply=answer,
        choices=_choices(record.get("choices")),
    )


def _choices(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    entries = cast("list[object]", value)
    return tuple(entry.strip() for entry in entries if isinstance(entry, str) and entry.strip())[:6]


def _from_lines(reply: str, question: str) -> Rephrasing:
    if found := _LINE.search(reply):
        intent = _LINE_INTENTS[found.group(1).lower()]
        text = found.group(2).strip(' *_"“”\r\t')
        if intent == "answerable":
            return Rephrasing(text, text)
        return Rephrasing(question, question, intent, text)
    if sentence := _GIVE_ME.search(reply):
        text = sentence.group(0).strip()
        return Rephrasing(text, text)
    raise ReplyError("the model's reply gives no rephrased question", "malformed", _HINT)
