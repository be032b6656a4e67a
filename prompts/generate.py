"""The task that writes SQL, with a prompt for each paper's form and the combined one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, Literal

from ..tools.database.rendering.compact import parse_compact_schema
from ..tools.database.rendering.render import SchemaStyle, render_schema
from ..tools.database.schema import Schema
from ..tools.errors import KnowledgeError, ReplyError
from ..tools.examples.example import Example
from ..tools.examples.seeds import SeedProgram
from ..tools.knowledge.entry import Entry
from ..tools.knowledge.fragment import expand_named_definitions
from ..tools.linking.linked import PastTurn
from ..tools.values.match import ValueMatch
from .cut_to_budget import Prompt, PromptParts, fit_prompt, render_with_cuts
from .find_sql import find_sql
from .parse_reply import ReplyForm, parse_reply
from .reply_types import Rephrasing, SQLDraft
from .task import Task
from .templating import Message, render_messages

PromptStyle = Literal["full", "credit", "craft", "track", "revision"]
"""Whose prompt form: CREDIT-SQL 3.4, SQL-CRAFT A.4, Track-SQL B.4, revision chain 3.1.3, or all combined."""

Conventions = Literal["people", "benchmark", "none"]
"""For whom an answer is: people want names beside numbers, a benchmark the columns that its gold query has."""


@dataclass(frozen=True)
class GenerateSQLTask(Task[SQLDraft]):
    """A task that asks for the SQL that answers the question of this turn."""

    name: ClassVar[str] = "generate"

    question: str  # as the person put it
    rephrasing: Rephrasing
    schema: Schema  # the part to show, tables and columns most probable first
    history: tuple[PastTurn, ...] = ()  # oldest first
    base: PastTurn | None = None  # the earlier turn whose SQL the new one is to be edited from (Track-SQL 2.3)
    values: tuple[ValueMatch, ...] = ()  # that the question mentions
    examples: tuple[Example, ...] = ()  # most useful first
    style: PromptStyle = "full"
    schema_style: SchemaStyle = "compact"
    marked: frozenset[tuple[str, str]] = frozenset()  # columns that earlier turns used (Track-SQL's [SN] mark)
    # Tables of which all columns are asked for, and where among their columns to say so (Track-SQL's intent).
    all_columns: tuple[tuple[str, int], ...] = ()
    unshown: tuple[str, ...] = ()  # names of tables that the schema shown lacks, most likely first
    copies: tuple[str, ...] = ()  # those of them that are staging tables, copies or deprecated, if told apart
    alike: tuple[tuple[str, tuple[str, ...]], ...] = ()  # tables shown, each with others that differ by numbers alone
    requested: frozenset[str] = frozenset()  # tables that earlier attempts named; they stay longest
    ranked: bool = True  # whether the schema is in order of probability, not as declared
    evidence: str = ""  # knowledge that comes with the question (BIRD)
    definitions: tuple[Entry, ...] = ()  # most specific first
    database: str = ""  # owner of the examples that are this database's own, as `database_identity` gives it
    engine: str = "SQL"  # as prompts name it
    reply: ReplyForm = "sql"  # of `generate` and `reason`; more than a query in the form `full` alone
    clarified: tuple[tuple[str, str], ...] = ()  # what was asked back about this question, each with the answer
    # The whole schema as declared, for the form `full`, where everything fits: text that stays the same from question
    # to question is cheap to read.
    declared: Schema | None = None
    dialect_notes: tuple[str, ...] = ()
    conventions: Conventions = "none"
    today: str = ""  # the date as the model is told; empty if it isn't
    with_base: bool = True  # whether the form `track` has a place for the base SQL, empty where there is none
    regular: bool = True  # whether the form `credit` asks for the regular form of SQL (CREDIT-SQL 3.2)

    def list_own_examples(self, examples: Sequence[Example]) -> tuple[Example, ...]:
        """Return the examples that were approved on this database."""
        return tuple(example for example in examples if self.database and example.owner == self.database)

    def parts(self) -> PromptParts:
        examples = tuple(map(_format_credit_example, self.examples)) if self.style == "credit" else self.examples
        # The revision chain tells of the rows by its feedback alone (3.2.1).
        return PromptParts(
            self.schema.structure_only() if self.style == "revision" else self.schema,
            self.history,
            examples,
            values=self.values,
            others=self.unshown,
            requested=self.requested,
            ranked=self.ranked,
            definitions=tuple(entry.line for entry in self.definitions),
        )

    @property
    def inserts_definitions(self) -> bool:
        """Whether any definition has SQL that is inserted into queries that name it."""
        return any(entry.sql for entry in self.definitions if entry.kind in ("term", "metric"))

    def schema_text(self, parts: PromptParts) -> str:
        """Return the schema of `parts` as text in this task's style."""
        return render_schema(
            parts.schema, self.schema_style, marked=self.marked, samples=parts.samples, all_columns=self.all_columns
        )

    def render(self, budget: int) -> Prompt:
        return self.render_template(f"generate_{self.style}", budget)

    def render_template(
        self, template: str, budget: int, programs: tuple[SeedProgram, ...] = (), **values: object
    ) -> Prompt:
        """Return the prompt of `template` with this task's question and context.

        The template sees `values` beside `task`, which is this task, and what of its parts is `shown`.
        """

        def render_parts(task: GenerateSQLTask, shown: PromptParts, left_out: tuple[str, ...]) -> tuple[Message, ...]:
            text = task.schema_text(shown)
            return render_messages(template, task=task, shown=shown, schema_text=text, left_out=left_out, **values)

        if self.declared is not None:
            variant = replace(
                self, schema=self.declared, declared=None, marked=frozenset(), unshown=(), copies=(), ranked=False
            )
            prompt = render_with_cuts(0, replace(variant.parts(), programs=programs), partial(render_parts, variant))
            if prompt.tokens <= budget:
                return prompt
        return fit_prompt(budget, replace(self.parts(), programs=programs), partial(render_parts, self))

    def parse(self, text: str, reply: ReplyForm | None = None) -> SQLDraft:
        """Parse a reply into a draft, with the SQL of named definitions inserted.

        Raises:
            ReplyError: There is no statement, or it names a definition that there is not.
        """
        draft = parse_reply(text, self.question, self.schema.dialect, reply or self.reply)
        try:
            return replace(draft, sql=expand_named_definitions(draft.sql, self.definitions, self.schema.dialect))
        except KnowledgeError as error:
            raise ReplyError(str(error), "malformed", f"{error}. Write the SQL yourself where none is given.") from None


