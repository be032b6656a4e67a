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
