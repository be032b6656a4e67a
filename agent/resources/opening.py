"""Opens what an agent needs: the database and its value index, the example store, and the translator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from ...tools.database import Access, Database, Egress, Identity, Policy, Session
from ...tools.errors import SettingsError
from ...tools.keyed_cache import KeyedCache
from ...tools.toolset import Toolset
from ...tools.values import ValueIndex
from ..model.chat import PromptedTranslator, TranslatorOptions
from ..model.resolve import OFFLINE, resolve_model
from ..settings import Settings
from .resources import Resources, Schemas
from .taught import AgentExamples, KnowledgeSource, PersonKnowledge

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...tools.database.engines import DatabaseSource
    from ...tools.examples import ExampleStore
    from ...tools.sandbox import SandboxLimits
    from ..audit import AuditTrail
    from ..offline import OfflineTranslator

_SESSIONS = 64  # sessions kept open; the one that was used longest ago is let go of first


def open_resources(
    stack: ExitStack,
    database: DatabaseSource | Database,
    *,
    model: str | BaseChatModel | None,
    settings: Settings,
    examples: ExampleStore | str | Path | None,
    embedding: str = "hashed",
    base_url: str | None,
    sandbox: SandboxLimits | None = None,
    access: Access | None = None,
    identity: Identity | None = None,
    audit: AuditTrail | None = None,
    egress: Egress | Mapping[str, object] | None = None,
    knowledge: Path | str | None = None,
    annotator: str | BaseChatModel | None = None,
) -> Resources:
    """Opens everything; `stack` closes it.

    A database that is given open keeps its person and its policy, which `access` and the settings can only narrow;
    `identity` names another person. An `annotator` is asked at its provider's own address, not at `base_url`.
    """
    if isinstance(database, Database) and egress is not None:
        raise SettingsError("this database is already open: pass egress to Database.open")
    own = Session(policy=Policy(egress=Egress.of(egress)))
    base = database.session if isinstance(database, Database) else own
    store = AgentExamples(examples, embedding, stack)
    known = KnowledgeSource(knowledge)
    answering = _translators(model, base_url)
    describing = answering if annotator is None else _translators(annotator, None)

    def session_of(identity: Identity) -> Session:
        return (access or Access()).session(identity, base.policy).narrowed(settings.permissions)

    session = session_of(identity or base.identity)
    if not isinstance(database, Database):
        database = stack.enter_context(Database.open(database, session=session))
    elif database.session != session:
        database = stack.enter_context(database.for_user(session.identity, session.policy))
    house = House(database, session_of, answering, describing, settings, store, sandbox, audit, known)
    stack.callback(house.close)
    resources = house.under(session)
    resources.translator(settings)
    return resources


@dataclass(frozen=True)
class House:
    """What all people share whose questions one agent answers; makes the resources of one person after the other."""

    database: Database  # as the agent's own person reads it
    session_of: Callable[[Identity], Session]  # gives a person's session
    translator: Callable[[Settings], PromptedTranslator | None]  # asks a model; None where none is chosen
    annotator: Callable[[Settings], PromptedTranslator | None]  # likewise, to describe the schema
    settings: Settings
    examples: AgentExamples
    sandbox: SandboxLimits | None  # limits and boundary of pandas code
    audit: AuditTrail | None
    knowledge: KnowledgeSource
    opened: WeakSet[Database] = field(default_factory=WeakSet[Database])  # for other people
    readings: KeyedCache[Session, Resources] = field(default_factory=lambda: KeyedCache[Session, Resources](_SESSIONS))
    people: KeyedCache[Session, Resources] = field(default_factory=lambda: KeyedCache[Session, Resources](_SESSIONS))

    def under(self, session: Session) -> Resources:
        """The resources under a session, over the connections and with what was read for those who read the same."""
        return self.people.get(session, lambda: self._furnish(session))

    def _furnish(self, session: Session) -> Resources:
        shared_session = Database(self.database.engine, session).shared_session
        shared = self.readings.get(shared_session, lambda: self._open(shared_session))
        if shared.database.session == session:
            return shared
        database = Database(shared.database.engine, session)
        tools = Toolset(database, shared.values, self.examples.store, self.sandbox)
        known = PersonKnowledge(self.knowledge, database, shared.knowledge)
        return replace(shared, database=database, tools=tools, knowledge=known)

    def _open(self, session: Session) -> Resources:
        """The resources of the first who reads what may be read in a session that many may share."""
        database = self.database
        if session != database.shared_session:
            database = database.for_user(session.identity, session.policy)
            self.opened.add(database)
        values, knowledge = ValueIndex.open(database), PersonKnowledge(self.knowledge, database)

        def annotator() -> str:
            translator = self.annotator(self.settings)
            return f"{translator.address} {translator.model}" if translator else OFFLINE

        @lru_cache(maxsize=1)
        def offline() -> OfflineTranslator:
            from ..offline import OfflineTranslator

            return OfflineTranslator(database, values)

        return Resources(
            database,
            values,
            Toolset(database, values, self.examples.store, self.sandbox),
            lambda settings: self.translator(settings) or offline(),
            lambda settings: self.annotator(settings) or offline(),
            self.settings,
            Schemas(database, values, annotator, knowledge),
            self.examples,
            self,
            self.audit,
            knowledge,
        )

    def close(self) -> None:
        """Closes the databases that were opened for other people."""
        for database in list(self.opened):
            database.close()


def _translators(
    model: str | BaseChatModel | None, base_url: str | None
) -> Callable[[Settings], PromptedTranslator | None]:
    """The translator that asks a model, made once for a run's settings; None where no model is chosen."""

    @lru_cache(maxsize=32)
    def made(options: TranslatorOptions, seconds: float, retries: int) -> PromptedTranslator | None:
        chat_model = resolve_model(model, base_url=base_url, timeout=seconds, max_retries=retries)
        return None if chat_model is None else PromptedTranslator(chat_model, options)

    def translator(settings: Settings) -> PromptedTranslator | None:
        options = TranslatorOptions(
            prompt_tokens=settings.prompt_tokens,
            max_output_tokens=settings.max_output_tokens,
            temperature=settings.temperature,
            simplify_temperature=settings.simplify_temperature,
        )
        return made(options, settings.request_seconds, settings.request_retries)

    return translator
