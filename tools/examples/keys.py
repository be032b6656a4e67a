"""Identifiers and keys of examples."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from ..sql import sql_skeleton
from .example import Example
from .masking import mask

# What is opened and never closed goes to the end: to look for its end from every other opening would take quadratic
# time.
_LITERAL = re.compile(
    r"""(?<!\w)'(?:[^']|'')*' | (?<![\w.$])\d+(?:\.\d+)?(?![\w.])
      | (?P<kept> "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*(?:\]|\Z) | --[^\n]* | /\*.*?(?:\*/|\Z))""",
    re.VERBOSE | re.DOTALL,
)

_SPACING = re.compile(
    r"""(?P<kept> '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*(?:\]|\Z))
      | (?: \s | --[^\n]* | /\*.*?(?:\*/|\Z) )+""",
    re.VERBOSE | re.DOTALL,
)
"""Spaces and comments between tokens, and what may hold characters like them without being them."""


def skeleton_of(sql: str) -> str:
    """`sql_skeleton`, remembered: the same query with other values has the same skeleton, and parsing costs the most.

    Raises:
        SQLParseError: It is not one query.
    """
    return _skeleton(_LITERAL.sub(lambda match: match["kept"] or ("''" if match[0][0] == "'" else "1"), sql))


@lru_cache(maxsize=65_536)
def _skeleton(sql: str) -> str:
    return sql_skeleton(sql)


@lru_cache(maxsize=8_192)
def masked(question: str, schema: str) -> str:
    """`mask` of an example's question, remembered."""
    return mask(question, schema)


def digest(*parts: str) -> str:
    """A short stable identifier of some texts."""
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def example_id(example: Example) -> str:
    """The same for the same question with the same SQL on the same database, whatever the spacing of either.

    Within literals and quoted names spaces count; comments don't. A private example is its owner's alone.
    """
    own = (example.owner,) if example.owner and not example.shared else ()
    return digest(*own, example.database, " ".join(example.question.split()), _spaced(example.sql))


def _spaced(sql: str) -> str:
    """SQL with one space where tokens stand apart; literals and quoted names as they are."""
    return _SPACING.sub(lambda match: match["kept"] or " ", sql).strip()
