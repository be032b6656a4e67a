"""Numbers in words."""

from __future__ import annotations

import pytest
from tableturn.agent.attempts.spoken_numbers import spoken_numbers


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("before 1960 and above 1.5", {"1960", "1.5"}),
        ("the three oldest", {"3"}),
        ("More than one hundred", {"100"}),
        ("a thousand or five million", {"1000", "5000000"}),
        ("hundred", {"100"}),
        ("Which one is it?", set[str]()),
        ("more than one", {"1"}),
        ("at least one, none, someone", {"1"}),
    ],
)
def test_numbers(said: str, numbers: set[str]) -> None:
    assert spoken_numbers(said) == numbers
