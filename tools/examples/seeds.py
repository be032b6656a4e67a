"""The examples that come with tableturn: invented businesses, none from a benchmark."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from sqlglot import transpile

from ..errors import ExampleStoreError
from ..sql.dialects import rules_of
from .embedding import Embedding, make_embedding
from .entry import record_of
from .example import Example
from .store import ExampleStore
from .tables import is_made

_T = TypeVar("_T")


@dataclass(frozen=True)
class DialogueTurn:
    """A turn of a seed dialogue: the question, and its regular form (CREDIT-SQL 3.1)."""

    question: str
    rephrased: str


@dataclass(frozen=True)
class SeedDialogue:
    """A short conversation with its rephrasings; the schema is in the compact form."""

    database: str
    schema: str
    turns: tuple[DialogueTurn, ...]


@dataclass(frozen=True)
class SeedProgram:
    """A self-contained question worked out in pandas and in SQL (SQL-CRAFT A.4).

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
        return replace(self, sql=transpile(self.sql, "sqlite", rules_of(dialect).grammar)[0])


@cache
def seed_schemas() -> dict[str, str]:
    """Return the schemas of the seed databases: one line per table, then one per foreign key."""
    return json.loads(_read_text("seed_schemas.json"))


@cache
def seed_examples() -> tuple[Example, ...]:
    """Return question-SQL pairs of many shapes, each with its simplified form and schema."""
    return _read_records(Example, "seed_examples.jsonl")


@cache
def seed_dialogues() -> tuple[SeedDialogue, ...]:
    """Return conversations whose every turn is rephrased."""
    return _read_records(SeedDialogue, "seed_dialogues.jsonl")


@cache
def seed_programs() -> tuple[SeedProgram, ...]:
    """Return questions worked out in code, each with another difficulty."""
    return _read_records(SeedProgram, "seed_programs.jsonl")


def default_store(embedding: Embedding | None = None) -> ExampleStore:
    """Return a new store of the seeds in memory."""
    store = ExampleStore.open(None, embedding)
    # Their keys stand beside them: to find these takes longer than all the rest of a first turn.
    keys = [row["keys"] for row in _read_rows("seed_examples.jsonl")]
    store.put([record_of(seed, sql, texts) for seed, (sql, *texts) in zip(seed_examples(), keys, strict=True)])
    return store


def open_with_seeds(location: str | Path | None = None, embedding: Embedding | None = None) -> ExampleStore:
    """Open a store that also offers the seeds while it shares few examples of its own."""
    # A store with the examples of one database alone would leave every other database without any.
    return ExampleStore.open(location, embedding, partial(default_store, embedding))


def open_existing(location: str | Path, embedding: str) -> ExampleStore:
    """Open an existing store, with the seeds as in `open_with_seeds`."""
    chosen = make_embedding(embedding)
    if not is_made(location):
        raise ExampleStoreError(f"there is no example store at {location}: `tableturn examples import` makes one")
    return open_with_seeds(location, chosen)


def _read_records(kind: type[_T], name: str) -> tuple[_T, ...]:
    """Return a file's records, with the schemas of their databases if they have that field."""
    schemas, record = seed_schemas(), TypeAdapter(kind)
    named = {field.name for field in fields(cast("Any", kind))}
    rows = (row | {"schema": schemas[row["database"]]} for row in _read_rows(name))
    return tuple(record.validate_python({key: row[key] for key in named & row.keys()}) for row in rows)


def _read_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read_text(name).splitlines()]


def _read_text(name: str) -> str:
    return (files(__package__ or "") / "data" / name).read_text(encoding="utf-8")
