"""Seconds to judge the 1,034 DAIL-SQL predictions by EX and EM, ours and, where it is given, the official script's."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...tools.errors import SettingsError
from ..datasets import Dataset, load_dataset
from ..metrics import OfficialJudge, Verdict, read_predictions
from ..suite import build_random_suite
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


def run(options: BenchOptions) -> dict[str, object]:
    """`ours_s`; with `--official DIR` also `official_s`, the ratio, and the same for TS over 20 databases a schema.

    Needs nltk, sqlparse and tqdm for the latter.
    """
    data = options.folder
    predictions = data / "predictions" / "spider_dev" / "dail_sql_gpt4.sql"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    dataset = load_dataset("spider", "dev", data)
    found = read_predictions(predictions, dataset)
    verdicts = _judged(dataset, found)
    ours = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    figures: dict[str, object] = {
        "n": len(verdicts),
        "ex": sum(verdict.ex is True for verdict in verdicts),
        "em": sum(verdict.em is True for verdict in verdicts),
        "ours_s": round(ours, 3),
        "memory_grown_mb": round(grown / 1024, 1),
    }
    if options.official is not None:
        tables = ["--table", str(data / "spider" / "tables.json"), "--etype", "all"]
        official = _official_seconds(options.official, data, predictions, data / "spider" / "database", tables)[0]
        figures |= {"official_s": round(official, 3), "ratio": round(ours / official, 3)}
        figures |= _suite_figures(options.official, data, predictions, dataset, found)
    return figures


def _suite_figures(
    script: Path, data: Path, predictions: Path, dataset: Dataset, found: Mapping[str, str]
) -> dict[str, object]:
    """Judging by TS; the official tool does nothing but that, while ours tells EM and difficulty as well."""
    golds: dict[str, list[str]] = defaultdict(list)
    for question in dataset.questions:
        golds[question.database].append(question.golds[0])
    with tempfile.TemporaryDirectory() as folder:
        for name, queries in golds.items():
            build_random_suite(dataset.database(name), queries, Path(folder), _SUITE)
        start = time.perf_counter()
        right = sum(verdict.ex is True for verdict in _judged(dataset.on(Path(folder)), found))
        ours = time.perf_counter() - start
        official, output = _official_seconds(script, data, predictions, Path(folder), ["--etype", "exec"])
    shares = next(line.split() for line in output.splitlines() if line.startswith("execution "))
    return {
        "ts": right,
        "ts_official_share": float(shares[-1]),
        "ts_ours_s": round(ours, 3),
        "ts_official_s": round(official, 3),
        "ts_ratio": round(ours / official, 3),
    }


def _judged(dataset: Dataset, found: Mapping[str, str]) -> list[Verdict]:
    with OfficialJudge(dataset) as judge:
        return [judge.judge(question, found[question.id]) for question in dataset.questions]


def _official_seconds(
    script: Path, data: Path, predictions: Path, databases: Path, more: Sequence[str]
) -> tuple[float, str]:
    """How long the official script takes, and what it prints."""
    arguments = ["--gold", data / "spider" / "dev_gold.sql", "--pred", predictions, "--db", databases, *more]
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603  (the script is the caller's own, named on the command line)
        [sys.executable, "-c", _OFFICIAL, str(script.absolute()), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise SettingsError(f"the official script in {script} failed: {last[0]}")
    return time.perf_counter() - start, done.stdout
