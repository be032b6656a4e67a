"""Earlier turns, and the inputs of a turn's tasks, gathered from the state.

A conversation's turns are in its state. Where the state starts empty each time - the graph as a node of a parent graph,
which keeps only the messages - they are read from the messages instead: each answer carries its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import accumulate

from langchain_core.messages import AIMessage

from ...prompts.generate import GenerateSQLTask
from ...prompts.parse_reply import ReplyForm
from ...prompts.reply_types import Rephrasing
from ...tools.database import Schema
from ...tools.examples import database_identity
from ...tools.labels import choose_locale
from ...tools.linking import PastTurn, find_copies, find_table_families, shorten_schema
from ...tools.sql import dialect_notes, extend_schema_for_query, find_requested_tables
from ...tools.words import format_count, is_foreign_text
from ..advice import call_with_fallback
from ..effects import Body, do, wait_for
from ..records import Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Record, Update, dump, get_attempts, load_all, load_turn, validate_records

KEY = "tableturn_turn"  # where a message carries its turn, among its additional arguments
ITEMS_CARRIED = 40  # schema probabilities that a message carries, most probable first


def get_validated_turn_records(state: AgentState) -> list[Record]:
    """Return the JSON records of earlier turns, validated once for all nodes."""
    return validate_records(PastTurn, _read_past_turn_records(state))


def _read_past_turn_records(state: AgentState) -> list[Record]:
    if turns := state.get("turns"):
        return turns
    records = (message.additional_kwargs.get(KEY) for message in state.get("messages", []) if message.type == "ai")
    return [dict(record) for record in records if isinstance(record, Mapping)]


def list_readable_turns(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """Return the earlier turns that this person may read, by the rights used for each turn."""
    turns = load_all(PastTurn, _read_past_turn_records(state))
    return tuple(turn for turn in turns if run.resources.may_read(turn.rights))


def select_history(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """Return the most recent readable turns, as many as this turn may see (Track-SQL 3.1)."""
    return list_readable_turns(state, run)[-run.settings.history_window :] if run.settings.history_window else ()


def make_unread_turns_note(state: AgentState, run: Run) -> str:
    """Return a note on earlier turns that this person may not see; '' if there are none."""
    unread = len(_read_past_turn_records(state)) - len(list_readable_turns(state, run))
    turns = format_count(unread, "earlier turn was", "earlier turns were")
    return f"{turns} left out, because other permissions were in force or somebody else asked" if unread else ""


def get_full_question(turn: Turn) -> str:
    """Return the question as the person asked it, with the replies to clarifications."""
    return " ".join([turn.question, *(f"({reply})" for _, reply in turn.clarified)])


def is_non_english_question(turn: Turn, schema: Schema) -> bool:
    """Whether a question is in a language other than English."""
    names = (name for table in schema.tables for name in (table.name, *(column.name for column in table.columns)))
    return is_foreign_text(get_full_question(turn), names)


def get_previous_question(turn: Turn, history: tuple[PastTurn, ...]) -> str:
    """Return the previous question, or '' if there is none or this one is self-contained."""
    if turn.rephrasing.self_contained or not history:
        return ""
    return history[-1].rephrased or history[-1].question


def make_history_update(state: AgentState, turn: PastTurn, text: str, settings: Settings) -> Update:
    """Return the update that adds a finished turn and its answer to the conversation."""
    turns = [*get_validated_turn_records(state), dump(turn)][-max(settings.history_window, 1) :]
    record = dict(dump(replace(turn, items=turn.items[:ITEMS_CARRIED])))
    return {"turns": turns, "messages": [AIMessage(text, additional_kwargs={KEY: record})]}


def choose_turn_locale(state: AgentState, turn: Turn, settings: Settings, sentence: str = "") -> str:
    """Return the locale of a turn's answer, which may be that of the conversation's earlier questions."""
    return choose_locale(turn.asked or turn.question, settings.locale, sentence, _iterate_past_questions(state))


def _iterate_past_questions(state: AgentState) -> Iterator[str]:
    yield from (past.question for past in reversed(load_all(PastTurn, _read_past_turn_records(state))))


MOST_COLUMNS = 400
"""Columns shown of a large schema, keys aside; the least probable would be the first to leave the prompt anyway."""

MOST_UNSHOWN = 20  # names of tables beyond those shown; they leave the prompt before anything else does
_MOST_SIMILAR = 12  # names of similar tables beyond those shown
_NAME_CHARACTERS = 450  # of each of these two lists of names


def select_overview_schema(question: str, history: tuple[PastTurn, ...], run: Run) -> Body[tuple[Schema, bool]]:
    """Return the schema to show before SQL is written, and whether it is sorted by probability."""

    def make_overview() -> tuple[Schema, bool]:
        schema = run.schema
        if schema.shown_column_count <= MOST_COLUMNS:
            return schema, False

        def select_likely_columns() -> tuple[Schema, bool]:
            link = run.linker().link(question, history, max_columns=MOST_COLUMNS)
            return shorten_schema(link.kept, schema), True

        return call_with_fallback("linking", select_likely_columns, (schema, False))

    return (yield from wait_for(make_overview))


def select_prompt_schema(state: AgentState, run: Run) -> Body[Schema]:
    """Return the part of the schema that prompts of this turn show."""
    return (yield from do(lambda: _select_shown_schema(state, run.schema)))


def _select_shown_schema(state: AgentState, schema: Schema) -> Schema:
    part = schema.part(load_turn(state).shown)
    for attempt in get_attempts(state):
        part = call_with_fallback("linking", partial(extend_schema_for_query, schema, part, attempt.sql), part)
    return part


def _limit_names(names: Iterable[str]) -> list[str]:
    """Return the first names that fit within the limit of characters."""
    lengths = accumulate(names, lambda length, name: length + len(name) + 2, initial=0)
    return [name for name, length in zip(names, lengths, strict=False) if length < _NAME_CHARACTERS]


def _group_similar_tables(part: Schema, schema: Schema) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return shown tables, each with hidden tables whose names differ only by numbers."""
    others = find_table_families(schema)
    first = {id(others[table.name]): table.name for table in reversed(part.tables) if table.name in others}
    groups = ((name, [other for other in others[name] if not part.table(other)]) for name in reversed(first.values()))
    return tuple((name, tuple(sorted(similar))) for name, similar in groups if similar)


