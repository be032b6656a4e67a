"""`tableturn data`: looking after benchmark data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from ...tools.errors import SettingsError
from ...tools.terminal import say, warn
from .options import DataOption, JsonOption, LimitOption, WithoutOption

app = typer.Typer(help="Check benchmark data.", no_args_is_help=True)


@app.command("check")
def check(
    directory: Annotated[
        Path | None, typer.Argument(help="Folder of benchmark data, or a file of your own questions.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check that benchmarks are complete: databases exist and have rows, gold queries run, counts are as published.

    Exits with 1 if something is missing or fails.
    """
    from dataclasses import asdict

    from ..datasets import read_plain
    from ..datasets.check import check_data, check_dataset

    root = directory or Path(os.environ.get("TABLETURN_DATA", "."))
    if root.is_file():
        reports = [check_dataset(read_plain(root))]
    elif root.is_dir():
        reports = check_data(root, lambda name: warn(f"checking {name}"))
    else:
        raise SettingsError(f"there is no {root}: name the folder that holds the benchmarks' folders, or a file")
    if not reports:
        raise SettingsError(f"no known benchmark in {root}")
    if as_json:
        say(json.dumps([asdict(report) for report in reports]))
    else:
        for report in reports:
            counts = f"{report.interactions} interactions, {report.questions} questions, {report.databases} databases"
            say(f"{report.dataset} {report.split}: {counts}{'' if report.findings else ', whole'}")
            for finding in report.findings:
                say(f"  {finding.kind} {finding.where} ({finding.questions} questions): {finding.message}")
    raise typer.Exit(1 if any(report.findings for report in reports) else 0)


@app.command("disputes")
def disputes(
    dataset: Annotated[str, typer.Argument(help="A benchmark's name, or a file of your own questions.")],
    split: Annotated[
        str | None, typer.Option("--split", help="The part of the benchmark. Default: dev, or test if there is no dev.")
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option("--verdicts", help="A verdict file; the judgements of its readers count as evidence.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """List doubtful gold queries, with the evidence.

    A gold query is listed if it does not run, spells a value differently from the data, compares text where numbers or
    dates are meant, joins tables without a condition, or contradicts the gold query of the same question. It is also
    listed if readers, or readers and several published systems, disagree with it.
    """
    from ..adjudication.ruling import read_rulings
    from ..datasets import load_dataset
    from ..datasets.load import LAYOUTS
    from ..disputes.find import find_disputes
    from ..disputes.published import published_predictions

    layout = LAYOUTS.get(dataset)
    part = split or ("test" if layout is not None and "dev" not in layout.splits else "dev")
    whole = load_dataset(dataset, part, data)
    asked = whole.without(without or ()).first(limit)
    rulings = read_rulings(verdicts) if verdicts is not None else ()
    found = find_disputes(asked, rulings, published_predictions(data, whole))
    disputed = {dispute.question.id for dispute in found}
    if as_json:
        records = [
            {
                "id": dispute.question.id,
                "database": dispute.question.database,
                "question": dispute.question.text,
                "gold": dispute.question.golds[0],
                "kind": dispute.kind,
                "evidence": dispute.evidence,
            }
            for dispute in found
        ]
        golds = sum(bool(question.golds) for question in asked.questions)
        say(json.dumps({"golds": golds, "disputed": len(disputed), "disputes": records}))
        return
    for dispute in found:
        question = dispute.question
        say(f"{question.id} ({question.database}, {dispute.kind}): {question.text}")
        say(f"  {question.golds[0]}\n  {dispute.evidence}")
    say(f"{len(disputed)} of {sum(bool(question.golds) for question in asked.questions)} golds are disputed")
