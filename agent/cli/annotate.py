"""The command that has a database's columns and tables described."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("annotate")(annotate)


def annotate(
    db: Annotated[str, typer.Option("--db", help="The database: a path, or a URL such as sqlite:///shop.db.")],
    model: Annotated[str | None, typer.Option("--model", help="As for ask; a model is needed.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Of an OpenAI-compatible server.")] = None,
    calls: Annotated[
        int, typer.Option("--calls", min=0, max=1_000, help="Tasks at most, each tried up to three times.")
    ] = 100,
    again: Annotated[
        bool,
        typer.Option("--again", help="Describe all anew; new words replace the old ones when it is done."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Have a model describe columns, then tables, for linking and prompts; kept until names, types or keys change.

    A run that was ended goes on where it was. Agents use the descriptions where the setting `annotate` is on.
    """
    from ...tools.errors import ModelError
    from ..annotating import describe
    from ..budget import left_of
    from ..effects import Tally, run
    from ..opening import open_resources
    from ..settings import Settings

    settings = Settings(turn_calls=max(1, 3 * calls), turn_tokens=1_000_000_000, turn_seconds=86_400)
    opened = open_resources(db, model=model, settings=settings, examples=None, base_url=base_url)
    try:
        resources = opened.resources
        schema, store = resources.database.schema(), resources.schemas.annotations()
        described = store.afresh() if again else store
        tally = Tally(left_of(settings, {}))
        body = describe(schema, described, calls=calls, prompt_tokens=settings.prompt_tokens)
        try:
            done = run(body, resources.translator(settings), tally)
        except ModelError as error:
            raise ModelError(f"{error}; what was described is kept, and the same command goes on from there") from error
    finally:
        opened.close()
    if again and not done.left:
        store.take_over(described)
        described = store
    known = described.read()
    found = {
        "tables": sum(map(bool, known.tables.values())),
        "columns": sum(map(bool, known.columns.values())),
        "left": done.left,
        "cut": done.cut,
        "unusable": done.unusable,
        "calls": tally.usage.llm_calls,
        "prompt_tokens": tally.usage.prompt_tokens,
        "completion_tokens": tally.usage.completion_tokens,
    }
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(f"{found['tables']} tables and {found['columns']} columns described, {found['calls']} calls")
    if done.cut:
        typer.echo(f"{done.cut} replies were cut at the output limit; what they lacked was asked for again")
    if done.unusable:
        typer.echo(f"{done.unusable} replies described nothing: use --again to ask anew, or another model")
    if done.left:
        typer.echo(f"{done.left} are left: run it again to go on")
