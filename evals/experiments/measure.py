"""Running an experiment, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import TypeAlias

from ...tools.errors import DatabaseUnavailable, ModelError, SettingsError, TableturnError
from ...tools.examples import Example
from ...tools.examples.store import ENOUGH_SHARED
from ..datasets import Dataset, Question, load_dataset
from ..metrics.judging import ClauseJudge
from ..official import OfficialDatabases
from ..runner import Listener, RunSpec, TurnRecord, run_evaluation
from ..runner.model import REPLAY
from ..runner.results import run_results, write_results
from .experiment import Experiment, How, Needs, Row
from .figures import Answered, figures_of, voted_by_em


def drawn_by_level(
    dataset: Dataset, level_of: Callable[[Question], str], levels: Mapping[str, int], limit: int | None = None
) -> Dataset:
    """Questions drawn at random, the same ones each time, in their published order.

    Args:
        dataset: Of single questions.
        level_of: A question's level.
        levels: How many of each level; fewer where there are fewer.
        limit: Draws so many instead, as near to the shares of `levels` as whole questions allow.
    """
    pools: dict[str, list[Question]] = {level: [] for level in levels}
    for question in dataset.questions:
        pools.get(level_of(question), []).append(question)
    counts = levels if limit is None else _scaled(levels, limit)
    chance = Random(0)  # noqa: S311 - a sample, not a secret
    drawn = {
        question.id for level, pool in pools.items() for question in chance.sample(pool, min(counts[level], len(pool)))
    }
    return replace(dataset, questions=tuple(question for question in dataset.questions if question.id in drawn))


def _scaled(levels: Mapping[str, int], total: int) -> dict[str, int]:
    """The same shares of another total; what is left after rounding down goes to the largest remainders."""
    whole = sum(levels.values())
    counts = {level: total * count // whole for level, count in levels.items()}
    by_remainder = sorted(levels, key=lambda level: -(total * levels[level] % whole))
    return counts | {level: counts[level] + 1 for level in by_remainder[: total - sum(counts.values())]}


ENOUGH = 0.9
"""The share of the pairs that have to be rephrased or simplified: a model fails at a few of any training set."""

_MAKES = {
    "pairs": "`tableturn examples import TRAIN.json --databases DIR --whole-schemas --store STORE`",
    "rephrased": "`tableturn examples rephrase STORE --model ...`",
    "simplified": "`tableturn examples simplify STORE --model ...`",
}


def lacking(needs: Needs, place: str | None, embedding: str) -> str:
    """What a store lacks for an experiment, and which command makes it; empty where it lacks nothing.

    Raises:
        ExampleStoreError: The store cannot be opened, or was made with another embedding.
        SettingsError: There is no such embedding.
    """
    if needs == "nothing":
        return ""
    if place is None:
        return f"it needs an example store of a training set (--examples): {_MAKES['pairs']} makes one"
    pairs, rephrased, simplified = _counts(place, embedding)
    if not pairs:
        return f"the example store {place} holds no imported pairs: {_MAKES['pairs']} adds them"
    if pairs < ENOUGH_SHARED:
        return (
            f"the {pairs} imported pairs of the example store {place} are too few to choose from, so that built-in "
            f"ones would be shown with them: it takes {ENOUGH_SHARED}, which {_MAKES['pairs']} adds"
        )
    had = {"pairs": pairs, "rephrased": rephrased, "simplified": simplified}[needs]
    if had < ENOUGH * pairs:
        return f"of the {pairs} pairs of the example store {place} {had} are {needs}: {_MAKES[needs]} goes on"
    return ""


@lru_cache(maxsize=8)
def _counts(place: str, embedding: str) -> tuple[int, int, int]:
    from ...tools.examples import open_existing

    with open_existing(place, embedding) as store:
        imported = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    rephrased = sum(map(_is_demonstration, imported))
    return len(imported), rephrased, sum(bool(example.simplified) for example in imported)


def _is_demonstration(example: Example) -> bool:
    """Whether CREDIT-SQL could show it: rephrased, with its whole schema."""
    return bool(example.rephrased and example.database_schema)


Listen: TypeAlias = Callable[[str, int], AbstractContextManager[Listener]]
"""Given a row's name and its number of questions, what is told about each question while the row runs."""


_NO_ROOM = re.compile(r"The prompt has no room for .*\bexample")


class NotRun(TableturnError):
    """Nothing of an experiment can be run, as what it runs on is not there.

    What to do: download the data, or build the example store, that the message names.
    """


