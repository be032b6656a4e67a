"""The examples that come with tableturn: made-up businesses, in our own words; nothing from any benchmark."""

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
from .entry import entry_of
from .example import Example
from .store import ExampleStore
from .tables import is_made

_T = TypeVar("_T")


@dataclass(frozen=True)
class DialogueTurn:
    """One turn of a seed dialogue: as asked, and self-contained in the regular form (CREDIT-SQL 3.1)."""

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
        """Return it with its SQL as another engine than SQLite understands it."""
        if dialect == "sqlite":
            return self
        return replace(self, sql=transpile(self.sql, "sqlite", rules_of(dialect).grammar)[0])


@cache
def seed_schemas() -> dict[str, str]:
    """Return the schemas of the seed databases: a line a table, then a line a foreign key."""
    return json.loads(_text("seed_schemas.json"))


@cache
def seed_examples() -> tuple[Example, ...]:
    """Return question-SQL pairs of many shapes, each with its simplified form and schema."""
    return _records(Example, "seed_examples.jsonl")


@cache
def seed_dialogues() -> tuple[SeedDialogue, ...]:
    """Return conversations whose every turn is rephrased."""
    return _records(SeedDialogue, "seed_dialogues.jsonl")


@cache
def seed_programs() -> tuple[SeedProgram, ...]:
    """Return questions worked out in code, each with another difficulty."""
    return _records(SeedProgram, "seed_programs.jsonl")


def default_store(embedding: Embedding | None = None) -> ExampleStore:
    """Return a new store of the seeds in plain memory, for when no other is configured."""
    store = ExampleStore.open(None, embedding)
    # Their keys stand beside them: to find these takes longer than all the rest of a first turn.
    keys = [row["keys"] for row in _rows("seed_examples.jsonl")]
    store.put([entry_of(seed, sql, texts) for seed, (sql, *texts) in zip(seed_examples(), keys, strict=True)])
    return store


def open_with_seeds(location: str | Path | None = None, embedding: Embedding | None = None) -> ExampleStore:
    """As `ExampleStore.open`; the seeds are found too, but never written, as long as the store shares few examples.

    A store that only holds what was approved on one database would otherwise leave every other without any.
    """
    return ExampleStore.open(location, embedding, partial(default_store, embedding))


def open_existing(location: str | Path, embedding: str) -> ExampleStore:
    """Open a store that is there, a folder or a Chroma server's URL, as `open_with_seeds` does."""
    chosen = make_embedding(embedding)
    if not is_made(location):
        raise ExampleStoreError(f"there is no example store at {location}: `tableturn examples import` makes one")
    return open_with_seeds(location, chosen)


def _records(kind: type[_T], name: str) -> tuple[_T, ...]:
    """Return a file's records, each with its database's schema if it has a place for one."""
    schemas, record = seed_schemas(), TypeAdapter(kind)
    named = {field.name for field in fields(cast("Any", kind))}
    rows = (row | {"schema": schemas[row["database"]]} for row in _rows(name))
    return tuple(record.validate_python({key: row[key] for key in named & row.keys()}) for row in rows)


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _text(name).splitlines()]


def _text(name: str) -> str:
    return (files(__package__ or "") / "data" / name).read_text(encoding="utf-8")
