"""Old names go on working, and say so to whoever uses them."""

from __future__ import annotations

import warnings

from tableturn.tools.deprecation import warn_deprecated


def test_the_note_is_of_the_callers_line_and_comes_once() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(2):
            warn_deprecated("shop.old", "use shop.new", "0.3")
    (note,) = told
    assert str(note.message) == "deprecated since version 0.3: shop.old; use shop.new"
    assert note.filename == __file__
