"""Examples of one's own databases, and the rights under which they were approved."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

from pydantic import TypeAdapter, ValidationError
from sqlglot import exp

from ..database import Database, Limits, Rights, Schema, render_schema
from ..errors import QueryFailed, SQLParseError
from ..sql import ALL_COLUMNS, Query, find_used_schema_items
from ..sql.reads import get_values_of_read_columns
from ..sql.scope import READ_KINDS
from .example import Example

Standing = tuple[bool, bool]

Verify = Callable[[Example], object]
"""Runs an example's SQL on its database; raises a `TableturnError` where it doesn't run."""

VERIFIED = ("approved", "verified")
"""Sources of examples that a person found right."""


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
    schema, rights = render_used_tables(sql, database.schema()), write_approval_record(database, sql)
    owner = database_identity(database)
    return Example(
        question, sql, database.name, schema, simplified, source, shared, owner=owner, rights=rights, author=author
    )


def make_example_verifier(database: Database | Callable[[str], Database], limits: Limits | None = None) -> Verify:
    """Return a function that checks an example by running its SQL on its database."""

    def verify(example: Example) -> None:
        target = database if isinstance(database, Database) else database(example.database)
        if target.name != example.database:
            raise QueryFailed(f"the example is of database {example.database!r}, not of {target.name!r}")
        if example.owner and not example.shared and example.owner != database_identity(target):
            raise QueryFailed(
                f"the example belongs to another database called {target.name!r}: "
                "leave out its owner to give it to this one"
            )
        target.execute(example.sql, limits)

    return verify


@dataclass(frozen=True)
class ApprovalRecord:
    """The rights under which an example was approved, and the columns that its SQL read."""

    rights: Rights = field(default_factory=Rights)
    columns: tuple[tuple[str, str], ...] = ()


_APPROVAL = TypeAdapter(ApprovalRecord)


@lru_cache(maxsize=4_096)
def parse_approval_record(text: str) -> ApprovalRecord:
    """Parse an approval record; if missing or invalid, return one of unrestricted rights."""
    try:
        return _APPROVAL.validate_json(text or "{}")
    except ValidationError:
        return ApprovalRecord()


def write_approval_record(database: Database, sql: str) -> str:
    """Return a query's approval record as JSON; raise `SQLParseError` if not one query."""
    schema = database.schema()
    query = Query.of(sql, schema.dialect, schema)
    columns = {(table, "") for table in query.tables}
    if not _is_resolved(query):  # any column that the text names may be read
        every = [(table.name, column.name) for table in schema.tables for column in table.columns]
        may_read = get_values_of_read_columns(sql, schema, dict(zip(every, every, strict=True)))
        columns.update(every if may_read is None else may_read)
    for table, column in query.usage.columns:
        table_schema = schema.table(table)
        names = [column] if column != ALL_COLUMNS or table_schema is None else [c.name for c in table_schema.columns]
        columns.update((table, name) for name in names)
    return json.dumps(asdict(ApprovalRecord(database.rights, tuple(sorted(columns)))), ensure_ascii=False)


def _is_resolved(query: Query) -> bool:
    """Whether all columns that a query reads are known: no whole row, no `* LIKE 'a%'`."""
    plain_stars = all(isinstance(star.parent, exp.Select | exp.Count | exp.Column) for star in query.find(exp.Star))
    references = query.resolution.references
    is_known = all(reference.kind in READ_KINDS and reference.kind != "rowid" for reference in references)
    return plain_stars and is_known and not query.find(exp.Columns, exp.Dot)


