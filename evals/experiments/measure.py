"""Running an experiment, row by row: its figures by the names that experiments use, in percent, or in seconds."""

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

import numpy as np

from ...agent.nodes.reason import runs_code
from ...tools.errors import DatabaseUnavailable, ModelError, SettingsError, TableturnError
from ...tools.examples import open_existing
from ...tools.examples.store import ENOUGH_SHARED
from ...tools.sandbox import default_limits, sandbox_available
from ..datasets import Dataset, Question, load_dataset
from ..metrics import Summary, Verdict, official_judge, summarize
from ..metrics.judging import ClauseJudge
from ..metrics.redundancy import classified
from ..official import OfficialDatabases
from ..runner import Listener, RunSpec, TurnRecord, run_evaluation
from ..runner.model import REPLAY, is_replay
from ..runner.results import Answered, run_results, with_schemas, write_results
from ..runner.run import run_settings
from .experiment import Experiment, Needs, Row


class NotRun(TableturnError):
    """Nothing of an experiment can be run, as what it runs on is not there.

    What to do: download the data, or build the example store, that the message names.
    """


def drawn_by_level(
    dataset: Dataset, level_of: Callable[[Question], str], levels: Mapping[str, int], limit: int | None = None
) -> Dataset:
    """Return questions drawn at random, the same ones each time, in their published order.

    Args:
        dataset: Of single questions.
        level_of: A question's level.
        levels: How many of each level; fewer if there are fewer.
        limit: Draws so many instead, as near to the shares of `levels` as whole questions allow.
    """
    counts, whole = dict(levels), sum(levels.values())
    if limit is not None:
        counts = {level: limit * count // whole for level, count in levels.items()}
        by_remainder = sorted(levels, key=lambda level: -(limit * levels[level] % whole))
        for level in by_remainder[: limit - sum(counts.values())]:
            counts[level] += 1
    chance = Random(0)  # noqa: S311 - a sample, not a secret
    levels_of = {question.id: level_of(question) for question in dataset.questions}
    drawn: set[str] = set()
    for level, count in counts.items():
        pool = [name for name, found in levels_of.items() if found == level]
        drawn.update(chance.sample(pool, min(count, len(pool))))
    return replace(dataset, questions=tuple(question for question in dataset.questions if question.id in drawn))


ENOUGH = 0.9
"""The share of the pairs that have to be rephrased or simplified: a model fails at a few of any training set."""

_MAKES = {
    "pairs": "`tableturn examples import TRAIN.json --databases DIR --whole-schemas --store STORE`",
    "rephrased": "`tableturn examples rephrase STORE --model ...`",
    "simplified": "`tableturn examples simplify STORE --model ...`",
}


def lacking(needs: Needs, place: str | None, embedding: str) -> str:
    """Return what a store lacks for an experiment, and which command makes it; empty if it lacks nothing.

    Raises:
        ExampleStoreError: The store cannot be opened, or was made with another embedding.
        SettingsError: There is no such embedding.
    """
    if needs == "nothing":
        return ""
    if place is None:
        return f"it needs an example store of a training set (--examples): {_MAKES['pairs']} makes one"
    had = _count_examples(place, embedding)
    if had["pairs"] < ENOUGH_SHARED:
        return (
            f"the {had['pairs']} imported pairs of the example store {place} are too few to choose from, so that "
            f"built-in ones would be shown with them: it takes {ENOUGH_SHARED}, which {_MAKES['pairs']} adds"
        )
    if had[needs] < ENOUGH * had["pairs"]:
        some = f"of the {had['pairs']} pairs of the example store {place} {had[needs]} are {needs}"
        return f"{some}: {_MAKES[needs]} goes on"
    return ""


@lru_cache(maxsize=8)
def _count_examples(place: str, embedding: str) -> dict[Needs, int]:
    """Count imported pairs, those that CREDIT-SQL could show (rephrased, with a whole schema), and simplified ones."""
    with open_existing(place, embedding) as store:
        imported = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    return {
        "pairs": len(imported),
        "rephrased": sum(bool(example.rephrased and example.database_schema) for example in imported),
        "simplified": sum(bool(example.simplified) for example in imported),
    }


PARTS = 10
"""The number of equal parts into which SQL-CRAFT A.2 divides its predictions."""

_COLUMNS = (13, 21, 30, 47, 57, 67, 83)
"""How many columns the databases of Track-SQL's table 15 have."""


@dataclass(frozen=True)
class RowRun:
    """One run of an experiment's row, or the vote of several.

    Attributes:
        asked: Its questions.
        answered: Records with strict verdicts, in their order.
        linking: The linker's redundancy scores; empty for a vote.
    """

    asked: Dataset
    answered: list[Answered]
    linking: Mapping[str, float]

    def figures(self, suites: Path | None, shown: Sequence[str]) -> dict[str, float]:
        """Return EX, EM and, with test suites, TS, officially judged, and what else is to be shown.

        Args:
            suites: A folder of test suites.
            shown: Names of figures; those that take work of their own are made only if they are among these.
        """
        verdicts = _judge(self.asked, self.answered)
        official = summarize(verdicts)
        ours = _by_group(official, "ex") | _by_group(official, "em") | _by_group(official, "valid")
        ours |= {name: 100 * value for name, value in official.measures.items()}
        if suites is not None:
            suite = _by_group(summarize(_judge(self.asked.on(suites), self.answered)), "ex")
            ours |= {re.sub(r"ex$", "ts", name): value for name, value in suite.items()}
        if any(name.startswith("attempt") for name in shown):
            ours |= _by_attempt(self)
        if "em_ex" in shown:
            ours |= _clause_errors(self, verdicts)
        ours |= {name: 100 * self.linking[name] for name in ("trs", "crs", "crs_all") if name in self.linking}
        if any(name.endswith("_f1") for name in shown):
            # Track-SQL, tables 10 and 11.
            linked = with_schemas(self.asked, self.answered)
            found = classified(
                [(verdict.question.golds[0], schema, record.linked) for record, verdict, schema in linked]
            )
            ours |= {name: 100 * value for name, value in found.items()}
        if any(name.endswith("_seconds") for name in shown):
            ours |= _seconds(self)
        return ours

    def parts(self) -> tuple[float, ...]:
        """Return the official EX of ten equal parts, in order; nothing for fewer than ten questions."""
        right = [verdict.ex is True for verdict in _judge(self.asked, self.answered)]
        return tuple(100 * float(part.mean()) for part in np.array_split(right, PARTS)) if len(right) >= PARTS else ()


def voted_by_em(runs: Sequence[RowRun]) -> RowRun:
    """Return for each question the prediction that most runs agree on by EM, the first of equals (CREDIT-SQL 5.2)."""
    first = runs[0]
    chosen: list[Answered] = []
    with OfficialDatabases(first.asked.database) as databases:
        judge = ClauseJudge(first.asked, databases)
        for turns in zip(*(run.answered for run in runs), strict=True):
            groups: list[list[Answered]] = []
            for record, verdict in turns:
                for group in groups:
                    like = replace(verdict.question, golds=(group[0][0].sql,))
                    if record.sql == like.golds[0] or judge.exact_match(like, record.sql):
                        group.append((record, verdict))
                        break
                else:
                    groups.append([(record, verdict)])
            record, verdict = max(groups, key=len)[0]
            # Neither linked items nor times are part of a vote.
            chosen.append((replace(record, linked=(), usage_by_node=None), verdict))
    return RowRun(first.asked, chosen, {})


def _judge(dataset: Dataset, answered: Sequence[Answered]) -> list[Verdict]:
    with official_judge(dataset, timings=1 if dataset.name == "bird" else 0) as judge:
        return [judge.judge(verdict.question, record.sql) for record, verdict in answered]


def _by_group(summary: Summary, measure: str) -> dict[str, float]:
    """Return one measure over everything, interactions, levels and turns, by the names that experiments use."""
    groups = {"": summary.all, "im_": summary.interactions}
    groups |= {f"{level}_": scores for level, scores in summary.by_hardness.items()}
    groups |= {f"turn{5 if turn == '>4' else turn}_": scores for turn, scores in summary.by_turn.items()}
    shares = {f"{prefix}{measure}": getattr(scores, measure) for prefix, scores in groups.items()}
    return {name: 100 * share for name, share in shares.items() if share is not None}


def _by_attempt(run: RowRun) -> dict[str, float]:
    """Return EX had the loop ended after so many attempts, or at its last (revision chain, figure 3)."""
    found: dict[str, float] = {}
    for number in range(1, max(1, *(len(record.attempts) for record, _ in run.answered)) + 1):
        cut = [
            (replace(record, sql=record.attempts[:number][-1]["sql"]) if record.attempts else record, verdict)
            for record, verdict in run.answered
        ]
        if (ex := summarize(_judge(run.asked, cut)).all.ex) is not None:
            found[f"attempt{number}_ex"] = 100 * ex
    return found


def _seconds(run: RowRun) -> dict[str, float]:
    """Return what linking and generating took per question and altogether; linking also by the database's columns.

    A database belongs to the nearest of the numbers of columns that Track-SQL's table 15 has.
    """
    found: dict[str, float] = {}
    for step in ("link", "generate"):
        if took := [one for record, _ in run.answered if (one := _step_seconds(record, step)) is not None]:
            found |= {f"{step}_seconds": fmean(took), f"{step}_total_seconds": sum(took)}
    by_columns: dict[int, list[float]] = {}
    for record, _, schema in with_schemas(run.asked, run.answered):
        if (one := _step_seconds(record, "link")) is not None:
            nearest = min(_COLUMNS, key=lambda number: abs(number - schema.total_columns))
            by_columns.setdefault(nearest, []).append(one)
    return found | {f"link_{number}_columns_seconds": fmean(took) for number, took in by_columns.items()}


def _step_seconds(record: TurnRecord, step: str) -> float | None:
    return (record.usage_by_node or {}).get(step, {}).get("seconds")


def _clause_errors(run: RowRun, verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the shares of EM against EX, and the shares of EM's errors by clause (CREDIT-SQL figure 7)."""
    known = [(verdict.em is True, verdict.ex is True) for verdict in verdicts if verdict.em is not None]
    names = {"em_ex": (True, True), "em_only": (True, False), "ex_only": (False, True), "neither": (False, False)}
    found = {name: 100 * fmean(pair == kind for pair in known) for name, kind in names.items()} if known else {}
    with OfficialDatabases(run.asked.database) as databases:
        judge = ClauseJudge(run.asked, databases)
        pairs = [(verdict.question, record.sql) for record, verdict in run.answered]
        differing = [judge.differing(*pair) for pair in pairs if judge.exact_match(*pair) is False]
    for clause in ("select", "where", "group", "order", "and/or", "IUEN", "keywords", "from") if differing else ():
        share = fmean(clause in clauses for clauses in differing)
        found[f"miss_{clause.replace('/', '_').lower()}"] = 100 * share
    return found


Listen: TypeAlias = Callable[[str, int], AbstractContextManager[Listener]]
"""Given a row's name and its number of questions, what is told about each question while the row runs."""


_SEEDS_APART = 20
"""How far the seeds of two repeats are apart: as many sets as CREDIT-SQL votes over. So all rows of one repeat choose
among the same sets (figure 4), and no two repeats share one."""


@dataclass(frozen=True)
class Setup:
    """What an experiment is run with, besides itself.

    Attributes:
        options: What holds for all rows. `replay:` takes a folder too, with a file of predictions named like each
            dataset (`spider.sql`, `sparc.json`); a split is used instead of the experiment's own.
        data: The folder of benchmark data.
        suites: A folder of test suites, without which TS is not measured.
        jobs: Interactions at once.
        repeats: How often each row is run, each time with other seeds.
        models: Models of rows that have another one, by the row's name.
    """

    options: RunSpec
    data: Path | None = None
    suites: Path | None = None
    jobs: int = 4
    repeats: int = 1
    models: Mapping[str, str] = field(default_factory=dict[str, str])

    def model_of(self, row: Row) -> str | None:
        """Return the model that a row is run with; a combined row's is that of the row that it is made of."""
        return self.models.get(row.combine.of if row.combine else row.name, self.options.model)


@dataclass(frozen=True)
class Measured:
    """A row's figures in percent, the paper's and ours by name; a missing one is not reported, or not measured.

    Attributes:
        ours: Means, if there are several runs.
        failed: Why the row cannot be run here: its data, its model or an extra is missing; empty if it was run.
        deviations: Standard deviations between repeats, by figure; empty for one.
        runs: How many runs it is of.
        questions: How many were asked.
        dataset: The dataset and split of the questions.
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
    """Run every row in a folder of its own, so that the whole is resumed like a run, and judge as the papers did.

    Args:
        experiment: What to run.
        setup: What to run it with.
        out: Folder of the rows' folders.
        listen: Whom to tell how each row is going.

    Raises:
        NotRun: What every row is run on is missing.
        TableturnError: No row can be run.
    """
    done: dict[str, list[list[RowRun]]] = {}
    measured: list[Measured] = []
    errors: list[TableturnError] = []
    for row in experiment.rows:
        try:
            if row.not_run:
                raise NotRun(row.not_run)
            if row.other_model and row.name not in setup.models:
                raise NotRun(f"it is of {row.other_model}: --model-for '{row.name}=MODEL' runs it")
            if row.combine is None:
                done[row.name] = _run_row(row, experiment, setup, out, listen)
            elif row.combine.of not in done:
                raise NotRun(f"the row {row.combine.of!r} was not run")
            measured.append(_measure_row(row, done, experiment, setup))
        except TableturnError as error:
            errors.append(error)
            measured.append(Measured(row.name, row.paper, {}, str(error)))
    if len(errors) == len(measured):
        raise next((error for error in errors if not isinstance(error, NotRun)), errors[0])
    return measured


def _run_row(row: Row, experiment: Experiment, setup: Setup, out: Path, listen: Listen) -> list[list[RowRun]]:
    """Run each repeat of a row: one run, or one per seed.

    Raises:
        NotRun: What the row is run on is missing.
    """
    name, options = row.dataset or experiment.dataset, setup.options
    try:
        dataset = load_dataset(name, options.split or experiment.split, setup.data)
        left = dataset.without(options.without)
        asked = left.first(options.limit)
        if experiment.levels:
            with OfficialDatabases(left.database) as databases:
                asked = drawn_by_level(left, ClauseJudge(left, databases).hardness, experiment.levels, options.limit)
        for database in {question.database for question in asked.questions}:
            dataset.place(database)
    except (SettingsError, DatabaseUnavailable) as error:
        raise NotRun(str(error)) from None
    model = setup.model_of(row)
    if not is_replay(model) and row.changes != ("program",):
        if reason := lacking(experiment.needs, options.examples, options.embedding):
            raise NotRun(reason)
    elif model and is_replay(model) and (folder := Path(model.removeprefix(REPLAY))).is_dir():
        predictions = next((path for path in sorted(folder.iterdir()) if path.stem == name), None)
        if predictions is None:
            raise NotRun(f"{folder} holds no predictions for {name}")
        model = f"{REPLAY}{predictions}"
    spec = replace(
        options,
        dataset=dataset.name,
        split=dataset.split,
        model=model,
        preset=row.preset,
        settings=row.settings,
        limit=None if experiment.levels else options.limit,
        baseline=row.baseline,
    )
    if runs_code(run_settings(spec, dataset)):
        try:
            reason = sandbox_available(default_limits().boundary)
        except SettingsError as error:
            reason = str(error)
        if reason:
            raise NotRun(reason)
    folder = out / re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-")
    repeats: list[list[RowRun]] = []
    for repeat in range(setup.repeats):
        repeats.append([])
        for seed in range(repeat * _SEEDS_APART, repeat * _SEEDS_APART + row.seeds):
            seeded = replace(spec, settings={**row.settings, "example_seed": seed}) if seed else spec
            place = folder / f"seed-{seed}" if setup.repeats > 1 or row.seeds > 1 else folder
            with listen(row.name, len(asked.questions)) as listener:
                answered = run_evaluation(
                    seeded, dataset, place, jobs=setup.jobs, listener=listener, asked=asked, annotations=out
                )
            if unasked := [record for record, _ in answered if not record.asked]:
                told = f"{len(unasked)} of {len(answered)} questions could not be asked ({unasked[0].text})"
                raise ModelError(told)
            results = run_results(seeded, asked, answered, 0.0)
            write_results(results, place)
            repeats[-1].append(RowRun(asked, answered, results["linking"]))
    return repeats


_NO_ROOM = re.compile(r"The prompt has no room for .*\bexample")


def _measure_row(row: Row, done: Mapping[str, list[list[RowRun]]], experiment: Experiment, setup: Setup) -> Measured:
    """Return a row's figures over its own runs, or over those of the row that it combines."""
    combine = row.combine
    repeats = [runs[: combine.first] for runs in done[combine.of]] if combine else done[row.name]
    take = {"min": min, "max": max}.get(combine.how if combine else "", fmean)
    found: list[dict[str, float]] = []
    for runs in repeats:
        counted = [voted_by_em(runs)] if combine and combine.how == "vote" else runs
        found.append(_over([run.figures(setup.suites, experiment.shown) for run in counted], take))
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
        parts=first.parts() if experiment.chart == "box" else (),
        predictions={} if combine else {record.id: record.sql for record, _ in first.answered},
        replayed=is_replay(setup.model_of(row)),
        short=sum(any(map(_NO_ROOM.match, record.notes)) for record in records),
    )


def _over(runs: Sequence[Mapping[str, float]], take: Callable[[list[float]], float]) -> dict[str, float]:
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: take([run[name] for run in runs]) for name in names}
