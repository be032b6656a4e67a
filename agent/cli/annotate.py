"""The command that has a database's columns and tables described."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...tools.terminal import say
from ..options import BaseUrlOption, DatabaseOptions, JsonOption, with_options


@with_options()
def annotate(
    options: DatabaseOptions,
    model: Annotated[str | None, typer.Option("--model", help="As for ask; a model is needed.")] = None,
    base_url: BaseUrlOption = None,
    calls: Annotated[
        int,
        typer.Option(
            "--calls", min=0, max=1_000, help="The most tasks to give the model; each is tried up to three times."
        ),
    ] = 100,
    again: Annotated[
        bool,
        typer.Option("--again", help="Describe everything again; new descriptions replace the old ones at the end."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Have a model describe columns, then tables, for linking and prompts. Valid until names, types or keys change.

    An interrupted run continues where it stopped. Agents use the descriptions if the setting `annotate` is on.
    """
    from ...tools.database import Access, Identity
    from ...tools.errors import ModelError
    from ..context.annotate import describe
    from ..effects import Tally, run
    from ..model.budget import left_of
    from ..resources import Run
    from ..resources.opening import open_resources
    from ..settings import Settings

    settings = Settings(turn_calls=max(1, 3 * calls), turn_tokens=1_000_000_000, turn_seconds=86_400)
    opened = open_resources(
        options.located(options.db),
        model=model,
        settings=settings,
        examples=None,
        base_url=base_url,
        access=Access.of(**options.rules()),
        identity=Identity(options.user or ""),
    )
    try:
        resources = opened.resources
        schema, store = resources.database.schema(), resources.schemas.annotations()
        described = store.afresh() if again else store
        tally = Tally(left_of(settings, {}))
        body = describe(schema, described, calls=calls, prompt_tokens=settings.prompt_tokens)
        try:
            done = run(body, Run(resources, settings, lambda _: None).translator(), tally)
        except ModelError as error:
            raise ModelError(f"{error}; descriptions so far are saved; run the same command to continue") from error
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
        say(json.dumps(found))
        return
    say(f"{found['tables']} tables and {found['columns']} columns described, {found['calls']} calls")
    if done.cut:
        say(f"{done.cut} replies were cut at the output limit; what they lacked was asked for again")
    if done.unusable:
        say(f"{done.unusable} replies described nothing: use --again, or another model")
    if done.left:
        say(f"{done.left} remain: run the command again to continue")
