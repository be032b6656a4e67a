"""Question skeletons of examples, whose schema is text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..database.schema import ColumnSchema, Schema, TableSchema
from ..sql import question_skeleton
from ..values.match import ValueMatch

_NAME = re.compile(r"[^\W\d]\w*")


@lru_cache(maxsize=1_024)
def schema_words(schema: str) -> Schema:
    """All names in a schema's compact prompt form, as the columns of one table: enough to mask by."""
    names = dict.fromkeys(_NAME.findall(schema))
    return Schema("", (TableSchema("", tuple(ColumnSchema(name) for name in names)),))


def mask(question: str, schema: str | Schema | None, values: Sequence[ValueMatch] = ()) -> str:
    """The question's skeleton (revision chain 3.1.2).

    Args:
        question: Of an example or of a turn.
        schema: Whose words are masked; text in the compact prompt form, or None for values only.
        values: Mentions of database values.
    """
    return question_skeleton(question, schema if isinstance(schema, Schema) else schema_words(schema or ""), values)
