"""What every test may use."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.shared_trees import check_trees, note_queries
from tests.support.worker_coverage import measure_workers

# Advice that fails is left out of a turn: tests want to see it fail.
os.environ["TABLETURN_RAISE"] = "1"

os.environ["LC_ALL"] = "C.UTF-8"  # what the terminal says without a clue in the question

measure_workers()

# A busy machine is slow to generate, too: that says nothing of the code.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


LONG = frozenset(
    line
    for line in Path(__file__).with_name("long.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.partition("::")[0] in LONG:
            item.add_marker(pytest.mark.whole)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Long modules that would all be deselected are not even imported: that takes seconds in each process."""
    deselected = re.fullmatch(r"not \(.*\bwhole\b.*\)|not whole", config.option.markexpr)
    return True if deselected and collection_path.relative_to(config.rootpath).as_posix() in LONG else None


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Tests leave nothing in the folders of whoever runs them, and find nothing there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TABLETURN_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("TABLETURN_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def noted_queries() -> Generator[None]:
    """Tests know which statements were read."""
    with note_queries():
        yield


@pytest.fixture(autouse=True)
def shared_trees() -> Generator[None]:
    """A test fails if anything in it changed the tree that all readers of a statement share."""
    yield
    check_trees()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The benchmark data; tests that ask for it are marked `data`."""
    root = os.environ.get("TABLETURN_DATA")
    if not root:
        pytest.skip("TABLETURN_DATA is not set: this test reads benchmark data")
    path = Path(root)
    if not path.is_dir():
        pytest.skip(f"TABLETURN_DATA names no folder: {path}")
    return path
