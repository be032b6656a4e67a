"""The node that starts a turn: it resets the state and, if needed, rephrases the question.

Questions about the tables and bare column names need no translator.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import cast

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite

from ...prompts.rephrase import RephraseTask, SimplifyTask
from ...prompts.reply_types import Rephrasing
from ...tools.charts import parse_request
from ...tools.database import Schema
from ...tools.errors import ModelError, NotUnderstood, ReplyError, TableturnError
from ...tools.examples import load_dialogues
from ...tools.linking import PastTurn
from ...tools.words import split_name, stem_english_word
from ..advice import call_with_fallback, with_fallback
from ..context.knowledge import find_definitions, note_ignored_definitions
from ..context.task_inputs import (
    MOST_COLUMNS,
    get_full_question,
    get_validated_turn_records,
    make_unread_turns_note,
    select_history,
    select_overview_schema,
)
from ..effects import Body, Done, ask, do, wait_for
from ..model.track_record import ModelTrackRecord, get_record_file_path, read_model_track_record
from ..records import Turn
from ..resources import Run
from ..settings import PAPERS
from ..state import AgentState, Update, end_turn, load_resumed, make_new_turn_update, make_update
from .clarify import decline_or_ask
from .generate import get_stop_kind

NOTHING_TO_DRAW = "There is no result to draw yet: ask a question first, or say what to draw."


def rephrase(state: AgentState, run: Run) -> Body[Update]:
    """Start a turn: rephrase the question, label its intent, and decide whether to ask back.

    CREDIT-SQL 3.1 and revision chain 3.1.1. By default (`Settings.rephrase` auto) the reply with the SQL says all this.
    """
    records: Update = {"turns": get_validated_turn_records(state)}
    state = cast("AgentState", {**state, **records})
    old_turn = load_resumed(state)
    if old_turn:
        reset: Update = {"question": old_turn.question}
        turn = old_turn
    else:
        question, message = _read_question(state)
        evidence = (state.get("evidence") or "").strip()
        turn = Turn(question, rights=run.resources.rights, evidence=evidence)
        # Words about a picture stand apart: SQL answers what is asked, not how it looks.
        if wish := call_with_fallback("charts", lambda: parse_request(question), None):
            turn = replace(turn, question=wish.question, asked=question)
        reset = make_new_turn_update(question) | {"drafts": Overwrite([]), "messages": [message] if message else []}
    notes = list(filter(None, [make_unread_turns_note(state, run)]))
    if run.settings.annotate:
        from ..context.annotate import annotate

        notes += yield from annotate(run)
    history = select_history(state, run)
    update = yield from (_understand(turn, history, run) if turn.question else _rerun_query(turn, history, run))
    notes += update["notes"]
    if update["next"] == "respond":
        notes += yield from do(lambda: note_ignored_definitions(turn, run))
    return records | reset | update | {"notes": notes if old_turn else Overwrite(list(dict.fromkeys(notes)))}


def _rerun_query(turn: Turn, history: tuple[PastTurn, ...], run: Run) -> Body[Update]:
    """Run the last query again, because the question asks only for a chart of its result."""
    past = next((past for past in reversed(history) if past.sql), None)
    if past is None:
        return end_turn(replace(turn, question=turn.asked), "declined", NOTHING_TO_DRAW, "unanswerable")
    words, schema = past.rephrased or past.question, (yield from do(lambda: run.schema))
    turn = replace(
        turn,
        question=past.question,
        rephrasing=Rephrasing(words, words),
        understood=True,
        written=past.sql,
        shown=tuple((table.name, tuple(column.name for column in table.columns)) for table in schema.tables),
    )
    return make_update("execute", turn, sql=past.sql, sql_source="draft")


def _understand(turn: Turn, history: tuple[PastTurn, ...], run: Run) -> Body[Update]:
    """Return the update with the understood question and the next node."""
    notes: tuple[str, ...] = ()
    if turn.clarification:
        _, reply = turn.clarification
        turn = replace(turn, clarified=(*turn.clarified, turn.clarification), sent=())
        if choice := next((offer for offer in turn.offered if offer.words == reply), None):
            as_answerable = replace(turn.rephrasing, intent="answerable", reply="", choices=())
            # What was open is settled.
            turn = replace(turn, comments=replace(turn.comments, say="", doubt="", other=None))
            turn = replace(turn, clarification=None, rephrasing=as_answerable, written=choice.sql)
            return make_update("execute", turn, sql=choice.sql, sql_source="draft")
    first = not history and not turn.clarified and run.settings.clarify and run.settings.prompt_style == "full"
    words = get_full_question(turn)
    unchanged = Rephrasing(words, words, self_contained=not history)
    if first:  # what needs no translator
        schema, plainly = (yield from wait_for(lambda: run.schema)), replace(turn, rephrasing=unchanged)
        if answer := answer_table_list_question(turn.question, schema):
            return end_turn(plainly, "schema", answer, "converged")
        asked_back = ask_about_ambiguous_column(turn.question, schema)
        if asked_back and (stop := decline_or_ask(plainly, asked_back, run.settings)):
            return stop
    try:
        result = yield from _request_rephrasing(turn, unchanged, history, run)
    except ReplyError as error:
        result, notes = None, (f"the question was used as asked: {error}",)
    except (ModelError, NotUnderstood) as error:
        failed_turn = replace(turn, clarification=None, rephrasing=replace(unchanged, self_contained=True))
        return end_turn(failed_turn, get_stop_kind(error), str(error), "failed")
    turn = replace(turn, clarification=None, rephrasing=unchanged, understood=False)
    if result is None:
        return make_update("link", turn, notes)
    turn = replace(turn, rephrasing=result.reply, understood=run.settings.rephrase != "never")
    stop = decline_or_ask(turn, result.reply, run.settings, result.notes)
    return stop or make_update("link", turn, result.notes)


def _request_rephrasing(
    turn: Turn, unchanged: Rephrasing, history: tuple[PastTurn, ...], run: Run
) -> Body[Done[Rephrasing] | None]:
    """Request a rephrasing of the question; None if the SQL reply will include one."""
    settings = run.settings
    if settings.rephrase == "never":
        if not (settings.simplify and PAPERS.get(settings.preset, {}).get("simplify")):
            return None
        simple = yield from ask(SimplifyTask(turn.question))
        return Done(replace(unchanged, simplified=simple.reply), simple.notes)
    weak = ""
    # Though one reply could do both: for a translator that cannot, in the papers' prompt forms, and where a later turn
    # has to be understood before one knows which part of a large schema to show.
    is_separate = settings.prompt_style != "full" or not run.translator.understands
    if not is_separate and history:
        is_separate = (yield from wait_for(lambda: run.schema)).shown_column_count > MOST_COLUMNS
    if settings.rephrase == "auto" and not is_separate:
        weak = yield from _make_weak_model_note(run)
        if not weak and settings.effort != "high":
            return None
    schema, is_ranked = yield from select_overview_schema(turn.question, history, run)
    definitions = yield from do(lambda: find_definitions(turn, (), run).entries)
    credit = settings.prompt_style == "credit"
    task = RephraseTask(
        question=turn.question,
        history=history,
        schema=schema,
        clarification=turn.clarification,
        simplify=settings.simplify,
        style="credit" if credit else "full",
        dialogues=(yield from do(load_dialogues)) if credit else (),
        ranked=is_ranked,
        asks_back=settings.clarify,
        evidence=turn.evidence,
        definitions=definitions,
    )
    result = yield from ask(task)
    return result._replace(notes=(*result.notes, weak)) if weak else result


def _make_weak_model_note(run: Run) -> Body[str]:
    """Return a note if the track record shows a weak model, which is asked twice; else ''.

    The agent's own settings say where the record is, not the run's: whoever sends a run may not choose a file.
    """
    path = get_record_file_path(run.resources.settings.record)
    model = run.translator.model
    if path is None or run.settings.effort != "auto":
        return ""
    read = partial(read_model_track_record, model, "", path)
    score = (yield from do(lambda: call_with_fallback("confidence", read, ModelTrackRecord()))).others
    if not score.is_weak:
        return ""
    return f"{model} was asked twice, because so far it was right on only {score.right} of {score.n} questions"


def _read_question(state: AgentState) -> tuple[str, HumanMessage | None]:
    """Return the turn's question, and the chat message to add if there was none."""
    messages: list[AnyMessage] = state.get("messages", [])
    if messages and isinstance(messages[-1], HumanMessage):
        question, message = _strip_and_replace_surrogates(messages[-1].text), None
    else:
        question = _strip_and_replace_surrogates(state.get("question") or "")
        message = HumanMessage(question)
    if not question:
        raise TableturnError("there is no question: send a message from a person, or set `question`, with some text")
    return question, message


