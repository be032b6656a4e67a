"""The house only gets smaller: tests/size.toml holds lines and Python tokens by room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .size import (
    ROOT,
    Room,
    count_tokens,
    find_growth,
    find_roomless_files,
    list_tracked_files,
    measure_room,
    read_earlier_rooms,
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
    now, before = {room.name: room for room in read_rooms()}, {room.name: room for room in read_earlier_rooms()}
    if not before:
        pytest.skip("there is no earlier table: this is no clone with history")
    assert before.keys() - now.keys() == set(), "rooms keep their names"
    growth = {name: list(find_growth(room, before.get(name))) for name, room in now.items()}
    assert {name: found for name, found in growth.items() if found} == {}


ROOM = Room("evals", ("tests/size.py", "tests/test_size.py"), 100, 500, aim=200, reason="pages of trials")


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (ROOM, []),
        (replace(ROOM, lines=90, tokens=400, aim=150, reason=""), []),
        (replace(ROOM, lines=110, reason="pages of trials, judged again"), []),
        (
            replace(ROOM, lines=110, reason="pages of trials."),
            ["its number was raised, and its reason has no new word"],
        ),
        (replace(ROOM, tokens=510), ["its number was raised, and its reason has no new word"]),
        (replace(ROOM, tokens=None), ["its tokens are not counted"]),
        (replace(ROOM, aim=None), ["its aim was raised or is gone"]),
        (replace(ROOM, aim=300), ["its aim was raised or is gone"]),
        (replace(ROOM, files=("tests/size.*",)), ["1 of its files are not counted"]),
        (replace(ROOM, without=("tests/size.py",)), ["1 of its files are not counted"]),
        (replace(ROOM, files=("tests/*.py",)), []),
    ],
)
def test_what_a_room_may_not_do(now: Room, told: list[str]) -> None:
    assert list(find_growth(now, ROOM)) == told


def test_a_new_room_needs_a_reason() -> None:
    assert list(find_growth(ROOM, None)) == []
    assert list(find_growth(replace(ROOM, reason=""), None)) == [
        "its number was raised, and its reason has no new word"
    ]


def test_every_file_of_the_product_belongs_to_a_room() -> None:
    if not (names := list_tracked_files()):
        pytest.skip("git tells no names: this is no clone")
    assert find_roomless_files(names, read_rooms()) == []
    new = ["helpers/a.py", "more.py", "serve/page/more/a.js", "tools/x.sql", "agent/x.yaml", "evals/x.js"]
    assert find_roomless_files([*new, "docs/a.md", "LICENSE"], read_rooms()) == new


def test_no_file_is_too_long() -> None:
    installed = {path for room in read_rooms() if room.tokens is not None for path in room.paths()}
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in installed}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_comments_docstrings_and_layout_are_no_tokens() -> None:
    plain = "def add(a, b):\n    return a + b\n"
    told = '"""Add."""\n\n\ndef add(a, b):  # both\n    """Return the sum."""\n\n    return a + b\n'
    assert count_tokens(plain) == count_tokens(told) == 12
    assert count_tokens("x = 'no docstring'\n") == 3
