"""The values of a question, found in the database: gold's text literals among them, and what else prompts tell of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlglot import exp

from ....agent.nodes.link import CANDIDATES
from ....agent.settings import Settings
from ....tools.database import Schema
from ....tools.errors import SQLParseError
from ....tools.sql.conditions import literal, operands
from ....tools.sql.parse import parse_select
from ....tools.sql.resolve import resolve
from ....tools.values import IndexBounds, ValueIndex, likely
from ...datasets import Dataset, load_dataset
from .gold import Databases
from .measure import Figures, Measure, divide
from .registry import BenchOptions

_FIRST = 5
"""Matches of each literal of a query that are looked at."""

_WHOLE = IndexBounds(seconds=600)

_SETS = {
    "spider_train": ("spider", "train"),
    "spider_dev": ("spider", "dev"),
    "spider_syn": ("spider-syn", "dev"),
    "spider_dk": ("spider-dk", "dev"),
}
_NOISE_SETS = {"spider": ("spider", "dev"), "kaggle": ("kaggle-dbqa", "test"), "cosql": ("cosql", "dev")}

BEFORE = {"spider": 0.163, "kaggle": 0.1607, "cosql": 0.1596}
"""The precision of the whole sets when every value found was shown: measured in the same way at commit 794b78d."""

Literal = tuple[str, str, str]
"""Table, column and text."""

Links = Mapping[tuple[str, str], frozenset[tuple[str, str]]]


@dataclass(frozen=True)
class AskedValues:
    """A question, the one before it in its interaction, and the literals of its gold query."""

    set: str
    index: ValueIndex
    schema: Schema
    text: str
    before: str
    literals: Sequence[Literal]


def read_questions(name: str, dataset: Dataset, cache: Path) -> Iterator[AskedValues]:
    """Yield the questions of a dataset whose database is there, with its index built whole."""
    indexes: dict[str, ValueIndex] = {}
    with Databases(dataset) as databases:
        for (place, _), turns in groupby(dataset.questions, lambda question: (question.database, question.interaction)):
            database = databases.get(place)
            if database is None:
                continue
            index = indexes[place] = indexes.get(place) or ValueIndex.open(database, cache=cache, bounds=_WHOLE)
            schema, before = database.schema(), ""
            for question in turns:
                literals = text_literals(question.golds[0], schema)
                yield AskedValues(name, index, schema, question.text, before, literals)
                before = question.text


def _read_sets(sets: Mapping[str, tuple[str, str]]) -> Callable[[BenchOptions], Iterable[AskedValues]]:
    def cases(options: BenchOptions) -> Iterator[AskedValues]:
        with tempfile.TemporaryDirectory() as folder:
            for name, place in sets.items():
                yield from read_questions(name, load_dataset(*place, options.folder).first(options.limit), Path(folder))

    return cases


def text_literals(sql: str, schema: Schema) -> list[Literal]:
    """Return the distinct texts that a query compares a column with, by `=`, `!=` or IN."""
    try:
        tree = parse_select(sql)
    except SQLParseError:
        return []
    resolution = resolve(tree, schema)
    compared = (
        (reference, literal(other, resolution))
        for node in tree.find_all(exp.EQ, exp.NEQ, exp.In)
        for (reference, _), other in operands(node, resolution)
    )
    return list(
        dict.fromkeys(
            (reference.source.table.name, reference.column, text)
            for reference, text in compared
            if isinstance(text, str) and reference.source is not None and reference.source.table is not None
        )
    )


@dataclass(frozen=True)
class FoundValues:
    """Literals of a question's gold that were found, that their column holds, and that it does not hold."""

    set: str
    found: int
    held: int
    absent: int


def find_values(asked: AskedValues) -> FoundValues:
    """Look a question's values up.

    A literal is found if one of the first five matches per literal of its query is this very text in the column that
    gold compares it with. A literal that its column does not hold cannot be found; patterns of LIKE are not values.
    """
    matches = asked.index.find(asked.text, _FIRST * max(1, len(asked.literals)))
    held = [each for each in asked.literals if asked.index.holds(*each)]
    found = {(match.table, match.column, match.value) for match in matches}.intersection(held)
    return FoundValues(asked.set, len(found), len(held), len(asked.literals) - len(held))


