"""The house only gets smaller: tests/size.toml holds lines and Python tokens by room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .size import (
    NO_REASON,
    ROOT,
    Room,
    count_tokens,
    find_growth,
    find_roomless_files,
    list_tracked_files,
    measure_room,
    read_earlier_tables,
    read_rooms,
)

LONGEST = 600
"""Lines of a file that a reader still meets whole."""


@pytest.mark.parametrize("room", read_rooms(), ids=lambda room: room.name)
def test_rooms_do_not_grow(room: Room) -> None:
    lines, tokens = measure_room(room)
    assert lines, "the room's globs find its files"
    assert lines <= room.lines
    if tokens is not None and room.tokens is not None:
        assert tokens <= room.tokens
        assert (room.lines - lines) / room.lines < 0.02, "it fell: `python -m tests.size` holds it there"


def test_a_room_grows_for_a_new_reason_alone() -> None:
    now = {room.name: room for room in read_rooms()}
    if not (earlier := [{room.name: room for room in table} for table in read_earlier_tables()]):
        pytest.skip("there is no earlier table: this is no clone with history")
    assert earlier[0].keys() - now.keys() == set(), "rooms keep their names"
    growth = {
        name: list(find_growth(room, [table[name] for table in earlier if name in table])) for name, room in now.items()
    }
    assert {name: found for name, found in growth.items() if found} == {}


ROOM = Room("evals", ("tests/size.py", "tests/test_size.py"), 100, 500, aim=200, reason="pages of trials")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (ROOM, []),
        (replace(ROOM, lines=90, tokens=400, aim=150, reason=""), []),
        (replace(ROOM, lines=110, reason="pages of trials, verdicts of people on runs"), []),
        (replace(ROOM, lines=110, reason="pages of trials."), [NO_REASON]),
        (replace(ROOM, lines=110, reason="of trials, trials of pages"), [NO_REASON]),
        (replace(ROOM, lines=110, reason="pages of trials, judged again"), [NO_REASON]),
        (replace(ROOM, lines=110, reason="pages of trials, the brumpf qwrtz"), [NO_REASON]),
        (replace(ROOM, lines=110, reason="pages of trials, it is so and it must be"), [NO_REASON]),
        (replace(ROOM, tokens=510), [NO_REASON]),
        (replace(ROOM, tokens=None), ["its tokens are not counted"]),
        (replace(ROOM, aim=None), ["its aim was raised or is gone"]),
        (replace(ROOM, aim=300), ["its aim was raised or is gone"]),
        (replace(ROOM, files=("tests/size.*",)), ["1 of its files are not counted"]),
        (replace(ROOM, without=("tests/size.py",)), ["1 of its files are not counted"]),
        (replace(ROOM, files=("tests/*.py",)), []),
    ],
)
def test_what_a_room_may_not_do(now: Room, told: list[str]) -> None:
    assert list(find_growth(now, [ROOM])) == told


def test_a_rise_does_not_get_old() -> None:
    """Neither another commit after it nor a small fall makes up for a reason, coming down does."""
    raised = replace(ROOM, lines=150)
    assert list(find_growth(replace(raised, aim=190), [raised, ROOM])) == [NO_REASON]
    assert list(find_growth(replace(raised, lines=140), [raised, ROOM])) == [NO_REASON]
    assert list(find_growth(replace(raised, lines=140, reason="verdicts of people on runs"), [raised, ROOM])) == []
    assert list(find_growth(replace(raised, lines=100), [raised, ROOM])) == []


def test_a_reason_counts_once() -> None:
    """As of an old branch, whose merge brings back numbers and reasons of then."""
    old = replace(ROOM, lines=150, reason="verdicts of people on runs")
    assert list(find_growth(old, [ROOM])) == []
    assert list(find_growth(replace(old, aim=190), [old, ROOM])) == []
    assert list(find_growth(old, [ROOM, old, ROOM])) == [NO_REASON]


def test_a_new_room_needs_a_reason() -> None:
    assert list(find_growth(ROOM, [])) == []
    assert list(find_growth(replace(ROOM, reason=""), [])) == [NO_REASON]


def test_every_file_of_the_product_belongs_to_a_room() -> None:
    if not (names := list_tracked_files()):
        pytest.skip("git tells no names: this is no clone")
    assert find_roomless_files(names, read_rooms()) == []
    new = ["helpers/a.py", "more.py", "serve/page/more/a.js", "tools/x.sql", "agent/x.yaml", "evals/x.js"]
    new += ["docs/x.js", "examples/deploy/x.sh", "run.sh", "more.toml", "Makefile.more", ".ci/more"]
    assert find_roomless_files([*new, "docs/a.md", "examples/a.ipynb", "LICENSE"], read_rooms()) == new


def test_no_file_is_too_long() -> None:
    installed = {path for room in read_rooms() if room.tokens is not None for path in room.paths()}
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in installed}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_comments_docstrings_and_layout_are_no_tokens() -> None:
    plain = "def add(a, b):\n    return a + b\n"
    told = '"""Add."""\n\n\ndef add(a, b):  # both\n    """Return the sum."""\n\n    return a + b\n'
    assert count_tokens(plain) == count_tokens(told) == 12
    assert count_tokens("x = 'no docstring'\n") == 3
