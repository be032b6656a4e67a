"""What a question's words stand for: tables, columns, values, numbers, comparisons and superlatives.

>>> names = NameIndex(schema)
>>> [hit.column for hit in names.find(("birth", "year"))]
['birth_year']
>>> words = words_of("Names of singers older than 30")
>>> items = find_mentions(words, names, values.find("Names of singers older than 30"))
>>> resolve(items, names)
"""

from .mentions import Mention, find_mentions
from .name_index import Hit, NameIndex
from .question_words import Word, spelled_out, stem, words_of
from .resolve import resolve
from .spelling import respelled
from .unused import unused

__all__ = [
    "Hit",
    "Mention",
    "NameIndex",
    "Word",
    "find_mentions",
    "resolve",
    "respelled",
    "spelled_out",
    "stem",
    "unused",
    "words_of",
]
