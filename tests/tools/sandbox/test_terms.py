"""Limits that are none are refused where they are written down."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tableturn.tools.errors import SettingsError
from tableturn.tools.sandbox import SandboxLimits


@pytest.mark.parametrize(
    "limit",
    [
        {"seconds": 0}, {"seconds": -1}, {"seconds": math.inf}, {"seconds": math.nan}, {"seconds": 1e12},
        {"seconds": "10"}, {"memory_bytes": 2**70}, {"memory_bytes": -1}, {"memory_bytes": 1e9}, {"rows": -1},
        {"output_chars": -1}, {"frame_rows": 0}, {"input_bytes": -1}, {"result_bytes": 0}, {"boundary": "none"},
    ],
    ids=str,
)  # fmt: skip
def test_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="sandbox"):
        SandboxLimits(**limit)


def test_allowed() -> None:
    limits = SandboxLimits(seconds=0.1, memory_bytes=2**50, rows=0, output_chars=0, input_bytes=0)
    assert (limits.seconds, limits.memory_bytes, limits.rows) == (0.1, 2**50, 0)
