"""The keys that an example is found by: its question, two question skeletons and its SQL skeleton."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from ..sql import sql_skeleton
from .example import Example
from .masking import mask


@dataclass(frozen=True)
class Keys:
    """What an example is indexed under.

    Attributes:
        question: The question as asked.
        skeletons: Skeletons of the question and of its simplified form, without repeats (revision chain 3.1.2).
        sql: The SQL's skeleton.
    """

    question: str
    skeletons: tuple[str, ...]
    sql: str


def keys_of(example: Example) -> Keys:
    """The keys of an example.

    Raises:
        SQLParseError: If its SQL is not one query.
    """
    texts = [example.question, example.simplified] if example.simplified else [example.question]
    skeletons = dict.fromkeys(mask(text, example.schema) for text in texts)
    return Keys(example.question, tuple(skeletons), skeleton_of(example.sql))


@lru_cache(maxsize=65_536)
def skeleton_of(sql: str) -> str:
    """`sql_skeleton`, remembered: the same SQL often stands under several questions."""
    return sql_skeleton(sql)


def digest(*parts: str) -> str:
    """A short stable identifier of some texts."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]


def example_id(example: Example) -> str:
    """The same for the same question with the same SQL on the same database, whatever the spacing."""
    return digest(example.database, " ".join(example.question.split()), " ".join(example.sql.split()))
