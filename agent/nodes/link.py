"""The node that finds a turn's values, schema items and base query.

And answers from what a person has verified: the very question, or the same with other values.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter

from ...prompts.reply_types import SQLDraft
from ...tools.database import Schema
from ...tools.errors import ExampleStoreError
from ...tools.examples import VerifiedAnswer, choose_best_per_question, database_identity, find_verified
from ...tools.knowledge.entry import SelectedEntries
from ...tools.linking import LOOK, LinkedSchema, PastTurn, can_still_run_query, choose_base_turn, choose_values
from ...tools.values import ValueIndex, ValueMatch, select_likely_values
from ..advice import call_with_fallback, with_fallback
from ..context.knowledge import ASKED, find_definitions, find_unknown_word, list_problem_notes, note_ignored_definitions
from ..context.task_inputs import MOST_COLUMNS, get_previous_question, select_history
from ..effects import Body, Done, do, wait_for
from ..model.turn_budget import limit_to_remaining_seconds
from ..records import Turn
from ..resources import Run
from ..state import AgentState, Update, load_turn, make_update
from .drafts import count_drafts
from .generate import make_execute_update

cell_of = attrgetter("table", "column", "value")

CANDIDATES = 100  # values looked at for a question; most are coincidences, which are not shown

LEAST_ALL_COLUMNS = 0.1
"""Least probability at which all columns of a table count as asked for, also where the whole schema is shown."""


def link(state: AgentState, run: Run) -> Body[Update]:
    """Find values, link the schema, choose the base query, and look for a verified answer."""
    settings, turn = run.settings, load_turn(state)
    history = select_history(state, run)
    question, full_question = turn.question, turn.rephrasing.rephrased

    @with_fallback("values", ())
    def find_values(text: str) -> tuple[ValueMatch, ...]:
        return run.resources.tools.find_values.call(text=text, limit=CANDIDATES) if text else ()

    wording, before = "\n".join(dict.fromkeys((question, full_question))), get_previous_question(turn, history)
    hits, earlier_hits = yield from wait_for(lambda: (find_values(wording), find_values(before)))

    def link_schema() -> LinkedSchema:
        # The question as asked: the linker is fitted on that, with the history beside it.
        return run.linker().link(question, history, hits, threshold=settings.link_threshold, max_columns=MOST_COLUMNS)

    def link_schema_and_choose_base() -> tuple[LinkedSchema, Schema, PastTurn | None]:
        schema_link = call_with_fallback("linking", link_schema, LinkedSchema((), run.schema))
        base = _choose_base_turn(question, schema_link, history, run) if settings.base_sql and history else None
        return schema_link, schema_link.kept if settings.link_schema else run.schema, base

    schema_link, schema, base = yield from do(link_schema_and_choose_base)
    values = _choose_likely_values(wording, hits, schema, run)
    earlier_values = _choose_likely_values(before, earlier_hits, schema, run)
    items = schema_link.to_state()
    selection = yield from do(lambda: find_definitions(turn, items, run, before))
    run.emit({"event": "linked", "tables": [table.name for table in schema.tables], "base_sql": base and base.sql})
    turn = replace(
        turn,
        values=values,
        carried=tuple(match for match in earlier_values if cell_of(match) not in set(map(cell_of, values))),
        items=items,
        shown=tuple((table.name, tuple(column.name for column in table.columns)) for table in schema.tables),
        base=base,
        approve=settings.approve,
        candidates=count_drafts(settings),
        knowledge=selection.entries,
    )
    if settings.link_schema:  # what the schema form may say of items: used before (Track-SQL's [SN]), asked for whole
        least = max(settings.link_threshold, LEAST_ALL_COLUMNS)
        earlier_items = tuple((item.table, item.column or "") for item in schema_link.items if item.used_before)
        all_columns = tuple(schema_link.all_columns(least)) if settings.all_columns else ()
        turn = replace(turn, marked=earlier_items, all_columns=all_columns)
    texts = (turn.evidence, *(text for past in history for text in (past.question, past.rephrased)))

    def find_answer_or_unknown_word() -> tuple[list[str], VerifiedAnswer | None, str]:
        notes = _list_unused_knowledge_notes(selection, turn, run)
        if answer := find_verified_turn_answer(turn, bool(history), run.schema, run):
            return notes, answer, ""
        return [*notes, *note_ignored_definitions(turn, run)], None, find_unknown_word(turn, values, texts, run)

    notes, answer, word = yield from do(find_answer_or_unknown_word)
    if answer is not None:
        turn = replace(turn, candidates=1, examples=(answer.example,))
        return make_execute_update(
            turn, Done(SQLDraft(answer.sql)), "verified", [*notes, describe_verified_answer(answer)]
        )
    if word:
        asks = replace(turn.rephrasing, intent="ambiguous", reply=ASKED.format(word), choices=())
        turn = replace(turn, rephrasing=asks, unknown=(*turn.unknown, word))
        return make_update("clarify", turn, notes)
    return make_update("retrieve" if turn.candidates == 1 else "candidate", turn, notes)


@with_fallback("values", ())
def _choose_likely_values(text: str, hits: tuple[ValueMatch, ...], schema: Schema, run: Run) -> tuple[ValueMatch, ...]:
    """Return the values that a text likely means; if few tables are shown, in table order."""
    if run.settings.prompt_style == "full" and run.schema.shown_column_count > MOST_COLUMNS:
        return choose_values(text, hits, schema)
    values = select_likely_values(text, hits, schema)
    if schema.total_tables == len(schema.tables):
        return values
    table_order = {table.name: number for number, table in enumerate(schema.tables)}
    return tuple(sorted(values, key=lambda match: table_order[match.table]))


@with_fallback("follow-up", None)
def _choose_base_turn(question: str, link: LinkedSchema, history: tuple[PastTurn, ...], run: Run) -> PastTurn | None:
    """Return the earlier turn whose query this turn builds on, or None."""

    def can_still_run(sql: str) -> bool:
        if run.resources.masked_database.get_egress_level(sql) != "values":
            return True  # nothing may depend on what it reads
        return can_still_run_query(run.resources.database, sql, limit_to_remaining_seconds(LOOK))

    latest = run.settings.base_choice == "latest"
    return choose_base_turn(question, link.items, history, latest=latest, can_run=can_still_run)


def _list_unused_knowledge_notes(selection: SelectedEntries, turn: Turn, run: Run) -> list[str]:
    """Return notes on knowledge and on the question's evidence that are not used."""
    notes = list(list_problem_notes(run)) if selection.entries or selection.left_out else []
    if selection.left_out:
        notes.append(f"{selection.left_out} more definitions were left out: raise knowledge_tokens to use them")
    if turn.evidence and not run.translator.reads_examples:
        notes.append("the notes to the question were not used: the offline translator cannot read notes")
    return notes


