"""Putting a question into plain common words (revision chain 3.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..tools.errors import ReplyError
from .reply_text import clean_reply, is_refusal
from .task import Task
from .templating import line


@dataclass(frozen=True)
class SimplifyTask(Task[str]):
    """Asks for the same question with rare words and tangled clauses replaced; names and values stay."""

    name: ClassVar[str] = "simplify"

    question: str

    def parse(self, text: str) -> str:
        """The last line of the reply, without a label or quotation marks around it."""
        lines = [one for one in clean_reply(text).splitlines() if one.strip(" `*\t")]
        if not lines or is_refusal(lines[-1]):
            raise ReplyError(
                "the model did not simplify the question", "malformed", "Reply with the simplified question only."
            )
        sentence = lines[-1].strip("*` ")
        label, colon, rest = sentence.partition(":")
        if colon and "question" in label.lower() and rest.strip():
            sentence = rest
        return line(sentence.strip().strip('"“”'))
