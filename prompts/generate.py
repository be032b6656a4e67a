"""Writing SQL for a question: one prompt for each paper's form, and the combined one (`full`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

from ..tools.database.render import SchemaStyle, render_schema
from ..tools.database.schema import Schema
from ..tools.errors import SQLParseError
from ..tools.examples.compact_schema import read_compact
from ..tools.examples.example import Example
from ..tools.linking.linked import PastTurn
from ..tools.sql import regularize
from ..tools.values.match import ValueMatch
from .material import Material, fit
from .replies import Draft, Rephrasing
from .sql_reply import find_sql
from .task import Message, Prompt, Task
from .templating import render_messages

PromptStyle = Literal["full", "credit", "craft", "track", "revision"]
"""Whose prompt form: CREDIT-SQL 3.4, SQL-CRAFT A.4, Track-SQL B.4, revision chain 3.1.3, or all combined."""


@dataclass(frozen=True)
class GenerateTask(Task[Draft]):
    """Asks for the SQL that answers this turn.

    Attributes:
        question: This turn's, as the person put it.
        rephrasing: The same, self-contained.
        schema: The part to show, tables and columns most probable first.
        history: Earlier turns, oldest first.
        base: The earlier turn whose SQL the new one is to be edited from (Track-SQL 2.3).
        values: Database values that the question mentions.
        examples: Few-shot examples, most useful first.
        style: The prompt's form.
        schema_style: How the schema is written.
        marked: `(table, column)` pairs that earlier turns used (Track-SQL's [SN] mark); see `render_schema`.
        stars: Tables of which all columns are asked for, and where to say so (Track-SQL's all-column intent).
        unshown: Names of tables that the schema shown lacks, most likely first.
        requested: Names of tables that earlier attempts reached for; they stay longest where room is short.
        ranked: Whether the schema is in order of probability, not as declared.
        evidence: Knowledge that comes with the question (BIRD); empty if none.
        database: Owner of the examples that are this database's own, as `database_identity` gives it; empty if there
            are none.
    """

    name: ClassVar[str] = "generate"

    question: str
    rephrasing: Rephrasing
    schema: Schema
    history: tuple[PastTurn, ...] = ()
    base: PastTurn | None = None
    values: tuple[ValueMatch, ...] = ()
    examples: tuple[Example, ...] = ()
    style: PromptStyle = "full"
    schema_style: SchemaStyle = "compact"
    marked: frozenset[tuple[str, str]] = frozenset()
    stars: tuple[tuple[str, int], ...] = ()
    unshown: tuple[str, ...] = ()
    requested: frozenset[str] = frozenset()
    ranked: bool = True
    evidence: str = ""
    database: str = ""

    def own(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Those that were approved on this very database: what they show of its tables holds here."""
        return tuple(example for example in examples if self.database and example.owner == self.database)

    def others(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Those over other data."""
        own = self.own(examples)
        return tuple(example for example in examples if example not in own)

    def material(self) -> Material:
        """What the prompt shows if it fits."""
        examples = tuple(map(_regular, self.examples)) if self.style == "credit" else self.examples
        return Material(
            self.schema,
            self.history,
            examples,
            values=self.values,
            others=self.unshown,
            requested=self.requested,
            ranked=self.ranked,
        )

    def schema_text(self, shown: Material) -> str:
        """What is left of the schema, written in this task's style."""
        return render_schema(
            shown.schema, self.schema_style, marked=self.marked, samples=shown.samples, stars=self.stars
        )

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return fit(budget, self.material(), self._messages)

    def _messages(self, shown: Material, left_out: tuple[str, ...]) -> tuple[Message, ...]:
        return render_messages(
            f"generate_{self.style}", task=self, shown=shown, schema_text=self.schema_text(shown), left_out=left_out
        )

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        found = find_sql(text)
        return Draft(found.sql, notes=found.notes)


@lru_cache(maxsize=1_024)
def _regular(example: Example) -> Example:
    """The example as CREDIT-SQL shows it: question and SQL in their regular forms (3.1, 3.2), schema as in appendix C.

    What the schema that it carries does not tell stays as it is.
    """
    schema = read_compact(example.schema)
    try:
        sql = regularize(example.sql, schema)
    except SQLParseError:
        sql = example.sql
    named = all(table.name for table in schema.tables)
    text = render_schema(replace(schema, name=example.database), "credit") if named else example.schema
    return replace(example, question=example.rephrased or example.question, sql=sql, schema=text)
