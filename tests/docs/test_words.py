"""The prose that people read stays short enough to be read."""

from __future__ import annotations

import re

from .pages import PAGES

MOST = 22_000


def prose(text: str) -> str:
    """Return a page without its blocks of code, tables made from the code, comments and pictures."""
    text = re.sub(r"^( *)(`{3,}).*?^\1\2$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!-- \[\[\[cog.*?\[\[\[end\]\]\] -->", "", text, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->|<picture>.*?</picture>", "", text, flags=re.DOTALL)


def words(text: str) -> int:
    """Return how many words of prose a page has; tables written by hand count."""
    return len(re.findall(r"\S*\w\S*", prose(text)))


def test_words_are_those_of_prose() -> None:
    code = "```console\n$ three more words\n```\n"
    table = '<!-- [[[cog print(tables.settings("gate", "gate")) ]]] -->\n| made |\n<!-- [[[end]]] -->\n'
    assert words(f"Two words | - |\n\n{code}{table}<!-- not run: no -->\n| `a b` | c |\n") == 5


def test_prose_has_at_most_22_000_words() -> None:
    counted = {page.name: words(page.read_text("utf-8")) for page in PAGES}
    assert sum(counted.values()) <= MOST, sorted(counted.items(), key=lambda item: -item[1])
