"""Numbers in a person's words: `1960`, `1.5`, `two hundred`."""

from __future__ import annotations

import re

_UNITS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(),  # noqa: SIM905 - read as a list
        start=1,
    )
}
_POWERS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_WORDS = re.compile(
    rf"\b(?:(?P<unit>{'|'.join(_UNITS)}|a)\s+)?(?P<power>{'|'.join(_POWERS)})\b"
    rf"|(?P<than>\b(?:than|least|most|exactly)\s+)?\b(?P<small>{'|'.join(_UNITS)})\b(?!\s+(?:{'|'.join(_POWERS)}))",
    re.IGNORECASE,
)


def spoken_numbers(text: str) -> frozenset[str]:
    """The numbers, in digits. `One` counts after `than`, `least` and the like only: mostly it is a pronoun."""
    found = set(_DIGITS.findall(text))
    for match in _WORDS.finditer(text):
        power, small = match["power"], (match["small"] or "").lower()
        if power:
            found.add(str(_UNITS.get((match["unit"] or "").lower(), 1) * _POWERS[power.lower()]))
        elif small != "one" or match["than"]:
            found.add(str(_UNITS[small]))
    return frozenset(found)
