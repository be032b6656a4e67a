"""The schema linker on SParC and CoSQL dev, with gold and with its own history (Track-SQL, tables 3 and 4).

With its own history, the turns before hold not gold SQL but what the linker itself found in them (every item of
probability 0.5 and over), from the first turn on; no translator takes part.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from ...tools.linking import SchemaLinker
from ...tools.linking.associations import shipped
from ...tools.linking.scoring import score
from ...tools.linking.vocabulary import Shares
from ..datasets import load_dataset
from ..training.fit_linker_scores import SHOWN, measure
from ..training.fit_linker_turns import Dialogue, LinkedTurn, gold_answers, linked_turns, own_answers, read_dialogues
from .registry import BenchOptions

_TIMED = 400


def run(options: BenchOptions) -> dict[str, object]:
    """TRS, CRS and recall by dataset and history, and milliseconds a question."""
    data = cast("Path", options.data)
    figures: dict[str, object] = {}
    dialogues: list[Dialogue] = []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("sparc", "cosql"):
            dialogues = read_dialogues(load_dataset(name, "dev", data).first(options.limit), Path(cache))
            for history, answers in (("gold", gold_answers), ("own", own_answers)):
                figures[f"{name}_{history}"] = _measured([answers(d, _found, shipped()) for d in dialogues])
        figures["ms"] = _milliseconds(dialogues)
    return figures


def _found(turn: LinkedTurn) -> tuple[Shares, Shares]:
    tables, columns, _ = score(turn.evidence, turn.database.shape)
    return tables, columns


def _measured(dialogues: Sequence[Dialogue]) -> dict[str, float]:
    turns = [turn for dialogue in dialogues for turn in linked_turns(dialogue, shipped())]
    found = [_found(turn) for turn in turns]
    return measure(turns, [tables for tables, _ in found], [columns for _, columns in found])


def _milliseconds(dialogues: Sequence[Dialogue]) -> float:
    """Mean processor time of a whole `link` with its history, without looking values up."""
    linkers = {dialogue.database: SchemaLinker(dialogue.database.names.schema) for dialogue in dialogues}
    asked = [
        (linkers[dialogue.database], question, dialogue.past(number))
        for dialogue in dialogues
        for number, question in enumerate(dialogue.questions)
    ][:_TIMED]
    start = time.process_time()
    for linker, question, history in asked:
        linker.link(question.text, history, question.values, threshold=SHOWN)
    return round(1000 * (time.process_time() - start) / len(asked), 2)