@lru_cache(maxsize=1_024)
def _format_credit_example(example: Example) -> Example:
    """Return the example in the form of CREDIT-SQL (3.1, appendix C).

    A schema that cannot be read stays as it is.
    """
    schema_text = example.database_schema or example.schema
    schema = parse_compact_schema(schema_text)
    has_names = all(table.name for table in schema.tables)
    text = render_schema(replace(schema, name=example.database), "credit") if has_names else schema_text
    return replace(example, question=example.rephrased or example.question, schema=text)


@dataclass(frozen=True)
class DialogueExample:
    """An example dialogue in which every question has its SQL."""

    schema: str  # of its database, as it is shown
    turns: tuple[PastTurn, ...]


@dataclass(frozen=True)
class DialogueQueryTask(Task[SQLDraft]):
    """A task that asks for the SQL of a dialogue's next question (CREDIT-SQL 4.4, appendix D)."""

    name: ClassVar[str] = "dialogues"

    question: str
    schema_text: str  # in the form that the dialogues have it
    history: tuple[PastTurn, ...] = ()  # oldest first
    dialogues: tuple[DialogueExample, ...] = ()  # the first gives way last where the budget is small

    def parts(self) -> PromptParts:
        return PromptParts(history=self.history, dialogues=self.dialogues)

    def parse(self, text: str) -> SQLDraft:
        return find_sql(text)