@dataclass(frozen=True)
class Setup:
    """What an experiment is run with, besides itself.

    Attributes:
        model: As `tableturn eval --model`; None chooses by the environment. `replay:` takes a folder too, with a file
            of predictions named like each dataset (`spider.sql`, `sparc.json`).
        base_url: Of an OpenAI-compatible server.
        examples: An example store; None for the built-in examples.
        data: The folder of benchmark data.
        suites: A folder of test suites, without which TS is not measured.
        limit: Only the first so many interactions.
        without: Databases left out.
        jobs: Interactions at once.
        embedding: Of the store.
        split: Instead of the experiment's own.
        repeats: How often each row is run, each time with other seeds.
        models: Of rows that have another one, by the row's name.
    """

    model: str | None
    base_url: str | None
    examples: str | None
    data: Path | None
    suites: Path | None
    limit: int | None
    without: tuple[str, ...]
    jobs: int
    embedding: str = "hashed"
    split: str | None = None
    repeats: int = 1
    models: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def replayed(self) -> bool:
        """Whether recorded predictions stand for a model's replies."""
        return _is_replay(self.model)

    def model_of(self, row: Row) -> str | None:
        """The model that a row is run with; a combined row's is that of the row that it is made of."""
        return self.models.get(row.combine.of if row.combine else row.name, self.model)


@dataclass(frozen=True)
class Measured:
    """A row's figures in percent, the paper's and ours by name; a missing one is not reported, or not measured.

    Attributes:
        ours: Means, where there are several runs.
        failed: Why the row cannot be run here: its data, its model or an extra is missing; empty where it was.
        deviations: Standard deviations between repeats, by figure; empty for one.
        runs: How many runs it is of.
        questions: How many were asked.
        dataset: What they are of.
        parts: Official EX of ten equal parts, in percent (SQL-CRAFT A.2); empty for fewer than ten questions.
        predictions: What was answered, by question id, in the first run.
        replayed: Whether recorded predictions stood for the model's replies.
        short: How many questions' prompts had no room for all their examples, over all runs.
    """

    name: str
    paper: dict[str, float]
    ours: dict[str, float]
    failed: str = ""
    deviations: dict[str, float] = field(default_factory=dict[str, float])
    runs: int = 0
    questions: int = 0
    dataset: str = ""
    parts: tuple[float, ...] = ()
    predictions: dict[str, str] = field(default_factory=dict[str, str])
    replayed: bool = False
    short: int = 0


def measure(experiment: Experiment, setup: Setup, out: Path, listen: Listen) -> list[Measured]:
    """Runs every row in a folder of its own, so that the whole is resumed like a run, and judges as the papers did.

    Args:
        experiment: What to run.
        setup: What with.
        out: Folder of the rows' folders.
        listen: Whom to tell how each row is going.

    Raises:
        NotRun: What every row is run on is missing.
        TableturnError: No row can be run.
    """
    measured: list[Measured] = []
    errors: list[TableturnError] = []
    done: dict[str, list[Answered]] = {}
    for row in experiment.rows:
        try:
            runs = _runs(row, experiment, setup, out, listen, done)
            measured.append(_measured(row, experiment, setup, runs))
        except TableturnError as error:
            errors.append(error)
            measured.append(Measured(row.name, row.paper, {}, str(error)))
    if len(errors) == len(measured):
        raise next((error for error in errors if not isinstance(error, NotRun)), errors[0])
    return measured


def plumbing_only(rows: Sequence[Measured]) -> bool:
    """Whether rows of one dataset all share one prediction a question, so that their figures tell nothing apart."""
    by_dataset: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if row.predictions:
            by_dataset.setdefault(row.dataset, []).append(row.predictions)
    several = [found for found in by_dataset.values() if len(found) > 1]
    return bool(several) and all(one == found[0] for found in several for one in found)


def _runs(
    row: Row, experiment: Experiment, setup: Setup, out: Path, listen: Listen, done: dict[str, list[Answered]]
) -> list[list[Answered]]:
    """The answers of each repeat: of one run, or of one a seed."""
    if row.not_run:
        raise NotRun(row.not_run)
    if row.combine is not None:
        whole = done.get(row.combine.of)
        if whole is None:
            raise NotRun(f"the row {row.combine.of!r} was not run")
        seeds = len(whole) // setup.repeats
        return [whole[start : start + row.combine.first] for start in range(0, len(whole), seeds)]
    ready = _ready(row, experiment, setup)
    repeats: list[list[Answered]] = []
    for repeat in range(setup.repeats):
        seeds = [repeat * row.seeds + number for number in range(row.seeds)]
        repeats.append([_run(row, ready, setup, out, listen, seed) for seed in seeds])
    done[row.name] = [run for runs in repeats for run in runs]
    return repeats


@dataclass(frozen=True)
class _Ready:
    """What a row is run on: its dataset, whole, the part of it that is asked, and its model."""

    dataset: Dataset
    asked: Dataset
    model: str | None


