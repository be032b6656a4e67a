"""Whether the order of a query's rows means something."""

from __future__ import annotations

from ..errors import SQLParseError
from .parse import parse


def is_ordered(sql: str, dialect: str = "sqlite") -> bool:
    """Whether the outermost query has an ORDER BY; False for what cannot be parsed."""
    try:
        return parse(sql, dialect).tree.args.get("order") is not None
    except SQLParseError:
        return False