def choose_reply_form(turn: Turn, settings: Settings) -> ReplyForm:
    """Return the form that the model's SQL reply may take in this turn."""
    if settings.rephrase != "auto" or turn.understood or settings.prompt_style != "full":
        return "sql"
    if not settings.clarify:
        return "answer"
    return "any" if turn.clarifications < settings.max_clarifications else "settle"


def make_generate_task(state: AgentState, run: Run) -> Body[GenerateSQLTask]:
    """Return the task that asks for this turn's SQL; revision and pandas code extend it."""
    return (yield from do(lambda: _build_generate_task(state, run)))


def _build_generate_task(state: AgentState, run: Run) -> GenerateSQLTask:
    settings, turn, database, schema = run.settings, load_turn(state), run.resources.database, run.schema
    has_own_form, part = settings.prompt_style == "full", _select_shown_schema(state, schema)
    if schema.shown_column_count > MOST_COLUMNS:
        part = shorten_schema(part, schema)
    complete = schema.shown_column_count == part.shown_column_count and len(schema.tables) == len(part.tables)
    hidden: list[str] = []
    if settings.tell_unshown and not complete:
        likely = [table for table, column, _ in turn.items if column is None]
        names = dict.fromkeys([*likely, *(table.name for table in schema.tables)])
        hidden = [name for name in names if part.table(name) is None]
    copies, alike = list[str](), ()
    if has_own_form and hidden:
        alike = _group_similar_tables(part, schema)
        copies = [name for name in hidden if name in find_copies(schema)]
        kin, aside = find_table_families(schema), {*copies, *(name for _, names in alike for name in names)}
        kinds = {kin.get(name, (name,))[0]: name for name in reversed(hidden) if name not in aside}
        hidden, copies = (_limit_names(sorted(kinds.values(), key=hidden.index)), _limit_names(copies)[:_MOST_SIMILAR])
    attempts, day = get_attempts(state), date.today()
    rephrasing, wording = turn.rephrasing, get_full_question(turn)
    # What the question as it was made says no more than as it was asked is left out.
    new_rephrasing = Rephrasing("", "") if rephrasing.rephrased == wording else rephrasing
    simplified = rephrasing.simplified if settings.show_simplified and rephrasing.simplified != wording else ""
    return GenerateSQLTask(
        question=turn.question,
        rephrasing=replace(new_rephrasing, simplified=simplified),
        schema=part if settings.tell_unshown else part.as_complete_schema(),
        history=select_history(state, run),
        base=turn.base,
        evidence=turn.evidence,
        definitions=turn.knowledge,
        values=(*turn.values, *turn.carried)[: settings.values],
        examples=turn.examples,
        style=settings.prompt_style,
        schema_style=settings.schema_style,
        unshown=tuple(hidden[:MOST_UNSHOWN]),
        copies=tuple(copies),
        alike=alike,
        requested=call_with_fallback(
            "linking",
            lambda: frozenset[str]().union(*(find_requested_tables(schema, attempt.sql) for attempt in attempts)),
            frozenset[str](),
        ),
        ranked=settings.link_schema,
        all_columns=turn.all_columns,
        marked=frozenset(turn.marked) if settings.mark_used else frozenset(),
        with_base=settings.base_sql,
        regular=settings.regular_examples,
        database=database_identity(database),
        engine=database.engine.name,
        reply=choose_reply_form(turn, settings),
        clarified=turn.clarified,
        declared=schema if complete and has_own_form else None,  # in whose form all of it is to be seen anyway
        dialect_notes=dialect_notes(database.dialect) if has_own_form else (),
        conventions=settings.conventions,
        today=f"{day.isoformat()}, a {day:%A}" if has_own_form and settings.today == "clock" else "",
    )
