"""`tableturn experiment`: the papers' tables and figures, repeated."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ...agent.options import AnnotatorOption, BaseUrlOption, EmbeddingOption
from ...tools.terminal import say, warn
from .options import (
    DataOption,
    ExamplesOption,
    JobsOption,
    JsonOption,
    LimitOption,
    ModelOption,
    WithoutOption,
    removed_option,
)


def experiment(
    name: Annotated[str | None, typer.Argument(help="The experiment; without it, all are listed.")] = None,
    model: ModelOption = None,
    model_for: Annotated[
        list[str] | None, typer.Option(help="ROW=MODEL: another model for the row with this name; repeatable.")
    ] = None,
    base_url: BaseUrlOption = None,
    annotator: AnnotatorOption = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    suites: Annotated[Path | None, typer.Option(help="Folder of test suites, for measuring TS.")] = None,
    jobs: JobsOption = 4,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("experiments"),
    data: DataOption = None,
    split: Annotated[
        str | None, typer.Option(help="The dataset to use instead of the paper's, such as mini_dev.")
    ] = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often to run each row, with different seeds; prints mean and deviation.")
    ] = 1,
    html: Annotated[bool, removed_option("`tableturn report` writes a page about the folders of the runs")] = False,
    as_json: JsonOption = False,
) -> None:
    """Repeat a table or figure of a paper and show its numbers beside ours; judged as in the papers.

    Where the data or the example store that it needs is not there, it says `not run` and why, and exits with 0.
    """
    from ..experiments import NotRun, Setup, experiment_names, measure, read_experiment
    from ..experiments.remarks import compare_figure, remarks, row_name
    from ..runner import RunSpec
    from ..runner.progress import RunProgress

    if name is None:
        for known in experiment_names():
            say(f"{known:<18} {read_experiment(known).title}")
        return
    chosen = read_experiment(name)
    options = RunSpec(
        "", split or "", model, limit=limit, without=tuple(without or ()), examples=examples, base_url=base_url,
        embedding=embedding, annotator=annotator,
    )  # fmt: skip
    setup = Setup(options, data, suites, jobs, repeats, chosen.models(model_for or ()))
    try:
        rows = measure(chosen, setup, out / name, lambda _, total: RunProgress(total))
    except NotRun as reason:
        ended = {"name": name, "title": chosen.title, "rows": [], "not_run": str(reason)}
        say(json.dumps(ended) if as_json else f"{chosen.title}\nnot run: {reason}")
        return
    said = remarks(chosen, setup, rows)
    if as_json:
        told = {"name": name, "title": chosen.title, "rows": [asdict(row) for row in rows], "remarks": said}
        say(json.dumps(told))
        return
    say(f"{chosen.title}\n(paper / here)")
    width = max(10, *map(len, chosen.shown))
    for row in rows:
        say(row_name(row))
        for figure in chosen.shown:
            say(f"  {figure:<{width}} {compare_figure(row, figure, 6)}")
    for line in said:
        say(line)
    if suites is None and any(figure.endswith("ts") for figure in chosen.shown):
        warn("TS is not run: it needs --suites DIR, which `python -m tableturn.evals.lab suite build --out DIR` makes")
