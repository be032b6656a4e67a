"""What each part of linking is worth on SParC and CoSQL dev, as far as no model is needed (Track-SQL, tables 2 to 9).

Gold history, the shipped linker, nothing fitted anew: a part is taken away from what the linker is given. Tables 6 to
9 split by difficulty and by turn; here so are the redundancy scores. All-column intent (ACID) is measured by precision
and recall of `table.*`, the context extractor (SACE) by how many schema items the base SQL shares with the gold query.
What these parts do to EX takes a model: `tableturn experiment track-table-2` and so on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import cast

import numpy as np

from ...tools.linking import STAR, LinkedSchema, PastTurn, SchemaLinker, base_turn
from ...tools.linking.associations import shipped
from ...tools.linking.context import divergence, relevance
from ...tools.linking.vocabulary import Shares
from ..datasets import Dataset, Question, load_dataset
from ..metrics.clauses import ClauseJudge
from ..official import OfficialDatabases
from ..training.fit_linker_scores import column_redundancy, measure, table_redundancy
from ..training.fit_linker_turns import WINDOW, Asked, Dialogue, LinkedTurn, linked_turn, read_dialogues
from .registry import BenchOptions

Given = Callable[[Asked, list[PastTurn]], tuple[Asked, list[PastTurn]]]
"""Takes something away from what the linker is given of a turn."""

Asking = tuple[tuple[Question, ...], Dialogue]
"""An interaction's questions, and the same as linking sees them."""

_TAKEN: Mapping[str, Given] = {
    "without_values": lambda asked, past: (replace(asked, values=()), past),
    "without_history": lambda asked, past: (asked, []),
    "without_earlier_sql": lambda asked, past: (asked, [replace(turn, sql="") for turn in past]),
    "without_earlier_questions": lambda asked, past: (asked, [replace(turn, question="") for turn in past]),
}


@dataclass(frozen=True)
class _Linked:
    """A turn as the linker found it."""

    question: Question
    turn: LinkedTurn
    found: LinkedSchema
    past: tuple[PastTurn, ...]

    def shares(self) -> tuple[Shares, Shares]:
        """Probabilities of tables and columns, in schema order."""
        names = self.turn.database.names
        tables, columns = np.zeros(len(names.table_number)), np.zeros(len(names.columns))
        for item in self.found.items:
            if item.column is None:
                tables[names.table_number[item.table]] = item.p
            elif item.column != STAR:
                columns[names.column_number[item.table, item.column]] = item.p
        return tables, columns


def run(options: BenchOptions) -> dict[str, object]:
    """Figures by dataset: scores of each ablation, of difficulties and turns; of all-column intent and of base SQL."""
    data = cast("Path", options.data)
    figures: dict[str, object] = {}
    for name in ("sparc", "cosql"):
        dataset = load_dataset(name, "dev", data).first(options.limit)
        with tempfile.TemporaryDirectory() as cache:
            dialogues = _with_questions(dataset, read_dialogues(dataset, Path(cache)))
        figures[name] = _measured(dataset, dialogues)
    return figures


def _measured(dataset: Dataset, dialogues: Sequence[Asking]) -> dict[str, object]:
    linked = _linked(dialogues)
    with OfficialDatabases(dataset.database) as databases:
        judge = ClauseJudge(dataset, databases)
        by_hardness = _grouped(linked, lambda one: judge.hardness(one.question))
    return {
        "whole": _scores(linked),
        **{ablation: _scores(_linked(dialogues, given)) for ablation, given in _TAKEN.items()},
        "without_keys": _scores(_linked(dialogues, keys=False)),
        "by_hardness": by_hardness,
        "by_turn": _grouped(linked, lambda one: str(min(one.question.turn, 5))),
        "all_columns": {f"at_{p}": _stars(linked, p) for p in (0.1, 0.5)},
        "base_sql": _bases(linked),
    }


def _with_questions(dataset: Dataset, dialogues: Sequence[Dialogue]) -> list[Asking]:
    """Each dialogue with its questions; those whose database is missing have no dialogue."""
    left = iter(dialogues)
    dialogue = next(left, None)
    pairs: list[Asking] = []
    for turns in dataset.interactions:
        if dialogue is not None and [turn.text for turn in turns] == [asked.text for asked in dialogue.questions]:
            pairs.append((tuple(turns), dialogue))
            dialogue = next(left, None)
    return pairs


