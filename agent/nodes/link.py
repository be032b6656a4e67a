"""The node that finds a turn's values, schema items and base query.

And answers from what a person has verified: the very question, or the same with other values.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

from ...prompts.reply_types import Draft
from ...tools.database import Schema
from ...tools.errors import ExampleStoreError
from ...tools.examples import VerifiedAnswer, choose_foremost, database_identity, find_answer
from ...tools.examples.verified import Spelt
from ...tools.knowledge.entry import Selection
from ...tools.linking import LOOK, LinkedSchema, PastTurn, base_turn, still_runs, tell_values
from ...tools.values import ValueIndex, ValueMatch, likely_values
from ..advice import advise, advisory
from ..context.knowledge import ASKED, find_definitions, find_unknown_word, note_problems, note_unread_definitions
from ..context.task_inputs import MOST_COLUMNS, find_question_before, select_window
from ..effects import Body, Done, do, wait_for
from ..model.turn_budget import seconds_left
from ..records import Turn
from ..resources import Run
from ..state import AgentState, Update, step, turn_of
from .drafts import count_drafts
from .generate import run_next

cell_of = attrgetter("table", "column", "value")

STORED_ITEMS = 200
"""Probabilities kept in the state, most probable first: enough for any window, small for a 10,000-column schema."""

CANDIDATES = 100  # values looked at for a question; most are coincidences, which are not shown

LEAST_ALL_COLUMNS = 0.1
"""Least probability at which all columns of a table count as asked for, also where the whole schema is shown."""


def link(state: AgentState, run: Run) -> Body[Update]:
    """Find values, link the schema, choose the base query, and look for a verified answer."""
    settings, turn = run.settings, turn_of(state)
    history = select_window(state, run)
    question, rephrased = turn.question, turn.rephrasing.rephrased

    @advisory("values", ())
    def find_values(text: str) -> tuple[ValueMatch, ...]:
        return run.resources.tools.find_values.call(text=text, limit=CANDIDATES) if text else ()

    asked, before = "\n".join(dict.fromkeys((question, rephrased))), find_question_before(turn, history)
    found, found_before = yield from wait_for(lambda: (find_values(asked), find_values(before)))

    def link_schema() -> LinkedSchema:
        # The question as asked: the linker is fitted on that, with the history beside it.
        return run.linker().link(
            question,
            history,
            found,
            threshold=settings.link_threshold,
            max_columns=MOST_COLUMNS,
            choose_tables=settings.prompt_style == "full",
        )

    def find_schema() -> tuple[LinkedSchema, Schema, PastTurn | None]:
        linked = advise("linking", link_schema, LinkedSchema((), run.schema))
        base = _choose_base(question, linked, history, run) if settings.base_sql and history else None
        return linked, linked.kept if settings.link_schema else run.schema, base

    linked, shown, base = yield from do(find_schema)
    values, carried = _choose_values(asked, found, shown, run), _choose_values(before, found_before, shown, run)
    items = select_items(linked)
    known = yield from do(lambda: find_definitions(turn, items, run, before))
    run.emit({"event": "linked", "tables": [table.name for table in shown.tables], "base_sql": base and base.sql})
    turn = replace(
        turn,
        values=values,
        carried=tuple(match for match in carried if cell_of(match) not in set(map(cell_of, values))),
        items=items,
        shown=tuple((table.name, tuple(column.name for column in table.columns)) for table in shown.tables),
        base=base,
        approve=settings.approve,
        candidates=count_drafts(settings),
        knowledge=known.entries,
    )
    if settings.link_schema:  # what the schema form may say of items: used before (Track-SQL's [SN]), asked for whole
        least = max(settings.link_threshold, LEAST_ALL_COLUMNS)
        marked = tuple((item.table, item.column or "") for item in linked.items if item.used_before)
        whole = tuple(linked.all_columns(least)) if settings.all_columns else ()
        turn = replace(turn, marked=marked, all_columns=whole)
    said = (turn.evidence, *(text for past in history for text in (past.question, past.rephrased)))

    def look_up() -> tuple[list[str], VerifiedAnswer | None, str]:
        notes = _list_notes(known, turn, run)
        if verified := find_verified(turn, bool(history), run.schema, run):
            return notes, verified, ""
        return [*notes, *note_unread_definitions(turn, run)], None, find_unknown_word(turn, values, said, run)

    notes, verified, word = yield from do(look_up)
    if verified is not None:
        turn = replace(turn, candidates=1, examples=(verified.example,))
        return run_next(turn, Done(Draft(verified.sql)), "verified", [*notes, describe_verified(verified)])
    if word:
        asks = replace(turn.rephrasing, intent="ambiguous", reply=ASKED.format(word), choices=())
        turn = replace(turn, rephrasing=asks, unknown=(*turn.unknown, word))
        return step("clarify", turn, notes)
    return step("retrieve" if turn.candidates == 1 else "candidate", turn, notes)


@advisory("values", ())
def _choose_values(text: str, found: tuple[ValueMatch, ...], shown: Schema, run: Run) -> tuple[ValueMatch, ...]:
    """Return the values that a text likely means; if few tables are shown, in their order."""
    if run.settings.prompt_style == "full" and run.schema.shown_columns > MOST_COLUMNS:
        return tell_values(text, found, shown)
    values = likely_values(text, found, shown)
    if shown.total_tables == len(shown.tables):
        return values
    place = {table.name: number for number, table in enumerate(shown.tables)}
    return tuple(sorted(values, key=lambda match: place[match.table]))


@advisory("follow-up", None)
def _choose_base(question: str, linked: LinkedSchema, history: tuple[PastTurn, ...], run: Run) -> PastTurn | None:
    """Return the earlier turn whose query is the base of this one."""

    def runs(sql: str) -> bool:
        if run.resources.outgoing.level(sql) != "values":
            return True  # nothing may depend on what it reads
        return still_runs(run.resources.database, sql, seconds_left(LOOK))

    dialect, latest = run.resources.database.dialect, run.settings.base_choice == "latest"
    return base_turn(question, linked.items, history, latest=latest, runs=runs, dialect=dialect)


def _list_notes(known: Selection, turn: Turn, run: Run) -> list[str]:
    """Return notes on knowledge and on the question's evidence that are not used."""
    notes = list(note_problems(run)) if known.entries or known.left_out else []
    if known.left_out:
        notes.append(f"{known.left_out} more definitions had no room (knowledge_tokens)")
    if turn.evidence and not run.translator.reads_examples:
        notes.append("the notes to the question were not read: the offline translator reads none")
    return notes


