"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow to generate, too: that says nothing of the code.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


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
