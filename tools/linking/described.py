"""Names with descriptions beside them (Track-SQL 2.2): an item is mentioned by its name or by what describes it.

Comments of the DDL and a model's annotations say what cryptic names don't. Their words count as words of the name do,
so that the linker's forests, fitted on names alone, read them without being fitted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..values.schema_words import name_words
from ..values.text_words import Word, stem
from .vocabulary import Mention, Shares, Vocabulary

_EMPTY = frozenset(
    "a an and as at by each every for from in is its of on or that the this to was with".split()  # noqa: SIM905
)
"""Words without a meaning of their own: questions are full of them."""


def vocabulary(names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> Vocabulary:
    """The names, and what describes them where anything does."""
    return DescribedVocabulary(names, descriptions) if any(descriptions) else Vocabulary(names)


def description_words(text: str, without: str = "") -> tuple[str, ...]:
    """A description's words in lower case, without those in `_EMPTY`, and without those of another.

    Args:
        text: A comment or an annotation; may be empty.
        without: A text whose words are left out, as far as others remain.
    """
    if not text:
        return ()
    found = tuple(word for word in name_words(text) if word not in _EMPTY)
    theirs = {stem(word) for word in name_words(without)} if without else set[str]()
    return tuple(word for word in found if stem(word) not in theirs) or found


class DescribedVocabulary(Vocabulary):
    """Names and descriptions of one kind of item, by number."""

    def __init__(self, names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> None:
        """Indexes both, each given by its words; no words where an item has no description."""
        super().__init__(names)
        self._described = Vocabulary(descriptions)

    def mentions(self, words: Sequence[Word]) -> list[Mention]:
        """The words of a text that names or descriptions hold."""
        found = {mention.stem: mention for mention in super().mentions(words)}
        for mention in self._described.mentions(words):
            other = found.get(mention.stem, mention)
            found[mention.stem] = Mention(
                mention.stem,
                max(mention.share, other.share),
                np.union1d(mention.holders, other.holders),
                min(mention.position, other.position),
            )
        return list(found.values())

    def coverage(self, mentions: Sequence[Mention]) -> Shares:
        """How much of each name, or of its description, is mentioned."""
        named = super().coverage(_held_by(mentions, super().holders))
        return np.maximum(named, self._described.coverage(_held_by(mentions, self._described.holders)))

    def heads(self, mentions: Sequence[Mention]) -> Shares:
        """How well the last word of each name, or of its description, is mentioned."""
        return np.maximum(super().heads(mentions), self._described.heads(mentions))

    def holders(self, part: str) -> npt.NDArray[np.intp] | None:
        """The numbers of the items whose name or description holds a stem; None if none does."""
        named, described = super().holders(part), self._described.holders(part)
        if named is None or described is None:
            return named if described is None else described
        return np.union1d(named, described)


def _held_by(mentions: Sequence[Mention], texts: Callable[[str], npt.NDArray[np.intp] | None]) -> list[Mention]:
    """The mentions with those holders alone that hold the word in their names, or in their descriptions."""
    held = ((mention, texts(mention.stem)) for mention in mentions)
    return [replace(mention, holders=holders) for mention, holders in held if holders is not None]
