"""Whether the order of a query's rows means something."""

from __future__ import annotations

from functools import lru_cache

from ..errors import SQLParseError
from .parse import parse_select


@lru_cache(maxsize=256)
def is_ordered(sql: str) -> bool:
    """Whether the outermost query has an ORDER BY; False for what cannot be parsed."""
    try:
        return parse_select(sql).args.get("order") is not None
    except SQLParseError:
        return False
