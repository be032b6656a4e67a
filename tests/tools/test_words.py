"""Stems from many threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tableturn.tools.words import english_stem

WORDS = [
    f"{stem}{ending}"
    for stem in ("connect", "organ", "relat", "nation", "histor")
    for ending in ("ing", "ional", "es", "ation", "ically", "edly", "iveness", "ities")
]


def test_threads_get_the_same_stems() -> None:
    expected = [english_stem.__wrapped__(word) for word in WORDS]

    def stems(_: int) -> list[str]:
        return [english_stem.__wrapped__(word) for word in WORDS * 20]

    with ThreadPoolExecutor(16) as pool:
        assert all(found == expected * 20 for found in pool.map(stems, range(64)))
