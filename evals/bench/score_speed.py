"""Seconds to judge the 1,034 DAIL-SQL predictions by EX and EM, ours and, where it is given, the official script's."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

from ...tools.errors import SettingsError
from ..datasets import load_dataset
from ..metrics import OfficialJudge, read_predictions
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


def run(options: BenchOptions) -> dict[str, object]:
    """`ours_s`; with `--official DIR` also `official_s` and the ratio. Needs nltk, sqlparse and tqdm for the latter."""
    data = cast("Path", options.data)
    predictions = data / "predictions" / "spider_dev" / "dail_sql_gpt4.sql"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    dataset = load_dataset("spider", "dev", data)
    found = read_predictions(predictions, dataset)
    with OfficialJudge(dataset) as judge:
        verdicts = [judge.judge(question, found[question.id]) for question in dataset.questions]
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
        official = _official_seconds(options.official, data, predictions)
        figures |= {"official_s": round(official, 3), "ratio": round(ours / official, 3)}
    return figures


def _official_seconds(script: Path, data: Path, predictions: Path) -> float:
    spider = data / "spider"
    arguments = ["--gold", spider / "dev_gold.sql", "--pred", predictions, "--db", spider / "database"]
    arguments += ["--table", spider / "tables.json", "--etype", "all"]
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
    return time.perf_counter() - start
