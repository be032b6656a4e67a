"""Words of questions and of names, made comparable by their stems."""

from __future__ import annotations

import re
from functools import lru_cache

from ..stemming import english_stem

_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def stem(word: str) -> str:
    """A word's English stem, lower case."""
    return english_stem(word.lower())


@lru_cache(maxsize=10_000)
def name_stems(name: str) -> tuple[str, ...]:
    """Stems of the words that a name is made of: `birthYear`, `birth_year` and `Birth Years` agree."""
    return tuple(stem(part) for part in _NAME_PART.findall(name))
