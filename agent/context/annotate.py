"""Descriptions of a schema by a model (Track-SQL B.3), within limits and resumable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ...prompts.annotate import AnnotateColumnsTask, AnnotateTablesTask, Phrases
from ...tools.annotations import Annotations, AnnotationStore
from ...tools.database import Schema
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..effects import Body, BudgetTracker, Translator, ask, do, run
from ..model.turn_budget import compute_node_budget
from ..records import Usage
from ..resources import Resources, Run
from ..settings import Settings

Name = TypeVar("Name")

COLUMNS_A_CALL = 50
TABLES_A_CALL = 20

_TOKENS_A_COLUMN, _TOKENS_A_TABLE = 80, 600  # of a prompt: a column with its samples, a table with its columns
_CALLS = 10  # requests for descriptions that one turn may make
_SHARE = 4  # descriptions take a quarter of a turn's calls at most: the question is what the turn is for


@dataclass(frozen=True)
class AnnotationProgress:
    """The progress of describing a schema."""

    calls: int  # tasks: second tries not counted
    remaining: int  # columns and tables that are not described yet
    cut: int = 0  # replies that were cut at the output limit
    unusable: int = 0  # replies that described nothing: what they were asked about counts as done


def annotate(run: Run) -> Body[list[str]]:
    """Have a model describe part of the schema with this turn's spare requests; return notes."""
    resources, settings = run.resources, run.settings
    calls = min(_CALLS, settings.turn_calls // _SHARE)
    schema = yield from do(resources.database.schema)
    store = yield from do(resources.schemas.annotations)
    try:
        progress = yield from describe(
            schema, store, calls=calls, prompt_tokens=settings.prompt_tokens, annotator=run.annotator()
        )
    except (ModelError, NotUnderstood) as error:
        return [f"the schema was not described further: {error}"]
    notes: list[str] = []
    if progress.remaining:
        note = f"; {progress.cut} descriptions were cut at max_output_tokens" if progress.cut else ""
        notes.append(f"{progress.remaining} columns and tables are not described yet{note}")
    if progress.unusable:
        notes.append(f"{progress.unusable} replies had no descriptions: `tableturn annotate --again` asks again")
    return notes


def describe_whole_schema(
    resources: Resources, settings: Settings, store: AnnotationStore | None = None, calls: int | None = None
) -> tuple[AnnotationProgress, Usage]:
    """Have a model describe the schema with at most `calls` requests; return progress and usage."""
    schema, store = resources.database.schema(), store or resources.schemas.annotations()
    if calls is None:
        calls = len(schema.tables) + sum(len(table.columns) for table in schema.tables)
    limits = {"turn_calls": max(1, 3 * calls), "turn_tokens": 10**9, "turn_seconds": 86_400}
    tally = BudgetTracker(compute_node_budget(settings.model_copy(update=limits), {}))
    body = describe(schema, store, calls=calls, prompt_tokens=settings.prompt_tokens)
    return run(body, Run(resources, settings, lambda _: None).annotator(), tally), tally.usage


def describe(
    schema: Schema, store: AnnotationStore, *, calls: int, prompt_tokens: int, annotator: Translator | None = None
) -> Body[AnnotationProgress]:
    """Request descriptions of undescribed columns and tables, and save each reply.

    Columns and tables with a comment of their own are skipped. What a reply leaves out is not asked for again; what is
    missing because a reply was cut at the output limit is, fewer at once.
    """
    annotations = store.read()
    columns = max(1, min(COLUMNS_A_CALL, prompt_tokens // _TOKENS_A_COLUMN))
    tables = max(1, min(TABLES_A_CALL, prompt_tokens // _TOKENS_A_TABLE))
    call_count = cut_count = unusable = 0
    while call_count < calls:
        if pairs := tuple(annotations.list_undescribed_columns(schema)[:columns]):
            names = [(table.name, column.name) for table, column in pairs]
            phrases = yield from _request_phrases(AnnotateColumnsTask(pairs, schema.dialect), len(pairs), annotator)
            phrases_by_name = Annotations(columns=_map_names_to_phrases(names, phrases))
        elif some := tuple(annotations.list_undescribed_tables(annotations.on(schema))[:tables]):
            phrases = yield from _request_phrases(AnnotateTablesTask(some, schema.dialect), len(some), annotator)
            phrases_by_name = Annotations(tables=_map_names_to_phrases([table.name for table in some], phrases))
        else:
            break
        if None in phrases:
            columns, tables, cut_count = max(1, columns // 2), max(1, tables // 2), cut_count + 1
        elif not any(phrases):
            unusable += 1
        annotations = yield from do(partial(store.add, phrases_by_name))
        call_count += 1
    missing = len(annotations.list_undescribed_columns(schema)) + len(annotations.list_undescribed_tables(schema))
    return AnnotationProgress(call_count, missing, cut_count, unusable)


def _map_names_to_phrases(names: Sequence[Name], phrases: Phrases) -> dict[Name, str]:
    return {name: phrase for name, phrase in zip(names, phrases, strict=True) if phrase is not None}


def _request_phrases(
    task: AnnotateColumnsTask | AnnotateTablesTask, count: int, annotator: Translator | None
) -> Body[Phrases]:
    """Request descriptions; return '' for each if the reply is unusable, None if truncated."""
    try:
        result = yield from ask(task, annotator)
    except ReplyError as error:
        return (None if error.kind == "cut" and count > 1 else "",) * count
    return result.reply
