"""Opens what an agent needs: the database and its value index, the example store, and the translator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
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
from .resources import MOST_SESSIONS, Others, Resources, Schemas
from .taught import AgentExamples, KnowledgeSource, PersonKnowledge

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...tools.database.engines import DatabaseSource
    from ...tools.examples import ExampleStore
    from ...tools.sandbox import SandboxLimits
    from ..audit import AuditTrail
    from ..offline import OfflineTranslator


@dataclass(frozen=True)
class Opened:
    """Resources, and how to close those that were opened here."""

    resources: Resources
    close: Callable[[], None]


def open_resources(
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
) -> Opened:
    """Opens everything; what fails closes what was opened before it.

    A database that is given open keeps its person and its policy, which `access` and the settings can only narrow;
    `identity` names another person. An `annotator` is asked at its provider's own address, not at `base_url`.
    """
    stack = ExitStack()
    if isinstance(database, Database) and egress is not None:
        raise SettingsError("this database is already open: pass egress to Database.open")
    own = Session(policy=Policy(egress=Egress.of(egress)))
    base = database.session if isinstance(database, Database) else own
    store = AgentExamples(examples, embedding, stack)
    known = KnowledgeSource(knowledge)
    answering = _translators(model, base_url)
    describing = answering if annotator is None else _translators(annotator, None)
    house = _House(answering, describing, settings, store, sandbox, access or Access(), audit, known, base.policy)
    stack.callback(house.close)
    try:
        session = house.session(identity or base.identity)
        if not isinstance(database, Database):
            database = stack.enter_context(Database.open(database, session=session))
        elif database.session != session:
            database = stack.enter_context(database.for_user(session.identity, session.policy))
        resources = house.furnish(database)
        resources.translator(settings)
    except BaseException:
        stack.close()
        raise
    return Opened(resources, stack.close)


@dataclass(frozen=True)
class _Reading:
    """What people share who read the same."""

    database: Database  # as they read it
    values: ValueIndex  # its value index
    knowledge: PersonKnowledge  # the knowledge file, as they may see it
    schemas: Schemas  # the schema and the linker for it
    offline: Callable[[], OfflineTranslator]  # gives the built-in grammar


@dataclass(frozen=True)
class _House:
    """What all people share whose questions one agent answers; makes the resources of one person after the other."""

    translator: Callable[[Settings], PromptedTranslator | None]  # asks a model; None where none is chosen
    annotator: Callable[[Settings], PromptedTranslator | None]  # likewise, to describe the schema
    settings: Settings
    examples: AgentExamples
    sandbox: SandboxLimits | None  # limits and boundary of pandas code
    access: Access
    audit: AuditTrail | None
    knowledge: KnowledgeSource
    base: Policy  # the policy that people's sessions narrow
    databases: WeakSet[Database] = field(default_factory=WeakSet[Database])
    readings: KeyedCache[Session, _Reading] = field(
        default_factory=lambda: KeyedCache[Session, _Reading](MOST_SESSIONS)
    )

    def session(self, identity: Identity) -> Session:
        """A person's session."""
        return self.access.session(identity, self.base).narrowed(self.settings.permissions)

    def furnish(self, database: Database) -> Resources:
        """The resources over a database under somebody's session."""
        reading = self.readings.get(database.shared_session, lambda: self._reading(database))
        return Resources(
            database,
            reading.values,
            Toolset(database, reading.values, self.examples.store, self.sandbox),
            lambda settings: self.translator(settings) or reading.offline(),
            lambda settings: self.annotator(settings) or reading.offline(),
            self.settings,
            reading.schemas,
            self.examples,
            Others(database.session, self.session, lambda session: self.furnish(self._opened(database, session))),
            self.audit,
            PersonKnowledge(self.knowledge, database, reading.knowledge),
        )

    def _reading(self, database: Database) -> _Reading:
        values, knowledge = ValueIndex.open(database), PersonKnowledge(self.knowledge, database)

        def annotator() -> str:
            translator = self.annotator(self.settings)
            return f"{translator.address} {translator.model}" if translator else OFFLINE

        @lru_cache(maxsize=1)
        def offline() -> OfflineTranslator:
            from ..offline import OfflineTranslator

            return OfflineTranslator(database, values)

        return _Reading(database, values, knowledge, Schemas(database, values, annotator, knowledge), offline)

    def _opened(self, database: Database, session: Session) -> Database:
        """The database for another session, over the connections of those who read the same."""

        def open_reading() -> _Reading:
            opened = database.for_user(wanted.identity, wanted.policy)
            self.databases.add(opened)
            return self._reading(opened)

        wanted = Database(database.engine, session).shared_session
        return Database(self.readings.get(wanted, open_reading).database.engine, session)

    def close(self) -> None:
        """Closes the databases that were opened for other people."""
        for database in list(self.databases):
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
