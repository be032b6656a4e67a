"""Old names go on working, and say so to whoever uses them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tableturn.tools import terminal as module
from tableturn.tools.deprecation import Deprecated, renamed_names, renamed_parameter, warn_deprecated


def test_the_note_is_of_the_callers_line_and_comes_once() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(2):
            warn_deprecated("shop.old", "use shop.new", "0.3")
    (note,) = told
    assert str(note.message) == "deprecated since version 0.3: shop.old; use shop.new"
    assert note.filename == __file__


def test_modules_keep_old_names(monkeypatch: pytest.MonkeyPatch) -> None:
    find = renamed_names(module.__name__, {"OldStore": "tableturn.tools.examples.ExampleStore"}, "0.3")
    monkeypatch.setattr(module, "__getattr__", find, raising=False)
    with pytest.warns(Deprecated, match=r"terminal\.OldStore; use tableturn\.tools\.examples\.ExampleStore") as told:
        from tableturn.tools.terminal import OldStore  # pyright: ignore
    assert {note.filename for note in told} == {__file__}
    assert OldStore.__name__ == "ExampleStore"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = module.nothing  # pyright: ignore


def test_functions_keep_old_parameters() -> None:
    @renamed_parameter("folder", "place", "0.3")
    def write(place: str, count: int = 1) -> tuple[str, int]:
        return place, count

    old: dict[str, Any] = {"folder": "here", "count": 2}
    with pytest.warns(Deprecated, match="parameter 'folder' of .*write; use 'place'"):
        assert write(**old) == ("here", 2)
    assert write(place="here") == ("here", 1)
    with pytest.warns(Deprecated), pytest.raises(TypeError):
        write("there", **old)
