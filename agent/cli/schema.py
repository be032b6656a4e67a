"""The commands about a schema: describe it, link a question to it, and show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ...tools.errors import ModelError, SettingsError
from ...tools.record_files import read_json, read_lines, read_text_file
from ...tools.terminal import print_json_line, say
from ..options import AgentOptions, DatabaseOptions, JsonOption, expand_options

if TYPE_CHECKING:
    from ...tools.database import Database
    from ...tools.linking import PastTurn, SchemaLinker


@expand_options(
    without=("model", "annotator", "preset", "settings", "effort", "audit", "examples", "embedding", "knowledge")
)
def annotate(
    options: AgentOptions,
    model: Annotated[str | None, typer.Option(help="A chat model, as for ask; required.")] = None,
    calls: Annotated[
        int,
        typer.Option(min=0, max=1_000, help="Maximum number of tasks for the model; each is tried up to three times."),
    ] = 100,
    again: Annotated[
        bool,
        typer.Option("--again", help="Describe everything again; new descriptions replace the old ones at the end."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Have a model describe columns, then tables, for linking and prompts.

    Descriptions are valid until names, types or keys change. An interrupted run continues where it stopped. Agents use
    the descriptions if the setting `annotate` is on.
    """
    from ..context.annotate import describe_whole_schema

    with replace(options, model=model).open_agent() as agent:
        store = agent.resources.schemas.annotations()
        target = store.open_fresh_store() if again else store
        try:
            progress, usage = describe_whole_schema(agent.resources, agent.settings, target, calls)
        except ModelError as error:
            from ...tools.labels import IN_ENGLISH

            raise ModelError(
                f"{IN_ENGLISH.say_error(error)}; then run the same command to continue: finished descriptions are saved"
            ) from error
    if again and not progress.remaining:
        store.merge_fresh_store(target)
        target = store
    descriptions = target.read()
    counts = {
        "tables": sum(map(bool, descriptions.tables.values())),
        "columns": sum(map(bool, descriptions.columns.values())),
        "left": progress.remaining,
        "cut": progress.cut,
        "unusable": progress.unusable,
        "calls": usage.llm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
    if as_json:
        print_json_line(counts)
        return
    from ...tools.words import format_count

    tables = format_count(counts["tables"], "table", "tables")
    columns = format_count(counts["columns"], "column", "columns")
    say(f"{tables} and {columns} described, {format_count(counts['calls'], 'call', 'calls')}")
    if progress.cut:
        say(f"{progress.cut} replies were cut at the output limit; the missing descriptions were requested again")
    if progress.unusable:
        say(f"{progress.unusable} replies had no descriptions: use --again, or another model")
    if progress.remaining:
        say(f"{progress.remaining} tables and columns are not described yet: run the command again to continue")


_WINDOWS = 4  # windows of a long history that are gone through: what lies further back has no more say in the last one


@expand_options()
def link(
    question: Annotated[str, typer.Argument(help="This turn's question.")],
    options: DatabaseOptions,
    history: Annotated[
        Path | None,
        typer.Option(
            help='Earlier turns, oldest first, as {"question": ..., "sql": ...}: a JSON list, or one per line.',
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Minimum probability of tables and columns to keep; 0 keeps all.")
    ] = 0.1,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Link with the descriptions that a model wrote last.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how probable each table and column is for a question, and its base query."""
    from ...tools.annotations import read_newest_annotations
    from ...tools.linking import SchemaLinker, can_still_run_query, choose_base_turn
    from ...tools.values import ValueIndex

    if not question.strip():
        raise SettingsError("the question is empty: put it in quotes after the options")
    turns = _read_history_file(history) if history else []
    with options.open() as database:
        schema = database.schema()
        if annotations:
            descriptions = read_newest_annotations(database)
            if not (descriptions.tables or descriptions.columns):
                raise SettingsError(
                    f"this schema has no descriptions yet: run tableturn annotate --db {database.location} --model ..."
                )
            schema = descriptions.on(schema)
        linker = SchemaLinker(schema, ValueIndex.open(database))
        past = _link_recent_turns(turns, linker)
        # Reading the model and indexing the values happen once and are no part of linking a question.
        linker.link("warm up")
        start = perf_counter()
        links = linker.link(question, past, threshold=threshold)
        milliseconds = 1000 * (perf_counter() - start)
        base = choose_base_turn(question, links.items, past, can_run=partial(can_still_run_query, database))
    fields: dict[str, Any] = {
        "tables": [{"name": item.table, "p": round(item.p, 4)} for item in links.items if item.column is None],
        "columns": [
            {"table": item.table, "name": item.column, "p": round(item.p, 4)}
            for item in links.items
            if item.column is not None
        ],
        "kept": [
            {"table": table.name, "columns": [column.name for column in table.columns]} for table in links.kept.tables
        ],
        "base_sql": base.sql if base else None,
        "milliseconds": round(milliseconds, 2),
    }
    if as_json:
        print_json_line(fields)
    else:
        say(_format_linked_schema(fields))


def _link_recent_turns(turns: Sequence[PastTurn], linker: SchemaLinker) -> list[PastTurn]:
    """Return the last turns, each with the linker's probabilities of tables and columns."""
    from ..settings import Settings

    window = Settings().history_window
    past: list[PastTurn] = []
    for turn in turns[-_WINDOWS * window :]:
        items = linker.link(turn.question, past[-window:]).items
        past.append(replace(turn, items=tuple((item.table, item.column, item.p) for item in items)))
    return past[-window:]


def _format_linked_schema(fields: dict[str, Any]) -> str:
    likely = {(item["table"], item["name"]): item["p"] for item in fields["columns"]}
    tables = {item["name"]: item["p"] for item in fields["tables"]}
    lines: list[str] = []
    for part in fields["kept"]:
        lines.append(f"{tables[part['table']]:.2f}  {part['table']}")
        lines += [f"  {likely[part['table'], name]:.2f}  {name}" for name in part["columns"]]
    if fields["base_sql"]:
        lines.append(f"builds on: {fields['base_sql']}")
    lines.append(f"{len(fields['kept'])} of {len(tables)} tables, {fields['milliseconds']} ms")
    return "\n".join(lines)


def _read_history_file(path: Path) -> list[PastTurn]:
    """Return the turns of a history file: a JSON list of objects, or JSON lines."""
    from ...tools.linking import PastTurn

    text = read_text_file(path)
    is_list = text.lstrip()[:1] in ("", "[")
    try:
        entries = cast("list[Any]", read_json(text, path)) if is_list else read_lines(text, path)
    except SettingsError:
        entries = [read_json(text, path)]  # one object over several lines
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


@expand_options()
def schema(
    options: DatabaseOptions,
    what_leaves: Annotated[
        bool, typer.Option("--what-leaves", help="Show what a provider would see of each column's contents.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the schema as in prompts, or what a provider may see of each column."""
    from ...tools.masked_database import MaskedDatabase
    from ..verbs import schema as read_schema

    with options.open() as database:
        if what_leaves:
            levels = _list_column_egress_levels(database, MaskedDatabase(database).text)
            print_json_line(levels) if as_json else say(_format_egress_levels(levels))
            return
        text = read_schema(database).text
    print_json_line({"database": database.name, "schema": text}) if as_json else say(text)


def _list_column_egress_levels(database: Database, mask: Callable[[str], str]) -> dict[str, Any]:
    leaving = database.leaving()
    columns = [
        {
            "table": table.name,
            "name": column.name,
            "level": leaving.column_levels.get((table.name, column.name), "values"),
            "kind": column.kind,
            "distinct": column.distinct,
            "samples": [mask(str(sample)) for sample in column.samples],
        }
        for table in leaving.visible_schema.tables
        for column in table.columns
    ]
    return {"database": database.name, "mask": list(leaving.egress.mask), "columns": columns}


def _format_egress_levels(levels: dict[str, Any]) -> str:
    lines: list[str] = []
    for column in levels["columns"]:
        lines.append(f"{column['table']}.{column['name']}: {_LEVEL_TEXTS[column['level']]}")
        samples = ", ".join(column["samples"])
        if column["level"] == "values":
            lines.append(f"    such as {samples}" if samples else "    no samples")
    lines.append(f"masked everywhere: {', '.join(levels['mask']) or 'nothing'}")
    lines.append("always sent: names, types, keys, row counts of tables, comments, and the questions")
    return "\n".join(lines)


_LEVEL_TEXTS = {
    "values": "values are sent: samples, values that a question mentions, results",
    "statistics": "only counts and its kind are sent, no value",
    "none": "only its name and type are sent",
}
