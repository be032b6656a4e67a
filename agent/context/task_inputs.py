"""Earlier turns, and the inputs of a turn's tasks, gathered from the state.

A conversation's turns are in its state. Where the state starts empty each time - the graph as a node of a parent graph,
which keeps only the messages - they are read from the messages instead: each answer carries its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import accumulate

from langchain_core.messages import AIMessage

from ...prompts.generate import GenerateTask
from ...prompts.read_answer import ReplyForm
from ...prompts.reply_types import Rephrasing
from ...tools.database import Schema
from ...tools.examples import database_identity
from ...tools.linking import (
    PastTurn,
    drop_samples,
    find_copies,
    find_families,
    requested_tables,
    shorten_schema,
    widen_schema,
)
from ...tools.sql import dialect_notes
from ...tools.words import is_foreign
from ..advice import advise
from ..effects import Body, do, wait_for
from ..records import Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Record, Update, attempts_of, dump, load_all, turn_of, validate_records

KEY = "tableturn_turn"  # where a message carries its turn, among its additional arguments
ITEMS_CARRIED = 40  # schema probabilities that a message carries, most probable first


def read_past_turns(state: AgentState) -> tuple[PastTurn, ...]:
    """Return the conversation's earlier turns, oldest first."""
    return load_all(PastTurn, _read_records(state))


def known_turns(state: AgentState) -> list[Record]:
    """Return the JSON forms of earlier turns, validated once for all nodes."""
    return validate_records(PastTurn, _read_records(state))


def _read_records(state: AgentState) -> list[Record]:
    if turns := state.get("turns"):
        return turns
    carried = (message.additional_kwargs.get(KEY) for message in state.get("messages", []) if message.type == "ai")
    return [dict(record) for record in carried if isinstance(record, Mapping)]


