"""The agent as a library: questions, conversations, the graph, and a tool."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from ..tools.database import AccessRules, Database, Egress, Identity, Policy, Session, tag_statements_with_thread
from ..tools.errors import QueryError, SettingsError
from ..tools.masking import mask
from ..tools.validation import check_argument
from . import verbs
from .answers.answer import Answer
from .answers.events import Event
from .answers.phrasing import WITHHELD, analyze_sql, build_display, list_remarks, phrase_result_or_count, put_result
from .answers.render import render_answer_text
from .answers.sentence import fill_answer_sentence
from .audit import AuditTrail
from .cancel_turn import call_saver
from .conversation import Conversation, RunSettings
from .graph import AgentGraph, build_graph
from .records import PlainResult, make_plain_result
from .resources import Resources
from .resources.examples_and_knowledge import KnowledgeSource, LazyExampleStore
from .resources.factory import ResourceFactory, make_translator_factory
from .settings import make_settings
from .verbs import Correction, CorrectionTurn, Lesson, SavedAnswer

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ..tools.database import PermissionsFile
    from ..tools.database.engine import DatabaseSource
    from ..tools.database.watchdog import Cancellation
    from ..tools.examples import ExampleStore
    from ..tools.export import ExportResult, Format, Target
    from ..tools.knowledge import Entry
    from ..tools.sandbox import SandboxLimits


class ToolInput(BaseModel):
    """The input of the agent as a LangChain tool."""

    question: str = Field(description="A self-contained question in plain language about what the database holds.")


class SQLAgent:
    """An agent that answers questions about one database.

    Args:
        database: A path, an SQLAlchemy-style URL, or an open `Database`; files of tables such as `sales.csv`, data
            frames by the names of their tables, or LangChain's `SQLDatabase`.
        model: A LangChain chat model, a name such as `openai:gpt-5-mini`, `offline`, or None to choose by the
            environment (`TABLETURN_MODEL`, then an OpenAI key or base URL, else the offline translator).
        settings: `Settings`, or a mapping of the fields to change.
        preset: A paper's configuration by name; `settings` win over it.
        examples: An `ExampleStore`, or its location (a folder, a server's URL); None for the built-in examples.
        embedding: The embedding of a store given by its location: `hashed`, `chroma`, `openai:MODEL` or
            `sentence:MODEL`.
        checkpointer: Any LangGraph checkpointer; None keeps conversations in memory.
        base_url: Base URL of an OpenAI-compatible server, for models given by name.
        annotator: The model whose descriptions of the schema are used and completed if `annotate` is on, asked at its
            provider's own address; None for `model`.
        sandbox: The limits of pandas code, and how strong the boundary around it must be; None for the default
            limits and the boundary that `TABLETURN_SANDBOX` names.
        allow: Tables and columns that may be read, as `Database.open` takes them; None for all.
        deny: Tables and columns that may not be read; `deny` wins over `allow`.
        permissions: A file that says who may read what (docs/secure.md). `allow` and `deny` narrow it further.
        user: Whose questions these are; `for_user` gives an agent for somebody else.
        audit: A file to which every turn adds a line before its answer is given.
        egress: Which columns' contents may be sent to a model, as `Database.open` takes it; None for what the open
            database or the permissions file says.
        knowledge: The file that says what words mean here (docs/teach.md), or `off`. None for the one beside the
            database (`shop.knowledge.yaml`) or the one that `note` has made.
        otherwise: Guesses about files to decide otherwise, as `Database.open` takes them.

    Raises:
        DatabaseUnavailable: The database cannot be used.
        ModelError: The model is unknown or cannot be set up.
        SettingsError: A setting or preset is wrong, or so are the permissions.
        KnowledgeError: The knowledge file is not there, or wrong.
    """

    def __init__(
        self,
        database: DatabaseSource | Database,
        *,
        model: str | BaseChatModel | None = None,
        settings: RunSettings = None,
        preset: str | None = None,
        examples: ExampleStore | str | Path | None = None,
        embedding: str = "hashed",
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        base_url: str | None = None,
        sandbox: SandboxLimits | None = None,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        permissions: PermissionsFile | str | Path | None = None,
        user: Identity | str | None = None,
        audit: AuditTrail | str | Path | None = None,
        egress: Egress | Mapping[str, object] | None = None,
        knowledge: Path | str | None = None,
        annotator: str | BaseChatModel | None = None,
        otherwise: Iterable[str] = (),
    ) -> None:
        run_settings, access = make_settings(settings, preset=preset), AccessRules.of(allow, deny, permissions)
        check_argument("checkpointer", checkpointer, "a LangGraph checkpointer", BaseCheckpointSaver)
        trail = AuditTrail(audit) if isinstance(audit, str | Path) else audit
        if isinstance(database, Database) and (egress is not None or otherwise):
            raise SettingsError("the database is already open: give egress and otherwise to Database.open() instead")
        session_base = Session(policy=Policy(egress=Egress.of(egress)))
        base = database.session if isinstance(database, Database) else session_base

        def make_session(identity: Identity) -> Session:
            return access.session(identity, base.policy).narrow(run_settings.permissions)

        with ExitStack() as stack:
            store, knowledge_source = LazyExampleStore(examples, embedding, stack), KnowledgeSource(knowledge)
            answering = make_translator_factory(model, base_url)
            describing = answering if annotator is None else make_translator_factory(annotator, None)
            session = make_session(Identity(user) if isinstance(user, str) else user or base.identity)
            if not isinstance(database, Database):
                database = stack.enter_context(Database.open(database, session=session, otherwise=otherwise))
            elif database.session != session:
                database = stack.enter_context(database.for_user(session.identity, session.policy))
            factory = ResourceFactory(
                database, make_session, answering, describing, run_settings, store, sandbox, trail, knowledge_source
            )
            stack.callback(factory.close)
            resources = factory.get_session_resources(session)
            resources.translator(run_settings)  # one that cannot be set up is an error now
            self._set_up_graph(resources, InMemorySaver() if checkpointer is None else checkpointer)
            self._stack = stack.pop_all()

    def _set_up_graph(self, resources: Resources, checkpointer: BaseCheckpointSaver[Any]) -> None:
        self._stack = ExitStack()
        self._checkpointer = checkpointer
        self.resources = resources
        self.settings = resources.settings
        self.graph: AgentGraph = build_graph(resources, checkpointer)

    def for_user(self, user: Identity | str) -> SQLAgent:
        """Return this agent with another person's rights: the same model, stores and rules.

        What one person may not read does not reach them through another: values, schema, conversations and examples
        are used only under the rights that they were made with, or wider ones. Take the name from what your program
        knows of its caller, never from what a question or a model says.

        Args:
            user: Who asks; a name, or also groups and claims.

        Returns:
            An agent that works as long as this one is open. A second call for the same person costs little.

        Raises:
            SettingsError: The permissions do not mention this person, and have no default.
        """
        return SQLAgent.over(self.resources.of(Identity(user) if isinstance(user, str) else user), self._checkpointer)

    @classmethod
    def over(cls, resources: Resources, checkpointer: BaseCheckpointSaver[Any] | None = None) -> SQLAgent:
        """Return an agent that uses resources which the caller opens and closes."""
        agent = cls.__new__(cls)
        agent._set_up_graph(resources, checkpointer or InMemorySaver())
        return agent

    def ask(
        self, question: str, *, settings: RunSettings = None, user: Identity | str | None = None, notes: str = ""
    ) -> Answer:
        """Answer one question, outside of any conversation.

        An ambiguous question gives an answer with the status `needs_clarification`. Use a `conversation` where people
        can then say which reading they meant.

        Args:
            question: In plain language.
            settings: Fields to change for this question.
            user: Who asks, if it is not the person that the agent was opened for.
            notes: What the person adds to the question, such as a definition. The model reads it; it is not searched
                for values of the database.
        """
        return self._open_temporary_conversation(user).ask(question, settings=settings, notes=notes)

    async def aask(
        self, question: str, *, settings: RunSettings = None, user: Identity | str | None = None, notes: str = ""
    ) -> Answer:
        """Answer one question as `ask` does, without blocking."""
        alone = await asyncio.to_thread(self._open_temporary_conversation, user)
        return await alone.aask(question, settings=settings, notes=notes)

    def stream(
        self, question: str, *, settings: RunSettings = None, user: Identity | str | None = None, notes: str = ""
    ) -> Generator[Event]:
        """Answer one question and yield the events of the turn, the answer last."""
        yield from self._open_temporary_conversation(user).stream(question, settings=settings, notes=notes)

    async def astream(
        self, question: str, *, settings: RunSettings = None, user: Identity | str | None = None, notes: str = ""
    ) -> AsyncGenerator[Event]:
        """Yield the events of one question as `stream` does, without blocking."""
        alone = await asyncio.to_thread(self._open_temporary_conversation, user)
        async with aclosing(alone.astream(question, settings=settings, notes=notes)) as events:
            async for event in events:
                yield event

    def _open_temporary_conversation(self, user: Identity | str | None = None) -> Conversation:
        """Return a conversation for a single question, which is not stored."""
        return Conversation(self if user is None else self.for_user(user), "")

    def deliver(self, answer: Answer, *, settings: RunSettings = None) -> Answer:
        """Add the rows that may not be sent to a model, and the model's sentence, to an answer.

        Answers from `ask` and from conversations have both. Those in a tool's artifact or in the graph's output lack
        withheld rows, because messages and traces are kept, and have the program's sentence.
        """
        record = answer.record
        if not (answer.withheld or answer.sentence) or record.sql is None:
            return answer
        # What goes through the graph - prompts, state, checkpoints, traces - has marks in the place of these rows. They
        # are read again when the answer is handed over, by nothing but its SQL, and are kept nowhere.
        run_settings = self.settings.overridden(make_settings(settings))
        database = self.resources.narrow(run_settings.permissions).database
        if not answer.withheld:
            result = PlainResult(record.columns, record.rows, record.truncated)
            line = fill_answer_sentence(record, result, answer.formats, database)
            text = record.text if line is None or record.sentence is None else f"{line} {record.sentence.rest}".strip()
            return Answer(replace(record, text=text), answer.thread, record)
        try:
            with tag_statements_with_thread(answer.thread):
                result = make_plain_result(database.execute(record.sql, run_settings.limits))
                definitions = {entry.name: entry.text for entry in record.used_knowledge}
                looks = build_display(analyze_sql(record.sql, database), result, answer.labels.locale, definitions)
        except QueryError as error:
            why = answer.labels.say_error(error)
            complete = replace(record, status="failed", text=why, columns=(), rows=(), row_count=0, withheld="")
            return Answer(complete, answer.thread, record)
        line = fill_answer_sentence(record, result, looks.formats, database)
        remarks = list_remarks(result, looks.labels)
        texts = tuple(note.text for note in remarks)
        words = [line or phrase_result_or_count(result, looks), *texts, record.text.removeprefix(WITHHELD).strip()]
        complete = replace(
            put_result(record, result, looks),
            text=" ".join(filter(None, words)),
            notes=(*record.notes, *texts),
            noted=(*record.noted, *(note for note in remarks if note.kind)),
            withheld="",
        )
        return Answer(complete, answer.thread, record)

    def export(
        self,
        answer: Answer,
        target: Target,
        form: Format | None = None,
        *,
        rows: int | None = None,
        settings: RunSettings = None,
        cancellation: Cancellation | None = None,
    ) -> ExportResult:
        """Write all rows of an answer to a file or a stream, by running its query again.

        The query runs under this agent's rights, which may be narrower than when the answer was given, and under
        `Settings.export_rows` and `export_seconds`. Columns that may not be sent to a model are included, because the
        file is for the person who asks. For an answer without SQL, from pandas code alone, the rows that it holds are
        written.

        Args:
            answer: Of this agent, or of another on the same database.
            target: A path, which is replaced only once every row is written, or a binary stream.
            form: `csv`, `json`, `jsonl`, `md`, `xlsx` or `parquet`; None to go by the path's ending.
            rows: The most rows to write.
            settings: Fields to change for this export.
            cancellation: Ends it from another thread.

        Raises:
            ExportError: There are no rows to write, or the file cannot be written.
            QueryError: The query cannot be run under these rights or limits.
        """
        within, resources = self.settings.overridden(make_settings(settings)), self.resources
        return verbs.export(answer, resources, target, form, rows=rows, settings=within, cancellation=cancellation)

    def conversation(self, thread: str | None = None, *, user: Identity | str | None = None) -> Conversation:
        """Return a new conversation, or the stored one named `thread`.

        Turns that were made under wider permissions, or for somebody else, are left out of it.

        Args:
            thread: Its name.
            user: Whose it is, if it is not the person that the agent was opened for.
        """
        return Conversation(self if user is None else self.for_user(user), thread or uuid.uuid4().hex)

    def approve(self, answer: Answer, *, question: str = "", shared: bool = False) -> SavedAnswer:
        """Save a correct answer as an example for this agent's database.

        It is shown when a similar question is asked of the same database, and of no other unless it is shared. Saving
        it again changes nothing; another answer to the very same question replaces the earlier one.

        Args:
            answer: Of this agent, or of another on the same database.
            question: What to keep as the question; the answer's self-contained form if empty.
            shared: Show it for questions to other databases too: its question and SQL, with the values in them.

        Raises:
            ExampleRefused: It has no SQL that ran, its question does not stand alone, or it is of another database.
            SettingsError: The agent was given no store.
            ExampleStoreError: The store cannot be opened or written.
        """
        if not isinstance(answer, Answer):  # pyright: ignore[reportUnnecessaryIsInstance] - programs pass anything
            raise SettingsError(f"approve takes an answer, as agent.ask returns it, not {answer!r}")
        return verbs.approve(answer, self.resources, question=question, shared=shared)

    async def aapprove(self, answer: Answer, *, question: str = "", shared: bool = False) -> SavedAnswer:
        """Save an answer as `approve` does, without blocking."""
        return await asyncio.to_thread(self.approve, answer, question=question, shared=shared)

    def note(self, text: str) -> Entry:
        """Add a definition or a rule to the knowledge file.

        Args:
            text: `active customer means ordered in the last 90 days`; `revenue = SUM(orders.total)`; or a rule.

        Returns:
            The entry, with its author and time.

        Raises:
            KnowledgeError: It does not fit the database, contradicts what is known, or the file cannot be written.
        """
        return verbs.note(text, self.resources)

    def remember(self, entry: Entry) -> Entry:
        """Add one of the `proposals` of an answer or a correction to the knowledge file.

        Raises:
            KnowledgeError: As for `note`.
        """
        return verbs.save_knowledge_entry(entry, self.resources)

    def correct(self, answer: Answer, sql: str, *, question: str = "") -> Correction:
        """Run the correct query, and save it as the answer to the question.

        Args:
            answer: Of this agent, or of another on the same database.
            sql: The right query.
            question: What to keep as the question; the answer's self-contained form if empty.

        Returns:
            The right answer, and proposals of what could be learned from it. Pass those that a person accepts to
            `remember`.

        Raises:
            QueryError: It does not run.
            SettingsError: There is no query.
            ExampleRefused: Its question does not stand alone, or it is of another database.
            SettingsError: The agent was given no store.
            ExampleStoreError: The store cannot be opened or written.
        """
        correction = verbs.correct(answer, sql, self.resources, question=question)
        return replace(correction, answer=self.deliver(correction.answer))

    def word_correction(self, answer: Answer, words: str) -> CorrectionTurn:
        """Return a turn that repeats an answer's question with a person's correction in words.

        Give its `question` and `notes` to `ask`, and its `wording` to `approve` as the question of the new answer.
        """
        return verbs.word_correction(answer, words, self.resources)

    def rerun(self, answer: Answer, sql: str = "", *, cancellation: Cancellation | None = None) -> Answer:
        """Run an answer's query again, or another query in its place; store nothing.

        Args:
            answer: Of this agent, or of another on the same database.
            sql: What to run instead of the answer's own.
            cancellation: Ends it from another thread.

        Raises:
            QueryError: It does not run.
            SettingsError: There is no query to run.
        """
        return self.deliver(verbs.rerun(answer, sql, self.resources, cancellation))

    def list_lessons(self) -> tuple[Lesson, ...]:
        """Return the saved answers and the definitions that this person may see."""
        return verbs.list_lessons(self.resources)

    def edit_lesson(self, id_: str, text: str) -> None:
        """Change the question or the SQL of a saved answer, or the meaning of a definition.

        Raises:
            KnowledgeError: There is none with that id, the definition does not fit, or others may read more of it.
            QueryError: The query does not run.
        """
        verbs.edit_lesson(id_, text, self.resources)

    def forget(self, name: str) -> str:
        """Remove a definition or an approved answer by its name, question or id.

        Returns:
            What was removed, in words.

        Raises:
            KnowledgeError: There is neither.
        """
        return verbs.forget(name, self.resources)

    def as_tool(self, name: str = "ask_database", description: str | None = None) -> BaseTool:
        """Return a LangChain tool that answers a question; its artifact is the `Answer`."""
        default_text = (
            f"Answers a question from the database {self.resources.database.name!r}. Read-only. "
            "Returns the answer, the SQL that was run, and its first rows."
        )
        masks = self.resources.database.session.policy.egress.mask

        def make_tool_reply(answer: Answer) -> tuple[str, Answer]:
            return mask(render_answer_text(answer), masks), answer

        def ask(question: str) -> tuple[str, Answer]:
            return make_tool_reply(self._open_temporary_conversation().take(question))

        async def aask(question: str) -> tuple[str, Answer]:
            return make_tool_reply(await self._open_temporary_conversation().atake(question))

        return StructuredTool.from_function(
            func=ask,
            coroutine=aask,
            name=name,
            description=description or default_text,
            args_schema=ToolInput,
            response_format="content_and_artifact",
        )

    async def adelete_thread(self, thread: str) -> None:
        """Delete a conversation from the checkpointer."""
        await call_saver(self._checkpointer, "delete_thread", thread)

    def close(self) -> None:
        """Close what the agent opened itself; a database or store passed in stays open."""
        self._stack.close()

    def __enter__(self) -> SQLAgent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
