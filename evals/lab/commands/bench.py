"""`python -m tableturn.evals.lab bench`: every measured figure, by name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ....agent.cli.options import BaseUrlOption
from ....tools.errors import SettingsError
from ....tools.terminal import say
from ...commands.options import DataOption, JsonOption


def bench(
    name: Annotated[str | None, typer.Argument(help="The benchmark; without it, all are listed.")] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Measure only this many items.")] = None,
    official: Annotated[Path | None, typer.Option(help="Folder of the official evaluator to compare with.")] = None,
    replies: Annotated[Path | None, typer.Option(help="A JSONL file of stored model replies.")] = None,
    model: Annotated[str | None, typer.Option(help="The model to ask for replies that are not stored yet.")] = None,
    base_url: BaseUrlOption = None,
) -> None:
    """Measure a figure, or list what can be measured."""
    from ..bench.registry import BENCHES, BenchOptions, run_bench

    if name is None:
        if as_json:
            say(json.dumps({key: entry.summary for key, entry in BENCHES.items()}))
            return
        width = max(map(len, BENCHES))
        for key, entry in BENCHES.items():
            say(f"{key:<{width}}  {entry.summary}{' (needs data)' if entry.needs_data else ''}")
        return
    try:
        figures = run_bench(name, BenchOptions(data, limit, official, replies, model, base_url))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tests":
            raise
        raise SettingsError(f"bench {name} takes its cases from the tests: run it in a clone of tableturn") from None
    command = " ".join(["python -m tableturn.evals.lab", *sys.argv[1:]])
    if as_json:
        say(json.dumps({"name": name, "figures": figures, "command": command}))
    else:
        say(f"{command}\n{json.dumps(figures, indent=2)}")
