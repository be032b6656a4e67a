"""The schema as it stands, bare or with a model's annotations, and the linker for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...tools.annotations import Annotations, AnnotationStore, annotations_key
from ...tools.database import Database, Schema
from ...tools.linking import SchemaLinker
from ...tools.values import ValueIndex
from ..advice import advise

if TYPE_CHECKING:
    from ...tools.knowledge import Knowledge
    from .knowledge import PersonKnowledge


@dataclass(frozen=True)
class _Made:
    """What was made of a schema; `annotations` tells whether more was described since."""

    bare: Schema
    annotations: Annotations | None
    schema: Schema
    values: ValueIndex
    knowledge: Knowledge | None = None

    @cached_property
    def linker(self) -> SchemaLinker:
        """Build it when it is first asked for: linking advises a turn, which has its schema without."""
        return SchemaLinker(self.schema, self.values)


class Schemas:
    """Gives schemas and linkers, made once for each reading of the schema. May be used from several threads.

    Its methods read the schema, so call them within an effect.

    Args:
        database: Whose schema it is.
        values: Its value index.
        annotator: Gives the name and address of the model that describes it.
        knowledge: What words mean for it.

    Attributes:
        folder: Another cache folder for descriptions.
    """

    def __init__(
        self,
        database: Database,
        values: ValueIndex,
        annotator: Callable[[], str],
        knowledge: PersonKnowledge | None = None,
    ) -> None:
        self.folder: Path | None = None
        self._database = database
        self._annotator = annotator
        self._knowledge = knowledge
        self._values = values
        self._made: dict[bool, _Made] = {}
        self._stores: dict[str, AnnotationStore] = {}
        self._lock = threading.Lock()

    def annotations(self) -> AnnotationStore:
        """What the annotator described of the schema as it stands now."""
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
        """The linker for that schema."""
        made = self._now(annotated)
        with self._lock:
            return made.linker

    def _now(self, annotated: bool) -> _Made:
        bare = self._database.schema()
        knowledge = advise("knowledge", self._knowledge.now, None) if self._knowledge else None
        annotations = self.annotations().read() if annotated else None
        with self._lock:
            made = self._made.get(annotated)
            if (
                made is None
                or made.bare is not bare
                or made.annotations is not annotations
                or made.knowledge is not knowledge
            ):
                joined = bare if knowledge is None else knowledge.schema
                schema = joined if annotations is None else annotations.on(joined)
                made = _Made(bare, annotations, schema, self._values, knowledge)
                self._made[annotated] = made
            return made