def database_identity(database: Database) -> str:
    """Return an id that distinguishes databases, even if their files have the same name.

    Its short name and a digest of the file's real path: a database that moves leaves its private examples behind.
    """
    code = hashlib.sha256(database.location.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{database.name}@{code}"


def render_used_tables(sql: str, schema: Schema) -> str:
    """Render the tables that a query uses as text; raise `SQLParseError` if not one query."""
    names = find_used_schema_items(sql, schema).tables
    tables = [table for table in schema.tables if table.name in names]
    part = schema.part([(table.name, [column.name for column in table.columns]) for table in tables])
    return render_schema(part, samples=0)


def restrict_example(example: Example, database: Database) -> Example | None:
    """Return the example as the session may see it; None if the session may not see it.

    Examples of other databases may: whoever shared them meant them to be seen. One of this database may where it was
    approved under equal or narrower rights; or where all columns that its SQL read then may be read now: the part of
    the schema that is shown beside it is then written anew. Where there is no record, it counts as approved under all
    rights.
    """
    if not is_example_of_database(example, database):
        return example
    approval, now = _get_approval_rights(example, database), database.rights
    if now.cover(approval):
        return example
    # No columns at all say nothing of what was read.
    columns, schema = parse_approval_record(example.rights).columns, database.schema()
    tables = [(schema.table(table), column) for table, column in columns]
    shows_all = all(table is not None and (not column or table.column(column)) for table, column in tables)
    if approval.person != now.person or not tables or not shows_all:
        return None
    try:
        return replace(example, schema=render_used_tables(example.sql, schema))
    except SQLParseError:
        return replace(example, schema="")


def choose_best_per_question(examples: Iterable[Example], database: Database) -> list[Example]:
    """Return one example per question: the one that ranks highest for the session.

    An answer approved under equal rights counts more than one under wider rights, and that one more than one under
    narrower rights; of several, the latest counts. Questions keep their order. Examples of other databases all stay.
    """

    def rank_example(example: Example) -> tuple[bool, bool, str]:
        return *rank_example_rights(example, database), example.added.isoformat() if example.added else ""

    best: dict[object, Example] = {}
    for number, example in enumerate(examples):
        one_of_several = is_example_of_database(example, database) and example.source in VERIFIED
        question = " ".join(example.question.split()) if one_of_several else number
        other = best.get(question)
        best[question] = max(other, example, key=rank_example) if other else example
    return list(best.values())


def rank_example_rights(example: Example, database: Database) -> Standing:
    """Rank an example by its rights compared with the session's: equal, wider or narrower."""
    approval, now = _get_approval_rights(example, database), database.rights
    wider = approval.can_read_all_of(now)
    return wider and now.can_read_all_of(approval), wider


def can_remove_example(example: Example, database: Database) -> bool:
    """Whether the session may remove an example: it may read all that the approver could."""
    readable = restrict_example(example, database) is not None
    return readable and database.rights.can_read_all_of(_get_approval_rights(example, database))


def should_replace(old: Example, new: Example, database: Database) -> bool:
    """Whether the new example replaces the old one for the same question.

    People with narrower rights keep theirs if they may not read the new one: its absence would tell of the new one.
    """
    if not can_remove_example(old, database):
        return False
    approval = _get_approval_rights(old, database)
    return approval.can_read_all_of(database.rights) or _reads_only_permitted_columns(new, approval, database.schema())


def is_example_of_database(example: Example, database: Database) -> bool:
    """Whether an example belongs to a database: by owner, or by name if it has no owner."""
    return example.owner == database_identity(database) if example.owner else example.database == database.name


def _get_approval_rights(example: Example, database: Database) -> Rights:
    """Return the rights of an approval, without the person if all persons see the same rows."""
    approval = parse_approval_record(example.rights).rights
    return approval if database.rows_by_person else replace(approval, person="")


def _reads_only_permitted_columns(example: Example, rights: Rights, schema: Schema) -> bool:
    """Whether the rights permit every column that an example reads; False for views."""

    def is_certainly_permitted(table: str, column: str) -> bool:
        table_schema = schema.table(table)
        if table_schema is None or table_schema.kind != "table":
            return False
        part = table_schema.column(column) if column else None
        return not (part and part.generated) and (not column or rights.policy.permissions.shows(table, column))

    columns = parse_approval_record(example.rights).columns
    return bool(columns) and all(is_certainly_permitted(table, column) for table, column in columns)
