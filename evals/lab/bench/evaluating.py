"""What evaluating takes: seconds to judge predictions, ours and the official tool's, and a trial of thirty."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from ....tools.errors import SettingsError
from ....tools.sample import build_sample
from ...datasets import Dataset, load_dataset
from ...metrics import OfficialJudge, Verdict, read_predictions
from ...trial import TrialOptions, run_trial
from ..suite import build_random_suite
from .measure import Figures, Whole
from .registry import BenchOptions

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


def _measure_judging(options: BenchOptions) -> Figures:
    """Return `ours_s`; with `--official DIR` also `official_s`, their ratio, and the same for TS.

    Needs nltk, sqlparse and tqdm for the latter.
    """
    start = time.perf_counter()
    dataset = load_dataset("spider", "dev", options.folder)
    found = read_predictions(_find_predictions(options), dataset)
    verdicts = _judge(dataset, found)
    ours = time.perf_counter() - start
    figures: Figures = {
        "n": len(verdicts),
        "ex": sum(verdict.ex is True for verdict in verdicts),
        "em": sum(verdict.em is True for verdict in verdicts),
        "ours_s": round(ours, 3),
    }
    if options.official is None:
        return figures
    spider = options.folder / "spider"
    official, _ = _run_official(options, spider / "database", "--table", spider / "tables.json", "--etype", "all")
    figures |= {"official_s": round(official, 3), "ratio": round(ours / official, 3)}
    return figures | _time_suite(options, dataset, found)


def _find_predictions(options: BenchOptions) -> Path:
    return options.folder / "predictions" / "spider_dev" / "dail_sql_gpt4.sql"


def _run_official(options: BenchOptions, databases: Path, *more: object) -> tuple[float, str]:
    """Return how long the official script takes, and what it prints."""
    assert options.official is not None
    gold, predictions = options.folder / "spider" / "dev_gold.sql", _find_predictions(options)
    arguments = [options.official.absolute(), "--gold", gold, "--pred", predictions, "--db", databases, *more]
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603  (the script is the caller's own, named on the command line)
        [sys.executable, "-c", _OFFICIAL, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise SettingsError(f"the official script in {options.official} failed: {last[0]}")
    return time.perf_counter() - start, done.stdout


def _time_suite(options: BenchOptions, dataset: Dataset, found: Mapping[str, str]) -> Figures:
    """Judge by TS over 20 databases a schema; the official tool does only that, ours tells EM and difficulty too."""
    golds: dict[str, list[str]] = defaultdict(list)
    for question in dataset.questions:
        golds[question.database].append(question.golds[0])
    with tempfile.TemporaryDirectory() as folder:
        for name, queries in golds.items():
            build_random_suite(dataset.database(name), queries, Path(folder), _SUITE)
        start = time.perf_counter()
        right = sum(verdict.ex is True for verdict in _judge(dataset.on(Path(folder)), found))
        ours = time.perf_counter() - start
        official, output = _run_official(options, Path(folder), "--etype", "exec")
    shares = next(line.split() for line in output.splitlines() if line.startswith("execution "))
    return {
        "ts": right,
        "ts_official_share": float(shares[-1]),
        "ts_ours_s": round(ours, 3),
        "ts_official_s": round(official, 3),
        "ts_ratio": round(ours / official, 3),
    }


def _judge(dataset: Dataset, found: Mapping[str, str]) -> Sequence[Verdict]:
    with OfficialJudge(dataset) as judge:
        return [judge.judge(question, found[question.id]) for question in dataset.questions]


def _measure_trial(options: BenchOptions) -> Figures:
    """Return questions, seconds and calls of a trial that is held for the first time."""
    packed = files("tableturn.evals.trial") / "data" / "kestrel.yaml"
    with tempfile.TemporaryDirectory() as folder, as_file(packed) as questions:
        database = build_sample(Path(folder) / "kestrel.sqlite")
        given = TrialOptions(str(database), questions, model="offline", jobs=1)
        found = run_trial(given, Path(folder) / "trial", lambda record, verdict: None)
    return {
        "questions": found["questions"],
        "passed": sum(question["share"] == 1 for question in found["by_question"]),
        "pass_rate": round(found["pass_rate"], 4),
        "seconds": found["seconds"],
        "calls": found["cost"]["calls"],
        "failed": {failure["id"]: failure["why"] for failure in found["failed"]},
    }


MEASURES: Mapping[str, Whole] = {"score-speed": Whole(_measure_judging), "trial": Whole(_measure_trial)}
