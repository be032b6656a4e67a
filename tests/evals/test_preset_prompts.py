"""What each paper's preset says to its model, as snapshots named by the section that they follow."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tableturn.evals.experiments.measure import Experiment, ExperimentRow

from .rows import CONVERSATIONS, requests_of

THIRD = CONVERSATIONS[0].index("Only those in France")

FEW = {
    "credit": {"examples": "random", "n_voted": 2},
    "craft": {"k_question": 2},
    "track": {},
    "revision": {"k_question_skeleton": 1, "k_simplified_skeleton": 1},
}
"""Two demonstrations show the form as well as all; clustering may differ between machines in the last digit."""

SECTIONS = {
    ("credit", "rephrase"): "CREDIT-SQL 3.1 and appendix A",
    ("credit", "generate"): "CREDIT-SQL 3.4 and appendix C",
    ("craft", "reason"): "SQL-CRAFT 2 (program of thought) and A.4.1",
    ("craft", "revise"): "SQL-CRAFT 2 (IC-Loop) and algorithm 1",
    ("track", "generate"): "Track-SQL 2.4 and B.4",
    ("revision", "simplify"): "Revision chain 3.1.1",
    ("revision", "generate"): "Revision chain 3.1.3",
    ("revision", "explain"): "Revision chain 3.2.1 (2)",
    ("revision", "revise"): "Revision chain 3.2.1 and 3.2.2",
}


@pytest.mark.parametrize(("preset", "task"), SECTIONS)
def test_a_preset_asks_as_its_paper_does(preset: str, task: str, snapshot: SnapshotAssertion) -> None:
    row = ExperimentRow(name=preset, preset=preset, settings=FEW[preset], paper={})
    dialogues = preset in ("credit", "track")
    experiment = Experiment(title=preset, dataset="cosql" if dialogues else "spider", rows=(row,))
    request = next(one for one in requests_of(row, experiment)[THIRD] if one.task == task)
    said = f"[temperature {request.temperature}]\n[system]\n{request.system}\n\n[user]\n{request.user}"
    assert said == snapshot(name=SECTIONS[preset, task])


def test_every_request_of_the_presets_is_pinned() -> None:
    for preset in FEW:
        row = ExperimentRow(name=preset, preset=preset, settings=FEW[preset], paper={})
        experiment = Experiment(title=preset, dataset="spider", rows=(row,))
        tasks = {one.task for turn in requests_of(row, experiment) for one in turn}
        assert tasks == {task for of, task in SECTIONS if of == preset}
