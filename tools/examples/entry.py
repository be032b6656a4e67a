"""An example as the store writes it: its identifier, search keys and room."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..database import Database, Limits
from ..errors import ExampleRefused, ExampleStoreError, QueryFailed, TableturnError
from ..sql import make_sql_skeleton
from .example import Example, brief_repr, one_line, parse_example_fields, to_json
from .masking import mask
from .rights import database_identity, parse_approval_record, render_used_tables, write_approval_record
from .soundness import find_contradiction, read_in_any_dialect
from .tables import Fields

Verify = Callable[[Example], object]
"""Runs an example's SQL on its database; raises a `TableturnError` where it doesn't run."""

PAIRS = "pairs"
SHARED = ""
"""The room of the examples that every database's questions may see; other rooms are named by their owner."""

# What is opened and never closed goes to the end: to look for its end from every other opening would take quadratic
# time.
_SPACING = re.compile(
    r"""(?P<kept> "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*(?:\]|\Z) | '(?:[^']|'')*')
      | (?: \s | --[^\n]* | /\*.*?(?:\*/|\Z) )+""",
    re.VERBOSE | re.DOTALL,
)
"""Spaces and comments between tokens, and what may hold characters like them without being them."""


@dataclass(frozen=True)
class ExampleRecord:
    """An example as stored: its id and its rows `(table, id, indexed text, fields)`.

    Its keys are its SQL skeleton, and its question's skeleton with that one; the simplified form's too if it differs.
    """

    id: str
    example: Example
    rows: tuple[tuple[str, str, str, Fields], ...]


def get_room(example: Example) -> str:
    """Return the name of the room, a partition of the store, that holds an example."""
    return SHARED if example.shared else example.owner or example.database


def make_example(
    database: Database,
    question: str,
    sql: str,
    *,
    simplified: str = "",
    source: str = "approved",
    shared: bool = False,
    author: str = "",
) -> Example:
    """Make an example of a question and SQL; raise `SQLParseError` if not one query.

    It has the part of the schema that it uses, and the record of its rights. Where it is not shared with other
    databases' questions, it is found under its `database_identity` alone.
    """
    schema, owner, rights = (
        render_used_tables(sql, database.schema()),
        database_identity(database),
        write_approval_record(database, sql),
    )
    return Example(
        question, sql, database.name, schema, simplified, source, shared, owner=owner, rights=rights, author=author
    )


def make_example_verifier(database: Database | Callable[[str], Database], limits: Limits | None = None) -> Verify:
    """Return a function that checks an example by running its SQL on its database."""

    def verify(example: Example) -> None:
        found = database if isinstance(database, Database) else database(example.database)
        if found.name != example.database:
            raise QueryFailed(f"the example is of database {example.database!r}, not of {found.name!r}")
        if example.owner and not example.shared and example.owner != database_identity(found):
            raise QueryFailed(
                f"the example belongs to another database called {found.name!r}: "
                "leave out its owner to give it to this one"
            )
        found.execute(example.sql, limits)

    return verify


def check_example(example: Example) -> Example:
    """Check an example's texts and SQL and return it; raise `ExampleRefused` if invalid."""
    try:
        parse_example_fields(example)
    except ExampleStoreError as error:
        raise make_refusal_error(example, error) from None
    if not all(text.strip() for text in (example.question, example.sql, example.database)):
        raise make_refusal_error(example, "an example needs a question, its SQL and the name of its database")
    if wrong := find_contradiction(example.question, example.sql):
        raise make_refusal_error(example, wrong)
    return example


def make_refusal_error(example: Example, reason: object) -> ExampleRefused:
    """Return the `ExampleRefused` error for an example, with the reason."""
    return ExampleRefused(f"refused {brief_repr(example.sql)} for {brief_repr(example.question)}: {one_line(reason)}")


def make_record(example: Example, verify: Verify | None = None, id_: str = "") -> ExampleRecord:
    """Return the stored form of an example; raise `ExampleRefused` if the SQL is invalid."""
    try:
        sql = get_sql_skeleton(example.sql)
        if verify:
            verify(example)
    except TableturnError as error:
        raise make_refusal_error(example, error) from error
    texts = dict.fromkeys((example.question, example.simplified or example.question))
    return build_record(example, sql, [mask(text, example.schema) for text in texts], id_)


def build_record(example: Example, sql: str, keys: Iterable[str], id_: str = "") -> ExampleRecord:
    """Return the stored form of an example, given the skeletons of its SQL and questions."""
    id_, sql_id = id_ or example_id(example), _hash_texts(sql)
    skeletons = {_hash_texts(key, sql): key for key in keys}
    first, *_, last = *skeletons, *skeletons  # both, so that an update leaves none of earlier forms
    example = example if example.added else replace(example, added=datetime.now(UTC))
    fields = {"example": to_json(example), "sql": sql_id, "skeleton_1": first, "skeleton_2": last}
    rows = [("skeletons", key, text, {"pair": id_, "sql": sql_id}) for key, text in skeletons.items()]
    return ExampleRecord(
        id_, example, (*rows, ("sqls", sql_id, sql, {"pair": id_}), (PAIRS, id_, example.question, fields))
    )


def get_sql_skeleton(sql: str) -> str:
    """Return the skeleton of an SQL query; raise `SQLParseError` if not one query."""
    return make_sql_skeleton(sql, read_in_any_dialect(sql).rules.name)  # it is the same in every dialect


def _hash_texts(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def example_id(example: Example) -> str:
    """Return an example's id, the same for equal question, SQL, database and rights.

    Spaces and comments don't count, except spaces within literals and quoted names.
    """
    own = (example.owner,) if example.owner and not example.shared else ()
    # What was approved without restrictions keeps the identifier that it had before rights counted.
    own += (rights,) if (rights := parse_approval_record(example.rights).rights.key) else ()
    spaced = _SPACING.sub(lambda match: match["kept"] or " ", example.sql).strip()
    return _hash_texts(*own, example.database, " ".join(example.question.split()), spaced)


def shared_id(example: Example) -> str:
    """Return the id of an example's shared copy, which ignores owner and rights."""
    return example_id(replace(example, shared=True, rights=""))
