"""Writing SQL for a question: one prompt for each paper's form, and the combined one (`full`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, Literal

from ..tools.database.rendering.render import SchemaStyle, render_schema
from ..tools.database.schema import Schema
from ..tools.errors import KnowledgeError, ReplyError
from ..tools.examples.compact_schema import read_compact
from ..tools.examples.example import Example
from ..tools.examples.seeds import SeedProgram
from ..tools.knowledge.entry import Entry
from ..tools.knowledge.fragment import compiled
from ..tools.linking.linked import PastTurn
from ..tools.values.match import ValueMatch
from .parts import Parts, Prompt, fit, fit_whole
from .replies import Draft, Rephrasing
from .task import Task
from .templating import Message, render_messages
from .understanding import ReplyForm, read_answer

PromptStyle = Literal["full", "credit", "craft", "track", "revision"]
"""Whose prompt form: CREDIT-SQL 3.4, SQL-CRAFT A.4, Track-SQL B.4, revision chain 3.1.3, or all combined."""


Conventions = Literal["people", "benchmark", "none"]
"""For whom an answer is: people want names beside numbers, a benchmark the columns that its gold query has."""


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
        all_columns: Tables of which all columns are asked for, and the position to say so among their columns
            (Track-SQL's all-column intent).
        unshown: Names of tables that the schema shown lacks, most likely first.
        copies: Names of those that are staging tables, copies, or deprecated, if they are told apart.
        alike: Tables shown, each with others of the same columns, that differ by numbers in their names alone.
        requested: Names of tables that earlier attempts named; they stay longest where room is short.
        ranked: Whether the schema is in order of probability, not as declared.
        evidence: Knowledge that comes with the question (BIRD); empty if none.
        definitions: What is known of the database's words and rules, most specific first.
        database: Owner of the examples that are this database's own, as `database_identity` gives it; empty if there
            are none.
        engine: The database's engine, as prompts name it: `SQLite`.
        reply: What the reply to `generate` and `reason` may be; more than a query in the form `full` alone.
        clarified: What was asked back about this question and what the person replied, in order.
        declared: The whole schema in the order in which the database declares it, for the form `full`: shown instead of
            `schema` where everything fits, since text that stays the same from question to question is cheap to read.
        dialect_notes: What to mind in the engine's SQL, a line each.
        conventions: What an answer looks like where a question leaves it open.
        today: Today's date as the model is told; empty if it isn't.
        with_base: Whether the form `track` has a place for the base SQL, which is empty where there is none.
        regular: Whether the form `credit` asks for the regular form of SQL (CREDIT-SQL 3.2).
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
    all_columns: tuple[tuple[str, int], ...] = ()
    unshown: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    alike: tuple[tuple[str, tuple[str, ...]], ...] = ()
    requested: frozenset[str] = frozenset()
    ranked: bool = True
    evidence: str = ""
    definitions: tuple[Entry, ...] = ()
    database: str = ""
    engine: str = "SQL"
    reply: ReplyForm = "sql"
    clarified: tuple[tuple[str, str], ...] = ()
    declared: Schema | None = None
    dialect_notes: tuple[str, ...] = ()
    conventions: Conventions = "none"
    today: str = ""
    with_base: bool = True
    regular: bool = True

    def own(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Those that were approved on this very database: what they show of its tables holds here."""
        return tuple(example for example in examples if self.database and example.owner == self.database)

    def others(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Those over other data."""
        own = self.own(examples)
        return tuple(example for example in examples if example not in own)

    def parts(self) -> Parts:
        """What the prompt shows if it fits."""
        examples = tuple(map(_demonstration, self.examples)) if self.style == "credit" else self.examples
        # The revision chain tells of the rows by its feedback alone (3.2.1).
        return Parts(
            self.schema.structure() if self.style == "revision" else self.schema,
            self.history,
            examples,
            values=self.values,
            others=self.unshown,
            requested=self.requested,
            ranked=self.ranked,
            definitions=tuple(entry.line for entry in self.definitions),
        )

    @property
    def compiles(self) -> bool:
        """Whether there are definitions whose SQL is put into the query."""
        return any(entry.sql for entry in self.definitions if entry.kind in ("term", "metric"))

    def schema_text(self, shown: Parts) -> str:
        """What is left of the schema, written in this task's style."""
        return render_schema(
            shown.schema, self.schema_style, marked=self.marked, samples=shown.samples, all_columns=self.all_columns
        )

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return self.render_as(f"generate_{self.style}", budget)

    def render_as(self, template: str, budget: int, programs: tuple[SeedProgram, ...] = (), **values: object) -> Prompt:
        """A prompt of any template that shows this task's question and what is known about it.

        Args:
            template: Its name; it also sees `task`, which is this task, and what of its parts is `shown`.
            budget: See `Task.render`.
            programs: Questions worked out in code, most useful first.
            values: What else the template needs.
        """

        def render(task: GenerateTask, shown: Parts, left_out: tuple[str, ...]) -> tuple[Message, ...]:
            text = task.schema_text(shown)
            return render_messages(template, task=task, shown=shown, schema_text=text, left_out=left_out, **values)

        if self.declared is not None:
            whole = replace(
                self,
                schema=self.declared,
                declared=None,
                marked=frozenset(),
                unshown=(),
                copies=(),
                ranked=False,
            )
            if prompt := fit_whole(budget, replace(whole.parts(), programs=programs), partial(render, whole)):
                return prompt
        return fit(budget, replace(self.parts(), programs=programs), partial(render, self))

    def parse(self, text: str) -> Draft:
        """The statement, and what the lines around it say; see `read_answer`."""
        return self._compiled(read_answer(text, self.question, self.schema.dialect, self.reply))

    def statement(self, text: str) -> Draft:
        """The statement of a reply to another task that asks for one."""
        return self._compiled(read_answer(text, self.question, self.schema.dialect, "sql"))

    def _compiled(self, draft: Draft) -> Draft:
        """The draft with the SQL of the definitions that it names.

        Raises:
            ReplyError: It names one that there is not.
        """
        try:
            return replace(draft, sql=compiled(draft.sql, self.definitions, self.schema.dialect))
        except KnowledgeError as error:
            raise ReplyError(str(error), "malformed", f"{error}. Write the SQL yourself where none is given.") from None


@lru_cache(maxsize=1_024)
def _demonstration(example: Example) -> Example:
    """The example as CREDIT-SQL shows it: the question in its regular form (3.1), all of its schema (appendix C).

    A schema that cannot be read stays as it is.
    """
    kept = example.database_schema or example.schema
    schema = read_compact(kept)
    named = all(table.name for table in schema.tables)
    text = render_schema(replace(schema, name=example.database), "credit") if named else kept
    return replace(example, question=example.rephrased or example.question, schema=text)
