"""The schema linker on SParC and CoSQL dev, whole and with a part taken away (Track-SQL, tables 2 to 9).

Nothing here needs a model: what the parts do to EX is measured by `tableturn experiment track-table-2` and so on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....tools.linking import STAR, LinkedSchema, PastTurn, SchemaLinker
from ....tools.linking.associations import shipped
from ....tools.linking.evidence import Names
from ....tools.linking.scoring import score
from ....tools.linking.vocabulary import Shares
from ...datasets import Dataset, load_dataset
from ..training.fit_linker_turns import (
    WINDOW,
    Asked,
    Dialogue,
    LinkedTurn,
    gold_answers,
    linked_turn,
    linked_turns,
    measure,
    own_answers,
    read_dialogues,
)
from .measure import Figures, Measure, merge_figures
from .registry import BenchOptions

Given = Callable[[Asked, list[PastTurn]], tuple[Asked, list[PastTurn]]]
"""Takes something away from what the linker is given of a turn."""

_TAKEN: Mapping[str, Given] = {
    "whole": lambda asked, past: (asked, past),
    "without_values": lambda asked, past: (replace(asked, values=()), past),
    "without_history": lambda asked, past: (asked, []),
    "without_earlier_sql": lambda asked, past: (asked, [replace(turn, sql="") for turn in past]),
    "without_earlier_questions": lambda asked, past: (asked, [replace(turn, question="") for turn in past]),
}


def _read(options: BenchOptions) -> Iterator[tuple[Dataset, list[Dialogue]]]:
    with tempfile.TemporaryDirectory() as cache:
        for name in ("sparc", "cosql"):
            dataset = load_dataset(name, "dev", options.folder).first(options.limit)
            yield dataset, read_dialogues(dataset, Path(cache))


def _link_with_histories(case: tuple[Dataset, list[Dialogue]]) -> Figures:
    """Return TRS, CRS and recall by history.

    With its own history, the turns before hold not gold SQL but what the linker itself found in them (every item of
    probability 0.5 and over), from the first turn on; no translator takes part.
    """
    dataset, dialogues = case
    figures: Figures = {}
    for history, answer in (("gold", gold_answers), ("own", own_answers)):
        answered = [answer(dialogue, _find, shipped()) for dialogue in dialogues]
        turns = [turn for dialogue in answered for turn in linked_turns(dialogue, shipped())]
        figures[f"{dataset.name}_{history}"] = _measure(turns, [_find(turn) for turn in turns])
    return figures


def _find(turn: LinkedTurn) -> tuple[Shares, Shares]:
    return score(turn.evidence, turn.database.shape)[:2]


def _measure(turns: Sequence[LinkedTurn], found: Sequence[tuple[Shares, Shares]]) -> dict[str, float]:
    return measure(turns, [tables for tables, _ in found], [columns for _, columns in found])


def _take_parts_away(case: tuple[Dataset, list[Dialogue]]) -> Figures:
    """Return scores of the shipped linker, nothing fitted anew, with a part taken away from what it is given."""
    dataset, dialogues = case
    scores = {name: _link(dialogues, given) for name, given in _TAKEN.items()}
    return {dataset.name: {**scores, "without_keys": _link(dialogues, _TAKEN["whole"], keys=False)}}


def _link(dialogues: Sequence[Dialogue], given: Given, *, keys: bool = True) -> dict[str, float]:
    """Return the scores of all turns whose gold SQL can be read, linked one after another."""
    linkers: dict[str, SchemaLinker] = {}
    turns: list[LinkedTurn] = []
    found: list[tuple[Shares, Shares]] = []
    for dialogue in dialogues:
        schema = dialogue.database.names.schema
        if schema.name not in linkers:
            linkers[schema.name] = SchemaLinker(schema if keys else replace(schema, foreign_keys=()))
        history: list[PastTurn] = []
        for number, asked in enumerate(dialogue.questions):
            shown, before = given(asked, history[-WINDOW:])
            linked = linkers[schema.name].link(shown.text, before, shown.values)
            items = tuple((item.table, item.column, item.p) for item in linked.items)
            history.append(PastTurn(asked.text, sql=asked.gold, items=items))
            turn = linked_turn(dialogue, number, shipped())
            if turn.tables.any():
                turns.append(turn)
                found.append(_shares(linked, dialogue.database.names))
    return _measure(turns, found)


def _shares(linked: LinkedSchema, names: Names) -> tuple[Shares, Shares]:
    """Return probabilities of tables and columns, in schema order."""
    tables, columns = np.zeros(len(names.table_number)), np.zeros(len(names.columns))
    for item in linked.items:
        if item.column is None:
            tables[names.table_number[item.table]] = item.p
        elif item.column != STAR:
            columns[names.column_number[item.table, item.column]] = item.p
    return tables, columns


MEASURES: Mapping[str, Measure[Any, Any]] = {
    "linking": Measure(_read, _link_with_histories, merge_figures),
    "linking-ablations": Measure(_read, _take_parts_away, merge_figures),
}
