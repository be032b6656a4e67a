"""The tasks that describe columns and tables for a schema (Track-SQL B.3).

The paper asks once for each column; here one request describes many, by numbers, so that names need not be repeated.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ..tools.database.rendering.text import format_sample_values
from ..tools.database.schema import ColumnSchema, TableSchema
from ..tools.errors import ReplyError
from .cut_to_budget import Prompt
from .reply_text import find_json_object, remove_reasoning_tags
from .task import Task
from .templating import PromptTooLarge, estimate_message_tokens, line, render_messages

Phrases = tuple[str | None, ...]
"""A phrase for each thing asked about: empty where the reply has none, None where it was cut before."""

PHRASE_LIMIT = 80  # characters of a description

_ENTRY = re.compile(r"^\W*(\d{1,4})\W+(.*[^\W\d].*)$", re.MULTILINE)
_WHOLE = re.compile(r'"\s*(\d{1,4})\s*"\s*:\s*("(?:[^"\\]|\\.)*")')
_HINT = 'Reply with one JSON object, each number as a key and its short description as the value: {"1": "..."}.'


@dataclass(frozen=True)
class _AnnotateTask(Task[Phrases]):
    """A task that asks for a short description of each of several columns or tables."""

    amounts: ClassVar[tuple[int, ...]]
    """How much of each thing is shown; less where the budget is too small."""

    @property
    @abstractmethod
    def item_count(self) -> int:
        """The number of columns or tables to describe."""

    def render(self, budget: int) -> Prompt:
        tokens = 0
        for amount in self.amounts:
            messages = render_messages(self.template, task=self, amount=amount)
            tokens = estimate_message_tokens(messages)
            if tokens <= budget:
                return Prompt(messages, tokens)
        raise PromptTooLarge(
            f"describing so much needs about {tokens} tokens, the budget is {budget}: describe less at once"
        )

    def parse(self, text: str) -> Phrases:
        """Parse the numbered descriptions from JSON or from a numbered list."""
        reply = remove_reasoning_tags(text)
        record = find_json_object(reply)
        if record is None:
            entries = dict(_ENTRY.findall(reply))
        else:
            entries = {key.strip(): value for key, value in record.items() if isinstance(value, str)}
        phrases = tuple(_clean_phrase(entries.get(str(number), "")) for number in range(1, self.item_count + 1))
        if not any(phrases):
            raise ReplyError("the reply contains no descriptions", "malformed", _HINT)
        return phrases

    def parse_truncated_reply(self, text: str) -> Phrases:
        """Return the complete descriptions of a truncated reply."""
        entries = {number: _unescape_json_string(literal) for number, literal in _WHOLE.findall(text)}
        if not entries:
            entries = dict(_ENTRY.findall(text.rpartition("\n")[0]))
        keys = map(str, range(1, self.item_count + 1))
        phrases = tuple(_clean_phrase(entries[key]) if key in entries else None for key in keys)
        return phrases if any(phrases) else super().parse_truncated_reply(text)


@dataclass(frozen=True)
class AnnotateColumnsTask(_AnnotateTask):
    """A task that asks for a short description of each column."""

    name: ClassVar[str] = "annotate_columns"
    amounts = (4, 1, 0)  # sample values
    values = staticmethod(format_sample_values)

    columns: tuple[tuple[TableSchema, ColumnSchema], ...]
    dialect: str = "sqlite"

    @property
    def item_count(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class AnnotateTablesTask(_AnnotateTask):
    """A task that asks for a short description of each table, given its described columns."""

    name: ClassVar[str] = "annotate_tables"
    amounts = (40, 10)  # columns

    tables: tuple[TableSchema, ...]
    dialect: str = "sqlite"

    @property
    def item_count(self) -> int:
        return len(self.tables)


def _unescape_json_string(literal: str) -> str:
    try:
        return str(json.loads(literal, strict=False)).encode("utf-8", "replace").decode()
    except ValueError:
        return literal


def _clean_phrase(text: str) -> str:
    return line(text, PHRASE_LIMIT).strip("\"'“”*`., ")
