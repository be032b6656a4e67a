"""The command that shows what the schema linker finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ...tools.terminal import say, say_json
from ..options import DatabaseOptions, JsonOption, with_options

if TYPE_CHECKING:
    from ...tools.linking import PastTurn, SchemaItem, SchemaLinker

_DECIMALS = 4
_WINDOWS = 4
"""Windows of a long history that are gone through: what lies further back has no more say in the last one."""


@with_options()
def link(
    question: Annotated[str, typer.Argument(help="This turn's question.")],
    options: DatabaseOptions,
    history: Annotated[
        Path | None,
        typer.Option(
            "--history",
            help='Earlier turns, oldest first, as {"question": ..., "sql": ...}: a JSON list, or one per line.',
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=1, help="The least probability of items to keep; 0 keeps all.")
    ] = 0.1,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Link with the descriptions that a model wrote last.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how probably a question is about each table and column, and which earlier query it builds on."""
    from functools import partial
    from time import perf_counter

    from ...tools.annotations import newest_annotations
    from ...tools.errors import SettingsError
    from ...tools.linking import SchemaLinker, base_turn, still_runs
    from ...tools.values import ValueIndex

    if not question.strip():
        raise SettingsError("the question is empty: put it in quotes after the options")
    turns = _read_history(history) if history else []
    with options.open() as database:
        schema = database.schema()
        if annotations:
            known = newest_annotations(database)
            if not (known.tables or known.columns):
                raise SettingsError(
                    f"nothing describes this schema yet: run tableturn annotate --db {database.location} --model ..."
                )
            schema = known.on(schema)
        linker = SchemaLinker(schema, ValueIndex.open(database))
        past = _with_items(turns, linker)
        # Reading the model and indexing the values happen once and are no part of linking a question.
        linker.link("warm up")
        start = perf_counter()
        linked = linker.link(question, past, threshold=threshold)
        milliseconds = 1000 * (perf_counter() - start)
        base = base_turn(question, linked.items, past, runs=partial(still_runs, database), dialect=database.dialect)
    found: dict[str, Any] = {
        "tables": [{"name": item.table, "p": _p(item)} for item in linked.items if item.column is None],
        "columns": [
            {"table": item.table, "name": item.column, "p": _p(item)}
            for item in linked.items
            if item.column is not None
        ],
        "kept": [
            {"table": table.name, "columns": [column.name for column in table.columns]} for table in linked.kept.tables
        ],
        "base_sql": base.sql if base else None,
        "milliseconds": round(milliseconds, 2),
    }
    if as_json:
        say_json(found)
    else:
        say(_text(found))


def _with_items(turns: Sequence[PastTurn], linker: SchemaLinker) -> list[PastTurn]:
    """The window's turns with the probabilities that the linker gave each in its time."""
    from dataclasses import replace

    from ..settings import Settings

    window = Settings().history_window
    seen: list[PastTurn] = []
    for turn in turns[-_WINDOWS * window :]:
        items = linker.link(turn.question, seen[-window:]).items
        seen.append(replace(turn, items=tuple((item.table, item.column, item.p) for item in items)))
    return seen[-window:]


def _p(item: SchemaItem) -> float:
    return round(item.p, _DECIMALS)


def _text(found: dict[str, Any]) -> str:
    likely = {(item["table"], item["name"]): item["p"] for item in found["columns"]}
    tables = {item["name"]: item["p"] for item in found["tables"]}
    lines: list[str] = []
    for part in found["kept"]:
        lines.append(f"{tables[part['table']]:.2f}  {part['table']}")
        lines += [f"  {likely[part['table'], name]:.2f}  {name}" for name in part["columns"]]
    if found["base_sql"]:
        lines.append(f"builds on: {found['base_sql']}")
    lines.append(f"{len(found['kept'])} of {len(tables)} tables, {found['milliseconds']} ms")
    return "\n".join(lines)


def _read_history(path: Path) -> list[PastTurn]:
    """The turns of a history file: a JSON list of objects, or JSON lines.

    Raises:
        SettingsError: It cannot be read, or is no such list.
    """
    from ...tools.errors import SettingsError
    from ...tools.linking import PastTurn

    try:
        entries = _entries(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"cannot read the history {path}: {error}") from None
    turns: list[PastTurn] = []
    for entry in entries:
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        question, sql = fields.get("question"), fields.get("sql")
        if not isinstance(question, str) or not isinstance(sql, str | None):
            raise SettingsError(
                f'the history {path} is not a JSON list of {{"question": "...", "sql": "..."}}: '
                f"turn {len(turns) + 1} is {json.dumps(entry)[:80]}"
            )
        turns.append(PastTurn(question, sql=sql or ""))
    return turns


def _entries(text: str) -> list[Any]:
    """What a list, or the lines, of a text hold.

    Raises:
        ValueError: It is neither.
    """
    if text.lstrip().startswith("["):
        return cast("list[Any]", json.loads(text))
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise ValueError("it is empty; write [] for no turns")
    try:
        return [json.loads(line) for line in lines]
    except ValueError:
        return [json.loads(text)]
