"""The README's code runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tableturn.tools.sample import build_sample

README = Path(__file__).parent.parent / "README.md"


def test_the_library_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    build_sample(tmp_path / "build" / "kestrel.sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABLETURN_CACHE", str(tmp_path / "cache"))
    exec(compile(code, "README.md", "exec"), {})
    assert "GROUP BY" in capsys.readouterr().out


def test_every_page_it_names_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    assert all((README.parent / link).exists() for link in links if "://" not in link)
