"""Has a model describe a schema's columns, then its tables (Track-SQL B.3): bounded, and taken up where it was left."""

from __future__ import annotations

from dataclasses import dataclass

from ..prompts.annotate import AnnotateColumnsTask, AnnotateTablesTask
from ..tools.annotations import Annotations, AnnotationStore
from ..tools.database import Schema
from ..tools.errors import ModelError, NotUnderstood, ReplyError
from .effects import Body, ask, do
from .resources import Run

COLUMNS_A_CALL = 50
TABLES_A_CALL = 20

_TOKENS_A_COLUMN = 80
_TOKENS_A_TABLE = 600
"""What one may take of a prompt, with samples or columns, and of the rest of it."""

_SHARE = 4
"""Descriptions take a quarter of a turn's calls at most: the question is what the turn is for."""


@dataclass(frozen=True)
class Described:
    """How far it went.

    Attributes:
        calls: Requests that were made, as tasks: second tries not counted.
        left: Columns and tables that are not described yet.
    """

    calls: int
    left: int


def annotate(run: Run) -> Body[list[str]]:
    """Describes what this turn's share of calls reaches; a model that cannot costs the turn nothing but that part.

    Returns:
        Notes for the answer.
    """
    resources, settings = run.resources, run.settings
    calls = min(settings.annotation_calls, settings.turn_calls // _SHARE)
    schema = yield from do(resources.database.schema)
    store = yield from do(resources.schemas.annotations)
    try:
        done = yield from describe(schema, store, calls=calls, prompt_tokens=settings.prompt_tokens)
    except (ModelError, NotUnderstood) as error:
        return [f"the schema was not described further: {error}"]
    return [f"{done.left} columns and tables are not described yet"] if done.left else []


def describe(schema: Schema, store: AnnotationStore, *, calls: int, prompt_tokens: int) -> Body[Described]:
    """Describes what is not described, as far as the calls reach; each reply is kept before the next is asked for.

    Columns and tables with a comment of their own are passed over. What a reply leaves out is not asked for again.

    Args:
        schema: As the database has it.
        store: The annotations of this version of it.
        calls: Tasks at most.
        prompt_tokens: Budget of one prompt.

    Raises:
        ModelError: The model cannot be asked; what was described so far is kept.
        NotUnderstood: There is no model.
    """
    known = store.read()
    columns_a_call = max(1, min(COLUMNS_A_CALL, prompt_tokens // _TOKENS_A_COLUMN))
    tables_a_call = max(1, min(TABLES_A_CALL, prompt_tokens // _TOKENS_A_TABLE))
    made = 0
    while made < calls:
        found = yield from _columns(schema, known, columns_a_call)
        found = found or (yield from _tables(schema, known, tables_a_call))
        if found is None:
            break
        known = yield from do(lambda found=found: store.add(found))
        made += 1
    return Described(made, len(known.undescribed_columns(schema)) + len(known.undescribed_tables(schema)))


def _columns(schema: Schema, known: Annotations, most: int) -> Body[Annotations | None]:
    lacking = tuple(known.undescribed_columns(schema)[:most])
    if not lacking:
        return None
    said = yield from _asked(AnnotateColumnsTask(lacking), len(lacking))
    places = [(table.name, column.name) for table, column in lacking]
    return Annotations(columns=dict(zip(places, said, strict=True)))


def _tables(schema: Schema, known: Annotations, most: int) -> Body[Annotations | None]:
    lacking = tuple(known.undescribed_tables(known.on(schema))[:most])
    if not lacking:
        return None
    said = yield from _asked(AnnotateTablesTask(lacking), len(lacking))
    return Annotations(tables=dict(zip([table.name for table in lacking], said, strict=True)))


def _asked(task: AnnotateColumnsTask | AnnotateTablesTask, count: int) -> Body[tuple[str, ...]]:
    """The reply; empty phrases where it could not be used."""
    try:
        done = yield from ask(task)
    except ReplyError:
        return ("",) * count
    return done.reply
