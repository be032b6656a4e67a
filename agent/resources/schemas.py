"""The schema as it stands, bare or with a model's annotations, and the linker for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ...tools.annotations import Annotations, AnnotationStore, annotations_key
from ...tools.database import Database, Schema
from ...tools.linking import SchemaLinker
from ...tools.values import ValueIndex


@dataclass(frozen=True)
class _Made:
    """What was made of a version of the schema; `annotations` tells whether more was described since."""

    version: str
    annotations: Annotations | None
    schema: Schema
    linker: SchemaLinker


class Schemas:
    """Gives schemas and linkers, made once a version. May be used from several threads.

    Its methods read the schema, so call them within an effect.
    """

    def __init__(self, database: Database, values: ValueIndex) -> None:
        self._database = database
        self._values = values
        self._made: dict[bool, _Made] = {}
        self._stores: dict[str, AnnotationStore] = {}
        self._lock = threading.Lock()

    def annotations(self) -> AnnotationStore:
        """What is described of the schema as it stands now."""
        schema = self._database.schema()
        with self._lock:
            if schema.version not in self._stores:
                self._stores = {schema.version: AnnotationStore(annotations_key(self._database))}
            return self._stores[schema.version]

    def schema(self, annotated: bool) -> Schema:
        """The schema; `annotated` with what is described of it, as far as it has no comments of its own."""
        return self._now(annotated).schema

    def linker(self, annotated: bool) -> SchemaLinker:
        """The linker for that schema."""
        return self._now(annotated).linker

    def _now(self, annotated: bool) -> _Made:
        bare = self._database.schema()
        annotations = self.annotations().read() if annotated else None
        with self._lock:
            made = self._made.get(annotated)
            if made is None or made.version != bare.version or made.annotations is not annotations:
                schema = bare if annotations is None else annotations.on(bare)
                made = _Made(bare.version, annotations, schema, SchemaLinker(schema, self._values))
                self._made[annotated] = made
            return made
