"""Under which rights an example was approved, and to whom it may be shown since."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..database import Database, Rights, Schema, render_schema
from ..errors import SQLParseError
from ..sql import ALL_COLUMNS, used_items
from .example import Example
from .from_use import database_identity


@dataclass(frozen=True)
class Approval:
    """What is kept beside an example as `Example.rights`.

    Attributes:
        rights: Of the session in which its SQL was run.
        columns: The tables and columns that the SQL reads, `*` spelled out; the column is empty for a table itself.
    """

    rights: Rights
    columns: tuple[tuple[str, str], ...]


_APPROVAL = TypeAdapter(Approval)


def approval_of(database: Database, sql: str) -> str:
    """The record of a query's rights, as a text.

    Raises:
        SQLParseError: It is not one query.
    """
    schema = database.schema()
    used = used_items(sql, schema)
    columns = {(table, "") for table in used.tables}
    for table, column in used.columns:
        found = schema.table(table)
        names = [column] if column != ALL_COLUMNS or found is None else [each.name for each in found.columns]
        columns.update((table, name) for name in names)
    approval = Approval(database.session.rights, tuple(sorted(columns)))
    return json.dumps(asdict(approval), ensure_ascii=False)


def readable(example: Example, database: Database) -> Example | None:
    """An example as it may be shown to whoever asks a database; None where it may not.

    Examples of other databases may: whoever shared them meant them to be seen. One of this database may where it was
    approved under equal or narrower rights; or where all columns that its SQL read then may be read now, with the part
    of the schema that is shown beside it written anew. Where there is no record, it counts as approved under all
    rights.
    """
    if database_identity(database) != example.owner and (example.owner or example.database != database.name):
        return example
    approval, now = _approval(example.rights), database.session.rights
    made = approval.rights if approval else Rights()
    if not getattr(database.engine, "rows_by_person", True):
        made = replace(made, person=now.person)
    if now.cover(made):
        return example
    schema = database.schema()
    if approval is None or made.person != now.person or not _shows(schema, approval.columns):
        return None
    return replace(example, schema=_part(example.sql, schema))


def _shows(schema: Schema, columns: tuple[tuple[str, str], ...]) -> bool:
    """Whether a schema has all of these columns; no columns at all say nothing of what was read."""
    found = [(schema.table(table), column) for table, column in columns]
    return bool(found) and all(table is not None and (not column or table.column(column)) for table, column in found)


def _part(sql: str, schema: Schema) -> str:
    try:
        used = used_items(sql, schema).tables
    except SQLParseError:
        return ""
    tables = [table for table in schema.tables if table.name in used]
    shown = schema.part([(table.name, [column.name for column in table.columns]) for table in tables])
    return render_schema(shown, samples=0)


def _approval(text: str) -> Approval | None:
    try:
        record: Any = json.loads(text) if text else None
        return None if record is None else _APPROVAL.validate_python(record)
    except (ValueError, RecursionError, ValidationError):
        return None
