"""The resources of the nodes, opened with the agent and shared by its conversations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.annotations import Annotations, AnnotationStore, compute_annotations_key
from ...tools.basis import NewestDateCache
from ...tools.database import Cancellation, Cell, Database, Identity, Limits, Permissions, Rights, Schema
from ...tools.dictionary import read_data_dictionaries
from ...tools.linking import SchemaLinker
from ...tools.masked_database import MaskedDatabase
from ...tools.sql import write_exact_table_names
from ...tools.toolset import Toolset
from ...tools.values import ValueIndex
from ..advice import call_with_fallback
from ..effects import Translator
from ..settings import Settings
from .examples_and_knowledge import LazyExampleStore

if TYPE_CHECKING:
    from ...tools.knowledge import Knowledge
    from ..audit import AuditTrail
    from .examples_and_knowledge import PersonKnowledge
    from .factory import ResourceFactory

_DICTIONARY_SECONDS = 1.0  # for reading a data dictionary, which is small


@dataclass(frozen=True)
class SchemaReading:
    """A schema with joins from knowledge and descriptions added, and its linker."""

    of: tuple[Schema, Knowledge | None, Annotations | None]
    schema: Schema
    values: ValueIndex
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def linker(self) -> SchemaLinker:
        """The linker, built at its first use."""
        with self._lock:
            return self._linker

    @cached_property
    def _linker(self) -> SchemaLinker:
        return SchemaLinker(self.schema, self.values)


class EnrichedSchemaCache:
    """A thread-safe cache of a database's enriched schemas and schema linkers.

    Its methods read the schema, so call them within an effect.
    """

    def __init__(
        self, database: Database, values: ValueIndex, annotator: Callable[[], str], knowledge: PersonKnowledge
    ) -> None:
        self.folder: Path | None = None  # another cache folder for descriptions
        self._database = database
        self._annotator = annotator
        self._knowledge = knowledge
        self._values = values
        self._readings: dict[bool, SchemaReading] = {}
        self._dictionary: tuple[Schema, Annotations] | None = None
        self._stores: dict[str, AnnotationStore] = {}
        self._lock = threading.Lock()

    def annotations(self) -> AnnotationStore:
        """Return the store of the annotator's descriptions of the current schema."""
        schema = self._database.schema()
        with self._lock:
            if schema.version not in self._stores:
                key = compute_annotations_key(self._database, self._annotator())
                self._stores = {schema.version: AnnotationStore(key, self.folder)}
            return self._stores[schema.version]

    def _read_cached_dictionaries(self, bare: Schema) -> Annotations:
        """Return the descriptions in the database's data dictionaries, read once per schema."""
        entry = self._dictionary
        if entry is None or entry[0] is not bare:
            masked_database = MaskedDatabase(self._database)

            def run_query(sql: str, rows: int) -> Sequence[tuple[Cell, ...]]:
                return masked_database.execute(sql, Limits(seconds=_DICTIONARY_SECONDS, rows=rows)).rows

            annotations = call_with_fallback("linking", lambda: read_data_dictionaries(bare, run_query), Annotations())
            entry = self._dictionary = bare, annotations
        return entry[1]

    def read(self, annotated: bool) -> SchemaReading:
        """Return the schema with joins from knowledge; `annotated` adds missing descriptions."""
        bare = self._database.schema()
        knowledge = call_with_fallback("knowledge", self._knowledge.read, None)
        annotations = self.annotations().read() if annotated else None
        dictionary, sources = self._read_cached_dictionaries(bare), (bare, knowledge, annotations)
        with self._lock:
            reading = self._readings.get(annotated)
            if reading is None or any(map(is_not, reading.of, sources)):
                base_schema = dictionary.on(bare if knowledge is None else knowledge.schema)
                schema = base_schema if annotations is None else annotations.on(base_schema)
                reading = self._readings[annotated] = SchemaReading(sources, schema, self._values)
            return reading


@dataclass(frozen=True)
class Resources:
    """An agent's database, tools and knowledge, restricted to one person's rights."""

    database: Database
    values: ValueIndex
    tools: Toolset
    translator: Callable[[Settings], Translator]  # for a run's settings; it masks requests as the policy says
    annotator: Callable[[Settings], Translator]  # describes the schema; the same unless another is named
    settings: Settings  # the agent's own; a run may override single fields
    schemas: EnrichedSchemaCache
    examples: LazyExampleStore
    factory: ResourceFactory  # makes the same for other people, and under narrower permissions
    audit: AuditTrail | None  # where turns are written down; None for nowhere
    knowledge: PersonKnowledge  # what words mean for the database

    @cached_property
    def rights(self) -> Rights:
        """The access rights of the person."""
        return self.database.session.rights

    def of(self, identity: Identity) -> Resources:
        """Return the resources for another person."""
        return self.factory.get_session_resources(self.factory.session_of(identity))

    def narrow(self, permissions: Permissions) -> Resources:
        """Return these resources, restricted to what `permissions` also allow."""
        current = self.database.session
        session = current.narrow(permissions)
        return self if session == current else self.factory.get_session_resources(session)

    def may_read(self, rights: Rights | None) -> bool:
        """Whether the person may read data that was created under the given rights."""
        return self.rights.cover(rights)

    @cached_property
    def masked_database(self) -> MaskedDatabase:
        """The database with withheld cells masked, for models."""
        return MaskedDatabase(self.database)

    @cached_property
    def newest(self) -> NewestDateCache:
        """The newest dates in the data, as far as they may be sent to a model."""
        return NewestDateCache(self.masked_database.execute, self.database.engine.state, self.database.dialect)


@dataclass(frozen=True)
class Run:
    """A run of one graph node: resources, settings, progress callback and cancellation."""

    resources: Resources  # what it reaches the world through
    settings: Settings  # this run's
    emit: Callable[[dict[str, Any]], None]  # where progress goes
    cancellation: Cancellation | None = None  # ends what runs; None where nobody can
    thread: str = ""  # the conversation's name in the checkpointer; empty outside one
    watched: bool = False  # whether somebody sees what it finds before the turn ends

    @cached_property
    def translator(self) -> Translator:
        """The translator of this run, with requests masked as the policy requires."""
        return self.resources.translator(self.settings)

    def annotator(self) -> Translator:
        """Return the translator that writes descriptions of the schema."""
        return self.resources.annotator(self.settings)

    @cached_property
    def _reading(self) -> SchemaReading:
        return self.resources.schemas.read(self.settings.annotate)

    @cached_property
    def schema(self) -> Schema:
        """The schema of this run, which stays the same during the run."""
        return self._reading.schema

    @property
    def knowledge(self) -> Knowledge | None:
        """The knowledge of this run, which does not change; None if there is no knowledge file."""
        return self._reading.of[1]

    def spell(self, sql: str) -> str:
        """Rewrite a query's names and functions so that the engine's own client can read them."""
        engine = self.resources.database.engine
        return call_with_fallback("checks", lambda: write_exact_table_names(engine.translate(sql), self.schema), sql)

    def linker(self) -> SchemaLinker:
        """Return the schema linker of this run."""
        return self._reading.linker
