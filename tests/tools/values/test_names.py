"""What names say."""

from __future__ import annotations

import pytest
from tableturn.tools.words import split_name_into_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("singer_in_concert", ("singer", "in", "concert")),
        ("StuID", ("student", "id")),
        ("customerName", ("customer", "name")),
        ("dept_name", ("department", "name")),
        ("HTTPServer2", ("http", "server", "2")),
        ("Fname", ("first", "name")),
        ("GRÖSSE_cm", ("grosse", "cm")),
        ("用户", ("用户",)),
        ("用户Name", ("用户", "name")),
        ("straßenName", ("strassen", "name")),
        ("HøjdeCm", ("højde", "cm")),
        ("ГородИмя", ("город", "имя")),
        ("___", ("___",)),
        ("order details", ("order", "details")),
    ],
)
def test_name_words(name: str, words: tuple[str, ...]) -> None:
    assert split_name_into_words(name) == words
