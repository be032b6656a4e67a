"""Plain notes: a list item that begins with a word in bold, or `word: meaning`, is a term; others are conventions."""

from __future__ import annotations

import re

from .entry import Entry

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.*)$")
_BOLD = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[:=–—-]|means\b|is\b)?\s*(.+)$")
_PLAIN = re.compile(r"^([^.:=]{2,60}?)\s*(?::|=|\bmeans\b)\s+(.+)$")
_SQL = re.compile(r"`([^`]+)`\s*$")


def from_markdown(text: str, source: str) -> tuple[Entry, ...]:
    """The entries of a Markdown text; what stands outside of lists is for people."""
    found: list[Entry] = []
    for item in _items(text):
        term = _BOLD.match(item) or _PLAIN.match(item)
        if term is None:
            found.append(Entry("convention", item, item, source=source))
            continue
        means, sql = term[2].strip().rstrip(":"), ""
        if (code := _SQL.search(means)) and "." in code[1]:
            sql, means = code[1], means[: code.start()].strip().rstrip(":,")
        name = term[1].strip(" :*_`")
        found.append(Entry("term", name, means or name, sql, source=source))
    return tuple(found)


def _items(text: str) -> list[str]:
    """List items, each on one line with what is indented under it."""
    items: list[list[str]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        if item := _ITEM.match(line):
            items.append([item[1].strip()])
        elif items and line[:1].isspace() and line.strip():
            items[-1].append(line.strip())
        elif line.strip():
            items.append([])
    return [" ".join(parts) for parts in items if parts]
