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

from ...agent import Settings
from ...agent.nodes.reason import runs_code
from ...tools.errors import DatabaseUnavailable, ModelError, SettingsError, TableturnError
from ...tools.examples.store import ENOUGH_SHARED
from ...tools.sandbox import default_limits, sandbox_available
from ..datasets import Dataset, Question, load_dataset
from ..metrics.judging import ClauseJudge
from ..official import OfficialDatabases
from ..runner import Listener, RunSpec, run_evaluation
from ..runner.model import REPLAY, is_replay
from ..runner.results import run_results, write_results
from ..runner.run import run_settings
from .experiment import Experiment, How, Needs, Row
from .figures import Answered, voted_by_em


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
    """Count imported pairs, those that CREDIT-SQL could show (rephrased, with a whole schema), and simplified ones."""
    from ...tools.examples import open_existing

    with open_existing(place, embedding) as store:
        imported = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    rephrased = sum(bool(example.rephrased and example.database_schema) for example in imported)
    return len(imported), rephrased, sum(bool(example.simplified) for example in imported)


Listen: TypeAlias = Callable[[str, int], AbstractContextManager[Listener]]
"""Given a row's name and its number of questions, what is told about each question while the row runs."""


_NO_ROOM = re.compile(r"The prompt has no room for .*\bexample")


_SEEDS_APART = 20
"""How far the seeds of two repeats are apart: as many sets as CREDIT-SQL votes over. So all rows of one repeat choose
among the same sets (figure 4), and no two repeats share one."""


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
        annotator: The model that describes schemas; None for that of the row.
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
    annotator: str | None = None

    @property
    def replayed(self) -> bool:
        """Whether recorded predictions stand for a model's replies."""
        return is_replay(self.model)

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
    measuring = _Measuring(experiment, setup, out, listen)
    measured: list[Measured] = []
    errors: list[TableturnError] = []
    for row in experiment.rows:
        try:
            measured.append(measuring.measure(row))
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


