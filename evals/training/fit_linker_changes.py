"""Changes of subject: questions that stand alone, asked after the first turns of interactions about the same database.

Interactions of CoSQL seldom change the subject, people do: without such turns the linker learns that what was
asked of is asked of again, whatever the question names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from .fit_linker_turns import Asked, Dialogue

_MOST_BEFORE = 4
"""Turns before the change of subject, at most."""


def changed_subjects(interactions: Sequence[Dialogue], single: Sequence[Dialogue]) -> list[Dialogue]:
    """The interactions' first turns, one to four, each followed by a question from a dialogue of one.

    Every interaction is taken once, the questions of its database in even steps; one whose database has no single
    questions is left out.
    """
    theirs: dict[str, list[Dialogue]] = defaultdict(list)
    for dialogue in interactions:
        theirs[dialogue.database.names.schema.name].append(dialogue)
    asked: dict[str, list[Asked]] = defaultdict(list)
    for dialogue in single:
        asked[dialogue.database.names.schema.name] += dialogue.questions
    return [
        _followed(dialogue, asked[name][number * len(asked[name]) // len(some)], 1 + number % _MOST_BEFORE)
        for name, some in theirs.items()
        if asked[name]
        for number, dialogue in enumerate(some)
    ]


def _followed(dialogue: Dialogue, asked: Asked, turns: int) -> Dialogue:
    """The first turns of a dialogue, at most so many, and what was found in them; then a question."""
    return replace(
        dialogue,
        questions=(*dialogue.questions[:turns], asked),
        answers=(*dialogue.answers[:turns], asked.gold),
        found=(*dialogue.found[:turns], ()) if dialogue.found else (),
    )
