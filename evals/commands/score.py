"""`tableturn score`: judging predictions made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...tools.terminal import say, warn
from .options import DataOption, DatasetOption, JsonOption, LimitOption, SplitOption, WithoutOption
from .summaries import print_doubts, print_summary


def score(
    dataset: DatasetOption,
    predictions: Annotated[
        Path, typer.Option("--predictions", help="One SQL query per line, or JSON with id and sql.")
    ],
    split: SplitOption = "dev",
    official: Annotated[
        bool, typer.Option("--official", help="Judge by the rules of the published evaluator.")
    ] = False,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    databases: Annotated[
        Path | None,
        typer.Option("--databases", help="Folder of databases to judge on instead, such as a test suite's."),
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option("--verdicts", help="A verdict file, to print EX by verdict as well as EX by gold.")
    ] = None,
    timings: Annotated[
        int, typer.Option("--timings", min=0, help="How often to time each query for BIRD's R-VES.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Judge predictions made elsewhere: execution accuracy, exact set match, share that runs."""
    from ..adjudication.ruling import read_rulings
    from ..adjudication.scores import by_verdict
    from ..datasets import load_dataset
    from ..datasets.check import empty_databases
    from ..metrics import StrictJudge, official_judge, read_predictions, summarize
    from ..metrics import as_json as summary_as_json

    rulings = read_rulings(verdicts) if verdicts is not None else None
    whole = load_dataset(dataset, split, data)
    questions = whole.without(without or ()).first(limit)
    found = read_predictions(predictions, whole, questions)
    questions = questions.on(databases)
    with official_judge(questions, timings) if official else StrictJudge(questions) as judge:
        judged = [judge.judge(question, found.get(question.id, "")) for question in questions.questions]
    notes = [f"{finding.where}: {finding.message}" for finding in empty_databases(questions)]
    summary = summarize(judged)
    ruled = None if rulings is None else by_verdict(questions, judged, rulings)
    mode = "official" if official else "strict"
    if as_json:
        more = {} if ruled is None else {"by_verdict": ruled.as_json()}
        say(json.dumps({"mode": mode, "notes": notes, **summary_as_json(summary, judged), **more}))
        return
    print_summary(summary, f"{questions.name} {questions.split}, {mode}")
    for note in notes:
        warn(f"note: EX means little on {note}")
    if ruled is not None:
        say(ruled.told(summary.all.ex))
    print_doubts(summary, judged)
