"""Verified questions from a person's own file: question and SQL, each run on the database and looked at once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import ExampleRefused, QueryError, SQLParseError
from ..record_files import read_records
from ..results import same_result
from ..values.text_words import stems
from .entry import sound
from .example import Example
from .from_use import example_of
from .messages import one_line
from .rights import approval_of
from .store import ExampleStore

if TYPE_CHECKING:
    from ..database import Database, Table

_NAMES = {"query": "sql", "utterance": "question"}
_FIELDS = ("question", "sql", "simplified", "author")

_SUPERLATIVE = re.compile(
    r"\b(?:most|least|top \w+|highest|lowest|largest|smallest|biggest|oldest|youngest|newest|latest|earliest|longest"
    r"|shortest|cheapest|best|worst|maximum|minimum)\b(?!\s+(?:of the time|likely))|\bmost expensive\b",
    re.IGNORECASE,
)
_RANKS = re.compile(
    r"\b(?:order\s+by|max\s*\(|min\s*\(|rank\s*\(|row_number\s*\(|not\s+exists|>=?\s*all)", re.IGNORECASE
)
_AT = re.compile(r"\bat (?:most|least)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """A record of a file."""

    question: str
    sql: str
    simplified: str = ""
    author: str = ""


@dataclass(frozen=True)
class Doubt:
    """An example that runs, and why it may not answer its question."""

    example: Example
    why: str


@dataclass(frozen=True)
class OwnPairs:
    """What of a file can be kept, and what a person should look at first."""

    sound: tuple[Example, ...]
    doubtful: tuple[Doubt, ...]


def read_pairs(path: Path, refuse: Callable[[str], object]) -> Iterator[Pair]:
    """The pairs of a JSONL, JSON, CSV or YAML file.

    Args:
        path: Records with `question` and `sql` (or `query`); others of their fields are passed over.
        refuse: Is given the place and the reason of each record that is no pair.

    Raises:
        SettingsError: It cannot be read, or is no list.
    """
    for number, record in enumerate(read_records(path), 1):
        fields: dict[str, Any] = {}
        for name, value in cast("Mapping[str, Any]", record).items() if isinstance(record, Mapping) else ():
            if _NAMES.get(name, name) in _FIELDS and (name not in _NAMES.values() or isinstance(value, str)):
                fields[_NAMES.get(name, name)] = value
        kept = {name: value for name, value in fields.items() if isinstance(value, str) and value.strip()}
        if missing := [name for name in ("question", "sql") if name not in kept]:
            refuse(f"{path}, record {number}: a verified question needs a text {missing[0]!r}")
        else:
            yield Pair(**kept)


def own_pairs(
    pairs: Iterable[Pair], database: Database, store: ExampleStore, author: str, refuse: Callable[[str], object]
) -> OwnPairs:
    """The pairs as a database's own examples, run and looked at.

    Args:
        pairs: Of one file.
        database: What they are of.
        store: With the examples that are there: an equal question with another result is a doubt.
        author: Of the pairs that name nobody.
        refuse: Is given the reason of each that does not run.
    """
    good: list[Example] = []
    doubtful: list[Doubt] = []
    results: dict[tuple[str, ...], tuple[str, Table]] = {}
    for pair in pairs:
        try:
            made = example_of(database, pair.question, pair.sql, simplified=pair.simplified, source="verified")
            by = pair.author or author
            example = sound(replace(made, rights=approval_of(database, pair.sql), author=by))
            result = database.execute(pair.sql)
        except (ExampleRefused, SQLParseError, QueryError) as error:
            refuse(f"refused {one_line(pair.question)!r}: {one_line(error)}")
            continue
        why = _doubt(example, result) or _differs(example, result, database, store, results)
        results.setdefault(tuple(stems(pair.question)), (pair.sql, result))
        if why:
            doubtful.append(Doubt(example, why))
        else:
            good.append(example)
    return OwnPairs(tuple(good), tuple(doubtful))


def _doubt(example: Example, result: Table) -> str:
    """Why a pair's SQL may not answer its question, from the two and the result; empty where nothing is wrong."""
    question = _AT.sub(" ", example.question)
    superlative = _SUPERLATIVE.search(question)
    if superlative and not _RANKS.search(example.sql):
        return f"the question asks for {superlative[0]!r}, and the query ranks nothing"
    if not result.rows:
        return "its result is empty"
    if len(result.rows) == 1 and all(cell is None for cell in result.rows[0]):
        return "its result is NULL"
    if re.search(r"\blimit\b", example.sql, re.IGNORECASE) and not _RANKS.search(example.sql):
        return "it takes the first rows of no order"
    return ""


def _differs(
    example: Example,
    result: Table,
    database: Database,
    store: ExampleStore,
    results: Mapping[tuple[str, ...], tuple[str, Table]],
) -> str:
    """Whether the same question is there with a query that gives something else."""
    asked = tuple(stems(example.question))
    others = [results[asked]] if asked in results else []
    near = store.seen_by(database).nearest("question", example.question, 3, example.owner, shared=False)
    for hit in near if not others else ():
        if tuple(stems(hit.example.question)) == asked and hit.example.sql != example.sql:
            try:
                others.append((hit.example.sql, database.execute(hit.example.sql)))
            except QueryError:
                continue
    for sql, table in others:
        if sql != example.sql and not same_result(result, table):
            return f"the same question is there with another result: {one_line(sql)}"
    return ""
