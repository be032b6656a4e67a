"""`python -m tableturn.evals.lab disputes`: doubtful gold queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ....tools.terminal import say
from ...commands.options import DataOption, JsonOption, LimitOption, WithoutOption


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
    from ...adjudication.ruling import read_rulings
    from ...datasets import load_dataset
    from ...datasets.load import LAYOUTS
    from ..disputes.find import find_disputes
    from ..disputes.golds import published_predictions

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
