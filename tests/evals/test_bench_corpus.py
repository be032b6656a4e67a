"""The benchmarks that need the attack corpus say so where there is no checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.bench import corpus
from tableturn.tools.sandbox import sandbox_available
from typer.testing import CliRunner


@pytest.mark.parametrize("name", ["fuzz", "sandbox"])
def test_an_installed_package_has_no_corpus(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "sandbox" and (problem := sandbox_available()):
        pytest.skip(problem)
    monkeypatch.setattr(corpus, "_FOLDER", tmp_path)
    run = CliRunner().invoke(app, ["bench", name, "--limit", "1"])
    assert run.exit_code == 2
    assert "checkout" in run.output
    assert run.output.count("\n") == 1
