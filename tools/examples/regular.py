"""Examples whose SQL is shown in the regular form (CREDIT-SQL 3.2)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ..errors import SQLParseError
from ..sql import regularize
from .compact_schema import read_compact
from .example import Example


@lru_cache(maxsize=1_024)
def regular_example(example: Example) -> Example:
    """The example with its SQL in the regular form; as it is where that cannot be read."""
    try:
        return replace(example, sql=regularize(example.sql, read_compact(example.schema)))
    except SQLParseError:
        return example
