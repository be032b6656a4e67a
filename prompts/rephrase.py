"""Making a question self-contained, in plain words, with its intent (CREDIT-SQL 3.1; revision chain 3.1.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.errors import ReplyError
from ..tools.examples.seeds import SeedDialogue
from ..tools.knowledge.entry import Entry
from ..tools.linking.linked import PastTurn
from .parts import NO_SCHEMA, Parts
from .replies import Rephrasing
from .reply_text import clean_reply, find_json, text_field
from .task import Task
from .understanding import from_json, from_lines

_GIVE_ME = re.compile(r"\bgive me\b[^\n\"”]*", re.IGNORECASE)
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
        said = from_lines(reply) if record is None else from_json(record)
        rephrased = said.question
        if said.intent == "answerable" and not rephrased:
            sentence = None if record is not None else _GIVE_ME.search(reply)
            if sentence is None:
                raise ReplyError("the model's reply gives no rephrased question", "malformed", _HINT)
            rephrased = sentence[0].strip()
        rephrased = rephrased or self.question
        simplified = text_field(record or {}, "simplified", "simplified_question") or rephrased
        return Rephrasing(rephrased, simplified, said.intent, said.words, said.choices)