def select_items(linked: LinkedSchema) -> tuple[tuple[str, str | None, float], ...]:
    """Return the most probable of the linker's items, for the state."""
    return tuple((item.table, item.column, round(item.p, 4)) for item in linked.items[:STORED_ITEMS])


_LOOKED_THROUGH = 12  # most similar questions of the database among which the same one is


@advisory("examples", None)
def find_verified(turn: Turn, history: bool, schema: Schema, run: Run) -> VerifiedAnswer | None:
    """Return the verified query that answers a turn, or None.

    Looks into the example store, so call it within an effect. A store that is broken is told of where examples are
    looked for.
    """
    if not run.settings.verified or turn.clarified or turn.evidence or (history and not turn.rephrasing.self_contained):
        return None
    question = turn.rephrasing.rephrased if history else turn.question
    database = run.resources.database
    identity = database_identity(database)
    try:
        store = run.resources.examples.open_own()
        if store is None or not store.holds_own(identity):
            return None
        for found in store.verified(question, _LOOKED_THROUGH, database, identity):
            leaves = [example for example in found if run.resources.outgoing.level(example.sql) == "values"]
            foremost = choose_foremost(leaves, database)
            if answer := find_answer(question, foremost, schema, _make_speller(run.resources.values)):
                return answer
    except ExampleStoreError:
        pass
    return None


def _make_speller(values: ValueIndex) -> Spelt:
    def spelt(table: str, column: str, text: str) -> str | None:
        if values.holds(table, column, text):
            return text
        whole = (match for match in values.find(text, 20) if (match.start, match.end) == (0, len(text)))
        return next(
            (match.value for match in whole if (match.table, match.column) == (table, column) and match.score >= 1),
            None,
        )

    return spelt


def describe_verified(found: VerifiedAnswer) -> str:
    """Return a note that says which verified query gave the answer."""
    example = found.example
    by = f", by {example.author}" if example.author else ""
    on = f" on {example.added:%Y-%m-%d}" if example.added else ""
    values = ", ".join(f"{now!r} in the place of {before!r}" for before, now in found.changed)
    return f"answered by the query verified for {example.question!r}{by}{on}{f', with {values}' if values else ''}"
