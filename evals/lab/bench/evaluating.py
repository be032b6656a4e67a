"""Cost of evaluating: seconds to judge and to run a trial, and the power of test suites."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pandas import DataFrame

from ....tools.errors import SettingsError
from ....tools.sample import build_sample
from ...datasets import Dataset, load_dataset, read_predictions
from ...metrics.judging import OfficialJudge, Verdict
from ...trial import TrialOptions, run_trial
from ..suite import build_random_suite, build_suite
from .gold import group_golds
from .harness import Stopwatch
from .registry import BenchOptions, Figures, Measure

# The official script asks NLTK for sentence boundaries, for which NLTK wants a download; one query is one sentence.
_OFFICIAL = """
import functools, nltk, runpy, sys
nltk.word_tokenize = functools.partial(nltk.word_tokenize, preserve_line=True)
sys.path.insert(0, sys.argv[1])
script = sys.argv[1] + "/evaluation.py"
sys.argv = [script, *sys.argv[2:]]
runpy.run_path(script, run_name="__main__")
"""

_SUITE = 20
"""Databases a schema for TS."""


def measure_score_speed(options: BenchOptions) -> Figures:
    """Return the seconds that our judge takes, and with `--official DIR` the official tool.

    The latter needs nltk, sqlparse and tqdm. TS is judged over 20 databases a schema; the official tool does only that,
    ours tells EM and difficulty too.
    """
    spider = options.folder / "spider"
    predictions = options.folder / "predictions" / "spider_dev" / "dail_sql_gpt4.sql"
    with Stopwatch() as ours:
        dataset = load_dataset("spider", "dev", options.folder)
        found = read_predictions(predictions, dataset)
        verdicts = _judge_predictions(dataset, found)
    figures: Figures = {
        "n": len(verdicts),
        "ex": sum(verdict.ex is True for verdict in verdicts),
        "em": sum(verdict.em is True for verdict in verdicts),
        "ours_s": round(ours.seconds, 3),
    }
    if options.official is None:
        return figures
    compared: list[object] = ["--gold", spider / "dev_gold.sql", "--pred", predictions]
    tables = [*compared, "--db", spider / "database", "--table", spider / "tables.json", "--etype", "all"]
    official, _ = _run_official_evaluator(options.official, tables)
    figures |= {"official_s": round(official, 3), "ratio": round(ours.seconds / official, 3)}
    with tempfile.TemporaryDirectory() as folder:
        for name, queries in group_golds(dataset.questions).items():
            build_random_suite(dataset.find_file(name), queries, Path(folder), _SUITE)
        with Stopwatch() as ours:
            right = sum(verdict.ex is True for verdict in _judge_predictions(dataset.on(Path(folder)), found))
        official, output = _run_official_evaluator(options.official, [*compared, "--db", folder, "--etype", "exec"])
    shares = next(line.split() for line in output.splitlines() if line.startswith("execution "))
    return figures | {
        "ts": right,
        "ts_official_share": float(shares[-1]),
        "ts_ours_s": round(ours.seconds, 3),
        "ts_official_s": round(official, 3),
        "ts_ratio": round(ours.seconds / official, 3),
    }


def _judge_predictions(dataset: Dataset, found: Mapping[str, str]) -> Sequence[Verdict]:
    with OfficialJudge(dataset) as judge:
        return [judge.judge(question, found[question.id]) for question in dataset.questions]


def _run_official_evaluator(folder: Path, arguments: Sequence[object]) -> tuple[float, str]:
    """Run the official script; return its seconds and output."""
    command = [sys.executable, "-c", _OFFICIAL, str(folder.absolute()), *map(str, arguments)]
    with Stopwatch() as spent:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - named by the caller
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise SettingsError(f"the official script in {folder} failed: {last[0]}")
    return spent.seconds, done.stdout


def measure_trial(options: BenchOptions) -> Figures:
    """Return the questions, seconds and calls of a trial on the sample database."""
    questions = Path(__file__).parent / "data" / "trial_kestrel.yaml"
    with tempfile.TemporaryDirectory() as folder:
        database = build_sample(Path(folder) / "kestrel.sqlite")
        given = TrialOptions(str(database), questions, model="offline", jobs=1)
        found = run_trial(given, Path(folder) / "trial", lambda record, verdict: None)
    return {
        "questions": found["trial"]["questions"],
        "passed": found["trial"]["questions"] - len(found["failed"]),
        "pass_rate": round(found["pass_rate"], 4),
        "seconds": found["seconds"],
        "calls": found["cost"]["calls"],
        "failed": {failure["id"]: failure["why"] for failure in found["failed"]},
    }


def _read_schemas(options: BenchOptions) -> Iterator[tuple[Path, list[str], Path]]:
    """Yield up to `limit` schemas of Spider dev with their gold queries and a folder."""
    dataset = load_dataset("spider", "dev", options.folder)
    with tempfile.TemporaryDirectory() as folder:
        for name, queries in list(group_golds(dataset.questions).items())[: options.limit]:
            yield dataset.find_file(name), queries, Path(folder)


def _compute_suite_figures(table: DataFrame) -> Figures:
    """Return mutants of gold queries and those that suites kill, over all schemas."""
    shares = (table["killed"] / table["mutants"]).fillna(1.0).set_axis(table["database"])
    counts: dict[str, Any] = {name: table[name].sum() for name in ("golds", "databases", "mutants", "killed")}
    return {
        "schemas": len(table),
        **counts,
        "share": round(counts["killed"] / counts["mutants"], 4),
        "lowest": dict(shares.nsmallest(3).round(3)),
        "seconds": round(table["seconds"].sum(), 1),
    }


measure_suite = Measure(_read_schemas, lambda case: [asdict(build_suite(*case))], _compute_suite_figures)
