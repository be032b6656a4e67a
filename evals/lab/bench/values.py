"""The values of a question, found in the database: gold's text literals among them, and what else prompts tell of."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

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
from .registry import BenchOptions, Figures, divide

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


def _read_sets(options: BenchOptions, sets: Mapping[str, tuple[str, str]]) -> Iterator[AskedValues]:
    with tempfile.TemporaryDirectory() as folder:
        for name, place in sets.items():
            yield from read_questions(name, load_dataset(*place, options.folder).first(options.limit), Path(folder))


def text_literals(sql: str, schema: Schema) -> list[Literal]:
    """Return the distinct texts that a query compares a column with, by `=`, `!=` or IN."""
    try:
        tree = parse_select(sql)
    except SQLParseError:
        return []
    resolution = resolve(tree, schema)
    found: dict[Literal, None] = {}
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        for (reference, _), other in operands(node, resolution):
            text, source = literal(other, resolution), reference.source
            if isinstance(text, str) and source is not None and source.table is not None:
                found[source.table.name, reference.column, text] = None
    return list(found)


def count_found(questions: Iterable[AskedValues]) -> dict[str, dict[str, float]]:
    """Return recall at 5 by set, with the counts behind it.

    A literal is found if one of the first five matches per literal of its query is this very text in the column that
    gold compares it with. A literal that its column does not hold cannot be found; patterns of LIKE are not values.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for asked in questions:
        matches = asked.index.find(asked.text, _FIRST * max(1, len(asked.literals)))
        held = [each for each in asked.literals if asked.index.holds(*each)]
        found = {(match.table, match.column, match.value) for match in matches}.intersection(held)
        counts[asked.set].update(found=len(found), held=len(held), absent=len(asked.literals) - len(held))
    return {
        name: {
            "recall_at_5": divide(count["found"], count["held"]),
            "literals": count["held"],
            "not_in_database": count["absent"],
        }
        for name, count in counts.items()
    }


def measure_values(options: BenchOptions) -> Figures:
    """Return recall at 5 on Spider train (which the index was developed on) and the dev sets."""
    details = count_found(_read_sets(options, _SETS))
    return {**{name: detail["recall_at_5"] for name, detail in details.items()}, "details": details}


def measure_value_noise(options: BenchOptions) -> Figures:
    """Return by set `precision` of the values that prompts tell of, `precision_before` and `recall_at_5`, with counts.

    A value is shown if it is among the candidates that a prompt lists for the question (`Settings.values` at most); in
    an interaction those of the question before count too, after the question's own. It is right if gold compares this
    very text, by `=`, `!=` or IN, with that column or with a column that a foreign key links with it: a copy is listed
    once. Every other value shown counts as wrong, also if gold is another reading or uses LIKE. Found are texts, of
    those that their column holds, that are right among the first five shown for each text of the query.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in _NOISE_SETS}
    for asked in _read_sets(options, _NOISE_SETS):
        # For each column, itself and those that a declared or inferred key links with it directly.
        linked: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for key in asked.schema.foreign_keys:
            for own, other in zip(key.columns, key.ref_columns, strict=True):
                pair = {(key.table.lower(), own.lower()), (key.ref_table.lower(), other.lower())}
                for place in pair:
                    linked[place] |= pair
        matches = [
            match
            for text in (asked.text, asked.before)
            if text
            for match in likely(text, asked.index.find(text, CANDIDATES), asked.schema)
        ]
        distinct = dict.fromkeys((match.table, match.column, match.value) for match in matches)
        shown = [(table.lower(), column.lower(), value) for table, column, value in distinct][: Settings().values]
        first = set(shown[: _FIRST * max(1, len(asked.literals))])
        meant: set[Literal] = set()
        count = counts[asked.set]
        for table, column, text in asked.literals:
            place = (table.lower(), column.lower())
            right = {(*other, text) for other in {place} | linked[place]}
            meant |= right
            if asked.index.holds(table, column, text):
                count.update(texts=1, found=bool(right & first))
        count.update(shown=len(shown), right=sum(value in meant for value in shown))
    return {
        name: {
            "precision": divide(count["right"], count["shown"]),
            "precision_before": BEFORE[name],
            "recall_at_5": divide(count["found"], count["texts"]),
            "shown": count["shown"],
            "texts": count["texts"],
        }
        for name, count in counts.items()
    }
