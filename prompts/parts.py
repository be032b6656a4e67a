"""What a prompt shows beside the question itself, and what gives way first where the token budget is too small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ..tools.database.schema import Schema
from ..tools.examples.example import Example
from ..tools.examples.seeds import SeedProgram
from ..tools.linking.linked import PastTurn
from ..tools.values.match import ValueMatch
from .templating import Message, PromptTooLarge, estimate_messages

NO_SCHEMA = Schema("", ())
"""For tasks that show none."""

_FIRST_TABLES = 4
"""So many tables stay, with their keys, as long as there is an earlier turn that can go."""

_STEP = 4
"""How many positions in a table one position among the tables is worth."""

_Cuts = list[tuple[str, str | None]]
"""Columns of tables, and tables."""


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt.

    Attributes:
        messages: System message first.
        tokens: Estimated size, at most the budget it was rendered for.
        left_out: What did not fit, one short sentence each, for the answer's notes; the prompt itself says so too.
    """

    messages: tuple[Message, ...]
    tokens: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """The parts of a prompt that may be thinned out, in the order in which they give way.

    Attributes:
        programs: Questions worked out in code, most useful first.
        others: Names of tables that are not shown, most likely first.
        dialogues: Few-shot dialogues in whatever form the template knows, most useful first.
        examples: Few-shot examples, most useful first.
        values: Database values that the question mentions, best first.
        samples: Sample values shown with each column.
        definitions: Lines of what is known of the database's words, most specific first.
        schema: Tables, and columns in them, most probable first. Key columns stay as long as their table does; of
            many tables the last go before the columns of the first.
        history: Earlier turns, oldest first; the oldest goes first.
        requested: Names of tables that queries of this turn named: they count as the most probable ones.
        ranked: Whether the schema is in order of probability, not as declared.
    """

    schema: Schema = NO_SCHEMA
    history: tuple[PastTurn, ...] = ()
    examples: tuple[Example, ...] = ()
    dialogues: tuple[object, ...] = ()
    values: tuple[ValueMatch, ...] = ()
    samples: int = 3
    others: tuple[str, ...] = ()
    programs: tuple[SeedProgram, ...] = ()
    requested: frozenset[str] = frozenset()
    ranked: bool = True
    definitions: tuple[str, ...] = ()

    def steps(self) -> int:
        """How many single cuts there are between everything and the least."""
        return sum(self._counts)

    @cached_property
    def _spare(self) -> _Cuts:
        return _cuts(self.schema, self.requested)

    @cached_property
    def _last(self) -> _Cuts:
        """The first tables, which stay longer than anything else."""
        return [(name, None) for name in reversed(_order(self.schema, self.requested)[1:_FIRST_TABLES])]

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return (
            len(self.programs),
            len(self.others),
            len(self.dialogues),
            len(self.examples),
            len(self.values),
            int(self.samples > 0 and any(column.samples for table in self.schema.tables for column in table.columns)),
            len(self.definitions),
            len(self._spare),
            len(self.history),
            len(self._last),
        )

    def cut(self, steps: int) -> tuple[Parts, tuple[str, ...]]:
        """What is left after that many cuts, and a sentence for each kind of thing left out."""
        if not steps:
            return self, ()
        taken: list[int] = []
        for count in self._counts:
            taken.append(min(count, steps))
            steps -= taken[-1]
        programs, others, dialogues, examples, values, samples, defined, spare, turns, last = taken
        schema = _without(self.schema, {*self._spare[:spare], *self._last[:last]})
        of_columns = sum(len(table.columns) for table in self.schema.tables if schema.table(table.name))
        least = "the least likely ones" if self.ranked else "the last ones"
        left = replace(
            self,
            schema=schema,
            history=self.history[turns:],
            examples=self.examples[: len(self.examples) - examples],
            dialogues=self.dialogues[: len(self.dialogues) - dialogues],
            values=self.values[: len(self.values) - values],
            samples=0 if samples else self.samples,
            others=self.others[: len(self.others) - others],
            programs=self.programs[: len(self.programs) - programs],
            definitions=self.definitions[: len(self.definitions) - defined],
        )
        sentences = (
            _no_room(programs, len(self.programs), "worked examples of code"),
            _no_room(dialogues, len(self.dialogues), "example dialogues"),
            _no_room(examples, len(self.examples), "examples"),
            _no_room(values, len(self.values), "database values that the question mentions"),
            "The prompt has no room for sample values of the columns." if samples else "",
            _no_room(defined, len(self.definitions), "definitions, the least specific"),
            _no_room(of_columns - schema.shown_columns, of_columns, f"columns of the tables shown, {least}"),
            _no_room(turns, len(self.history), "earlier turns, the oldest"),
            _no_room(len(self.schema.tables) - len(schema.tables), len(self.schema.tables), f"tables, {least}"),
        )
        return left, tuple(sentence for sentence in sentences if sentence)


