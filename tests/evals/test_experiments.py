from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tableturn.agent import make_settings
from tableturn.evals.datasets import LAYOUTS
from tableturn.evals.experiments import Setup, experiment_names, measure, read_experiment
from tableturn.evals.metrics import Verdict
from tableturn.evals.runner import Listener, TurnRecord
from tableturn.evals.suite import build_suite
from tableturn.tools.errors import SettingsError

from .conftest import QUESTIONS

FIGURE = re.compile(r"((im|easy|medium|hard|extra|turn[1-5])_)?(ex|em|ts)|trs|crs")


@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_can_be_run(name: str) -> None:
    experiment = read_experiment(name)
    for row in experiment.rows:
        make_settings(row.settings, preset=row.preset)
        assert experiment.split in LAYOUTS[row.dataset or experiment.dataset].splits
        assert all(FIGURE.fullmatch(figure) and 0 <= value <= 100 for figure, value in row.paper.items())
    assert all(FIGURE.fullmatch(figure) for figure in experiment.shown)
    assert len({row.name for row in experiment.rows}) == len(experiment.rows)


@contextmanager
def listening(row: str, total: int) -> Generator[Listener]:
    def listener(record: TurnRecord, verdict: Verdict) -> None:
        assert total == 4

    yield listener


def test_an_experiment_measures_what_the_paper_reports(spider_root: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "drafts.sql"
    predictions.write_text("\n".join([*(sql for _, sql in QUESTIONS[:3]), "SELECT 0"]))
    original = spider_root / "spider" / "database" / "league" / "league.sqlite"
    build_suite(original, [sql for _, sql in QUESTIONS], tmp_path / "suites")
    setup = Setup(f"replay:{predictions}", None, None, spider_root, tmp_path / "suites", None, (), 2)
    rows = measure(read_experiment("revision-table-1"), setup, tmp_path / "out", listening)
    assert [row.name for row in rows] == ["revision chain", "zero-shot"]
    for row in rows:
        assert row.ours["ex"] == row.ours["em"] == row.ours["ts"] == 75.0
        assert row.ours["medium_ex"] == 0.0
    assert rows[0].paper == {"ex": 85.0, "ts": 83.2}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["revision-chain", "zero-shot"]


def test_an_unknown_experiment_says_what_there_is() -> None:
    with pytest.raises(SettingsError, match=r"no experiment is called 'table-9'; known: .*track-table-9"):
        read_experiment("table-9")


def test_a_row_that_cannot_be_run_does_not_end_the_others(spider_root: Path, tmp_path: Path) -> None:
    setup = Setup("offline", None, None, spider_root, None, None, (), 2)
    (spider_root / "spider-dk").mkdir()
    (spider_root / "spider" / "dev.json").rename(spider_root / "spider-dk" / "Spider-DK.json")
    rows = measure(read_experiment("revision-table-2"), setup, tmp_path / "out", listening)
    assert [bool(row.failed) for row in rows] == [True, True, False, False]
    assert "no dev.json" in rows[0].failed
    assert {"ex", "em", "trs", "crs"} <= set(rows[2].ours)
