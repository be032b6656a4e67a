"""How long a statement becomes once every common table expression stands where it is named.

SQLite compiles such an expression anew for every mention of it, so that a few lines can take hours to compile; and
what it compiles, it can't be interrupted in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from .tokens import unquoted

MANY = 1_000_000_000
"""What is counted no further."""

_BEFORE_TABLE = frozenset({"from", "join", ",", "(", "in", "."})


@dataclass(eq=False)
class _Body:
    """What a query in brackets holds itself: how often the word that is counted, and which names it mentions."""

    own: int = 0
    mentions: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: _Body) -> None:
        self.own += other.own
        self.mentions.update(other.mentions)


def expanded(read: list[str], counted: str) -> int:
    """How often a word occurs in a statement once its common table expressions are written out, at most `MANY`.

    Expressions that share a name count as one, and those that mention each other in a cycle as `MANY`: rather too
    much than too little.

    Args:
        read: The statement's words.
        counted: The word.
    """
    places = _defined(read)
    declared = frozenset(places.values())
    defined = {opening: unquoted(read[place]) for opening, place in places.items()}
    bodies: dict[str, _Body] = {name: _Body() for name in defined.values()}
    whole = _Body()
    enclosing = [whole]
    names: list[str] = []
    for position, word in enumerate(read):
        if word == "(":
            names.append(defined.get(position, ""))
            enclosing.append(_Body())
        elif word == ")" and names:
            name, body = names.pop(), enclosing.pop()
            (bodies[name] if name else enclosing[-1]).add(body)
        elif word == counted:
            enclosing[-1].own += 1
        elif position not in declared and read[position - 1] in _BEFORE_TABLE and unquoted(word) in bodies:
            enclosing[-1].mentions[unquoted(word)] += 1
    for body in enclosing[1:]:
        whole.add(body)
    return min(MANY, sum(body.own for body in bodies.values()) + _written_out(whole, bodies))


def _written_out(whole: _Body, bodies: dict[str, _Body]) -> int:
    graph = {name: set(body.mentions) - {name} for name, body in bodies.items()}
    sizes: dict[str, int] = {}
    try:
        for name in TopologicalSorter(graph).static_order():
            sizes[name] = _size(bodies[name], name, sizes)
    except CycleError:
        return MANY
    return _size(whole, "", sizes)


def _size(body: _Body, name: str, sizes: dict[str, int]) -> int:
    mentioned = sum(number * sizes[other] for other, number in body.mentions.items() if other != name)
    return min(MANY, body.own + mentioned)


def _defined(read: list[str]) -> dict[int, int]:
    """Where the bodies of common table expressions open, and where their names stand."""
    defined: dict[int, int] = {}
    opened: list[int] = []
    opening: dict[int, int] = {}
    for position, word in enumerate(read):
        if word == "(":
            opened.append(position)
            before = position - 1
            if before > 0 and read[before] == "materialized":
                before -= 2 if read[before - 1] == "not" else 1
            if before > 0 and read[before] == "as":
                name = before - 1
                name = opening.get(name, 0) - 1 if read[name] == ")" else name
                if name >= 0:
                    defined[position] = name
        elif word == ")" and opened:
            opening[position] = opened.pop()
    return defined
