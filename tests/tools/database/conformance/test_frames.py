"""Data frames that pandas code sees, of every engine: whole, or sampled evenly."""

from __future__ import annotations

import pytest
from tableturn.tools.database import Database
from tableturn.tools.sandbox import SandboxLimits, load_frames

from .tables import NUMBERS, UNHURRIED


@pytest.mark.parametrize(("rows", "held"), [(NUMBERS, NUMBERS), (100, 100)])
def test_a_table_is_loaded_whole_or_sampled_over_all_its_rows(database: Database, rows: int, held: int) -> None:
    loaded = load_frames("db_dict['numbers']", database, SandboxLimits(frame_rows=rows, seconds=UNHURRIED))
    frame = loaded.frames["numbers"]
    assert len(frame) == frame["n"].nunique() == held
    assert bool(loaded.sampled) == (rows < NUMBERS)
    assert frame["n"].max() > NUMBERS * 0.8
