"""Answering from what a person has verified: the very question, or the same with other values."""

from __future__ import annotations

from ...tools.database import Schema
from ...tools.errors import ExampleStoreError
from ...tools.examples import Verified, answered_by, database_identity, foremost
from ...tools.examples.verified import Spelt
from ...tools.values import ValueIndex
from ..advice import advisory
from ..records import Turn
from ..resources import Run

_LOOKED_THROUGH = 12
"""Most similar questions of the database among which the same one is."""


@advisory("examples", None)
def verified_answer(turn: Turn, history: bool, schema: Schema, run: Run) -> Verified | None:
    """The verified query that answers a turn; None where there is none, or the turn may lean on others.

    Looks into the example store, so call it within an effect. A store that is broken is told of where examples are
    looked for.

    Args:
        turn: With its question as far as it is understood.
        history: Whether turns stand before it.
        schema: Of the database.
        run: Whose settings say whether verified queries answer.
    """
    if not run.settings.verified or turn.clarified or turn.evidence or (history and not turn.rephrasing.self_contained):
        return None
    question = turn.rephrasing.rephrased if history else turn.question
    database = run.resources.database
    identity = database_identity(database)
    try:
        store = run.resources.examples.own()
        if store is None or not store.holds_own(identity):
            return None
        for found in store.verified(question, _LOOKED_THROUGH, database, identity):
            leaves = [example for example in found if run.resources.outgoing.level(example.sql) == "values"]
            if answer := answered_by(question, foremost(leaves, database), schema, _spelling(run.resources.values)):
                return answer
    except ExampleStoreError:
        pass
    return None


def _spelling(values: ValueIndex) -> Spelt:
    def spelt(table: str, column: str, text: str) -> str | None:
        if values.holds(table, column, text):
            return text
        whole = (match for match in values.find(text, 20) if (match.start, match.end) == (0, len(text)))
        return next(
            (match.value for match in whole if (match.table, match.column) == (table, column) and match.score >= 1),
            None,
        )

    return spelt


def verified_note(found: Verified) -> str:
    """What to say of an answer that a verified query gave."""
    example = found.example
    by = f", by {example.author}" if example.author else ""
    on = f" on {example.added:%Y-%m-%d}" if example.added else ""
    values = ", ".join(f"{now!r} in the place of {before!r}" for before, now in found.changed)
    return f"answered by the query verified for {example.question!r}{by}{on}{f', with {values}' if values else ''}"
