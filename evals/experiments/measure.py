"""Running an experiment, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ...tools.errors import ModelError, TableturnError
from ..datasets import Dataset, load_dataset
from ..metrics import Summary, Verdict, official_judge, summarize
from ..runner import Listener, RunSpec, TurnRecord, run_evaluation
from ..runner.results import run_results, write_results
from .experiment import Experiment, Row

Listen: TypeAlias = Callable[[str, int], AbstractContextManager[Listener]]
"""Given a row's name and its number of questions, what is told about each question while the row runs."""


@dataclass(frozen=True)
class Setup:
    """What an experiment is run with, besides itself.

    Attributes:
        model: As `tableturn eval --model`; None chooses by the environment.
        base_url: Of an OpenAI-compatible server.
        examples: An example store; None for the built-in examples.
        data: The folder of benchmark data.
        suites: A folder of test suites, without which TS is not measured.
        limit: Only the first so many interactions.
        without: Databases left out.
        jobs: Interactions at once.
    """

    model: str | None
    base_url: str | None
    examples: str | None
    data: Path | None
    suites: Path | None
    limit: int | None
    without: tuple[str, ...]
    jobs: int


@dataclass(frozen=True)
class Measured:
    """A row's figures in percent, the paper's and ours by name; a missing one is not reported, or not measured.

    Attributes:
        failed: Why the row cannot be run here: its data, its model or an extra is missing; empty where it was.
    """

    name: str
    paper: dict[str, float]
    ours: dict[str, float]
    failed: str = ""


def measure(experiment: Experiment, setup: Setup, out: Path, listen: Listen) -> list[Measured]:
    """Runs every row in a folder of its own, so that the whole is resumed like a run, and judges as the papers did.

    Args:
        experiment: What to run.
        setup: What with.
        out: Folder of the rows' folders.
        listen: Whom to tell how each row is going.

    Raises:
        TableturnError: No row can be run.
    """
    measured: list[Measured] = []
    errors: list[TableturnError] = []
    for row in experiment.rows:
        try:
            measured.append(_measure_row(row, experiment, setup, out, listen))
        except TableturnError as error:
            errors.append(error)
            measured.append(Measured(row.name, row.paper, {}, str(error)))
    if len(errors) == len(measured):
        raise errors[0]
    return measured


def _measure_row(row: Row, experiment: Experiment, setup: Setup, out: Path, listen: Listen) -> Measured:
    dataset = load_dataset(row.dataset or experiment.dataset, experiment.split, setup.data)
    spec = RunSpec(
        dataset=dataset.name,
        split=dataset.split,
        model=setup.model,
        preset=row.preset,
        settings=row.settings,
        limit=setup.limit,
        without=setup.without,
        examples=setup.examples,
        base_url=setup.base_url,
        baseline=row.baseline,
    )
    asked = dataset.without(setup.without).first(setup.limit)
    folder = out / re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-")
    with listen(row.name, len(asked.questions)) as listener:
        answered = run_evaluation(spec, dataset, folder, jobs=setup.jobs, listener=listener)
    if left := [record for record, _ in answered if not record.asked]:
        raise ModelError(f"{len(left)} of {len(answered)} questions could not be asked ({left[0].text})")
    results = run_results(spec, asked, answered, 0.0)
    write_results(results, folder)
    official = _judge(asked, answered)
    ours = _figures(official, "ex") | _figures(official, "em")
    ours |= {name: 100 * results["linking"][name] for name in ("trs", "crs") if name in results["linking"]}
    if setup.suites is not None:
        suite = _figures(_judge(asked.on(setup.suites), answered), "ex")
        ours |= {re.sub(r"ex$", "ts", name): value for name, value in suite.items()}
    return Measured(row.name, row.paper, ours)


def _judge(dataset: Dataset, answered: list[tuple[TurnRecord, Verdict]]) -> Summary:
    with official_judge(dataset) as judge:
        return summarize([judge.judge(verdict.question, record.sql) for record, verdict in answered])


def _figures(summary: Summary, measure: str) -> dict[str, float]:
    """One measure over everything, interactions, levels and turns, by the names that experiments use."""
    groups = {"": summary.all, "im_": summary.interactions}
    groups |= {f"{level}_": scores for level, scores in summary.by_hardness.items()}
    groups |= {f"turn{5 if turn == '>4' else turn}_": scores for turn, scores in summary.by_turn.items()}
    shares = {f"{prefix}{measure}": getattr(scores, measure) for prefix, scores in groups.items()}
    return {name: 100 * share for name, share in shares.items() if share is not None}
