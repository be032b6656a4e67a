"""Sqlglot's dialects, as the engines of today read them."""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect


def grammar_of(dialect: str) -> Dialect:
    """Tokenizer, parser and generator of a dialect, by sqlglot's name; one that it does not know is standard SQL."""
    if dialect == "spark":
        # Whoever reads other dialects has no need of it.
        from .spark.dialect import Spark4

        return Spark4()
    return (Dialect.get(dialect) or Dialect)()
