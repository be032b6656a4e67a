"""A few-shot example, its form in files and stores, and what a store says of examples."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from ..database.rendering import text as rendered
from ..errors import ExampleStoreError


@dataclass(frozen=True)
class Example:
    """One question-SQL pair.

    Attributes:
        question: Self-contained, as asked.
        database: Short name of the database that it was asked of.
        schema: That database's schema in the compact prompt form (the tables that the SQL uses are enough).
        simplified: The question in plain common words; empty if not simplified yet.
        rephrased: The question in the regular form "Give me ..." (CREDIT-SQL 3.1); empty where it has none of its own.
        source: Where it comes from: `seed`, `import:NAME` (a dialogue: `import:NAME-HASH#NUMBER`), `approved` by a
            person in use, `verified` from a file of one's own.
        shared: Whether other databases' questions may see it.
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


class Found(NamedTuple):
    """An example with its identifier; if found by a key, with its cosine and the identifier of its SQL skeleton."""

    id: str
    example: Example
    similarity: float = 1.0
    skeleton: str = ""


@dataclass(frozen=True)
class Refusal:
    """An example that was not added, and why."""

    example: Example
    reason: str


@dataclass(frozen=True)
class Added:
    """What an addition did: `updated` are those that got another form of their question, or a database's schema."""

    added: int = 0
    known: int = 0
    refused: tuple[Refusal, ...] = ()
    updated: int = 0


@dataclass(frozen=True)
class Stats:
    """A store in numbers: `sql_skeletons` are distinct ones, counted for each owner of examples."""

    examples: int
    shared: int
    by_database: Mapping[str, int]
    by_source: Mapping[str, int]
    sql_skeletons: int
    embedding: str


def one_line(text: object, longest: int = 240) -> str:
    """Write an untrusted text for a message: one line of printable characters, cut if it is long."""
    return rendered.one_line(" ".join(str(text).split()), longest)


def brief_repr(value: object) -> str:
    """Write a value as Python does, cut if it is long or deep."""
    return repr(one_line(value, 80)) if isinstance(value, str) else one_line(reprlib.repr(value), 80)


def _is_time(value: Any) -> bool:
    with suppress(TypeError, ValueError):
        return not value or bool(datetime.fromisoformat(value))
    return False


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{field.name: (lambda value: isinstance(value, str), "text") for field in fields(Example)},
    "shared": (lambda value: isinstance(value, bool), "true or false"),
    "turn": (lambda value: type(value) is int and value >= 0, "a whole number"),
    "earlier": (
        lambda value: isinstance(value, list | tuple) and all(isinstance(one, str) for one in value),
        "a list of texts",
    ),
    "added": (_is_time, "a time in ISO 8601"),
}
"""Tests of each field in a file, and what the field is."""


def to_json(example: Example) -> str:
    """Write an example as one line of JSON; times in ISO 8601."""
    content = asdict(example)
    content["added"] = example.added.isoformat() if example.added else None
    return json.dumps(content, ensure_ascii=False)


def from_mapping(content: Mapping[str, Any]) -> Example:
    """Read an example from untrusted content; an `ExampleStoreError` says which field is missing, unknown or wrong."""
    given = {name: value for name, value in content.items() if name != "id"}  # `examples list --json` prints it
    if unknown := sorted(given.keys() - _KINDS):
        raise ExampleStoreError(f"an example has no field {brief_repr(unknown[0])}; the fields are {sorted(_KINDS)}")
    for name in ("question", "sql", "database"):
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise ExampleStoreError(f"an example needs a non-empty text {name!r}")
    for name, value in given.items():
        fits, kind = _KINDS[name]
        if not fits(value):
            raise ExampleStoreError(f"an example's {name!r} is {kind}, not {brief_repr(value)}")
    added = datetime.fromisoformat(given["added"]) if given.get("added") else None
    values: dict[str, Any] = {"source": "import", **given, "added": added, "earlier": tuple(given.get("earlier", ()))}
    return Example(**values)


@lru_cache(maxsize=1_024)
def from_json(line: str) -> Example:
    """Read an example from an untrusted line that `to_json` may have written, or raise an `ExampleStoreError`."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ExampleStoreError(f"not a line of JSON: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ExampleStoreError("an example is a JSON object")
    return from_mapping(cast("dict[str, Any]", content))