Render = Callable[[Parts, tuple[str, ...]], tuple[Message, ...]]
"""Makes the messages from what is left and the sentences on what is not."""


def fit_whole(budget: int, everything: Parts, render: Render) -> Prompt | None:
    """Return the prompt that shows everything; None if it is larger than the budget."""
    prompt = _attempt(0, everything, render)
    return prompt if prompt.tokens <= budget else None


def fit(budget: int, everything: Parts, render: Render) -> Prompt:
    """The largest prompt within the budget.

    Args:
        budget: Tokens, by `estimate_messages`.
        everything: What to show if it fits.
        render: Makes the messages.

    Raises:
        PromptTooLarge: If the least is still too large.
    """
    if prompt := fit_whole(budget, everything, render):
        return prompt
    low, high = 0, everything.steps()
    prompt = _attempt(high, everything, render)
    if prompt.tokens > budget:
        raise PromptTooLarge(
            f"the least that this prompt needs is about {prompt.tokens} tokens, the budget is {budget}: "
            "raise the token budget or shorten the question"
        )
    while high - low > 1:
        middle = (low + high) // 2
        tried = _attempt(middle, everything, render)
        if tried.tokens <= budget:
            high, prompt = middle, tried
        else:
            low = middle
    return prompt


def _attempt(steps: int, everything: Parts, render: Render) -> Prompt:
    left, left_out = everything.cut(steps)
    messages = render(left, left_out)
    return Prompt(messages, estimate_messages(messages), left_out)


def _no_room(gone: int, total: int, what: str) -> str:
    return f"The prompt has no room for {gone} of {total} {what}." if gone else ""


def _keys(schema: Schema) -> set[tuple[str, str]]:
    """Columns of primary and foreign keys, lower case: without them tables cannot be joined."""
    keys = {(table.name.lower(), name.lower()) for table in schema.tables for name in table.key}
    for key in schema.foreign_keys:
        keys.update((key.table.lower(), name.lower()) for name in key.columns)
        keys.update((key.ref_table.lower(), name.lower()) for name in key.ref_columns)
    return keys


def _order(schema: Schema, requested: frozenset[str]) -> list[str]:
    """The tables' names, those that stay longest first."""
    return sorted((table.name for table in schema.tables), key=lambda name: name not in requested)


def _cuts(schema: Schema, requested: frozenset[str]) -> _Cuts:
    """Columns, and tables after the first few, in the order to go: last tables and last columns first.

    A column of a table further up counts as much as one that stands further up in its table, a table as its first
    column. A table whose columns are all spare keeps its first one, so that no table is shown empty.
    """
    keys = _keys(schema)
    ranked: list[tuple[int, int, str, str | None]] = []
    for table_rank, name in enumerate(_order(schema, requested)):
        columns = [column.name for column in table.columns] if (table := schema.table(name)) else []
        spare = [(rank, column) for rank, column in enumerate(columns) if (name.lower(), column.lower()) not in keys]
        if len(spare) == len(columns):
            spare = spare[1:]
        ranked.extend((_STEP * table_rank + rank, table_rank, name, column) for rank, column in spare)
        if table_rank >= _FIRST_TABLES:
            ranked.append((_STEP * table_rank - 1, table_rank, name, None))
    ranked.sort(key=lambda entry: entry[:2], reverse=True)
    return [(table, column) for _, _, table, column in ranked]


def _without(schema: Schema, gone: set[tuple[str, str | None]]) -> Schema:
    if not gone:
        return schema
    left = [table for table in schema.tables if (table.name, None) not in gone]
    part = schema.part(
        [(table.name, [c.name for c in table.columns if (table.name, c.name) not in gone]) for table in left]
    )
    return replace(part, total_tables=schema.total_tables)
