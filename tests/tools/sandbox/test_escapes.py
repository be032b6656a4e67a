"""The kernel alone holds: every attempt fails for its stated reason, the static check being off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tableturn.tools.sandbox import find_sandbox_problem

from tests.corpus.escapes import Escape, Surroundings, load_escapes

ESCAPES = load_escapes()


@pytest.fixture(scope="module")
def surroundings() -> Iterator[Surroundings]:
    if problem := find_sandbox_problem():
        pytest.skip(problem)
    with Surroundings.set_up() as made:
        yield made


def test_there_are_enough_of_them() -> None:
    assert len(ESCAPES) >= 100
    assert len({(escape.theme, escape.name) for escape in ESCAPES}) == len(ESCAPES)


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: f"{escape.theme}: {escape.name}")
def test_escape_fails(surroundings: Surroundings, escape: Escape) -> None:
    assert surroundings.try_escape(escape) is None
