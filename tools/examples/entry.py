"""An example as the store writes it: with its keys, their identifiers, and the room it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..errors import ExampleRefused, TableturnError
from .example import Example
from .keys import digest, example_id, masked, skeleton_of
from .payload import to_json

Verify = Callable[[Example], object]
"""Runs an example's SQL on its database; raises a `TableturnError` where it doesn't run."""

SHARED = ""
"""The room of the examples that every database's questions may see; other rooms are named by their owner."""


@dataclass(frozen=True)
class Entry:
    """One example to write.

    Attributes:
        id: See `example_id`.
        example: With the time of its addition.
        skeletons: Text by identifier of its question keys: the question's, and its simplified form's if that differs.
            A key is a question skeleton with the SQL skeleton that it led to.
        sql: Its SQL skeleton.
        sql_id: That one's identifier.
    """

    id: str
    example: Example
    skeletons: dict[str, str]
    sql: str
    sql_id: str

    @property
    def room(self) -> str:
        """Where it is kept."""
        return room_of(self.example)

    @property
    def fields(self) -> dict[str, str]:
        """Its row's fields."""
        ids = {f"skeleton_{number}": id_ for number, id_ in enumerate(self.skeletons, 1)}
        return {"example": to_json(self.example), "sql": self.sql_id, **ids}


def room_of(example: Example) -> str:
    """Where an example is kept."""
    return SHARED if example.shared else example.owner or example.database


def make_entry(example: Example, verify: Verify | None = None) -> Entry:
    """Checks an example and finds its keys.

    Raises:
        ExampleRefused: Its question is empty, its SQL is not one query, or doesn't run.
    """
    if not example.question.strip() or not example.database.strip():
        raise ExampleRefused(f"refused {example.sql!r}: an example needs a question and the name of its database")
    try:
        sql = skeleton_of(example.sql)
        if verify:
            verify(example)
    except TableturnError as error:
        raise ExampleRefused(f"refused {example.sql!r} for {example.question!r}: {error}") from error
    texts = dict.fromkeys((example.question, example.simplified or example.question))
    skeletons = {digest(key, sql): key for key in (masked(text, example.schema) for text in texts)}
    stamped = example if example.added else replace(example, added=datetime.now(UTC))
    return Entry(example_id(example), stamped, skeletons, sql, digest(sql))
