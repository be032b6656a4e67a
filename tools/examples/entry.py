"""An example as the store writes it: with its keys, their identifiers, and the room it belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime

from ..errors import ExampleRefused, TableturnError
from .example import Example
from .keys import digest, example_id, masked, skeleton_of
from .payload import to_json
from .wording import one_line, quoted

Verify = Callable[[Example], object]
"""Runs an example's SQL on its database; raises a `TableturnError` where it doesn't run."""

SHARED = ""
"""The room of the examples that every database's questions may see; other rooms are named by their owner."""

LONGEST = 100_000
"""Characters of one text of an example; no prompt would show more."""

_NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")
"""What neither UTF-8 nor a database's text can hold: NUL and halves of surrogate pairs."""


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
        first, *_, last = *self.skeletons, *self.skeletons  # both, so that an update leaves none of earlier forms
        return {"example": to_json(self.example), "sql": self.sql_id, "skeleton_1": first, "skeleton_2": last}


def room_of(example: Example) -> str:
    """Where an example is kept."""
    return SHARED if example.shared else example.owner or example.database


def sound(example: Example) -> Example:
    """The example itself, once its texts can be kept.

    Raises:
        ExampleRefused: Its question or database is empty, or one is no text, too long, or has characters of none.
    """
    for field in fields(example):
        value = getattr(example, field.name)
        if field.type == "str" and not isinstance(value, str):
            raise ExampleRefused(f"refused {quoted(example.sql)}: its {field.name} is a text, not {quoted(value)}")
    if not example.question.strip() or not example.database.strip():
        raise ExampleRefused(f"refused {quoted(example.sql)}: an example needs a question and the name of its database")
    for field in fields(example):
        value = getattr(example, field.name)
        if isinstance(value, str) and len(value) > LONGEST:
            raise ExampleRefused(
                f"refused {quoted(example.sql)} for {quoted(example.question)}: "
                f"its {field.name} has {len(value):,} characters, and {LONGEST:,} are the most"
            )
        if isinstance(value, str) and (wrong := _NO_CHARACTER.search(value)):
            raise ExampleRefused(
                f"refused {quoted(example.sql)} for {quoted(example.question)}: "
                f"its {field.name} holds U+{ord(wrong[0]):04X}, which is no character of a text"
            )
    return example


def make_entry(example: Example, verify: Verify | None = None) -> Entry:
    """Finds the keys of an example that is `sound`.

    Raises:
        ExampleRefused: Its SQL is not one query, or doesn't run.
    """
    try:
        sql = skeleton_of(example.sql)
        if verify:
            verify(example)
    except TableturnError as error:
        reason = f"refused {quoted(example.sql)} for {quoted(example.question)}: {one_line(error)}"
        raise ExampleRefused(reason) from error
    texts = dict.fromkeys((example.question, example.simplified or example.question))
    skeletons = {digest(key, sql): key for key in (masked(text, example.schema) for text in texts)}
    stamped = example if example.added else replace(example, added=datetime.now(UTC))
    return Entry(example_id(example), stamped, skeletons, sql, digest(sql))
