"""The house only gets smaller: tests/size.toml holds lines and Python tokens by room."""

from __future__ import annotations

import pytest

from .size import ROOT, Room, count_tokens, measure_room, read_earlier_rooms, read_rooms

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


def test_a_number_that_was_raised_has_a_new_reason() -> None:
    now, before = {room.name: room for room in read_rooms()}, {room.name: room for room in read_earlier_rooms()}
    if not before:
        pytest.skip("there is no earlier table: this is no clone with history")
    raised = {
        name
        for name in now.keys() & before.keys()
        if now[name].lines > before[name].lines or (now[name].tokens or 0) > (before[name].tokens or 0)
    }
    assert [name for name in raised if now[name].reason == before[name].reason] == []
    assert [room.name for room in now.values() if room.aim and room.lines > room.aim and not room.reason] == []


def test_no_file_is_too_long() -> None:
    installed = {path for room in read_rooms() if room.tokens is not None for path in room.paths()}
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text("utf-8").splitlines()) for path in installed}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_comments_docstrings_and_layout_are_no_tokens() -> None:
    plain = "def add(a, b):\n    return a + b\n"
    told = '"""Add."""\n\n\ndef add(a, b):  # both\n    """Return the sum."""\n\n    return a + b\n'
    assert count_tokens(plain) == count_tokens(told) == 12
    assert count_tokens("x = 'no docstring'\n") == 3
