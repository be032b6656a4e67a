"""What the nodes reach the world through: opened once when an agent is built, shared by all of its conversations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.annotations import Annotations, AnnotationStore, annotations_key
from ...tools.basis import NewestDates
from ...tools.database import Cancellation, Cell, Database, Identity, Limits, Permissions, Rights, Schema
from ...tools.dictionary import read_dictionary
from ...tools.linking import SchemaLinker
from ...tools.outgoing import ModelView
from ...tools.sql import spell_tables
from ...tools.toolset import Toolset
from ...tools.values import ValueIndex
from ..advice import advise
from ..effects import Translator
from ..model.chat import masking
from ..settings import Settings
from .examples_and_knowledge import AgentExamples

if TYPE_CHECKING:
    from ...tools.knowledge import Knowledge
    from ..audit import AuditTrail
    from .examples_and_knowledge import PersonKnowledge
    from .factory import ResourceFactory


_DICTIONARY_SECONDS = 1.0  # for reading a data dictionary, which is small


@dataclass(frozen=True)
class _Made:
    """What was made of a schema as it was read, of the knowledge, and of what was described then."""

    of: tuple[Schema, Knowledge | None, Annotations | None]
    schema: Schema
    values: ValueIndex

    @cached_property
    def linker(self) -> SchemaLinker:
        """Build it when it is first asked for: linking advises a turn, which has its schema without."""
        return SchemaLinker(self.schema, self.values)


class Schemas:
    """Gives schemas and linkers, made once for each reading of the schema. May be used from several threads.

    Its methods read the schema, so call them within an effect.
    """

    def __init__(
        self,
        database: Database,
        values: ValueIndex,
        annotator: Callable[[], str],
        knowledge: PersonKnowledge,
    ) -> None:
        self.folder: Path | None = None  # another cache folder for descriptions
        self._database = database
        self._annotator = annotator
        self._knowledge = knowledge
        self._values = values
        self._made: dict[bool, _Made] = {}
        self._dictionary: tuple[Schema, Annotations] | None = None
        self._stores: dict[str, AnnotationStore] = {}
        self._lock = threading.Lock()

    def annotations(self) -> AnnotationStore:
        """Return what the annotator described of the schema as it stands now."""
        schema = self._database.schema()
        with self._lock:
            if schema.version not in self._stores:
                key = annotations_key(self._database, self._annotator())
                self._stores = {schema.version: AnnotationStore(key, self.folder)}
            return self._stores[schema.version]

    def schema(self, annotated: bool) -> Schema:
        """The schema, joins of knowledge in it; `annotated` with what is described of it, where it has no comments."""
        return self._now(annotated).schema

    def linker(self, annotated: bool) -> SchemaLinker:
        """Return the linker for that schema."""
        made = self._now(annotated)
        with self._lock:
            return made.linker

    def _described(self, bare: Schema) -> Annotations:
        """Return what the database's own data dictionaries say, read once for each reading of the schema."""
        kept = self._dictionary
        if kept is None or kept[0] is not bare:
            outgoing = ModelView(self._database)

            def read(sql: str, rows: int) -> Sequence[tuple[Cell, ...]]:
                return outgoing.execute(sql, Limits(seconds=_DICTIONARY_SECONDS, rows=rows)).rows

            found = advise("linking", lambda: read_dictionary(bare, read), Annotations())
            kept = self._dictionary = bare, found
        return kept[1]

    def _now(self, annotated: bool) -> _Made:
        bare = self._database.schema()
        knowledge = advise("knowledge", self._knowledge.now, None)
        annotations = self.annotations().read() if annotated else None
        dictionary, of = self._described(bare), (bare, knowledge, annotations)
        with self._lock:
            made = self._made.get(annotated)
            if made is None or any(map(is_not, made.of, of)):
                joined = dictionary.on(bare if knowledge is None else knowledge.schema)
                schema = joined if annotations is None else annotations.on(joined)
                made = self._made[annotated] = _Made(of, schema, self._values)
            return made


@dataclass(frozen=True)
class Resources:
    """The agent's means."""

    database: Database
    values: ValueIndex
    tools: Toolset
    translator: Callable[[Settings], Translator]  # gives the translator for a run's settings
    annotator: Callable[[Settings], Translator]  # describes the schema; the same unless another is named
    settings: Settings  # the agent's own; a run may override single fields
    schemas: Schemas
    examples: AgentExamples
    factory: ResourceFactory  # makes the same for other people, and under narrower permissions
    audit: AuditTrail | None  # where turns are written down; None for nowhere
    knowledge: PersonKnowledge  # what words mean for the database

    @cached_property
    def rights(self) -> Rights:
        """Under which rights everything is made here."""
        return self.database.session.rights

    def of(self, identity: Identity) -> Resources:
        """Return the resources of another person."""
        return self.factory.under(self.factory.session_of(identity))

    def narrowed(self, permissions: Permissions) -> Resources:
        """Return these resources, or those of the same person who may read only what `permissions` show too."""
        own = self.database.session
        session = own.narrow(permissions)
        return self if session == own else self.factory.under(session)

    def may_read(self, made: Rights | None) -> bool:
        """Whether what was made under these rights may be read here."""
        return self.rights.cover(made)

    @cached_property
    def outgoing(self) -> ModelView:
        """The database as a model may know it."""
        return ModelView(self.database)

    @cached_property
    def newest(self) -> NewestDates:
        """How new its data is, as far as that may leave."""
        return NewestDates(self.outgoing.execute, self.database.engine.state, self.database.dialect)


@dataclass(frozen=True)
class Run:
    """One node's run."""

    resources: Resources  # what it reaches the world through
    settings: Settings  # this run's
    emit: Callable[[dict[str, Any]], None]  # where progress goes
    cancellation: Cancellation | None = None  # ends what runs; None where nobody can
    thread: str = ""  # the conversation's name in the checkpointer; empty outside one

    @cached_property
    def translator(self) -> Translator:
        """Who does this run's tasks; what the policy says is masked in whatever goes to a model."""
        return self._masked(self.resources.translator)

    def annotator(self) -> Translator:
        """Return who describes the schema."""
        return self._masked(self.resources.annotator)

    def _masked(self, translator: Callable[[Settings], Translator]) -> Translator:
        return masking(translator(self.settings), self.resources.database.session.policy.egress.mask)

    @cached_property
    def schema(self) -> Schema:
        """The schema as this run shows it, the same from its first use on; see `Schemas`."""
        return self.resources.schemas.schema(self.settings.annotate)

    def spelt(self, sql: str) -> str:
        """Write the names of a query's tables as the engine's own client reads them."""
        if self.resources.database.dialect == "sqlite":
            return sql
        return advise("checks", lambda: spell_tables(sql, self.schema), sql)

    def linker(self) -> SchemaLinker:
        """Return the linker for that schema."""
        return self.resources.schemas.linker(self.settings.annotate)
