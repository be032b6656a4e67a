"""What only the person can settle: words that fit several tables equally, and what they say when asked about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .frames import Frame, give_me
from .mentions import spelled_out, stem, words_of
from .parse import parse
from .pronouns import unresolved_pronoun
from .reading import CUES, NOTHING, Asked, Reading

_MOST = 4
"""Readings that a person is asked to choose among."""


@dataclass(frozen=True)
class Rival:
    """One of the readings that tie.

    Attributes:
        phrase: What would be shown, self-contained.
        table: The table that it is about.
        reading: The reading.
    """

    phrase: str
    table: str
    reading: Reading


def rivals(reading: Reading) -> tuple[Rival, ...]:
    """The readings that tie, each about another table; none where one is better."""
    if not 1 < len(reading.fits) <= _MOST:
        return ()
    found: dict[str, Rival] = {}
    for table in reading.fits:
        other = parse(reading.asked, Frame(tables=(table,)))
        if {table} != set(other.frame.used()) & set(reading.fits):
            return ()
        phrase = give_me(other.frame).removeprefix("Give me ").rstrip(".")
        found.setdefault(phrase, Rival(phrase, table, other))
    return tuple(found.values()) if len(found) > 1 else ()


def ask_back(choices: Iterable[str]) -> str:
    """The question that settles it."""
    *others, last = choices
    return f"Do you mean {', '.join(others)} or {last}?"


def settled(asked: Asked, base: Frame, question: str, answer: str) -> Reading | str:
    """The reading that the person chose when asked back, else the question with what they said in it."""
    reading = parse(asked)
    agrees = CUES["agrees"].match(answer)
    if base is NOTHING and not agrees and (pronoun := unresolved_pronoun(asked.text, reading)):
        return f"{asked.text[: pronoun.start()]}{answer.strip(' .?!')}{asked.text[pronoun.end() :]}"
    options = rivals(reading)
    if chosen := _chosen(answer, options):
        return chosen.reading
    if agrees:
        return asked.text if options else CUES["offer"].sub("", question)
    return f"{asked.text.rstrip(' ?.!')}. {answer}"


def _chosen(answer: str, options: Iterable[Rival]) -> Rival | None:
    """The reading that a person's answer picks: by its phrase, or by naming its table and none of a longer name."""
    stems = {word.stem for word in words_of(answer)}
    fits: dict[int, list[Rival]] = {}
    for one in options:
        if answer.strip(" .?!").casefold() == one.phrase.casefold():
            return one
        if (table := {stem(word) for word in spelled_out(one.table)}) <= stems:
            fits.setdefault(len(table), []).append(one)
    longest = fits[max(fits)] if fits else []
    return longest[0] if len(longest) == 1 else None
