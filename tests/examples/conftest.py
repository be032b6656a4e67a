"""Running the examples as a person does, in a folder of their own and in this process."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import pytest

from tests.agent import conftest as of_agents
from tests.serve import conftest as of_servers

own_folders, sample, shop = of_agents.own_folders, of_agents.sample, of_agents.shop
agent_over = of_servers.agent_over

EXAMPLES = Path(__file__).parents[2] / "examples"

RunsExample: TypeAlias = Callable[..., tuple[int, str]]


def example(name: str) -> ModuleType:
    """An example as a module."""
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def runs(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> RunsExample:
    """Runs an example as `python examples/NAME.py`; gives its exit code, and what it printed or why it ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABLETURN_DB", str(sample))

    def run(name: str, *arguments: str, given: Mapping[str, str] | None = None) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        for variable, value in (given or {}).items():
            monkeypatch.setenv(variable, value)
        code: object = 0
        try:
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        except SystemExit as ended:
            code = ended.code
        out = "".join(capfd.readouterr())
        return (code or 0, out) if isinstance(code, int | None) else (1, f"{out}{code}")

    return run
