"""Schema linking: how probably this turn's SQL uses each table, column and `table.*` (Track-SQL 2.2)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..database.schema import Schema
from ..values import ValueIndex, ValueMatch
from ..values.words import stems
from .keep import keep
from .linked import STAR, LinkedSchema, PastTurn, SchemaItem
from .names import name_stems
from .used import past_items
from .vocabulary import Vocabulary

_ALL_COLUMNS = re.compile(
    r"\b(all (the )?(information|info|details?|columns|fields|data|attributes)|everything)\b", re.I
)
_DECAY = 0.6
"""What an earlier question's words count for, against those of the one after it."""


@dataclass(frozen=True)
class _Evidence:
    """What speaks for each item, by its number, from 0 to 1."""

    tables: Mapping[int, float]
    columns: Mapping[int, float]
    values: Mapping[tuple[str, str], float]
    used: Mapping[tuple[str, str | None], float]


class SchemaLinker:
    """Links questions to one schema. Its look-up structures are built once; `link` may be called from any thread."""

    def __init__(self, schema: Schema, values: ValueIndex | None) -> None:
        """Indexes a schema's names.

        Args:
            schema: What questions are linked to.
            values: Where `link` looks for the values that a question mentions, unless it is given them.
        """
        self._schema = schema
        self._values = values
        self._columns = [(table, column) for table in schema.tables for column in table.columns]
        self._table_names = Vocabulary([name_stems(table.name) for table in schema.tables])
        self._column_names = Vocabulary([name_stems(column.name) for _, column in self._columns])
        self._keys = {
            (table.lower(), column.lower())
            for key in schema.foreign_keys
            for table, ends in ((key.table, key.columns), (key.ref_table, key.ref_columns))
            for column in ends
        }

    def link(
        self,
        question: str,
        history: Sequence[PastTurn] = (),
        values: Sequence[ValueMatch] = (),
        *,
        threshold: float = 0.0,
        max_columns: int | None = None,
    ) -> LinkedSchema:
        """Scores every item for a question and keeps the probable ones.

        Args:
            question: This turn's question.
            history: Earlier turns, oldest first.
            values: Database values that the question mentions; looked up where there are none and an index is there.
            threshold: Least probability of what is kept; 0 keeps the whole schema, in order.
            max_columns: How many columns are kept at most, joins' keys aside.
        """
        if not values and self._values is not None:
            values = self._values.find(question)
        evidence = self._evidence(question, history, values)
        items = sorted(self._score(question, evidence), key=lambda item: -item.p)
        return LinkedSchema(tuple(items), keep(self._schema, items, threshold, max_columns))

    def _evidence(self, question: str, history: Sequence[PastTurn], values: Sequence[ValueMatch]) -> _Evidence:
        tables = dict(self._table_names.coverage(stems(question)))
        columns = dict(self._column_names.coverage(stems(question)))
        used: dict[tuple[str, str | None], float] = {}
        for ago, turn in enumerate(reversed(history), start=1):
            share = _DECAY**ago
            _raise(tables, self._table_names.coverage(stems(turn.question)), share)
            _raise(columns, self._column_names.coverage(stems(turn.question)), share)
            for item in past_items(turn.sql, self._schema):
                used.setdefault(item, _DECAY ** (ago - 1))
        held: dict[tuple[str, str], float] = {}
        for match in values:
            place = (match.table, match.column)
            held[place] = max(held.get(place, 0.0), match.score)
        return _Evidence(tables, columns, held, used)

    def _score(self, question: str, evidence: _Evidence) -> list[SchemaItem]:
        star = 0.9 if _ALL_COLUMNS.search(question) else 0.05
        items: list[SchemaItem] = []
        best: dict[str, float] = {}
        named = {table.name: evidence.tables.get(i, 0.0) for i, table in enumerate(self._schema.tables)}
        for number, (table, column) in enumerate(self._columns):
            place = (table.name, column.name)
            said = evidence.columns.get(number, 0.0)
            logit = -4.2 + 3.2 * said + 1.2 * named[table.name] + 1.3 * said * named[table.name]
            logit += 3.2 * evidence.values.get(place, 0.0) + 3.0 * evidence.used.get(place, 0.0)
            logit += 0.8 * bool(column.primary_key) + 0.5 * ((place[0].lower(), place[1].lower()) in self._keys)
            p = _sigmoid(logit)
            best[table.name] = max(best.get(table.name, 0.0), p)
            items.append(SchemaItem(table.name, column.name, p, place in evidence.used))
        for table in self._schema.tables:
            past = evidence.used.get((table.name, None), 0.0)
            p = max(_sigmoid(-2.5 + 4.0 * named[table.name] + 2.5 * past), best.get(table.name, 0.0))
            items.append(SchemaItem(table.name, None, p, past > 0))
            items.append(SchemaItem(table.name, STAR, p * star, (table.name, STAR) in evidence.used))
        return items


def _raise(sums: dict[int, float], more: Mapping[int, float], share: float) -> None:
    for number, value in more.items():
        sums[number] = max(sums.get(number, 0.0), share * value)


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
