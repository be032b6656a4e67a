"""`import tableturn`: the names that a program starts from."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import tableturn


def test_every_name_is_there() -> None:
    assert {"Answer", "Database", "SQLAgent", "Settings", "__version__"} <= set(tableturn.__all__)
    assert all(hasattr(tableturn, name) for name in tableturn.__all__)
    assert set(tableturn.__all__) <= set(dir(tableturn))


def test_it_is_the_same_as_its_home() -> None:
    from tableturn import Database, SQLAgent
    from tableturn.agent.sqlagent import SQLAgent as Same
    from tableturn.tools.database import Database as SameDatabase

    assert (SQLAgent, Database) == (Same, SameDatabase)


def test_the_version_has_one_place() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    assert tableturn.__version__ == version("tableturn") == project["version"]


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tableturn.nonsense


def test_importing_it_loads_nothing_else() -> None:
    code = (
        "import sys, tableturn\n"
        "print([name for name in sys.modules if name.startswith('tableturn.') or name in ('langgraph', 'pandas')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"
