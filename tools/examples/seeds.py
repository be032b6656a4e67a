"""The examples that come with tableturn: made-up businesses, in our own words; nothing from any benchmark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import ExampleStoreError
from .chroma_backend import ChromaBackend, is_made
from .embedding import Embedding, HashedEmbedding
from .exact_backend import ExactBackend
from .example import Example
from .other_embeddings import make_embedding
from .store import ExampleStore


@dataclass(frozen=True)
class DialogueTurn:
    """One turn of a seed dialogue: as asked, and self-contained in the regular form (CREDIT-SQL 3.1)."""

    question: str
    rephrased: str


@dataclass(frozen=True)
class SeedDialogue:
    """A short conversation with its rephrasings.

    Attributes:
        database: One of the seed databases.
        schema: In the compact form.
        turns: In order.
    """

    database: str
    schema: str
    turns: tuple[DialogueTurn, ...]


@dataclass(frozen=True)
class SeedProgram:
    """A question worked out in pandas and in SQL (SQL-CRAFT A.4).

    Attributes:
        database: One of the seed databases.
        question: Self-contained.
        thought: What the answer has to hold, and what is easily got wrong.
        code: Over `db_dict`; leaves its answer in `result`.
        sql: The same in SQL.
    """

    database: str
    question: str
    thought: str
    code: str
    sql: str


@cache
def seed_schemas() -> dict[str, str]:
    """Schemas of the seed databases: a line a table, then a line a foreign key."""
    return json.loads(_text("seed_schemas.json"))


@cache
def seed_examples() -> tuple[Example, ...]:
    """Question-SQL pairs of many shapes, each with its simplified form and schema."""
    schemas = seed_schemas()
    return tuple(Example(**row, schema=schemas[row["database"]], source="seed") for row in _rows("seed_examples.jsonl"))


@cache
def seed_dialogues() -> tuple[SeedDialogue, ...]:
    """Conversations whose every turn is rephrased."""
    schemas = seed_schemas()
    return tuple(
        SeedDialogue(row["database"], schemas[row["database"]], tuple(DialogueTurn(**turn) for turn in row["turns"]))
        for row in _rows("seed_dialogues.jsonl")
    )


@cache
def seed_programs() -> tuple[SeedProgram, ...]:
    """Questions worked out in code, each with another difficulty."""
    return tuple(SeedProgram(**row) for row in _rows("seed_programs.jsonl"))


def default_store() -> ExampleStore:
    """A store of the seeds in plain memory, for when no other is configured. Each call gives a new one."""
    return ExampleStore(_seeded(HashedEmbedding()))


def open_with_seeds(location: str | Path | None = None, embedding: Embedding | None = None) -> ExampleStore:
    """As `ExampleStore.open`; the seeds are found too, but never written, as long as the store shares few examples.

    A store that only holds what was approved on one database would otherwise leave every other without any.
    """
    chosen = embedding or HashedEmbedding()
    return ExampleStore(ChromaBackend(location, chosen.name), chosen, lambda: _seeded(chosen))


def open_existing(location: str, embedding: str) -> ExampleStore:
    """A store that is there, as `open_with_seeds` opens it.

    Args:
        location: A folder or a Chroma server's URL.
        embedding: As `make_embedding` names it.

    Raises:
        ExampleStoreError: There is none, or it was made by another version or with another embedding.
        SettingsError: There is no such embedding.
    """
    if not is_made(location):
        raise ExampleStoreError(f"there is no example store at {location}: `tableturn examples import` makes one")
    return open_with_seeds(location, make_embedding(embedding))


def _seeded(embedding: Embedding) -> ExactBackend:
    backend = ExactBackend()
    ExampleStore(backend, embedding).add(seed_examples())
    return backend


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _text(name).splitlines()]


def _text(name: str) -> str:
    return (files(__package__ or "") / "data" / name).read_text(encoding="utf-8")
