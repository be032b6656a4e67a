"""A few-shot example, a question and the SQL that answers it on its database, and what a store says of examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class Example:
    """One question-SQL pair.

    Attributes:
        question: Self-contained, as asked.
        sql: One query that answers it.
        database: Short name of the database that it was asked of.
        schema: That database's schema in the compact prompt form (the tables that the SQL uses are enough).
        simplified: The question in plain common words; empty if not simplified yet.
        rephrased: The question in the regular form "Give me ..." (CREDIT-SQL 3.1); empty where it has none of its own.
        source: Where it comes from: `seed`, `import:NAME` (a dialogue: `import:NAME-HASH#NUMBER`), `approved` by a
            person in use, `verified` from a file of one's own.
        shared: Whether other databases' questions may see it.
        added: When it was added.
        owner: Whose it is: `database_identity` of its database. Where it is not shared, it is found under that alone.
            Empty: `database` itself stands for it.
        database_schema: The schema of the whole database, in the same form; empty where `schema` has to do.
        turn: Its place in the dialogue that `source` names, from 1; 0 outside one.
        earlier: The questions before it in that dialogue, also of turns that are not in the store.
        rights: Under which rights its SQL was run and what it read, as `approval_of` writes it; empty where there is no
            record of them.
        author: Who added it; empty where nobody said.
    """

    question: str
    sql: str
    database: str
    schema: str = ""
    simplified: str = ""
    source: str = "seed"
    shared: bool = True
    added: datetime | None = None
    owner: str = ""
    rephrased: str = ""
    rights: str = ""
    database_schema: str = ""
    turn: int = 0
    author: str = ""
    earlier: tuple[str, ...] = ()


Index = Literal["question", "skeleton", "sql"]
"""What a lookup goes by."""


@dataclass(frozen=True)
class Found:
    """An example with its identifier.

    Attributes:
        similarity: Cosine of the two keys where it was found by one; 1 otherwise.
    """

    id: str
    example: Example
    similarity: float = 1.0


@dataclass(frozen=True)
class Near:
    """A key near the one that was asked for; `ExampleStore.fetch` gives the example that stands for it.

    Attributes:
        room: Where it was found.
        index: Which index it is a key of.
        key: Its identifier.
        pair: Identifier of the example that stands for it.
        sql: Identifier of that example's SQL skeleton: the same for the same skeleton, in every room.
        similarity: Cosine of the two keys.
    """

    room: str
    index: Index
    key: str
    pair: str
    sql: str
    similarity: float


@dataclass(frozen=True)
class Refusal:
    """An example that was not added, and why."""

    example: Example
    reason: str


@dataclass(frozen=True)
class Added:
    """What an addition did: how many examples were new, how many there already, and which were refused.

    Attributes:
        updated: Those that were there and got another form of their question, or their whole database's schema.
    """

    added: int = 0
    known: int = 0
    refused: tuple[Refusal, ...] = ()
    updated: int = 0


@dataclass(frozen=True)
class Stats:
    """A store in numbers.

    Attributes:
        examples: All of them.
        shared: Those that every database's questions may see.
        by_database: Examples a database.
        by_source: Examples a source.
        sql_skeletons: Distinct ones, counted by room.
        embedding: Name of the embedding.
    """

    examples: int
    shared: int
    by_database: Mapping[str, int]
    by_source: Mapping[str, int]
    sql_skeletons: int
    embedding: str