def count_found(found: Iterable[FoundValues]) -> dict[str, dict[str, float]]:
    """Return recall at 5 by set, with the counts behind it."""
    groups: dict[str, list[FoundValues]] = {}
    for one in found:
        groups.setdefault(one.set, []).append(one)
    return {
        name: {
            "recall_at_5": divide(sum(one.found for one in some), sum(one.held for one in some)),
            "literals": sum(one.held for one in some),
            "not_in_database": sum(one.absent for one in some),
        }
        for name, some in groups.items()
    }


def _count_values(found: list[FoundValues]) -> Figures:
    """Return recall at 5 on Spider train (which the index was developed on) and the dev sets."""
    details = count_found(found)
    return {**{name: detail["recall_at_5"] for name, detail in details.items()}, "details": details}


@dataclass(frozen=True)
class _Noise:
    """Values that a prompt shows and that are right, texts of gold that are held and found."""

    set: str
    shown: int
    right: int
    texts: int
    found: int


def _show_values(asked: AskedValues) -> _Noise:
    """Return how many values a prompt tells of, and how many of them the question means by gold's SQL.

    A value is shown if it is among the candidates that a prompt lists for the question (`Settings.values` at most); in
    an interaction those of the question before count too, after the question's own. It is right if gold compares this
    very text, by `=`, `!=` or IN, with that column or with a column that a foreign key links with it: a copy is listed
    once. Every other value shown counts as wrong, also if gold is another reading or uses LIKE. Found are texts, of
    those that their column holds, that are right among the first five shown for each text of the query.
    """
    own, carried = (
        list(likely(text, asked.index.find(text, CANDIDATES), asked.schema)) if text else []
        for text in (asked.text, asked.before)
    )
    matches = dict.fromkeys((match.table, match.column, match.value) for match in [*own, *carried])
    shown = [(table.lower(), column.lower(), value) for table, column, value in matches][: Settings().values]
    links = _links(asked.schema)
    meant: list[set[Literal]] = []
    for table, column, text in asked.literals:
        place = (table.lower(), column.lower())
        meant.append({(*other, text) for other in {place} | links.get(place, frozenset())})
    first = set(shown[: _FIRST * max(1, len(asked.literals))])
    held = [right for text, right in zip(asked.literals, meant, strict=True) if asked.index.holds(*text)]
    right = sum(any(value in right for right in meant) for value in shown)
    return _Noise(asked.set, len(shown), right, len(held), sum(bool(right & first) for right in held))


def _links(schema: Schema) -> Links:
    """Return for each column those that a declared or inferred key links with it directly."""
    links: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
    for key in schema.foreign_keys:
        for own, other in zip(key.columns, key.ref_columns, strict=True):
            one, two = (key.table.lower(), own.lower()), (key.ref_table.lower(), other.lower())
            links[one] = links.get(one, frozenset()) | {two}
            links[two] = links.get(two, frozenset()) | {one}
    return links


def _count_noise(outcomes: list[_Noise]) -> Figures:
    """Return by set `precision`, `precision_before` and `recall_at_5`, with the counts behind them."""
    figures: Figures = {}
    for name in _NOISE_SETS:
        some = [one for one in outcomes if one.set == name]
        shown, texts = sum(one.shown for one in some), sum(one.texts for one in some)
        figures[name] = {
            "precision": divide(sum(one.right for one in some), shown),
            "precision_before": BEFORE[name],
            "recall_at_5": divide(sum(one.found for one in some), texts),
            "shown": shown,
            "texts": texts,
        }
    return figures


MEASURES: Mapping[str, Measure[Any, Any]] = {
    "value-noise": Measure(_read_sets(_NOISE_SETS), _show_values, _count_noise),
    "values": Measure(_read_sets(_SETS), find_values, _count_values),
}
