"""`tableturn models`: what runs showed of each model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...tools.terminal import say
from .options import JsonOption


def models(
    record: Annotated[
        Path | None, typer.Option("--record", help="The file of records. Default: the one in your data folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how often each model was right, by database, and what it took."""
    from ...agent.model.record import read_records, record_file
    from ..metrics.standing import standings

    path = record or record_file()
    assert path is not None
    found = standings(read_records(path))
    if as_json:
        say(json.dumps([standing.as_json() for standing in found]))
        return
    if not found:
        say(f"nothing in {path} yet: `tableturn eval`, `tableturn trial` and approved answers add to it")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("model", "database", "runs", "n", "right by gold", "by verdict", "calls", "prompt tokens", "last"):
        table.add_column(name, overflow="fold")
    for standing in found:
        table.add_row(*standing.cells())
    Console().print(table)
