"""The rights under which examples were approved, and under which they may be shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..database import Database, Rights, Schema, render_schema
from ..errors import SQLParseError
from ..sql import ALL_COLUMNS, used_items
from .example import Example

Standing = tuple[bool, bool]

VERIFIED = ("approved", "verified")
"""Sources of examples that a person found right."""


@dataclass(frozen=True)
class Approval:
    """The record in `Example.rights`: the session's rights and the columns that its SQL read."""

    rights: Rights = field(default_factory=Rights)
    columns: tuple[tuple[str, str], ...] = ()


_APPROVAL = TypeAdapter(Approval)


@lru_cache(maxsize=4_096)
def read_approval(text: str) -> Approval:
    """Return the record in a text; if it is missing or wrong, one of unrestricted rights."""
    try:
        record: Any = json.loads(text) if text else {}
        return _APPROVAL.validate_python(record)
    except (ValueError, RecursionError, ValidationError):
        return Approval()


def approval_of(database: Database, sql: str) -> str:
    """Return the record of a query's rights as text; raise `SQLParseError` if not one query."""
    schema = database.schema()
    used = used_items(sql, schema)
    columns = {(table, "") for table in used.tables}
    for table, column in used.columns:
        found = schema.table(table)
        names = [column] if column != ALL_COLUMNS or found is None else [each.name for each in found.columns]
        columns.update((table, name) for name in names)
    return json.dumps(asdict(Approval(database.rights, tuple(sorted(columns)))), ensure_ascii=False)


def database_identity(database: Database) -> str:
    """Return an identity that differs between databases, also of files with the same name.

    Its short name and a digest of the file's real path: a database that moves leaves its private examples behind.
    """
    code = hashlib.sha256(database.location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{database.name}@{code}"


def schema_part(sql: str, schema: Schema) -> str:
    """Write the part of a schema that a query uses; raise `SQLParseError` if not one query."""
    used = used_items(sql, schema).tables
    tables = [table for table in schema.tables if table.name in used]
    part = schema.part([(table.name, [column.name for column in table.columns]) for table in tables])
    return render_schema(part, samples=0)


def restrict_example(example: Example, database: Database) -> Example | None:
    """Return an example as this session may see it; None if it may not.

    Examples of other databases may: whoever shared them meant them to be seen. One of this database may where it was
    approved under equal or narrower rights; or where all columns that its SQL read then may be read now: the part of
    the schema that is shown beside it is then written anew. Where there is no record, it counts as approved under all
    rights.
    """
    if not _is_own(example, database):
        return example
    made, now = _approval_rights(example, database), database.rights
    if now.cover(made):
        return example
    # No columns at all say nothing of what was read.
    columns, schema = read_approval(example.rights).columns, database.schema()
    tables = [(schema.table(table), column) for table, column in columns]
    shows_all = all(table is not None and (not column or table.column(column)) for table, column in tables)
    if made.person != now.person or not tables or not shows_all:
        return None
    try:
        return replace(example, schema=schema_part(example.sql, schema))
    except SQLParseError:
        return replace(example, schema="")


def choose_foremost(examples: Iterable[Example], database: Database) -> list[Example]:
    """Return the examples with the one answer per question that counts most for this session.

    An answer approved under equal rights counts more than one under wider rights, and that one more than one under
    narrower rights; of several, the latest counts. Questions keep their order. Examples of other databases all stay.
    """

    def rank_example(example: Example) -> tuple[bool, bool, str]:
        return *standing_of(example, database), example.added.isoformat() if example.added else ""

    best: dict[object, Example] = {}
    for number, example in enumerate(examples):
        one_of_several = _is_own(example, database) and example.source in VERIFIED
        question = " ".join(example.question.split()) if one_of_several else number
        known = best.get(question)
        if known is None or rank_example(example) > rank_example(known):
            best[question] = example
    return list(best.values())


def standing_of(example: Example, database: Database) -> Standing:
    """Return the rank of an answer for this session: equal rights, then wider, then narrower."""
    made, now = _approval_rights(example, database), database.rights
    wider = made.read_all_of(now)
    return wider and now.read_all_of(made), wider


def may_remove(example: Example, database: Database) -> bool:
    """Whether this session may remove an example: it may read all that the approver might."""
    readable = restrict_example(example, database) is not None
    return readable and database.rights.read_all_of(_approval_rights(example, database))


def is_replaced(old: Example, new: Example, database: Database) -> bool:
    """Whether a new answer to the same question replaces an approved one.

    People with narrower rights keep theirs if they may not read the new one: its absence would tell of the new one.
    """
    if not may_remove(old, database):
        return False
    made = _approval_rights(old, database)
    return made.read_all_of(database.rights) or _reads_only(new, made, database.schema())


def _is_own(example: Example, database: Database) -> bool:
    return example.owner == database_identity(database) if example.owner else example.database == database.name


def _approval_rights(example: Example, database: Database) -> Rights:
    """Return the rights of an example's approval, without the person if rows are the same."""
    made = read_approval(example.rights).rights
    return made if database.rows_by_person else replace(made, person="")


def _reads_only(example: Example, rights: Rights, schema: Schema) -> bool:
    """Whether all that an example reads may be read under `rights`; False for views."""

    def certain(table: str, column: str) -> bool:
        found = schema.table(table)
        if found is None or found.kind != "table":
            return False
        part = found.column(column) if column else None
        return not (part and part.generated) and (not column or rights.policy.permissions.shows(table, column))

    columns = read_approval(example.rights).columns
    return bool(columns) and all(certain(table, column) for table, column in columns)
