"""Definitions for a turn, and words of its question that nothing explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...tools.knowledge.entry import Entry, SelectedEntries
from ...tools.knowledge.fragment import find_used_entries
from ...tools.sql import Query
from ...tools.values import ValueMatch
from ...tools.words import format_count
from ..advice import with_fallback
from ..records import Turn, UsedKnowledge
from ..resources import Run
from .task_inputs import get_full_question

NOTHING = SelectedEntries()

_CHARACTERS = 3  # characters a token, as the sizes of prompts are estimated: rather too few than too many

ASKED = "I don't know what “{}” means here: it is in no name, value or definition of this database. What does it mean?"


@with_fallback("knowledge", NOTHING)
def find_definitions(
    turn: Turn, items: Iterable[tuple[str, str | None, float]], run: Run, before: str = ""
) -> SelectedEntries:
    """Return the definitions that a turn needs; none if the translator cannot use definitions.

    Reads the schema, so call it within an effect.
    """
    budget = run.settings.knowledge_tokens
    if not budget or not run.translator.reads_examples or (knowledge := run.knowledge) is None:
        return NOTHING
    text = " ".join(dict.fromkeys(filter(None, [before, get_full_question(turn), turn.rephrasing.rephrased])))
    return knowledge.find(text, items, budget * _CHARACTERS)


@with_fallback("knowledge", ())
def note_ignored_definitions(turn: Turn, run: Run) -> tuple[str, ...]:
    """Return a note on the terms whose definitions the offline translator ignores; () if none.

    Reads the schema, so call it within an effect.
    """
    knowledge = None if run.translator.reads_examples else run.knowledge
    selection = knowledge.find(f"{get_full_question(turn)} {turn.rephrasing.rephrased}") if knowledge else NOTHING
    names = [f"“{entry.name}”" for entry in selection.entries if entry.kind in ("term", "metric")]
    if not names:
        return ()
    return (f"definitions not used: {', '.join(names)}; the offline translator cannot read definitions",)


@with_fallback("knowledge", "")
def find_unknown_word(turn: Turn, values: Sequence[ValueMatch], texts: Iterable[str], run: Run) -> str:
    """Return the question's first unknown word that nobody was asked about yet, or ''.

    Only where there is a knowledge file, in which the answer can be remembered; a word that was said before is known.
    """
    may_ask = run.settings.clarify and turn.clarifications < run.settings.max_clarifications
    knowledge = run.knowledge if may_ask and run.translator.reads_examples else None
    if knowledge is None:
        return ""
    context = " ".join(texts).casefold()
    words = knowledge.find_unknown(turn.question, values)
    return next((word for word in words if word not in turn.unknown and word.casefold() not in context), "")


@with_fallback("knowledge", ())
def list_problem_notes(run: Run) -> tuple[str, ...]:
    """Return a note on entries of the knowledge file that are left out, if there are any."""
    knowledge = run.knowledge
    if knowledge is None or not knowledge.problems:
        return ()
    entries = format_count(len(knowledge.problems), "entry", "entries")
    return (f"{entries} of the knowledge file ignored: `tableturn knowledge check` says why",)


@with_fallback("knowledge", ())
def find_used_knowledge(query: Query | None, turn: Turn) -> tuple[UsedKnowledge, ...]:
    """Return the definitions on which an answer is based."""
    if query is None:
        return ()
    entries = find_used_entries(query, turn.knowledge, f"{get_full_question(turn)} {turn.rephrasing.rephrased}")
    knowledge: list[UsedKnowledge] = []
    for entry in entries:
        text = entry.text or ", ".join(f"{code} is {meaning}" for code, meaning in entry.values)
        knowledge.append(UsedKnowledge(entry.kind, entry.name, text, entry.sql, entry.author, entry.added))
    return tuple(knowledge)


def list_explained_words(turn: Turn) -> tuple[Entry, ...]:
    """Return the words that a person explained in this turn, as entries to save."""
    answers = {word: answer for word in turn.unknown for text, answer in turn.clarified if text == ASKED.format(word)}
    return tuple(Entry("term", word, answer) for word, answer in answers.items())