def _ready(row: Row, experiment: Experiment, setup: Setup) -> _Ready:
    """See `_Ready`.

    Raises:
        NotRun: What it is run on is missing.
    """
    name, split = row.dataset or experiment.dataset, setup.split or experiment.split
    try:
        dataset = load_dataset(name, split, setup.data)
        asked = _asked(dataset.without(setup.without), experiment, setup.limit)
        for database in dict.fromkeys(question.database for question in asked.questions):
            dataset.place(database)
    except (SettingsError, DatabaseUnavailable) as error:
        raise NotRun(str(error)) from None
    model = setup.model_of(row)
    needs = "nothing" if _is_replay(model) or row.changes == ("program",) else experiment.needs
    if reason := lacking(needs, setup.examples, setup.embedding):
        raise NotRun(reason)
    return _Ready(dataset, asked, _model(model, name))


def _asked(dataset: Dataset, experiment: Experiment, limit: int | None) -> Dataset:
    if not experiment.levels:
        return dataset.first(limit)
    with OfficialDatabases(dataset.database) as databases:
        judge = ClauseJudge(dataset, databases)
        return drawn_by_level(dataset, judge.hardness, experiment.levels, limit)


def _is_replay(model: str | None) -> bool:
    return model is not None and model.startswith(REPLAY)


def _model(model: str | None, dataset: str) -> str | None:
    """The model; of a folder of recorded predictions, those for the dataset."""
    if model is None or not _is_replay(model):
        return model
    folder = Path(model.removeprefix(REPLAY))
    if not folder.is_dir():
        return model
    found = next((path for path in sorted(folder.iterdir()) if path.stem == dataset), None)
    if found is None:
        raise NotRun(f"{folder} holds no predictions for {dataset}")
    return f"{REPLAY}{found}"


def _run(row: Row, ready: _Ready, setup: Setup, out: Path, listen: Listen, seed: int) -> Answered:
    dataset, asked = ready.dataset, ready.asked
    first = dataset.without(setup.without).first(setup.limit)
    spec = RunSpec(
        dataset=dataset.name,
        split=dataset.split,
        model=ready.model,
        preset=row.preset,
        settings={**row.settings, **({"example_seed": seed} if seed else {})},
        limit=setup.limit if asked == first else None,
        without=setup.without,
        examples=setup.examples,
        base_url=setup.base_url,
        baseline=row.baseline,
        embedding=setup.embedding,
    )
    folder = out / re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-")
    if setup.repeats > 1 or row.seeds > 1:
        folder = folder / f"seed-{seed}"
    with listen(row.name, len(asked.questions)) as listener:
        answered = run_evaluation(spec, dataset, folder, jobs=setup.jobs, listener=listener, asked=asked)
    if left := [record for record, _ in answered if not record.asked]:
        raise ModelError(f"{len(left)} of {len(answered)} questions could not be asked ({left[0].text})")
    results = run_results(spec, asked, answered, 0.0)
    write_results(results, folder)
    return Answered(asked, answered, results)


def _measured(row: Row, experiment: Experiment, setup: Setup, repeats: Sequence[Sequence[Answered]]) -> Measured:
    how: How = row.combine.how if row.combine else "mean"
    found = [_combined(runs, how, setup.suites, experiment.shown) for runs in repeats]
    first = repeats[0][0]
    return Measured(
        row.name,
        row.paper,
        _over(found, fmean),
        deviations=_over(found, stdev) if len(found) > 1 else {},
        runs=len(found) * len(repeats[0]),
        questions=len(first.asked.questions),
        dataset=f"{first.asked.name} {first.asked.split}",
        parts=first.parts() if experiment.chart == "box" else (),
        predictions={record.id: record.sql for record, _ in first.answered} if row.combine is None else {},
        replayed=_is_replay(setup.model_of(row)),
        short=sum(_is_short(record) for runs in repeats for run in runs for record, _ in run.answered),
    )


def _is_short(record: TurnRecord) -> bool:
    """Whether a prompt had to leave out examples, as the answer's notes tell."""
    return any(_NO_ROOM.match(note) for note in record.notes)


def _combined(runs: Sequence[Answered], how: How, suites: Path | None, shown: Sequence[str]) -> Mapping[str, float]:
    """The figures of one repeat."""
    if how == "vote":
        return figures_of(voted_by_em(runs), suites, shown)
    found = [run.figures(suites, shown) for run in runs]
    return _over(found, {"mean": fmean, "min": min, "max": max}[how])


def _over(runs: Sequence[Mapping[str, float]], take: Callable[[list[float]], float]) -> dict[str, float]:
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: take([run[name] for run in runs]) for name in names}
