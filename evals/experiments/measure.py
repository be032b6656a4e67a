"""Experiments: a TOML file per table or figure of a paper, run row by row and compared."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ...agent import make_settings
from ...agent.settings import uses_code_result
from ...tools.errors import DatabaseUnavailable, ModelError, SettingsError, TableturnError
from ...tools.examples import ENOUGH_SHARED, open_existing
from ...tools.sandbox import find_sandbox_problem, get_default_sandbox_limits
from ..datasets import Dataset, GoldTurn, load_dataset
from ..metrics.judging import ClauseJudge, Verdict, make_official_judge
from ..metrics.summary import score_linking, summarize
from ..official.exact_match import Clause
from ..runner.record import REPLAY, RunSpec, is_replay_model
from ..runner.results import JudgedAnswer, RunResults, write_results
from ..runner.run import Listener, make_run_settings, run_evaluation

Needs = Literal["nothing", "pairs", "rephrased", "simplified"]
"""What an experiment's example store has to hold: pairs of a training set, all of them rephrased, or all simplified."""


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunCombination(_FrozenModel):
    """A combination of another row's runs with different seeds (CREDIT-SQL figure 4)."""

    of: str  # the row with `seeds`
    first: int = Field(ge=1)  # how many of its runs
    # By their figures, or by the prediction that most of them agree on by EM.
    how: Literal["mean", "min", "max", "vote"]


class ExperimentRow(_FrozenModel):
    """A row of an experiment: a run, and the figures that the paper reports for it.

    Figures are named by `ex`, `em`, `ts`, or `valid` for the share of queries that run; before it `im_` for
    interactions, `easy_` and so on for a level, `turn1_` and so on for a turn (`turn5_` for all from the fifth on),
    `attempt2_ex` for EX had the second attempt been the last. `trs` and `crs` are Track-SQL's redundancy scores at 0.5,
    `crs_all` over all tables; `em_ex`, `em_only`, `ex_only` and `neither` the shares of questions right by both, by one
    alone or by none, `miss_select` and so on the share of EM's errors in that clause (CREDIT-SQL figure 7), `share`
    that of a cause among all errors (SQL-CRAFT table 3). `table_weighted_p`, `column_macro_f1` and so on are precision,
    recall and F1 of the linker (Track-SQL tables 10 and 11); `link_seconds` and `generate_seconds` what a question
    took, `link_total_seconds` all of them, `link_13_columns_seconds` on databases of about so many columns.
    """

    name: str
    preset: str = "full"
    baseline: str | None = None
    settings: dict[str, Any] = {}
    dataset: str | None = None  # if not the experiment's own
    paper: dict[str, float]  # in percent; `..._seconds`, `..._hours` and `..._gb` in those
    not_run: str = ""  # why nothing is run for it here: it takes a training of the paper's
    other_model: str = ""  # the paper's model of this row, if not the experiment's: `--model-for` must name one
    base: str | None = None  # the row that it is compared with; none for the method itself
    changes: tuple[str, ...] = ()  # all that its requests differ in from those of `base` (tests/evals/rows.py)
    seeds: int = Field(default=1, ge=1)  # so many runs, with one `example_seed` after the other; figures are means
    combine: RunCombination | None = None


