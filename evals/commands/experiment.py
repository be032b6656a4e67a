"""`tableturn experiment`: the papers' tables and figures, repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...agent.cli.options import BaseUrlOption
from ...tools.terminal import say, warn
from .options import DataOption, ExamplesOption, JobsOption, JsonOption, LimitOption, ModelOption, WithoutOption


def experiment(
    name: Annotated[str | None, typer.Argument(help="Which one; without it, all are listed.")] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    examples: ExamplesOption = None,
    suites: Annotated[Path | None, typer.Option("--suites", help="Folder of test suites, to measure TS.")] = None,
    jobs: JobsOption = 4,
    out: Annotated[Path, typer.Option("--out", help="Folder of the runs.")] = Path("experiments"),
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Repeat a table or figure of a paper, its numbers beside ours; judged as the papers did."""
    from dataclasses import asdict

    from ..experiments import Setup, experiment_names, measure, read_experiment
    from ..runner.progress import RunProgress

    if name is None:
        for known in experiment_names():
            say(f"{known:<18} {read_experiment(known).title}")
        return
    chosen = read_experiment(name)
    setup = Setup(model, base_url, examples, data, suites, limit, tuple(without or ()), jobs)
    rows = measure(chosen, setup, out / name, lambda _, total: RunProgress(total))
    if as_json:
        say(json.dumps({"name": name, "title": chosen.title, "rows": [asdict(row) for row in rows]}))
        return
    say(f"{chosen.title}\n(paper / here)")
    for row in rows:
        say(f"{row.name}{f' (not run: {row.failed})' if row.failed else ''}")
        for figure in chosen.shown:
            paper, ours = (f"{v:.1f}" if v is not None else "-" for v in (row.paper.get(figure), row.ours.get(figure)))
            say(f"  {figure:<10} {paper:>6} / {ours}")
    if suites is None and any(figure.endswith("ts") for figure in chosen.shown):
        warn("TS is not run: it needs --suites DIR, which `tableturn suite build --out DIR` makes")