def readable_turns(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """Return the earlier turns that were answered under equal or narrower rights."""
    return tuple(turn for turn in read_past_turns(state) if run.resources.may_read(turn.rights))


def select_window(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """Return the earlier turns that this one sees (Track-SQL 3.1)."""
    return readable_turns(state, run)[-run.settings.history_window :] if run.settings.history_window else ()


def note_unread_turns(state: AgentState, run: Run) -> str:
    """Return a note on earlier turns that this person may not see; '' if there are none."""
    unread = len(read_past_turns(state)) - len(readable_turns(state, run))
    if not unread:
        return ""
    turns = "1 earlier turn was" if unread == 1 else f"{unread} earlier turns were"
    return f"{turns} left out: made under other permissions than these, or for somebody else"


def as_asked(turn: Turn) -> str:
    """Return the question in the person's words, with later explanations."""
    return " ".join([turn.question, *(f"({answered})" for _, answered in turn.clarified)])


def is_foreign_question(turn: Turn, schema: Schema) -> bool:
    """Whether the question is in another language than English, so that rules about English count for nothing."""
    names = (name for table in schema.tables for name in (table.name, *(column.name for column in table.columns)))
    return is_foreign(as_asked(turn), names)


def find_question_before(turn: Turn, history: tuple[PastTurn, ...]) -> str:
    """The question before, self-contained, where this one may lean on it and nothing has made it self-contained yet."""
    if turn.rephrasing.self_contained or not history:
        return ""
    return history[-1].rephrased or history[-1].question


def remember(state: AgentState, turn: PastTurn, text: str, settings: Settings) -> Update:
    """Return the update that adds a finished turn and its answer to the conversation."""
    turns = [*known_turns(state), dump(turn)][-max(settings.history_window, 1) :]
    carried = dict(dump(replace(turn, items=turn.items[:ITEMS_CARRIED])))
    return {"turns": turns, "messages": [AIMessage(text, additional_kwargs={KEY: carried})]}


MOST_COLUMNS = 400
"""Columns shown of a large schema, keys aside; the least probable would be the first to leave the prompt anyway."""

MOST_UNSHOWN = 20  # names of tables beyond those shown; they leave the prompt before anything else does
_MOST_COPIES = 12  # names of find_copies beyond those shown
_ROOM_OF_NAMES = 450  # characters of each of both


def select_overview(question: str, history: tuple[PastTurn, ...], run: Run) -> Body[tuple[Schema, bool]]:
    """Return the schema for understanding a question, and whether it is sorted by probability."""

    def look() -> tuple[Schema, bool]:
        schema = run.schema
        if schema.shown_columns <= MOST_COLUMNS:
            return schema, False

        def likeliest() -> tuple[Schema, bool]:
            linked = run.linker().link(question, history, max_columns=MOST_COLUMNS, choose_tables=True)
            return shorten_schema(linked.kept, schema), True

        return advise("linking", likeliest, (schema, False))

    return (yield from wait_for(look))


def select_schema(state: AgentState, run: Run) -> Body[Schema]:
    """Return the part of the schema that prompts of this turn show."""
    return (yield from do(lambda: _select_shown(state, run.schema)))


def _select_shown(state: AgentState, schema: Schema) -> Schema:
    part = schema.part(turn_of(state).shown)
    for attempt in attempts_of(state):
        part = advise("linking", partial(widen_schema, schema, part, attempt.sql), part)
    return part


def _fit_names(names: Iterable[str]) -> list[str]:
    """Return as many of the names as fit."""
    lengths = accumulate(names, lambda length, name: length + len(name) + 2, initial=0)
    return [name for name, length in zip(names, lengths, strict=False) if length < _ROOM_OF_NAMES]


def _group_alike(shown: Schema, schema: Schema) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return shown tables with the hidden ones whose names differ only by numbers."""
    others = find_families(schema)
    first = {id(others[table.name]): table.name for table in reversed(shown.tables) if table.name in others}
    found = ((name, [other for other in others[name] if not shown.table(other)]) for name in reversed(first.values()))
    return tuple((name, tuple(sorted(like))) for name, like in found if like)


def reply_form(turn: Turn, settings: Settings) -> ReplyForm:
    """Return what the reply that writes the SQL may be."""
    if settings.rephrase != "auto" or turn.understood or settings.prompt_style != "full":
        return "sql"
    if not settings.clarify:
        return "answer"
    return "any" if turn.clarifications < settings.max_clarifications else "settle"


def generate_task(state: AgentState, run: Run) -> Body[GenerateTask]:
    """Return the task of writing SQL for this turn; revision and reasoning build on it."""
    return (yield from do(lambda: _build_task(state, run)))


def _build_task(state: AgentState, run: Run) -> GenerateTask:
    settings, turn, database, whole = run.settings, turn_of(state), run.resources.database, run.schema
    own_form, shown = settings.prompt_style == "full", _select_shown(state, whole)
    if whole.shown_columns > MOST_COLUMNS:
        shown = shorten_schema(shown, whole) if own_form else drop_samples(shown)
    complete = whole.shown_columns == shown.shown_columns and len(whole.tables) == len(shown.tables)
    unshown: list[str] = []
    if settings.tell_unshown and not complete:
        likely = [table for table, column, _ in turn.items if column is None]
        names = dict.fromkeys([*likely, *(table.name for table in whole.tables)])
        unshown = [name for name in names if shown.table(name) is None]
    copied, alike = list[str](), ()
    if own_form and unshown:
        alike = _group_alike(shown, whole)
        copied = [name for name in unshown if name in find_copies(whole)]
        kin, aside = find_families(whole), {*copied, *(name for _, names in alike for name in names)}
        rest = {kin.get(name, (name,))[0]: name for name in reversed(unshown) if name not in aside}
        unshown, copied = _fit_names(sorted(rest.values(), key=unshown.index)), _fit_names(copied)[:_MOST_COPIES]
    attempts, day = attempts_of(state), date.today()
    made, asked = turn.rephrasing, as_asked(turn)
    # What the question as it was made says no more than as it was asked is left out.
    beside = Rephrasing("", "") if made.rephrased == asked else made
    plain = made.simplified if settings.show_simplified and made.simplified != asked else ""
    return GenerateTask(
        question=turn.question,
        rephrasing=replace(beside, simplified=plain),
        schema=shown if settings.tell_unshown else shown.as_whole(),
        history=select_window(state, run),
        base=turn.base,
        evidence=turn.evidence,
        definitions=turn.knowledge,
        values=(*turn.values, *turn.carried)[: settings.values],
        examples=turn.examples,
        style=settings.prompt_style,
        schema_style=settings.schema_style,
        unshown=tuple(unshown[:MOST_UNSHOWN]),
        copies=tuple(copied),
        alike=alike,
        requested=advise(
            "linking",
            lambda: frozenset[str]().union(*(requested_tables(shown, attempt.sql) for attempt in attempts)),
            frozenset[str](),
        ),
        ranked=settings.link_schema,
        all_columns=turn.all_columns,
        marked=frozenset(turn.marked) if settings.mark_used else frozenset(),
        with_base=settings.base_sql,
        regular=settings.regular_examples,
        database=database_identity(database),
        engine=database.engine.name,
        reply=reply_form(turn, settings),
        clarified=turn.clarified,
        declared=whole if complete and own_form else None,  # in whose form all of it is to be seen anyway
        dialect_notes=dialect_notes(database.dialect) if own_form else (),
        conventions=settings.conventions,
        today=f"{day.isoformat()}, a {day:%A}" if own_form and settings.today == "clock" else "",
    )