def _linked(
    dialogues: Sequence[Asking], given: Given = lambda asked, past: (asked, past), *, keys: bool = True
) -> list[_Linked]:
    """All turns whose gold SQL can be read, linked one after another."""
    linkers: dict[str, SchemaLinker] = {}
    found: list[_Linked] = []
    for questions, dialogue in dialogues:
        schema = dialogue.database.names.schema
        if schema.name not in linkers:
            linkers[schema.name] = SchemaLinker(schema if keys else replace(schema, foreign_keys=()))
        history: list[PastTurn] = []
        for number, asked in enumerate(dialogue.questions):
            past = history[-WINDOW:]
            shown, before = given(asked, past)
            linked = linkers[schema.name].link(shown.text, before, shown.values)
            items = tuple((item.table, item.column, item.p) for item in linked.items)
            history.append(PastTurn(asked.text, sql=asked.gold, items=items))
            turn = linked_turn(dialogue, number, shipped())
            if turn.tables.any():
                found.append(_Linked(questions[number], turn, linked, tuple(past)))
    return found


def _scores(linked: Sequence[_Linked]) -> dict[str, float]:
    shares = [one.shares() for one in linked]
    return measure([one.turn for one in linked], [t for t, _ in shares], [c for _, c in shares])


def _grouped(linked: Sequence[_Linked], group: Callable[[_Linked], str]) -> dict[str, dict[str, float]]:
    groups: dict[str, list[_Linked]] = {}
    for one in linked:
        groups.setdefault(group(one), []).append(one)
    return {name: _redundancy(some) for name, some in sorted(groups.items()) if name}


def _redundancy(linked: Sequence[_Linked]) -> dict[str, float]:
    turns, shares = [one.turn for one in linked], [one.shares() for one in linked]
    return {
        "trs": round(table_redundancy(turns, [tables for tables, _ in shares]), 4),
        "crs": round(column_redundancy(turns, [columns for _, columns in shares]), 4),
        "turns": len(turns),
    }


def _stars(linked: Sequence[_Linked], threshold: float) -> dict[str, float]:
    """Precision and recall of tables whose columns are all asked for."""
    gold = found_tables = both = 0
    for one in linked:
        names = one.turn.database.names.table_number
        used = {table for table, number in names.items() if one.turn.stars[number]}
        found = {item.table for item in one.found.items if item.column == STAR and item.p >= threshold}
        gold, found_tables, both = gold + len(used), found_tables + len(found), both + len(used & found)
    return {"precision": round(both / max(found_tables, 1), 4), "recall": round(both / max(gold, 1), 4), "gold": gold}


def _bases(linked: Sequence[_Linked]) -> dict[str, float]:
    """The share of schema items that base SQL and gold query have in common, by how the base is chosen."""
    overlaps: dict[str, list[float]] = {}
    for one in linked:
        past = [turn for turn in one.past if turn.sql]
        if not past:
            continue
        gold = _used(one, one.question.golds[0])
        shared = {turn.sql: _overlap(_used(one, turn.sql), gold) for turn in past}
        for how, turn in _chosen(one, past).items():
            overlaps.setdefault(how, []).append(shared[turn.sql] if turn else 0.0)
        overlaps.setdefault("best", []).append(max(shared.values()))
    return {how: round(fmean(values), 4) for how, values in overlaps.items()}


def _chosen(one: _Linked, past: Sequence[PastTurn]) -> dict[str, PastTurn | None]:
    now = {(item.table, item.column): item.p for item in one.found.items}
    question = one.question.text
    return {
        "relevance": base_turn(question, one.found.items, past),
        "latest": past[-1],
        "question_alone": max(past, key=lambda turn: relevance(question, {}, turn)),
        "schema_alone": min(past, key=lambda turn: divergence(now, {(t, c): p for t, c, p in turn.items})),
    }


def _used(one: _Linked, sql: str) -> frozenset[object]:
    use = one.turn.database.names.past_use(sql)
    return frozenset[object](use.tables | use.columns)


def _overlap(one: frozenset[object], other: frozenset[object]) -> float:
    return len(one & other) / max(1, len(one | other))