class Experiment(_FrozenModel):
    """An experiment that repeats a table or figure of a paper."""

    title: str
    dataset: str
    needs: Needs = "nothing"
    levels: dict[str, int] = {}  # questions of each level of difficulty that the paper drew; all if it drew none
    parts: bool = False  # whether EX of ten equal parts is compared between the first two rows (SQL-CRAFT A.2)
    model: str = ""  # what the paper ran
    figures: tuple[str, ...] = ()  # what is printed; by default what the paper reports
    rows: tuple[ExperimentRow, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the figures to print."""
        return self.figures or tuple(dict.fromkeys(name for row in self.rows for name in row.paper)) or ("ex", "em")

    def parse_row_models(self, texts: Sequence[str]) -> dict[str, str]:
        """Parse `ROW=MODEL` texts; return the models by row name."""
        names = [row.name for row in self.rows if row.combine is None and not row.not_run]
        models: dict[str, str] = {}
        for text in texts:
            row, _, model = text.rpartition("=")  # a row's name may hold `=` itself
            if row not in names or not model:
                row_names = ", ".join(map(repr, names))
                raise SettingsError(f"--model-for takes ROW=MODEL, not {text!r}; rows that are run: {row_names}")
            models[row] = model
        return models


_DATA = files("tableturn.evals.experiments") / "data"


def list_experiment_names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(entry.name.removesuffix(".toml") for entry in _DATA.iterdir() if entry.name.endswith(".toml"))


def read_experiment(name: str) -> Experiment:
    """Read an experiment by name from its TOML file."""
    if name not in list_experiment_names():
        raise SettingsError(f"unknown experiment {name!r}; known: {', '.join(list_experiment_names())}")
    return Experiment(**tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8")))


class NotRun(TableturnError):
    """The experiment or row cannot be run because its data or model is missing.

    What to do: download the data, or build the example store, that the message names.
    """


def sample_by_difficulty(
    dataset: Dataset, get_level: Callable[[GoldTurn], str], levels: Mapping[str, int], limit: int | None
) -> Dataset:
    """Return a fixed random sample of questions, with `levels` of each level of difficulty.

    With a limit, so many are drawn, as near to the shares of `levels` as whole questions allow.
    """
    counts, total = dict(levels), sum(levels.values())
    if limit is not None:
        counts = {level: limit * count // total for level, count in levels.items()}
        by_remainder = sorted(levels, key=lambda level: -(limit * levels[level] % total))
        for level in by_remainder[: limit - sum(counts.values())]:
            counts[level] += 1
    chance = Random(0)  # noqa: S311 - a sample, not a secret
    pools: dict[str, list[GoldTurn]] = defaultdict(list)
    for question in dataset.questions:
        pools[get_level(question)].append(question)
    ids = {turn.id for level, n in counts.items() for turn in chance.sample(pools[level], min(n, len(pools[level])))}
    return replace(dataset, questions=tuple(question for question in dataset.questions if question.id in ids))


ENOUGH = 0.9
"""The share of the pairs that have to be rephrased or simplified: a model fails at a few of any training set."""

_MAKES = {
    "pairs": "`tableturn examples import TRAIN.json --databases DIR --whole-schemas --store STORE`",
    "rephrased": "`tableturn examples rephrase STORE --model ...`",
    "simplified": "`tableturn examples simplify STORE --model ...`",
}


@lru_cache(maxsize=8)  # each row asks
def explain_missing_examples(needs: Needs, place: str | None, embedding: str) -> str:
    """Return what an example store lacks for an experiment, with the remedy, or ''."""
    if needs == "nothing":
        return ""
    if place is None:
        return f"it needs an example store of a training set: make one with {_MAKES['pairs']}, and pass --examples"
    with open_existing(place, embedding) as store:
        pairs = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    if len(pairs) < ENOUGH_SHARED:
        return (
            f"the {len(pairs)} imported pairs of the example store {place} are too few to choose from, and "
            f"built-in ones would be shown with them: {ENOUGH_SHARED} are needed; {_MAKES['pairs']} adds them"
        )
    if needs == "simplified":
        usable = [pair for pair in pairs if pair.simplified]
    else:
        # CREDIT-SQL shows a rephrased question with its whole schema.
        usable = [pair for pair in pairs if needs == "pairs" or (pair.rephrased and pair.database_schema)]
    if len(usable) >= ENOUGH * len(pairs):
        return ""
    return f"only {len(usable)} of {len(pairs)} pairs of the example store {place} are {needs}: run {_MAKES[needs]}"


_COLUMNS = (13, 21, 30, 47, 57, 67, 83)  # how many columns the databases of Track-SQL's table 15 have


def _judge_queries(run: RunResults, dataset: Dataset, queries: Iterable[str]) -> list[Verdict]:
    with make_official_judge(dataset) as judge:
        return list(map(judge.judge, run.dataset.questions, queries))


def _collect_figures(run: RunResults, suites: Path | None, names: Sequence[str]) -> dict[str, float]:
    """Return EX and EM, TS if there are suites, and the further figures named in `names`."""
    ours = _score_groups(run.official)
    if suites is not None:
        scores = _score_groups(_judge_queries(run, run.dataset.on(suites), [record.sql for record, _ in run.answers]))
        ours |= {f"{name.removesuffix('ex')}ts": ex for name, ex in scores.items() if name.endswith("ex")}
    if any(name.startswith("attempt") for name in names):
        ours |= _compute_ex_by_attempt(run)
    if "em_ex" in names:
        ours |= _compute_clause_error_shares(run)
    ours |= {name: 100 * run.linking[name] for name in ("trs", "crs", "crs_all") if name in run.linking}
    if any(name.endswith("_f1") for name in names):
        # Track-SQL, tables 10 and 11.
        linking = score_linking([(gold, schema, record.linked) for gold, schema, record in run.find_linked_turns()])
        ours |= {name: 100 * value for name, value in linking.items()}
    return ours | (_compute_step_seconds(run) if any(name.endswith("_seconds") for name in names) else {})


def _compute_ex_by_attempt(run: RunResults) -> dict[str, float]:
    """Return EX as if the loop had ended after each attempt (revision chain, figure 3)."""
    drafts = [[attempt["sql"] for attempt in record.attempts] or [record.sql] for record, _ in run.answers]
    figures: dict[str, float] = {}
    for number in range(1, max(map(len, drafts), default=0) + 1):
        scores = _score_groups(_judge_queries(run, run.dataset, [queries[:number][-1] for queries in drafts]))
        figures |= {f"attempt{number}_ex": scores["ex"]} if "ex" in scores else {}
    return figures


def _compute_clause_error_shares(run: RunResults) -> dict[str, float]:
    """Return the agreement of EM and EX, and EM's errors by clause (CREDIT-SQL figure 7)."""
    outcomes = [(verdict.em, verdict.ex is True) for verdict in run.official if verdict.em is not None]
    names = {"em_ex": (True, True), "em_only": (True, False), "ex_only": (False, True), "neither": (False, False)}
    shares = {name: 100 * fmean(pair == kind for pair in outcomes) for name, kind in names.items()} if outcomes else {}
    with ClauseJudge(run.dataset) as judge:
        wrong = [judge.find_prediction_differences(row.question, row.sql) for row in run.official if row.em is False]
    for clause in get_args(Clause) if wrong else ():
        shares[f"miss_{clause.replace('/', '_').lower()}"] = 100 * fmean(clause in clauses for clauses in wrong)
    return shares


def _compute_step_seconds(run: RunResults) -> dict[str, float]:
    """Return the seconds for linking and generating per question and in total."""
    seconds: dict[str, float] = {}
    by_step: dict[str, list[float]] = defaultdict(list)
    for record, _ in run.answers:
        for step, usage in (record.usage_by_node or {}).items():
            by_step[step].append(usage["seconds"])
    for step in ("link", "generate"):
        if times := by_step[step]:
            seconds |= {f"{step}_seconds": fmean(times), f"{step}_total_seconds": sum(times)}
    by_columns: dict[int, list[float]] = defaultdict(list)
    for _, schema, record in run.find_linked_turns():
        if usage := (record.usage_by_node or {}).get("link"):
            nearest = min(_COLUMNS, key=lambda number: abs(number - schema.total_columns))
            by_columns[nearest].append(usage["seconds"])
    return seconds | {f"link_{number}_columns_seconds": fmean(times) for number, times in by_columns.items()}


def _score_groups(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return EX, EM and valid share over all questions, interactions, levels and turns."""
    summary = summarize(verdicts)
    groups = {"": summary.all, "im_": summary.interactions}
    groups |= {f"{level}_": scores for level, scores in summary.by_hardness.items()}
    groups |= {f"turn{5 if turn == '>4' else turn}_": scores for turn, scores in summary.by_turn.items()}
    shares = {
        f"{prefix}{measure}": getattr(scores, measure)
        for prefix, scores in groups.items()
        for measure in ("ex", "em", "valid")
    }
    return {name: 100 * share for name, share in shares.items() if share is not None}


def choose_majority_predictions(runs: Sequence[RunResults]) -> RunResults:
    """Return for each question the prediction that most runs agree on (CREDIT-SQL 5.2)."""
    dataset, answers = runs[0].dataset, list[JudgedAnswer]()
    with ClauseJudge(dataset) as judge:

        def is_same_prediction(answer: JudgedAnswer, other_answer: JudgedAnswer) -> bool:
            sql = answer[0].sql
            is_match = judge.is_exact_match(replace(answer[1].question, golds=(sql,)), other_answer[0].sql)
            return sql == other_answer[0].sql or is_match is True

        for turns in zip(*(run.answers for run in runs), strict=True):
            groups: list[list[JudgedAnswer]] = []
            for turn in turns:
                group = next((group for group in groups if is_same_prediction(group[0], turn)), None)
                if group is None:
                    groups.append(group := [])
                group.append(turn)
            record, verdict = max(groups, key=len)[0]
            # Neither linked items nor times are part of a vote.
            answers.append((replace(record, linked=(), usage_by_node=None), verdict))
    return RunResults(dataset, answers)


Listen: TypeAlias = Callable[[str, int], AbstractContextManager[Listener]]
"""Given a row's name and its number of questions, what is told about each question while the row runs."""


_SEED_STEP = 20
"""How far the seeds of two repeats are apart: as many sets as CREDIT-SQL votes over. So all rows of one repeat choose
among the same sets (figure 4), and no two repeats share one."""


@dataclass(frozen=True)
class ExperimentSetup:
    """The model, data and options that an experiment is run with."""

    # What holds for all rows. `replay:` takes a folder too, with a file of predictions named like each dataset
    # (`spider.sql`, `sparc.json`); a split is used instead of `dev`.
    options: RunSpec
    data: Path | None = None  # the folder of benchmark data
    suites: Path | None = None  # a folder of test suites, without which TS is not measured
    jobs: int = 4  # interactions at once
    repeats: int = 1  # how often each row is run, each time with other seeds
    models: Mapping[str, str] = field(default_factory=dict[str, str])  # of rows that have another one, by their names

    def get_row_model(self, row: ExperimentRow) -> str | None:
        """Return the model of a row, or of the row that it combines."""
        return self.models.get(row.combine.of if row.combine else row.name, self.options.model)


@dataclass(frozen=True)
class MeasuredRow:
    """The figures of an experiment's row in percent, the paper's and ours."""

    name: str
    paper: dict[str, float]
    ours: dict[str, float]  # means, if there are several runs
    failed: str = ""  # why the row cannot be run here: its data, its model or an extra is missing
    deviations: dict[str, float] = field(default_factory=dict[str, float])  # standard ones between repeats, by figure
    runs: int = 0  # how many it is of
    questions: int = 0  # how many were asked
    dataset: str = ""  # dataset and split of the questions
    parts: tuple[float, ...] = ()  # official EX of ten equal parts, where the experiment compares them
    predictions: dict[str, str] = field(default_factory=dict[str, str])  # of the first run, by question id
    replayed: bool = False  # whether recorded predictions stood for the model's replies
    short: int = 0  # how many questions' prompts had no room for all their examples, over all runs


def measure(experiment: Experiment, setup: ExperimentSetup, out: Path, listen: Listen) -> list[MeasuredRow]:
    """Run every row of an experiment in a resumable folder, and score it as the paper does."""
    results: dict[str, list[list[RunResults]]] = {}
    figures: list[MeasuredRow] = []
    errors: list[TableturnError] = []
    for row in experiment.rows:
        try:
            if row.not_run:
                raise NotRun(row.not_run)
            if row.other_model and row.name not in setup.models:
                raise NotRun(f"it needs the model {row.other_model}: pass --model-for '{row.name}=MODEL'")
            if row.combine is None:
                results[row.name] = _run_row(row, experiment, setup, out, listen)
            elif row.combine.of not in results:
                raise NotRun(f"the row {row.combine.of!r} was not run")
            figures.append(_compute_measured_row(row, results, experiment, setup))
        except TableturnError as error:
            errors.append(error)
            figures.append(MeasuredRow(row.name, row.paper, {}, str(error)))
    if len(errors) == len(figures):
        raise next((error for error in errors if not isinstance(error, NotRun)), errors[0])
    return figures


def _run_row(
    row: ExperimentRow, experiment: Experiment, setup: ExperimentSetup, out: Path, listen: Listen
) -> list[list[RunResults]]:
    """Run each repeat of a row, once per seed; return the results by repeat."""
    name, options, model = row.dataset or experiment.dataset, setup.options, setup.get_row_model(row)
    try:
        dataset = load_dataset(name, options.split or "dev", setup.data)
        questions = dataset.without(options.without)
        sample = questions.head(options.limit)
        if experiment.levels:
            with ClauseJudge(questions) as judge:
                sample = sample_by_difficulty(questions, judge.get_hardness, experiment.levels, options.limit)
        for database in {question.database for question in sample.questions}:
            dataset.locate(database)
    except (SettingsError, DatabaseUnavailable) as error:
        raise NotRun(str(error)) from None
    if not is_replay_model(model) and row.changes != ("program",):
        if reason := explain_missing_examples(experiment.needs, options.examples, options.embedding):
            raise NotRun(reason)
    elif model and is_replay_model(model) and (folder := Path(model.removeprefix(REPLAY))).is_dir():
        predictions = next((path for path in sorted(folder.iterdir()) if path.stem == name), None)
        if predictions is None:
            raise NotRun(f"{folder} has no predictions for {name}")
        model = f"{REPLAY}{predictions}"
    spec = replace(
        options,
        dataset=dataset.name, split=dataset.split, model=model, preset=row.preset, settings=row.settings,
        limit=None if experiment.levels else options.limit, baseline=row.baseline,
    )  # fmt: skip
    if uses_code_result(make_run_settings(spec, dataset)):
        try:
            reason = find_sandbox_problem(get_default_sandbox_limits().boundary)
        except SettingsError as error:
            reason = str(error)
        if reason:
            raise NotRun(reason)
    folder = out / re.sub(r"[^a-z0-9]+", "-", row.name.lower()).strip("-")
    repeats: list[list[RunResults]] = []
    for first_seed in range(0, setup.repeats * _SEED_STEP, _SEED_STEP):
        repeats.append([])
        for seed in range(first_seed, first_seed + row.seeds):
            run_spec = replace(spec, settings={**row.settings, "example_seed": seed}) if seed else spec
            place = folder / f"seed-{seed}" if setup.repeats > 1 or row.seeds > 1 else folder
            with listen(row.name, len(sample.questions)) as listener:
                answers = run_evaluation(
                    run_spec, dataset, place, jobs=setup.jobs, listener=listener, part=sample, annotations=out
                )
            if missing := [record for record, _ in answers if not record.was_asked]:
                raise ModelError(f"{len(missing)} of {len(answers)} questions could not be asked ({missing[0].text})")
            repeats[-1].append(results := RunResults(sample, answers))
            write_results(results.as_json(run_spec), place)
    return repeats


_NO_ROOM = re.compile(r"The prompt has no room for .*\bexample")


def _compute_measured_row(
    row: ExperimentRow, results: Mapping[str, list[list[RunResults]]], experiment: Experiment, setup: ExperimentSetup
) -> MeasuredRow:
    """Return a row's figures over its own runs, or over those of the row that it combines."""
    combine, mode = row.combine, row.combine.how if row.combine else "mean"
    repeats = [runs[: combine.first] for runs in results[combine.of]] if combine else results[row.name]
    take = {"min": min, "max": max}.get(mode, fmean)
    scores: list[dict[str, float]] = []
    for runs in repeats:
        group = [choose_majority_predictions(runs)] if mode == "vote" else runs
        scores.append(_merge_figures([_collect_figures(run, setup.suites, experiment.measures) for run in group], take))
    first_run = repeats[0][0]
    notes = [record.notes for runs in repeats for run in runs for record, _ in run.answers]
    # The official EX of each tenth of the questions, in order (SQL-CRAFT A.2).
    right = np.array([verdict.ex is True for verdict in first_run.official] if experiment.parts else [])
    tenths = np.array_split(right, 10) if len(right) >= 10 else ()
    return MeasuredRow(
        row.name,
        row.paper,
        _merge_figures(scores, fmean),
        deviations=_merge_figures(scores, stdev) if len(scores) > 1 else {},
        runs=len(scores) * len(repeats[0]),
        questions=len(first_run.dataset.questions),
        dataset=f"{first_run.dataset.name} {first_run.dataset.split}",
        parts=tuple(100 * float(tenth.mean()) for tenth in tenths),
        predictions={} if combine else {record.id: record.sql for record, _ in first_run.answers},
        replayed=is_replay_model(setup.get_row_model(row)),
        short=sum(any(map(_NO_ROOM.match, texts)) for texts in notes),
    )


def _merge_figures(runs: Sequence[Mapping[str, float]], combine: Callable[[list[float]], float]) -> dict[str, float]:
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: combine([run[name] for run in runs]) for name in names}


def list_remarks(experiment: Experiment, setup: ExperimentSetup, rows: Sequence[MeasuredRow]) -> list[str]:
    """Return remarks for reading the figures: differences from the paper, and limits."""
    run_rows, options = [row for row in rows if row.runs], setup.options
    replays = [row for row in run_rows if row.replayed]
    paper = f"The paper ran {experiment.model}; here" if experiment.model else "Here"
    remarks = [f"{paper}: {options.model or 'offline'}."]
    remarks += [f"{row}: {model}." for row, model in setup.models.items()]
    if options.annotator:
        remarks.append(f"Schemas described by {options.annotator}.")
    elif any(
        setup.get_row_model(row) == "offline" or is_replay_model(setup.get_row_model(row))
        for row in experiment.rows
        if make_settings(row.settings, preset=row.preset).annotate
    ):
        remarks.append("Schemas are not described: pass --annotator MODEL to describe them.")
    if experiment.levels:
        remarks.append("Questions are drawn with the paper's shares of the levels of difficulty.")
    if experiment.needs != "nothing" and options.examples is not None and len(replays) < len(run_rows):
        remarks.append(f"Examples from {options.examples}, found by the embedding {options.embedding}.")
    repeats = setup.repeats if setup.repeats > 1 else None
    option_values = {"limit": options.limit, "without": ", ".join(options.without), "repeats": repeats}
    remarks += [f"With --{name} {value}." for name, value in option_values.items() if value]
    for row in run_rows:
        if row.short:
            total = row.runs * row.questions
            remarks.append(f"{row.name}: {row.short} of {total} questions had no room for all their examples.")
    if replays:
        remarks.append("Replayed: recorded predictions stand for the model's replies.")
        predictions = [(row.dataset, sorted(row.predictions.items())) for row in run_rows if row.predictions]
        copies = [item for index, item in enumerate(predictions) if item in predictions[:index]]
        if copies and len(predictions) - len(copies) == len({dataset for dataset, _ in predictions}):
            remarks.append("All rows share their predictions, so EX, EM and TS do not compare them.")
    divided_rows = [row for row in run_rows if row.parts]
    if len(divided_rows) > 1:
        # SQL-CRAFT A.2, between the first two rows.
        from scipy.stats import mannwhitneyu

        p = float(mannwhitneyu(divided_rows[0].parts, divided_rows[1].parts, alternative="two-sided").pvalue)
        remarks.append(f"Mann-Whitney U test between {divided_rows[0].name} and {divided_rows[1].name}: p = {p:.4f}.")
    return remarks


def format_row_name(row: MeasuredRow) -> str:
    """Return a row's name, and whether it was replayed or not run."""
    return f"{row.name}{' (replayed)' if row.replayed else ''}{f' (not run: {row.failed})' if row.failed else ''}"


def format_figure_comparison(row: MeasuredRow, figure: str) -> str:
    """Format the paper's number, right-aligned, beside ours."""
    form = ".4g" if figure.endswith("_seconds") else ".1f"
    paper = format_reported_number(row.paper[figure]) if figure in row.paper else "-"
    own_figure = format(row.ours[figure], form) if figure in row.ours else "-"
    spread = f" ± {row.deviations[figure]:{form}}" if figure in row.deviations else ""
    return f"{paper:>6} / {own_figure}{spread}"


def format_reported_number(percent: float) -> str:
    """Format a number from a paper with as many decimals as reported, at least one."""
    return max(f"{percent:.1f}", f"{percent:g}", key=len)
