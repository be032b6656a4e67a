"""The factory of an agent's resources: database, value index, examples, translators."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Generic, TypeVar, cast
from weakref import WeakSet

from ...tools.database import Database, Identity, Session
from ...tools.toolset import Toolset
from ...tools.values import ValueIndex
from ..effects import Translator
from ..model.chat import PromptedTranslator, TranslatorOptions, make_masking_translator
from ..model.choose_model import OFFLINE, resolve_model
from ..settings import Settings
from .examples_and_knowledge import KnowledgeSource, LazyExampleStore, PersonKnowledge
from .resources import EnrichedSchemaCache, Resources

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...tools.sandbox import SandboxLimits
    from ..audit import AuditTrail
    from ..offline import OfflineTranslator

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyedCache(Generic[K, V]):
    """A thread-safe cache in which making one entry does not block access to others."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, Future[V]] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the entry for `key`, created on first use; an error of `make` reaches all callers."""
        with self._lock:
            entry = self._entries.pop(key, None)
            future = entry or Future[V]()
            self._entries[key] = future
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        if entry is None:
            try:
                future.set_result(make())
            except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
                with self._lock:
                    if self._entries.get(key) is future:
                        del self._entries[key]
                future.set_exception(error)
        return future.result()


# So many sessions are kept open; the one that was used longest ago is let go of first.
_cache = partial(KeyedCache[Session, Resources], 64)


@dataclass(frozen=True)
class ResourceFactory:
    """A factory that builds each person's resources from shared parts."""

    database: Database  # as the agent's own person reads it
    session_of: Callable[[Identity], Session]  # gives a person's session
    translator: Callable[[Settings], PromptedTranslator | None]  # asks a model; None where none is chosen
    annotator: Callable[[Settings], PromptedTranslator | None]  # likewise, to describe the schema
    settings: Settings
    examples: LazyExampleStore
    sandbox: SandboxLimits | None  # limits and boundary of pandas code
    audit: AuditTrail | None
    knowledge: KnowledgeSource
    databases: WeakSet[Database] = field(default_factory=WeakSet[Database])  # for other people
    readings: KeyedCache[Session, Resources] = field(default_factory=_cache)
    people: KeyedCache[Session, Resources] = field(default_factory=_cache)

    def get_session_resources(self, session: Session) -> Resources:
        """Return the resources of a session, with shared connections and schemas."""
        return self.people.get(session, lambda: self._make_session_resources(session))

    def _make_session_resources(self, session: Session) -> Resources:
        shared_session = Database(self.database.engine, session).shared_session
        shared_resources = self.readings.get(shared_session, lambda: self._open_shared_resources(shared_session))
        if shared_resources.database.session == session:
            return shared_resources
        database = Database(shared_resources.database.engine, session)
        tools = Toolset(database, shared_resources.values, self.examples.open_store_for_search, self.sandbox)
        knowledge = PersonKnowledge(self.knowledge, database, shared_resources.knowledge)
        return replace(shared_resources, database=database, tools=tools, knowledge=knowledge)

    def _open_shared_resources(self, session: Session) -> Resources:
        """Open resources for a session that people with equal rights share."""
        database = self.database
        if session != database.shared_session:
            database = database.for_user(session.identity, session.policy)
            self.databases.add(database)
        values, knowledge = ValueIndex.open(database), PersonKnowledge(self.knowledge, database)

        def get_annotator_name() -> str:
            translator = self.annotator(self.settings)
            return f"{translator.address} {translator.model}" if translator else OFFLINE

        @lru_cache(maxsize=1)
        def get_offline_translator() -> OfflineTranslator:
            from ..offline import OfflineTranslator

            return OfflineTranslator(database, values)

        kinds = session.policy.egress.mask

        def add_masking(translator: Callable[[Settings], Translator | None]) -> Callable[[Settings], Translator]:
            if not kinds:
                return lambda settings: translator(settings) or get_offline_translator()
            return lambda settings: make_masking_translator(translator(settings) or get_offline_translator(), kinds)

        return Resources(
            database,
            values,
            Toolset(database, values, self.examples.open_store_for_search, self.sandbox),
            add_masking(self.translator),
            add_masking(self.annotator),
            self.settings,
            EnrichedSchemaCache(database, values, get_annotator_name, knowledge),
            self.examples,
            self,
            self.audit,
            knowledge,
        )

    def close(self) -> None:
        """Close the databases that were opened for other people."""
        for database in list(self.databases):
            database.close()


def make_translator_factory(
    model: str | BaseChatModel | None, base_url: str | None
) -> Callable[[Settings], PromptedTranslator | None]:
    """Return a function from settings to a translator; without a model, the result is None."""

    @lru_cache(maxsize=32)
    def make_translator(options: TranslatorOptions) -> PromptedTranslator | None:
        timeout, retries = options.request_seconds, options.request_retries
        chat_model = resolve_model(model, base_url=base_url, timeout=timeout, max_retries=retries)
        return None if chat_model is None else PromptedTranslator(chat_model, options)

    @lru_cache(maxsize=32)
    def get_translator(settings: Settings) -> PromptedTranslator | None:
        return make_translator(TranslatorOptions.of(settings))

    # Frozen models can be hashed, which their type does not say.
    return cast("Callable[[Settings], PromptedTranslator | None]", get_translator)
