"""Requests about an answer: its rows, exports, other queries, feedback."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from starlette.responses import Response, StreamingResponse

from ...agent import verbs
from ...agent.answers.paging import PagedAnswer, PageRequest, ResultPage
from ...tools.charts import Kind, make_spec
from ...tools.database import Cancellation
from ...tools.errors import ExportError
from ...tools.export import MEDIA_TYPES, Format, make_file_name
from ...tools.knowledge import Entry
from ...tools.labels import IN_ENGLISH
from ..running_turns import RunningTurn
from ..server import Asker, AskerHere
from ..store import StoredTurn, TurnStore
from .bodies import FeedbackBody, LessonBody, RunQueryBody, TurnReply
from .turns import render_turn

router = APIRouter(tags=["answers"])

_PART = 64 * 1024

# How a result is looked at: what its rows and its files are asked with.
_Sort = Annotated[int | None, Query(ge=0, le=10_000, description="The column to sort by, from 0.")]
_Search = Annotated[str, Query(max_length=200, description="Only rows with this text in some cell.")]

# Never a name or a number: to repeat a request must not change another lesson.
_LessonId = Annotated[str, Path(pattern="^(?:[0-9a-f]{16}){1,2}$", description="The `id` in the list.")]


@router.get("/turns/{id_}", response_model=TurnReply)
async def get_turn(id_: str, asker: AskerHere) -> dict[str, Any]:
    """Return a turn, with its answer if there is one."""
    return await render_turn(await asker.turn(id_), asker)


@router.get("/turns/{id_}/rows")
async def get_rows(
    id_: str,
    asker: AskerHere,
    offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    sort: _Sort = None,
    descending: bool = False,
    search: _Search = "",
) -> ResultPage:
    """Return rows of a turn's answer; run the query again if not all rows are stored."""
    answer = (await asker.turn(id_)).require_answer()
    view = PageRequest(offset, limit, sort, descending, search)
    results, resources, rows = asker.server.results, asker.agent.resources, asker.server.settings.limits.result_rows
    return await asker.run_query(
        lambda stop: results.read_page(PagedAnswer(id_, answer, resources, rows, rows, stop), view)
    )


@router.get("/turns/{id_}/chart")
async def get_chart(
    id_: str,
    asker: AskerHere,
    kind: Kind | None = None,
    measure: Annotated[int | None, Query(ge=0, le=10_000, description="The only column to measure, from 0.")] = None,
) -> dict[str, Any] | None:
    """Return a turn's chart as a Vega-Lite specification; null if none fits."""
    answer = await asker.deliver_answer(await asker.turn(id_))
    chart = None if answer is None else verbs.chart(answer, kind, measure)
    return None if chart is None else make_spec(chart)


@router.get("/turns/{id_}/export", response_class=StreamingResponse)
async def export_rows(
    id_: str,
    asker: AskerHere,
    form: Annotated[Format, Query(alias="format")] = "csv",
    rows: Annotated[int | None, Query(ge=1, le=100_000_000)] = None,
    sort: _Sort = None,
    descending: bool = False,
    search: _Search = "",
) -> Response:
    """Return all rows of a turn's answer as a file, by running the query again."""
    answer, results, resources = (await asker.turn(id_)).require_answer(), asker.server.results, asker.agent.resources
    most, row_limit = resources.settings.export_rows, asker.server.settings.limits.result_rows
    view = PageRequest(0, min(rows or most, most), sort, descending, search)

    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())

        def write_file(stop: Cancellation) -> None:
            if sort is None and not search:
                verbs.export(answer, resources, file, form, rows=rows, cancellation=stop)
            else:
                results.export(PagedAnswer(id_, answer, resources, row_limit, row_limit, stop), view, file, form)
            file.seek(0)

        await asker.run_query(write_file)
        cleanup = stack.pop_all()

    def read_chunks() -> Iterator[bytes]:
        with cleanup:
            yield from iter(partial(file.read, _PART), b"")

    name = quote(f"{make_file_name(answer.rephrased or answer.question)}.{form}")
    disposition = f"attachment; filename*=UTF-8''{name}"
    return StreamingResponse(read_chunks(), media_type=MEDIA_TYPES[form], headers={"content-disposition": disposition})


