"""Saving an answer that a person approved as an example of its database."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...tools.errors import ExampleRefused, SettingsError
from ..model.record import Record, add_record, record_file
from ..records import AnswerRecord, Status
from ..resources import Resources
from ..settings import Settings

if TYPE_CHECKING:
    from ...tools.database import Database
    from ...tools.examples import Example, ExampleStore

_LOOKED_THROUGH = 50
"""Nearest questions among which the very same one is: nothing is nearer than it."""

_WHY_NOT: dict[Status, str] = {
    "failed": "it failed",
    "unanswerable": "the question was declined",
    "needs_clarification": "it waits for your reply",
}


@dataclass(frozen=True)
class Saved:
    """An approved answer in the example store.

    Attributes:
        id: The example's identifier, as `tableturn examples list` shows it.
        example: As it is kept: a self-contained question, the SQL, the part of the schema that it uses.
        new: Whether it was not there before.
        replaced: How many earlier approved answers to the very same question gave way to it. Those of people who may
            read more stay, and are not counted.
    """

    id: str
    example: Example
    new: bool
    replaced: int = 0


def save_answer(
    answer: AnswerRecord, resources: Resources, settings: Settings, *, question: str = "", shared: bool = False
) -> Saved:
    """Saves an answer; once more changes nothing.

    Args:
        answer: Whose SQL a person found right.
        resources: Of the agent that gave it.
        settings: Whose limits its SQL has to keep to when it is run once more.
        question: What to keep as the question, where the answer's own won't do: it must stand alone.
        shared: Whether questions to other databases may be shown it too.

    Raises:
        ExampleRefused: It has no SQL that ran, its question does not stand alone, or it is of another database.
        SettingsError: There is no store to save in.
        ExampleStoreError: The store cannot be opened or written.
    """
    from ...tools.examples import approval_of, example_id, example_of, runs_on

    database = resources.database
    asked, simplified = _question(answer, question)
    sql = _sql(answer, resources)
    store = resources.examples.saving()
    example = example_of(database, asked, sql, simplified=simplified, shared=shared)
    example = replace(example, rights=approval_of(database, sql), author=database.session.identity.name)
    done = store.add([example], runs_on(database, settings.limits))
    outdated = _other_answers(store, example, database)
    if done.added:
        _add_to_record(answer, resources)
    return Saved(example_id(example), example, done.added == 1, store.remove(outdated))


def _add_to_record(answer: AnswerRecord, resources: Resources) -> None:
    """An answer that a person found right counts for its model.

    The agent's own settings say where, not the run's: whoever sends a run may not choose a file to be written.
    """
    file = record_file(resources.settings.record)
    if file is None:
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    usage = answer.usage
    kept = Record(answer.model, resources.database.name, 1, None, 1, usage.llm_calls, usage.prompt_tokens, now)
    # The example is saved: a data folder that cannot be written must not make that look undone.
    with suppress(SettingsError) if not resources.settings.record else nullcontext():
        add_record(kept, file)


def _question(answer: AnswerRecord, given: str) -> tuple[str, str]:
    """The question to keep, and its plain form where there is one."""
    if given.strip():
        return given.strip(), ""
    if not answer.self_contained:
        raise ExampleRefused(
            f"not saved: {answer.question!r} may depend on earlier turns, because it was not rephrased: "
            "give a self-contained question"
        )
    return answer.rephrased, answer.simplified if answer.simplified != answer.rephrased else ""


def _sql(answer: AnswerRecord, resources: Resources) -> str:
    from ...tools.examples import database_identity

    if answer.status in _WHY_NOT:
        raise ExampleRefused(f"not saved: there is no answer to approve, {_WHY_NOT[answer.status]}")
    if answer.sql is None:
        raise ExampleRefused("not saved: the answer comes from pandas code alone, and an example needs SQL")
    if answer.database != database_identity(resources.database):
        raise ExampleRefused(f"not saved: the answer is from another database, not {resources.database.name!r}")
    if not resources.may_read(answer.rights):
        raise ExampleRefused("not saved: the answer was given under other permissions, or to somebody else: ask again")
    if resources.outgoing.level(answer.sql) != "values":
        raise ExampleRefused(
            "not saved: its query reads columns that must not be sent to a model, and models read examples"
        )
    return answer.sql


def _other_answers(store: ExampleStore, example: Example, database: Database) -> list[str]:
    """What was approved earlier for the same question with other SQL, as far as it gives way; see `gives_way`.

    Shared or not: a wrong answer that stayed in one of the two would still be shown beside the right one in the other.
    """
    from ...tools.examples import VERIFIED, gives_way, meaning_of

    seen = store.seen_by(database)
    own = seen.nearest("question", example.question, _LOOKED_THROUGH, example.owner, shared=False)
    shared = store.nearest("question", example.question, _LOOKED_THROUGH)
    return [
        hit.id
        for hit in (*own, *shared)
        if hit.example.source in VERIFIED
        and hit.example.owner == example.owner
        and hit.example.question.split() == example.question.split()
        and meaning_of(hit.example) != meaning_of(example)
        and gives_way(hit.example, example, database)
    ]
