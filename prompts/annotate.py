"""Describing columns by name, type and sample values, then tables by their columns (Track-SQL B.3).

The paper asks once for each column; here one request describes many, by numbers, so that names need not be repeated.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import ClassVar

from ..tools.database.rendering.text import examples
from ..tools.database.schema import ColumnSchema, TableSchema
from ..tools.errors import ReplyError
from .parts import Prompt
from .reply_text import clean_reply, find_json
from .task import Task
from .templating import PromptTooLarge, estimate_messages, line, render_messages

Phrases = tuple[str | None, ...]
"""A phrase for each thing asked about: empty where the reply has none, None where it was cut before."""

PHRASE_LIMIT = 80
"""Characters of a description."""

_SAMPLES = (4, 1, 0)
"""Sample values of a column; fewer where the budget is too small."""

_COLUMNS_OF_TABLE = (40, 10)
"""Columns that stand for a table; fewer where the budget is too small."""

_ENTRY = re.compile(r"^\W*(\d{1,4})\W+(.*[^\W\d].*)$", re.MULTILINE)
_WHOLE = re.compile(r'"\s*(\d{1,4})\s*"\s*:\s*("(?:[^"\\]|\\.)*")')
_HINT = 'Reply with one JSON object, each number as a key and its short description as the value: {"1": "..."}.'


@dataclass(frozen=True)
class AnnotateColumnsTask(Task[Phrases]):
    """Asks for a short phrase on each column, in the order given; an empty one where the reply has none.

    Attributes:
        columns: Each with its table.
        dialect: How names are quoted, by sqlglot's name.
    """

    name: ClassVar[str] = "annotate_columns"

    columns: tuple[tuple[TableSchema, ColumnSchema], ...]
    dialect: str = "sqlite"

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return _largest("annotate_columns", self, _SAMPLES, budget)

    def parse(self, text: str) -> Phrases:
        """The phrases; see `_phrases`."""
        return _phrases(text, len(self.columns))

    def parse_cut(self, text: str) -> Phrases:
        """The phrases that are whole; see `_whole_phrases`."""
        return _whole_phrases(text, len(self.columns))

    def values(self, column: ColumnSchema, number: int) -> str:
        """Some of a column's values, as literals."""
        return examples(column, number)


@dataclass(frozen=True)
class AnnotateTablesTask(Task[Phrases]):
    """Asks for a short phrase on each table, in the order given, from what is known of its columns.

    Attributes:
        tables: With their columns' descriptions as comments.
        dialect: How names are quoted, by sqlglot's name.
    """

    name: ClassVar[str] = "annotate_tables"

    tables: tuple[TableSchema, ...]
    dialect: str = "sqlite"

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return _largest("annotate_tables", self, _COLUMNS_OF_TABLE, budget)

    def parse(self, text: str) -> Phrases:
        """The phrases; see `_phrases`."""
        return _phrases(text, len(self.tables))

    def parse_cut(self, text: str) -> Phrases:
        """The phrases that are whole; see `_whole_phrases`."""
        return _whole_phrases(text, len(self.tables))


def _largest(template: str, task: Task[Phrases], amounts: tuple[int, ...], budget: int) -> Prompt:
    tokens = 0
    for amount in amounts:
        messages = render_messages(template, task=task, amount=amount)
        tokens = estimate_messages(messages)
        if tokens <= budget:
            return Prompt(messages, tokens)
    raise PromptTooLarge(
        f"describing so much needs about {tokens} tokens, the budget is {budget}: describe less at once"
    )


def _phrases(text: str, count: int) -> Phrases:
    """The phrases by number, from JSON or from a numbered list.

    Raises:
        ReplyError: There is not one.
    """
    cleaned = clean_reply(text)
    record = find_json(cleaned)
    if record is None:
        numbered = {match.group(1): match.group(2) for match in _ENTRY.finditer(cleaned)}
    else:
        numbered = {key.strip(): value for key, value in record.items() if isinstance(value, str)}
    phrases = tuple(_phrase(numbered.get(str(number), "")) for number in range(1, count + 1))
    if not any(phrases):
        raise ReplyError("the reply describes nothing", "malformed", _HINT)
    return phrases


def _whole_phrases(text: str, count: int) -> Phrases:
    """The phrases of a reply that was cut at the output limit.

    Raises:
        ReplyError: Not one is whole (`cut`).
    """
    numbered = {number: _unescaped(literal) for number, literal in _WHOLE.findall(text)}
    if not numbered:
        lines = text.split("\n")[:-1]
        numbered = {entry[1]: entry[2] for line_ in lines if (entry := _ENTRY.match(line_))}
    phrases = tuple(_phrase(numbered[key]) if (key := str(n)) in numbered else None for n in range(1, count + 1))
    if not any(phrases):
        raise ReplyError("the reply was cut at the output limit", "cut", "Answer more briefly.")
    return phrases


def _unescaped(literal: str) -> str:
    try:
        return str(json.loads(literal, strict=False)).encode("utf-8", "replace").decode()
    except ValueError:
        return literal


def _phrase(text: str) -> str:
    return line(text, PHRASE_LIMIT).strip("\"'“”*`., ")
