"""The parts of a prompt beside the question, and their order of removal to fit a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..tools.database.schema import Schema
from ..tools.examples.example import Example
from ..tools.examples.seeds import SeedProgram
from ..tools.linking.linked import PastTurn
from ..tools.values.match import ValueMatch
from .templating import Message, PromptTooLarge, estimate_message_tokens

NO_SCHEMA = Schema("", ())  # for tasks that show none
_FIRST_TABLES = 4  # tables that stay, with their keys, as long as there is an earlier turn that can go
_STEP = 4  # positions in a table that one position among the tables is worth

_GONE = {
    "programs": "{} of {} worked examples of code",
    "dialogues": "{} of {} example dialogues",
    "examples": "{} of {} examples",
    "values": "{} of {} database values that the question mentions",
    "samples": "sample values of the columns",
    "definitions": "{} of {} definitions, the least specific",
    "columns": "{} of {} columns of the tables shown, {}",
    "history": "{} of {} earlier turns, the oldest",
    "tables": "{} of {} tables, {}",
}
"""What the prompt has no room for, by kind, and how that is said."""


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt, with a note on each part that was left out."""

    messages: tuple[Message, ...]  # system message first
    tokens: int  # estimated, at most the budget it was rendered for
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptParts:
    """The parts of a prompt that may be cut, each with the most important items first."""

    # Key columns stay as long as their table does; of many tables the last go before the columns of the first.
    schema: Schema = NO_SCHEMA
    history: tuple[PastTurn, ...] = ()  # the oldest first, which goes first
    examples: tuple[Example, ...] = ()
    dialogues: tuple[object, ...] = ()  # in whatever form the template knows
    values: tuple[ValueMatch, ...] = ()
    samples: int = 3  # sample values shown with each column
    others: tuple[str, ...] = ()  # names of tables that are not shown
    programs: tuple[SeedProgram, ...] = ()
    requested: frozenset[str] = frozenset()  # tables that queries of this turn named: the most probable ones
    ranked: bool = True  # whether the schema is in order of probability, not as declared
    definitions: tuple[str, ...] = ()

    @cached_property
    def _removables(self) -> dict[str, Sequence[Any]]:
        """The removable items by kind, in the order in which the kinds are removed."""
        shows = self.samples > 0 and any(column.samples for table in self.schema.tables for column in table.columns)
        order = sorted((table.name for table in self.schema.tables), key=lambda name: name not in self.requested)
        return {
            "programs": self.programs,
            "others": self.others,
            "dialogues": self.dialogues,
            "examples": self.examples,
            "values": self.values,
            "samples": [self.samples] if shows else (),
            "definitions": self.definitions,
            "columns": _list_removable_schema_items(self.schema, order),
            "history": self.history,
            "tables": [(name, None) for name in reversed(order[1:_FIRST_TABLES])],
        }

    def count_removable_items(self) -> int:
        """Return the number of items that `remove_items` can remove."""
        return sum(map(len, self._removables.values()))

    def remove_items(self, count: int) -> tuple[PromptParts, tuple[str, ...]]:
        """Return the parts without the `count` least important items, and notes on what was removed."""
        if not count:
            return self, ()
        counts: dict[str, int] = {}
        parts: dict[str, Any] = {}
        for kind, entries in self._removables.items():
            counts[kind] = min(len(entries), count)
            count -= counts[kind]
            parts[kind] = entries[: len(entries) - counts[kind]]
        parts["history"] = self.history[counts["history"] :]
        parts["samples"] = 0 if counts["samples"] else self.samples
        del parts["columns"], parts["tables"]
        items = (*self._removables["columns"][: counts["columns"]], *self._removables["tables"][: counts["tables"]])
        schema = _drop_schema_items(self.schema, frozenset(items))
        totals = {kind: len(entries) for kind, entries in self._removables.items()}
        totals["columns"] = sum(len(table.columns) for table in self.schema.tables if schema.table(table.name))
        totals["tables"] = len(self.schema.tables)
        counts["columns"] = totals["columns"] - schema.shown_column_count
        counts["tables"] = totals["tables"] - len(schema.tables)
        least = "the least likely ones" if self.ranked else "the last ones"
        sentences = (words.format(counts[kind], totals[kind], least) for kind, words in _GONE.items() if counts[kind])
        return replace(self, schema=schema, **parts), tuple(f"The prompt has no room for {note}." for note in sentences)


Render = Callable[[PromptParts, tuple[str, ...]], tuple[Message, ...]]
"""Makes the messages from what is left and the sentences on what is not."""


def fit_prompt(budget: int, all_parts: PromptParts, render: Render) -> Prompt:
    """Return the largest prompt within `budget` tokens.

    Raises:
        PromptTooLarge: If the least is still too large.
    """
    prompt = render_with_cuts(0, all_parts, render)
    if prompt.tokens <= budget:
        return prompt
    low, high = 0, all_parts.count_removable_items()
    prompt = render_with_cuts(high, all_parts, render)
    if prompt.tokens > budget:
        raise PromptTooLarge(
            f"this prompt needs at least about {prompt.tokens} tokens, the budget is {budget}: "
            "raise the token budget or shorten the question"
        )
    while high - low > 1:
        middle = (low + high) // 2
        trial = render_with_cuts(middle, all_parts, render)
        if trial.tokens <= budget:
            high, prompt = middle, trial
        else:
            low = middle
    return prompt


def render_with_cuts(removed: int, all_parts: PromptParts, render: Render) -> Prompt:
    """Return the prompt without its `removed` least important items, whatever its size."""
    parts, notes = all_parts.remove_items(removed)
    messages = render(parts, notes)
    return Prompt(messages, estimate_message_tokens(messages), notes)


def _list_removable_schema_items(schema: Schema, order: Sequence[str]) -> list[tuple[str, str | None]]:
    """List the removable columns and tables, in the order of removal.

    A column of a table further up counts as much as one that stands further up in its table, a table as its first
    column. A table whose columns are all spare keeps its first one, so that no table is shown empty.
    """
    # Without the columns of primary and foreign keys tables cannot be joined.
    keys = {(table.name.lower(), name.lower()) for table in schema.tables for name in table.key}
    for key in schema.foreign_keys:
        keys.update((key.table.lower(), name.lower()) for name in key.columns)
        keys.update((key.ref_table.lower(), name.lower()) for name in key.ref_columns)
    candidates: list[tuple[int, int, str, str | None]] = []
    for table_rank, name in enumerate(order):
        columns = [column.name for column in table.columns] if (table := schema.table(name)) else []
        spare = [(rank, column) for rank, column in enumerate(columns) if (name.lower(), column.lower()) not in keys]
        if len(spare) == len(columns):
            spare = spare[1:]
        candidates.extend((_STEP * table_rank + rank, table_rank, name, column) for rank, column in spare)
        if table_rank >= _FIRST_TABLES:
            candidates.append((_STEP * table_rank - 1, table_rank, name, None))
    candidates.sort(key=lambda entry: entry[:2], reverse=True)
    return [(table, column) for _, _, table, column in candidates]


def _drop_schema_items(schema: Schema, items: frozenset[tuple[str, str | None]]) -> Schema:
    if not items:
        return schema
    tables = [table for table in schema.tables if (table.name, None) not in items]
    part = schema.part([(t.name, [c.name for c in t.columns if (t.name, c.name) not in items]) for t in tables])
    return replace(part, total_tables=schema.total_tables)