_CANDIDATES = 12  # most similar questions of the database among which the same one is


@with_fallback("examples", None)
def find_verified_turn_answer(turn: Turn, history: bool, schema: Schema, run: Run) -> VerifiedAnswer | None:
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
        store = run.resources.examples.open_own_store()
        if store is None or not store.holds_own(identity):
            return None
        for group in store.verified(question, _CANDIDATES, database, identity):
            leaves = [
                example for example in group if run.resources.masked_database.get_egress_level(example.sql) == "values"
            ]
            foremost = choose_best_per_question(leaves, database)
            spell = partial(_find_stored_spelling, run.resources.values)
            if answer := find_verified(question, foremost, schema, spell):
                return answer
    except ExampleStoreError:
        pass
    return None


def _find_stored_spelling(values: ValueIndex, table: str, column: str, text: str) -> str | None:
    """Return the stored spelling of a text in a column, or None."""
    if values.holds(table, column, text):
        return text
    for match in values.find(text, 20):
        is_whole = (match.start, match.end) == (0, len(text))
        if is_whole and (match.table, match.column) == (table, column) and match.score >= 1:
            return match.value
    return None


def describe_verified_answer(answer: VerifiedAnswer) -> str:
    """Return a note that says which verified query gave the answer."""
    example = answer.example
    by = f", by {example.author}" if example.author else ""
    on = f" on {example.added:%Y-%m-%d}" if example.added else ""
    values = ", ".join(f"{now!r} in place of {before!r}" for before, now in answer.changed)
    return f"answered by the query verified for {example.question!r}{by}{on}{f', with {values}' if values else ''}"
