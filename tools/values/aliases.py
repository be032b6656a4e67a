"""Other names of the same thing: countries and their people, states and their codes, months, sexes.

The list holds what no index can work out from a database. A name is only ever a way to look a value up: that the
value is in the database, spelt so, remains the condition.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NotRequired, TypedDict

from ..words import key, stems

_CODE = 3
"""Names of at most so many letters are codes: they are compared as written, as "US" is not "us"."""


@dataclass(frozen=True)
class Alias:
    """Another name.

    Attributes:
        text: As written.
        key: As the index looks it up.
        columns: Stems of which a column's or table's name must hold one; empty where any column will do.
    """

    text: str
    key: str
    columns: frozenset[str]

    @property
    def code(self) -> bool:
        """Whether it stands only for exactly this text."""
        return len(self.text) <= _CODE


class _Group(TypedDict):
    names: list[str]
    columns: NotRequired[list[str]]


def aliases(mention: str, mention_key: str) -> tuple[Alias, ...]:
    """The other names of what a mention names.

    Args:
        mention: As written in the question.
        mention_key: Its key.
    """
    found = (others for name, others in _by_key().get(mention_key, ()) if not name.code or name.text == mention)
    return tuple(dict.fromkeys(other for others in found for other in others))


@cache
def _by_key() -> Mapping[str, list[tuple[Alias, tuple[Alias, ...]]]]:
    groups: list[_Group] = json.loads((files(__package__ or "") / "data" / "aliases.json").read_text("utf-8"))
    by_key: dict[str, list[tuple[Alias, tuple[Alias, ...]]]] = defaultdict(list)
    for group in groups:
        columns = frozenset(stem for name in group.get("columns", []) for stem in stems(name))
        names = [Alias(name, key(stems(name)), columns) for name in group["names"]]
        for name in names:
            by_key[name.key].append((name, tuple(other for other in names if other.text != name.text)))
    return by_key
