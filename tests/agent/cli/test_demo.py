"""The demo: what a newcomer sees first."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent.cli.demo import TURNS, run_demo
from tableturn.tools.sample import build_sample


def test_every_turn_is_answered_without_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert run_demo(tmp_path / "kestrel.sqlite") == 0
    said = capsys.readouterr().out
    assert all(turn in said for turn in TURNS)
    assert said.count("SELECT") >= len(TURNS) >= 5


def test_the_sample_is_the_same_everywhere(tmp_path: Path) -> None:
    dumps = []
    for name in ("a", "b"):
        with closing(sqlite3.connect(build_sample(tmp_path / name / "kestrel.sqlite"))) as connection:
            dumps.append(list(connection.iterdump()))
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert dumps[0] == dumps[1]
    assert sum(line.startswith("INSERT") for line in dumps[0]) > 40_000


def test_an_interrupted_build_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kestrel.sqlite"
    path.write_text("before")
    monkeypatch.setattr("tableturn.tools.sample.build.REVIEWS", "not a number")
    with pytest.raises(TypeError):
        build_sample(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
