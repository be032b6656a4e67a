"""Identifiers and keys of examples."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from ..sql import sql_skeleton
from .example import Example
from .masking import mask


@lru_cache(maxsize=65_536)
def skeleton_of(sql: str) -> str:
    """`sql_skeleton`, remembered: the same SQL often stands under several questions.

    Raises:
        SQLParseError: It is not one query.
    """
    return sql_skeleton(sql)


@lru_cache(maxsize=8_192)
def masked(question: str, schema: str) -> str:
    """`mask` of an example's question, remembered."""
    return mask(question, schema)


def digest(*parts: str) -> str:
    """A short stable identifier of some texts."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def example_id(example: Example) -> str:
    """The same for the same question with the same SQL on the same database, whatever the spacing."""
    return digest(example.database, " ".join(example.question.split()), " ".join(example.sql.split()))
