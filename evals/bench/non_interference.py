"""Whether anything that leaves depends on what is hidden or may not leave: the same turns over pairs of databases."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ...tools.folders import CACHE_VARIABLE
from .corpus import corpus
from .egress import transcripts
from .registry import BenchOptions
from .transcript import steady

_MARKS = (3, 4, 0, 5, 6)


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `pairs` of runs, the same turn over two databases, and `differing`, in which not everything was equal.

    The databases lie at the same place, one after the other, so that they differ in nothing else.
    """
    egress = corpus("egress")
    found: list[list[str]] = []
    for mark in _MARKS:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "same"
            place.mkdir()
            with own_cache(Path(folder) / "cache"):
                found.append([steady(one.text, place) for one in transcripts(egress, mark, options.limit, place)])
    first, *others = found
    pairs = [(one, other) for texts in others for one, other in zip(first, texts, strict=True)]
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return {"pairs": len(pairs), "differing": len(differing)}


@contextmanager
def own_cache(folder: Path) -> Generator[None]:
    """What is kept beside a database goes to a folder: what one run keeps is not for the next."""
    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[CACHE_VARIABLE]
        else:
            os.environ[CACHE_VARIABLE] = before
