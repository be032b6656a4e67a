"""Whether the order of a query's rows means something."""

from __future__ import annotations

from .parse import parse
from .untrusted import analysis_or


@analysis_or(False)
def is_ordered(sql: str, dialect: str = "sqlite") -> bool:
    """Whether the outermost query has an ORDER BY; False for what cannot be parsed."""
    return parse(sql, dialect).tree.args.get("order") is not None
