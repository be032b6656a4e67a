"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
