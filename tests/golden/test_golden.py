"""Every turn is as it was: prompts, requests, SQL and answers of conversations that are played again."""

from __future__ import annotations

import pytest

from .databases import unavailable
from .play import play
from .scripts import GROUPS, Group
from .store import changes, read_hashes

_SHARE = 5
"""Of so many groups one is played where time is short."""

_ADVICE = """
Turns of {name} changed. To see them in full, COMMIT being one where this test passes:
    python -m tests.golden record build/golden/before {name} --commit COMMIT
    python -m tests.golden record build/golden/after {name}
    python -m tests.golden diff build/golden/before build/golden/after
If that is intended: python -m tests.golden renew --reason "why"
"""


def _parameters() -> list[object]:
    return [
        pytest.param(group, id=name, marks=() if number % _SHARE == 0 else pytest.mark.whole)
        for number, (name, group) in enumerate(GROUPS.items())
    ]


@pytest.mark.parametrize("group", _parameters())
def test_turns_are_as_they_were(group: Group) -> None:
    if reason := unavailable(group.engine):
        pytest.skip(reason)
    found = changes(group.name, play(group))
    assert not found, "\n".join([*map(str, found), _ADVICE.format(name=group.name)])


def test_every_group_is_kept() -> None:
    assert read_hashes().keys() == GROUPS.keys()
