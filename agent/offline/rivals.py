"""Readings that tie: words that fit several tables equally, with nothing in the question to settle it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...tools.frames import Frame, give_me
from ...tools.mentions import spelled_out, stem, words_of
from .parse import Asked, Parse, parse

_MOST = 4
"""Readings that a person is asked to choose among."""


@dataclass(frozen=True)
class Rival:
    """One of the readings that tie.

    Attributes:
        phrase: What would be shown, self-contained.
        table: The table that it is about.
        parse: The reading.
    """

    phrase: str
    table: str
    parse: Parse


def rivals(asked: Asked, parsed: Parse) -> tuple[Rival, ...]:
    """The readings that tie, each about another table; none where one is better."""
    if not 1 < len(parsed.rivals) <= _MOST:
        return ()
    found: dict[str, Rival] = {}
    for table in parsed.rivals:
        other = parse(asked, Frame(tables=(table,)))
        if {table} != set(other.frame.used()) & set(parsed.rivals):
            return ()
        phrase = give_me(other.frame).removeprefix("Give me ").rstrip(".")
        found.setdefault(phrase, Rival(phrase, table, other))
    return tuple(found.values()) if len(found) > 1 else ()


def chosen(said: str, options: Iterable[Rival]) -> Rival | None:
    """The reading that a person's answer picks: by its phrase, or by naming its table and no other's."""
    options = tuple(options)
    for option in options:
        if said.strip(" .?!").casefold() == option.phrase.casefold():
            return option
    stems = {word.stem for word in words_of(said)}
    sizes = {option.table: len(spelled_out(option.table)) for option in options}
    named = [one for one in options if {stem(word) for word in spelled_out(one.table)} <= stems]
    longest = [one for one in named if sizes[one.table] == max(sizes[other.table] for other in named)]
    return longest[0] if len(longest) == 1 else None


def ask_back(choices: Iterable[str]) -> str:
    """The question that settles it."""
    *others, last = choices
    return f"Do you mean {', '.join(others)} or {last}?"
