"""The tasks that make a question self-contained and plain (CREDIT-SQL 3.1)."""

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
from .cut_to_budget import NO_SCHEMA, PromptParts
from .parse_reply import parse_json_fields, parse_labelled_lines
from .reply_text import REFUSAL, find_json_object, get_field, remove_reasoning_tags
from .reply_types import Rephrasing
from .task import Task
from .templating import line

_GIVE_ME = re.compile(r"\bgive me\b[^\n\"”]*", re.IGNORECASE)
_HINT = 'Reply with one JSON object that has at least the keys "intent" and "rephrased", and nothing else.'


@dataclass(frozen=True)
class RephraseTask(Task[Rephrasing]):
    """A task that asks for the question in the regular form "Give me ..."."""

    name: ClassVar[str] = "rephrase"
    inserts_definitions: ClassVar[bool] = False

    question: str  # as the person put it
    history: tuple[PastTurn, ...]  # oldest first
    # A turn that asks for something else is unanswerable. The style `credit` shows its name alone, as the paper does.
    schema: Schema
    clarification: tuple[str, str] | None = None  # what was asked back about this question, and the answer
    simplify: bool = True  # whether the simplified form is asked for in the same call
    style: Literal["credit", "full"] = "full"  # the paper's dialogue prompt, or JSON with the intent and the choices
    dialogues: tuple[SeedDialogue, ...] = ()  # most useful first
    ranked: bool = True  # whether the schema is in order of probability, not as declared
    asks_back: bool = True  # whether the reply may ask back or decline; for the style `credit`
    evidence: str = ""  # notes that come with the question
    definitions: tuple[Entry, ...] = ()  # most specific first

    @property
    def template(self) -> str:
        return f"rephrase_{self.style}"

    def parts(self) -> PromptParts:
        schema = NO_SCHEMA if self.style == "credit" else self.schema
        lines = tuple(entry.line for entry in self.definitions)
        return PromptParts(
            schema, self.history, dialogues=self.dialogues, samples=0, ranked=self.ranked, definitions=lines
        )

    def make_values(self, parts: PromptParts) -> dict[str, object]:
        return {"schema_text": render_schema(parts.schema, "compact", samples=0)}

    def parse(self, text: str) -> Rephrasing:
        """Parse the rephrasing from JSON, labelled lines or a bare "Give me ..." sentence."""
        reply = remove_reasoning_tags(text)
        record = find_json_object(reply)
        lines = parse_labelled_lines(reply) if record is None else parse_json_fields(record)
        rephrasing = lines.question
        if lines.intent == "answerable" and not rephrasing:
            sentence = None if record is not None else _GIVE_ME.search(reply)
            if sentence is None:
                raise ReplyError("the model's reply gives no rephrased question", "malformed", _HINT)
            rephrasing = sentence[0].strip()
        rephrasing = rephrasing or self.question
        simple_form = get_field(record or {}, "simplified", "simplified_question") or rephrasing
        return Rephrasing(rephrasing, simple_form, lines.intent, lines.words, lines.choices)


@dataclass(frozen=True)
class SimplifyTask(Task[str]):
    """A task that asks for the same question in plain words, names and values unchanged."""

    name: ClassVar[str] = "simplify"

    question: str

    def parse(self, text: str) -> str:
        """Return the last line of the reply, without a label or quotation marks around it."""
        lines = [entry for entry in remove_reasoning_tags(text).splitlines() if entry.strip(" `*\t")]
        if not lines or REFUSAL.search(lines[-1]):
            raise ReplyError(
                "the model did not simplify the question", "malformed", "Reply with the simplified question only."
            )
        sentence = lines[-1].strip("*` ")
        label, colon, content = sentence.partition(":")
        if colon and "question" in label.lower() and content.strip():
            sentence = content
        return line(sentence.strip().strip('"“”'))
