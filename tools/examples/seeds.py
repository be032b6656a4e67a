"""The examples that come with tableturn: invented businesses, none from a benchmark."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ..errors import ExampleStoreError
from ..sql import Query
from ..sql.dialects import get_dialect_rules
from .embedding import Embedding, make_embedding
from .example import Example
from .store import ExampleStore, make_record
from .tables import has_example_store

_T = TypeVar("_T")


@dataclass(frozen=True)
class DialogueTurn:
    """A turn of a built-in dialogue: the question and its rephrasing (CREDIT-SQL 3.1)."""

    question: str
    rephrased: str


@dataclass(frozen=True)
class SeedDialogue:
    """A built-in example conversation; each question has a rephrasing."""

    database: str
    schema: str
    turns: tuple[DialogueTurn, ...]


@dataclass(frozen=True)
class SeedProgram:
    """A built-in example question, answered in pandas and in SQL (SQL-CRAFT A.4).

    The thought is what the answer has to hold, and what is easily got wrong; the code leaves its answer in `result`.
    """

    database: str
    question: str
    thought: str
    code: str
    sql: str

    def in_dialect(self, dialect: str) -> SeedProgram:
        """Return the program with its SQL translated to another dialect."""
        if dialect == "sqlite":
            return self
        return replace(self, sql=Query.of(self.sql, "sqlite").tree.sql(get_dialect_rules(dialect).grammar))


@cache
def load_seed_schemas() -> dict[str, str]:
    """Return the schema text of each built-in example database, by name."""
    return json.loads(_read_data_file("seed_schemas.json"))


@cache
def seed_examples() -> tuple[Example, ...]:
    """Return the built-in few-shot examples, with simplified questions and schemas."""
    return _read_seed_records(Example, "seed_examples.jsonl")


@cache
def load_dialogues() -> tuple[SeedDialogue, ...]:
    """Return the built-in example conversations, with a rephrasing of every turn."""
    return _read_seed_records(SeedDialogue, "seed_dialogues.jsonl")


@cache
def load_programs() -> tuple[SeedProgram, ...]:
    """Return the built-in example questions that are answered in code."""
    return _read_seed_records(SeedProgram, "seed_programs.jsonl")


def make_default_store(embedding: Embedding | None = None) -> ExampleStore:
    """Return a new in-memory store of the built-in examples."""
    store = ExampleStore.open(None, embedding)
    # Their keys stand beside them: to find these takes longer than all the rest of a first turn.
    keys = [row["keys"] for row in _read_json_lines("seed_examples.jsonl")]
    store.put([make_record(seed, keys=texts) for seed, texts in zip(seed_examples(), keys, strict=True)])
    return store


def open_seeded_store(location: str | Path | None = None, embedding: Embedding | None = None) -> ExampleStore:
    """Open a store that also offers the built-in examples while it has few shared ones."""
    # A store with the examples of one database alone would leave every other database without any.
    return ExampleStore.open(location, embedding, partial(make_default_store, embedding))


def open_existing(location: str | Path, embedding: str) -> ExampleStore:
    """Open an existing example store; raise `ExampleStoreError` if there is none."""
    model = make_embedding(embedding)
    if not has_example_store(location):
        raise ExampleStoreError(f"there is no example store at {location}: `tableturn examples import` makes one")
    return open_seeded_store(location, model)


def _read_seed_records(kind: type[_T], name: str) -> tuple[_T, ...]:
    """Read the records of a seed file, and add the database's schema to each."""
    schemas, record = load_seed_schemas(), TypeAdapter(kind)
    rows = (row | {"schema": schemas[row["database"]]} for row in _read_json_lines(name))
    return tuple(record.validate_python(row, extra="ignore") for row in rows)


def _read_json_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read_data_file(name).splitlines()]


def _read_data_file(name: str) -> str:
    return (files(__package__ or "") / "data" / name).read_text(encoding="utf-8")
