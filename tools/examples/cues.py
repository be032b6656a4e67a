"""Words that tell what SQL a question will become, by what they tell."""

from __future__ import annotations

from ..values.words import stem

_CUES = {
    "highest": "most highest largest biggest greatest maximum max oldest longest latest newest heaviest best tallest "
    "richest dearest strongest fastest",
    "lowest": "least lowest smallest fewest minimum min youngest shortest earliest cheapest worst lightest slowest",
    "average": "average mean avg",
    "sum": "total sum combined overall altogether",
    "without": "not never no without except neither nor none cannot didn't don't doesn't isn't aren't wasn't haven't "
    "hasn't excluding other besides",
    "each": "each every per",
    "distinct": "different distinct unique",
    "over": "above over greater older higher larger longer exceeding exceeds after later",
    "under": "below under less fewer younger lower smaller shorter before earlier",
    "more": "more",
    "at-least": "least",
    "both": "both also",
    "or": "or either",
    "between": "between",
    "like": "contain containing substring start begin end include letter prefix",
    "order": "order sort ascending descending alphabetical alphabetically decreasing increasing rank",
    "descending": "descending decreasing reverse",
    "ascending": "ascending increasing alphabetical alphabetically lexicographic",
    "count": "number count",
    "top": "top",
}


def _by_stem() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for cue, words in _CUES.items():
        for word in dict.fromkeys(map(stem, words.split())):
            found.setdefault(word, []).append(cue)
    return {word: tuple(cues) for word, cues in found.items()}


CUES: dict[str, tuple[str, ...]] = _by_stem()
"""What each word stem tells; a word may tell several things ("least": lowest, or at least)."""


def cues_in(text: str, stems: list[str]) -> tuple[str, ...]:
    """All that a question's words tell, in alphabetical order."""
    told = {cue for word in stems for cue in CUES.get(word, ())}
    if "how many" in text:
        told.add("count")
    return tuple(sorted(told))
