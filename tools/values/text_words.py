"""Text as the index compares it: words with their places, folded, stemmed and joined to keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..stemming import english_stem

_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(("and", "of", "the"))
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True)
class Word:
    """One word of a text.

    Attributes:
        text: As written.
        start: Character offset.
        end: Offset just past it.
        folded: Lower case, without accents.
        stem: The folded word's stem.
    """

    text: str
    start: int
    end: int
    folded: str
    stem: str


@lru_cache(maxsize=1_000)
def words(text: str) -> tuple[Word, ...]:
    """The words of a text: runs of letters and digits. Neither a possessive `'s` nor an accent alone is one.

    Questions of a conversation are read again at each of its turns.
    """
    blanked = _POSSESSIVE.sub("  ", text)
    return tuple(
        Word(match.group(), match.start(), match.end(), folded, stem(folded))
        for match in _WORD.finditer(blanked)
        if (folded := fold(match.group()))
    )


def stems(text: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(folded) for word in _WORD.findall(_POSSESSIVE.sub("  ", text)) if (folded := fold(word))]


def key(stemmed: Sequence[str]) -> str:
    """Stems joined without spaces, so that "New York" and "NewYork" are one; digits don't run together."""
    joined: list[str] = []
    for part in stemmed:
        if joined and joined[-1][-1].isdigit() and part[:1].isdigit():
            joined.append(".")
        joined.append(part)
    return "".join(joined)


def initials(stemmed: Sequence[str]) -> str | None:
    """The first letters of three to six words, "of", "the" and "and" left out; None for any other text."""
    counted = [part for part in stemmed if part not in _SMALL]
    if 3 <= len(counted) <= 6 and all(part[0].isalpha() for part in counted):
        return "".join(part[0] for part in counted)
    return None


def fold(word: str) -> str:
    """Lower case, letters and digits alone: without accents, and without what joins a fraction's digits."""
    lowered = word.casefold()
    if lowered.isascii():
        return lowered
    return "".join(c for c in unicodedata.normalize("NFKD", lowered) if c.isalnum())


def stem(folded: str) -> str:
    """The stem of a folded word; numbers, codes and very long words are their own."""
    if len(folded) < 3 or len(folded) > 24 or not folded.isalpha():
        return folded
    return english_stem(folded)
