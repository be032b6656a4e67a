"""English stems, for everything that compares words."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


class _PerThread(threading.local):
    """Snowball's stemmers keep their work in attributes, so that two threads must not share one."""

    def __init__(self) -> None:
        self.stemmer = cast("_Stemmer", snowballstemmer.stemmer("english"))


_local = _PerThread()


@lru_cache(maxsize=200_000)
def english_stem(word: str) -> str:
    """The Snowball stem of a lower-case English word. Safe to call from any thread."""
    return _local.stemmer.stemWord(word)


def singular(word: str) -> str:
    """A lower-case noun for one, where its form tells: `orders` is `order`, `countries` is `country`."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def plural(name: str) -> str:
    """A lower-case noun for many, by the rule; one that ends with s is taken for many already."""
    return name if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
