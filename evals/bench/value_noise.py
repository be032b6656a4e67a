"""How many of the values that a prompt tells a model of are values that the question means, by gold's SQL.

A value is *shown* where it is among the candidates that a prompt lists for the question (`Settings.values` at most); in
an interaction those of the question before count too, after the question's own, as in a prompt. It is *right* where
gold compares this very text, by `=`, `!=` or IN, with that column or with a column that a foreign key links with it: a
copy is listed once. Every other value shown counts as wrong, also where gold is another reading or uses LIKE.

`recall_at_5` is the share of gold's texts, of those that their column holds, that are right among the first five shown
for each text of the query; texts that their column does not hold, and patterns, cannot be found and are left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ...agent.nodes.link import CANDIDATES
from ...agent.settings import Settings
from ...tools.database import Schema
from ...tools.values import ValueIndex, ValueMatch, likely
from ..datasets import Dataset, load_dataset
from .gold import Databases
from .registry import BenchOptions
from .values import Literal, open_index, text_literals

_SETS = {"spider": ("spider", "dev"), "kaggle": ("kaggle-dbqa", "test"), "cosql": ("cosql", "dev")}

BEFORE = {"spider": 0.163, "kaggle": 0.1607, "cosql": 0.1596}
"""The precision of the whole sets when every value found was shown: measured in the same way at commit 794b78d."""

_PER_TEXT = 5


@dataclass
class Noise:
    """Values shown and right, texts of gold and found."""

    shown: int = 0
    right: int = 0
    texts: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        """The share of the values shown that are right."""
        return round(self.right / self.shown, 4) if self.shown else 0.0

    @property
    def recall(self) -> float:
        """The share of gold's texts that are among the first shown."""
        return round(self.found / self.texts, 4) if self.texts else 0.0


def run(options: BenchOptions) -> dict[str, object]:
    """By set: `precision`, `precision_before` and `recall_at_5`, with the counts behind them."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, place in _SETS.items():
            noise = measure(load_dataset(*place, options.folder).first(options.limit), Path(folder))
            figures[name] = {
                "precision": noise.precision,
                "precision_before": BEFORE[name],
                "recall_at_5": noise.recall,
                "shown": noise.shown,
                "texts": noise.texts,
            }
    return figures


def measure(dataset: Dataset, cache: Path) -> Noise:
    """Counts over a data set."""
    noise = Noise()
    indexes: dict[str, ValueIndex] = {}
    with Databases(dataset) as databases:
        for (name, _), turns in groupby(dataset.questions, lambda question: (question.database, question.interaction)):
            database = databases.get(name)
            if database is None:
                continue
            index = indexes[name] = indexes.get(name) or open_index(database, cache)
            schema, before = database.schema(), ""
            for question in turns:
                shown = _shown(index, schema, question.text, before)
                texts = text_literals(question.golds[0], schema)
                _count(noise, shown, texts, index, _linked(schema))
                before = question.text
    return noise


Cell = tuple[str, str, str]
Links = Mapping[tuple[str, str], frozenset[tuple[str, str]]]


def _linked(schema: Schema) -> Links:
    """For each column, itself and those that a declared or inferred key links with it directly."""
    links: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
    for key in schema.foreign_keys:
        for own, other in zip(key.columns, key.ref_columns, strict=True):
            one, two = (key.table.lower(), own.lower()), (key.ref_table.lower(), other.lower())
            links[one] = links.get(one, frozenset()) | {two}
            links[two] = links.get(two, frozenset()) | {one}
    return links


def _cell(match: ValueMatch) -> Cell:
    return match.table.lower(), match.column.lower(), match.value


def _right(text: Literal, links: Links) -> set[Cell]:
    """The cells that are right for a text of gold."""
    place = text[0].lower(), text[1].lower()
    return {(*other, text[2]) for other in {place} | links.get(place, frozenset())}


def _shown(index: ValueIndex, schema: Schema, text: str, before: str) -> list[ValueMatch]:
    """What a prompt lists: the question's candidates, then those of the question before."""
    own, carried = (
        list(likely(asked, index.find(asked, CANDIDATES), schema)) if asked else [] for asked in (text, before)
    )
    known = {(match.table, match.column, match.value) for match in own}
    carried = [match for match in carried if (match.table, match.column, match.value) not in known]
    return [*own, *carried][: Settings().values]


def _count(
    noise: Noise, shown: Sequence[ValueMatch], texts: Sequence[Literal], index: ValueIndex, links: Links
) -> None:
    meant = [_right(text, links) for text in texts]
    noise.shown += len(shown)
    noise.right += sum(any(_cell(match) in right for right in meant) for match in shown)
    first = {_cell(match) for match in shown[: _PER_TEXT * max(1, len(texts))]}
    held = [right for text, right in zip(texts, meant, strict=True) if index.holds(*text)]
    noise.texts += len(held)
    noise.found += sum(bool(right & first) for right in held)
