"""The command line's scripted evaluations: `bench`, `data check`, `score`, `eval`, `report`."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the evaluation commands; what they need is imported only when one runs."""
    app.command("bench")(bench)


@contextmanager
def _plain_errors() -> Generator[None]:
    """Turns tableturn's own errors into one line and exit code 2."""
    from ...tools.errors import TableturnError

    try:
        yield
    except TableturnError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def bench(
    name: Annotated[str | None, typer.Argument(help="Which one; without it, all are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of benchmark data; default: TABLETURN_DATA.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Measure only so many items.")] = None,
    official: Annotated[Path | None, typer.Option(help="Folder of the official evaluator to compare with.")] = None,
) -> None:
    """Measure a figure, or list what can be measured."""
    from ...evals.bench.registry import BENCHES, BenchOptions, run_bench

    if name is None:
        if as_json:
            typer.echo(json.dumps({key: bench.summary for key, bench in BENCHES.items()}))
            return
        width = max(map(len, BENCHES), default=0)
        for key, entry in BENCHES.items():
            typer.echo(f"{key:<{width}}  {entry.summary}{' (needs data)' if entry.needs_data else ''}")
        return
    with _plain_errors():
        figures = run_bench(name, BenchOptions(data, limit, official))
    command = " ".join(["tableturn", *sys.argv[1:]])
    if as_json:
        typer.echo(json.dumps({"name": name, "figures": figures, "command": command}))
    else:
        typer.echo(f"{command}\n{json.dumps(figures, indent=2)}")