class _Measuring:
    """The rows of an experiment, measured one after the other; see `measure`."""

    def __init__(self, experiment: Experiment, setup: Setup, out: Path, listen: Listen) -> None:
        self._experiment = experiment
        self._setup = setup
        self._out = out
        self._listen = listen
        self._done: dict[str, list[list[Answered]]] = {}

    def measure(self, row: Row) -> Measured:
        """Return the row's figures over the answers of each repeat."""
        if row.not_run:
            raise NotRun(row.not_run)
        if row.other_model and row.name not in self._setup.models:
            raise NotRun(f"it is of {row.other_model}: --model-for '{row.name}=MODEL' runs it")
        if row.combine is None:
            repeats = self._done[row.name] = self._run_row(row)
        elif row.combine.of in self._done:
            repeats = [runs[: row.combine.first] for runs in self._done[row.combine.of]]
        else:
            raise NotRun(f"the row {row.combine.of!r} was not run")
        found = [self._combine(runs, row.combine.how if row.combine else "mean") for runs in repeats]
        first = repeats[0][0]
        records = [record for runs in repeats for run in runs for record, _ in run.answered]
        return Measured(
            row.name,
            row.paper,
            _over(found, fmean),
            deviations=_over(found, stdev) if len(found) > 1 else {},
            runs=len(found) * len(repeats[0]),
            questions=len(first.asked.questions),
            dataset=f"{first.asked.name} {first.asked.split}",
            parts=first.parts() if self._experiment.chart == "box" else (),
            predictions={record.id: record.sql for record, _ in first.answered} if row.combine is None else {},
            replayed=is_replay(self._setup.model_of(row)),
            short=sum(any(map(_NO_ROOM.match, record.notes)) for record in records),
        )

    def _combine(self, runs: Sequence[Answered], how: How) -> Mapping[str, float]:
        """Return the figures of one repeat."""
        runs = [voted_by_em(runs)] if how == "vote" else runs
        found = [run.figures(self._setup.suites, self._experiment.shown) for run in runs]
        return _over(found, {"mean": fmean, "min": min, "max": max, "vote": fmean}[how])

    def _run_row(self, row: Row) -> list[list[Answered]]:
        """Run each repeat: one run, or one per seed.

        Raises:
            NotRun: What the row is run on is missing.
        """
        setup, levels = self._setup, self._experiment.levels
        name = row.dataset or self._experiment.dataset
        try:
            dataset = load_dataset(name, setup.split or self._experiment.split, setup.data)
            left = dataset.without(setup.without)
            asked = _draw(left, levels, setup.limit) if levels else left.first(setup.limit)
            for database in dict.fromkeys(question.database for question in asked.questions):
                dataset.place(database)
        except (SettingsError, DatabaseUnavailable) as error:
            raise NotRun(str(error)) from None
        model = setup.model_of(row)
        needs = "nothing" if is_replay(model) or row.changes == ("program",) else self._experiment.needs
        if reason := lacking(needs, setup.examples, setup.embedding):
            raise NotRun(reason)
        spec = RunSpec(
            dataset=dataset.name,
            split=dataset.split,
            model=_find_model(model, name),
            preset=row.preset,
            settings=row.settings,
            limit=setup.limit if asked == left.first(setup.limit) else None,
            without=setup.without,
            examples=setup.examples,
            base_url=setup.base_url,
            baseline=row.baseline,
            embedding=setup.embedding,
            annotator=setup.annotator,
        )
        if reason := _lacking_sandbox(run_settings(spec, dataset)):
            raise NotRun(reason)
        folder = self._out / re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-")
        repeats: list[list[Answered]] = []
        for repeat in range(setup.repeats):
            repeats.append([])
            for seed in range(repeat * _SEEDS_APART, repeat * _SEEDS_APART + row.seeds):
                seeded = replace(spec, settings={**row.settings, "example_seed": seed}) if seed else spec
                out = folder / f"seed-{seed}" if setup.repeats > 1 or row.seeds > 1 else folder
                with self._listen(row.name, len(asked.questions)) as listener:
                    answered = run_evaluation(
                        seeded, dataset, out, jobs=setup.jobs, listener=listener, asked=asked, annotations=self._out
                    )
                if unasked := [record for record, _ in answered if not record.asked]:
                    told = f"{len(unasked)} of {len(answered)} questions could not be asked ({unasked[0].text})"
                    raise ModelError(told)
                results = run_results(seeded, asked, answered, 0.0)
                write_results(results, out)
                repeats[-1].append(Answered(asked, answered, results["linking"]))
        return repeats


def _draw(dataset: Dataset, levels: Mapping[str, int], limit: int | None) -> Dataset:
    with OfficialDatabases(dataset.database) as databases:
        return drawn_by_level(dataset, ClauseJudge(dataset, databases).hardness, levels, limit)


def _lacking_sandbox(settings: Settings) -> str:
    """Return why code cannot be run that a row's settings have run; empty if it can, or none is."""
    if not runs_code(settings):
        return ""
    try:
        return sandbox_available(default_limits().boundary) or ""
    except SettingsError as error:
        return str(error)


def _find_model(model: str | None, dataset: str) -> str | None:
    """Return the model; of a folder of recorded predictions, those for the dataset."""
    folder = Path(model.removeprefix(REPLAY)) if model and is_replay(model) else None
    if folder is None or not folder.is_dir():
        return model
    found = next((path for path in sorted(folder.iterdir()) if path.stem == dataset), None)
    if found is None:
        raise NotRun(f"{folder} holds no predictions for {dataset}")
    return f"{REPLAY}{found}"


def _over(runs: Sequence[Mapping[str, float]], take: Callable[[list[float]], float]) -> dict[str, float]:
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: take([run[name] for run in runs]) for name in names}
