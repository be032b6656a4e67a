"""Content words of a question for which neither names nor values nor definitions of a database hold anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..database import Schema
from ..derived import derived
from ..values import ValueMatch
from ..values.question import read
from ..words import name_words, question_words, stem, stems, taken_for
from .vocabulary import shipped

_LEAST = 4
"""Letters of a word that is looked for; shorter ones are abbreviations, or say little."""

_SHARED = 4
"""Letters at the beginning, or inside, that make two words kin: `nation` and `nationality`, `phone` and `telephone`."""

_SYNONYM = 0.3
"""Least learned weight of a name's word that a question's word may stand for."""

_MOST = 3
"""Words told of one question: more say that it is about something else, which three say as well."""

Knows = Callable[[str], bool]
"""Whether something holds a stem."""


def unheld_words(question: str, schema: Schema, values: Iterable[ValueMatch], knows: Knows) -> tuple[str, ...]:
    """The words, in order; synonyms that training knows, kin and misspelt words of the schema are held.

    As written, so that a capital tells a name; a word that begins a sentence is written small.

    Args:
        question: As asked.
        schema: The whole schema.
        values: Values that the question may mention; their words are held.
        knows: Whether the value index, or a definition, holds a stem.
    """
    asked = read(question)
    names = _names(schema)
    held = {stem(name) for name in names}
    mentioned = [(match.start, match.end) for match in values]
    pairs = shipped().pairs
    found: dict[str, str] = {}
    for number, word in enumerate(asked.words):
        if len(word.folded) < _LEAST or not word.folded.isalpha() or asked.says_nothing(number):
            continue
        synonyms = (part for part, weight in pairs.get(word.stem, {}).items() if weight >= _SYNONYM)
        if word.stem in held or word.stem in question_words() or not held.isdisjoint(synonyms):
            continue
        if any(start < word.end and word.start < end for start, end in mentioned) or knows(word.stem):
            continue
        if not _is_kin(word.folded, names):
            found.setdefault(word.stem, word.text.lower() if asked.begins(word.start) else word.text)
    return tuple(found.values())[:_MOST]


@derived
def _names(schema: Schema) -> frozenset[str]:
    """The words of names and comments, and of sample values."""
    words = set(name_words(schema.name))
    for table in schema.tables:
        for item in (table, *table.columns):
            words.update(name_words(item.name))
            words.update(stems(item.comment))
        for column in table.columns:
            for sample in column.samples:
                words.update(stems(sample) if isinstance(sample, str) and len(sample) < 100 else ())
    return frozenset(words)


def _is_kin(word: str, names: frozenset[str]) -> bool:
    """Whether a word begins like one of the schema, holds one, or is nearly spelt like one."""
    for name in names:
        if len(name) >= _SHARED and (word[:_SHARED] == name[:_SHARED] or name in word or word in name):
            return True
    return taken_for(word, names) is not None
