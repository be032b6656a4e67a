"""The pages that people read, and the blocks of code in them.

A comment on the line before a block, `<!-- not run: needs a key -->`, has its code only read and checked: its options,
its syntax, the names in it. It is seen neither on a site nor on a forge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = tuple(sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "CHANGELOG.md"}))
"""All but the history: what it shows was right in its time."""

_MARK = re.compile(r"\s*<!-- not run: (.+) -->\s*")
_FENCE = re.compile(r"( *)(`{3,})(\w*)(.*)")
_TITLE = re.compile(r"title=\"([^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """A fenced block of code.

    Attributes:
        line: The number of the line with its fence, from 1.
        language: As the fence names it.
        text: The code, without the indentation of its fence.
        title: The file that it shows, as the fence names it (`title="people.toml"`); empty for none.
        not_run: Why its code is not run; empty for what is.
        shortened: Whether the next paragraph says that some of the output was left out.
    """

    line: int
    language: str
    text: str
    title: str
    not_run: str
    shortened: bool


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opened = _FENCE.fullmatch(lines[number])
        if opened is None:
            number += 1
            continue
        indent, ticks, language, options = opened.groups()
        end = lines.index(indent + ticks, number + 1)
        marked = _MARK.fullmatch(lines[number - 1]) if number else None
        after = next((line for line in lines[end + 1 :] if line.strip()), "")
        yield Block(
            line=number + 1,
            language=language,
            text="".join(f"{line.removeprefix(indent)}\n" for line in lines[number + 1 : end]),
            title=found[1] if (found := _TITLE.search(options)) else "",
            not_run=marked[1] if marked else "",
            shortened=after.strip().startswith("(shortened"),
        )
        number = end + 1