@router.post("/turns/{id_}/run", response_model=TurnReply)
async def run_query(id_: str, body: RunQueryBody, asker: AskerHere) -> dict[str, Any]:
    """Run the given query instead of a turn's own query, and return the new turn."""
    turn = await asker.turn(id_)
    answer = turn.require_answer()
    rerun = await asker.run_query(lambda stop: verbs.rerun(answer, body.sql, asker.agent.resources, stop))
    return await render_turn(await asker.turn(await asker.call_store(TurnStore.add_answer, turn, rerun.record)), asker)


@router.post("/turns/{id_}/feedback")
async def give_feedback(id_: str, body: FeedbackBody, asker: AskerHere) -> dict[str, Any]:
    """Approve an answer, correct it, mark it as wrong, or save a definition."""
    turn = await asker.turn(id_)
    fields: dict[str, Any] = {}
    if body.kind == "approve":
        fields = {"saved": _dump_saved_answer(await asker.approve(turn, body.question))}
    elif body.kind == "note":
        entry = await asker.run_query(partial(_save_definition, turn, body, asker))
        fields = {"entry": asdict(replace(entry, unchecked=IN_ENGLISH.say_error(entry.unchecked)))}
    elif body.kind == "down":
        # Who corrected it has said already that it is wrong, and how.
        if body.text or (turn.feedback or {}).get("kind") != "correct":
            await asker.call_store(TurnStore.add_feedback, id_, body.model_dump(exclude_defaults=True))
    else:
        outcome = await asker.correct(turn, body.text, body.question, body.sql, watched=True)
        if isinstance(outcome, RunningTurn):
            return {"kind": body.kind, "turn": outcome.id, "question": outcome.record.wording}
        correction, turn_id = outcome
        answer = await asker.run_query(lambda _: asker.agent.deliver(correction.answer))
        fields = {"saved": _dump_saved_answer(correction.saved), "turn": turn_id, "answer": answer.to_dict()}
        fields["proposals"] = [entry.line for entry in correction.proposals]
    return {"kind": body.kind, **fields}


def _save_definition(turn: StoredTurn, body: FeedbackBody, asker: Asker, cancellation: Cancellation) -> Entry:
    """Save a definition: a person's own, or one that the turn proposes."""
    if not body.number:
        return verbs.note(body.text, asker.agent.resources, cancellation)
    proposals = turn.require_answer().proposals
    if body.number > len(proposals):
        raise ExportError(f"this turn has no proposed definition with number {body.number}")
    return verbs.save_knowledge_entry(proposals[body.number - 1], asker.agent.resources, cancellation)


@router.get("/lessons")
async def list_lessons(asker: AskerHere) -> list[verbs.Lesson]:
    """Return the saved answers and definitions that this person may see, with author and date."""
    lessons = await asker.run_query(lambda _: verbs.list_lessons(asker.agent.resources))
    return [replace(lesson, unchecked=IN_ENGLISH.say_error(lesson.unchecked)) for lesson in lessons]


@router.patch("/lessons/{id_}", status_code=204)
async def edit_lesson(id_: _LessonId, body: LessonBody, asker: AskerHere) -> None:
    """Change a saved answer's question or SQL, or the meaning of a definition."""
    await asker.run_query(lambda cancellation: verbs.edit_lesson(id_, body.text, asker.agent.resources, cancellation))


@router.delete("/lessons/{id_}", status_code=204)
async def delete_lesson(id_: _LessonId, asker: AskerHere) -> None:
    """Remove a saved answer or a definition."""
    await asker.run_query(lambda _: verbs.forget(id_, asker.agent.resources))


def _dump_saved_answer(result: verbs.SavedAnswer) -> dict[str, Any]:
    return {"id": result.id, "question": result.example.question, "new": result.new, "replaced": result.replaced}