def _strip_and_replace_surrogates(text: str) -> str:
    """Return the stripped text, with lone surrogates replaced by `?`."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


_TABLES = re.compile(
    r"(?:what|which)(?: are)?(?: all)?(?: the)? tables"
    r"(?: (?:are|do|does|is|exist|there|you|we|i|it|have|has|know|in|the|this|here|database|db|see|of|can|ask|about))*"
    r"|(?:please )?(?:show|list|name|give)(?: me)?(?: all)?(?: of)?(?: the)? tables"
    r"(?: (?:in|of) (?:the|this) (?:database|db))?",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:please )?(?:(?:show|list|give|tell)(?: me)?|what (?:are|is))(?: all)?(?: of)? (?:the|their|its) (\w+)",
    re.IGNORECASE,
)
_MAX_NAMES = 40  # tables that an answer names
_CHOICES = 6  # tables that are offered


@with_fallback("plain questions", "")
def answer_table_list_question(question: str, schema: Schema) -> str:
    """Return the answer to `what tables are there?`; '' for any other question."""
    if not _TABLES.fullmatch(question.strip(" .?!")) or schema.table("tables") or schema.table("table"):
        return ""
    names = [table.name for table in schema.tables]
    rest_note = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    tables = "one table" if len(names) == 1 else f"{len(names):,} tables"
    return f"The database has {tables}: {', '.join(names[:_MAX_NAMES])}{rest_note}."


@with_fallback("plain questions", None)
def ask_about_ambiguous_column(question: str, schema: Schema) -> Rephrasing | None:
    """Return a question back about a column name that several tables have, or None."""
    match = _BARE.fullmatch(question.strip(" .?!"))
    if match is None:
        return None
    stem = stem_english_word(match[1].lower())
    having = [
        table.name
        for table in schema.tables
        if any(_list_name_stems(column.name)[-1:] == [stem] for column in table.columns)
    ]
    if len(having) < 2 or any(stem in _list_name_stems(table.name) for table in schema.tables):
        return None
    choices = tuple(f"{match[1].lower()} of {name.replace('_', ' ')}" for name in having[:_CHOICES])
    return Rephrasing(question, question, "ambiguous", f"The {match[1].lower()} of what?", choices)


def _list_name_stems(name: str) -> list[str]:
    return list(map(stem_english_word, split_name(name)))
