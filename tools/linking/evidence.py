"""What speaks for each table and column in one turn: its words, the values it mentions, and the turns before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..database import Schema
from ..values import ValueMatch
from ..values.names import name_words
from ..values.words import stem, words
from .linked import STAR, PastTurn
from .used import past_items
from .vocabulary import Mention, Shares, Vocabulary

_ALL_COLUMNS = re.compile(
    r"\b(all (of )?(the )?(information|info|details?|columns|fields|data|attributes)|everything|"
    r"(information|info|details) (of|on|about|for))\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\b(how many|number of|count)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(th(ose|ese|em|ey|eir|at|is)|its?|ones?|also|instead|what about|how about)\b", re.IGNORECASE
)
_MEASURES = re.compile(
    r"\b(average|avg|mean|total|sum|max(imum)?|min(imum)?|most|least|more|less|fewer|greater|over|under|above|below|"
    r"(high|low|larg|small|old|young|long|short|heav|big|cheap|great)(er|est)|ier|iest|between)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(when|dates?|years?|months?|days?|times?|recent(ly)?|earl(y|ier|iest)|lat(er|est)|since)\b", re.I
)
_DECAY = 0.6
"""What an earlier turn counts for, against the one after it."""


class Names:
    """A schema's names, ready to be looked for in texts. Items are known by their number in schema order."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns = [(table.name, column.name) for table in schema.tables for column in table.columns]
        self.table_number = {table.name: number for number, table in enumerate(schema.tables)}
        self.column_number = {place: number for number, place in enumerate(self.columns)}
        self.tables_said = Vocabulary([name_words(table.name) for table in schema.tables])
        self.columns_said = Vocabulary([name_words(column) for _, column in self.columns])
        self.own_parts_said = Vocabulary([_own_words(*place) for place in self.columns])


def _own_words(table: str, column: str) -> tuple[str, ...]:
    """The words of a column's name without those of its table's: "name" of `concert.concert_name`."""
    theirs = {stem(word) for word in name_words(table)}
    words = name_words(column)
    return tuple(word for word in words if stem(word) not in theirs) or words


@dataclass(frozen=True)
class Evidence:
    """Arrays with one number an item, 0 to 1: tables' as long as the schema's tables, columns' as its columns.

    Attributes:
        table_said: How much of the table's name the question says.
        column_said: Likewise.
        own_part_said: How much of the column's name, without its table's words, the question says.
        table_mentions: The question's words that tables' names hold.
        column_mentions: Likewise for columns.
        table_before: What earlier questions said of it, decayed.
        column_before: Likewise.
        value: The best score of a mentioned value that the column holds.
        table_last: 1 where the latest past SQL used the table.
        column_last: Likewise.
        table_earlier: Decayed, where SQL before that used it.
        column_earlier: Likewise.
        star_last: 1 where the latest past SQL asked for all of the table's columns.
        all_columns: Whether the question asks for all there is to know.
        count: Whether it asks for a number of things.
        measures: Whether it speaks of amounts: averages, extremes, comparisons.
        times: Whether it speaks of time.
        points_back: Whether it refers to what was said before.
        first: Whether it is the conversation's first.
    """

    table_said: Shares
    column_said: Shares
    own_part_said: Shares
    table_mentions: Sequence[Mention]
    column_mentions: Sequence[Mention]
    table_before: Shares
    column_before: Shares
    value: Shares
    table_last: Shares
    column_last: Shares
    table_earlier: Shares
    column_earlier: Shares
    star_last: Shares
    all_columns: bool
    count: bool
    measures: bool
    times: bool
    points_back: bool
    first: bool


def gather(question: str, history: Sequence[PastTurn], values: Sequence[ValueMatch], names: Names) -> Evidence:
    """Gathers a turn's evidence.

    Args:
        question: This turn's.
        history: Earlier turns, oldest first.
        values: Database values that the question mentions.
        names: The schema's.
    """
    said = words(question)
    table_mentions, column_mentions = names.tables_said.mentions(said), names.columns_said.mentions(said)
    table_before, column_before = np.zeros(len(names.table_number)), np.zeros(len(names.columns))
    for ago, turn in enumerate(reversed(history), start=1):
        earlier = words(turn.question)
        for vocabulary, before in ((names.tables_said, table_before), (names.columns_said, column_before)):
            np.maximum(before, _DECAY**ago * vocabulary.coverage(vocabulary.mentions(earlier)), out=before)
    value = np.zeros(len(names.columns))
    for match in values:
        number = names.column_number.get((match.table, match.column))
        if number is not None:
            value[number] = max(value[number], match.score)
    answered = [turn for turn in history if turn.sql]
    table_last, column_last, star_last = _used(answered[-1:], names)
    table_earlier, column_earlier, _ = _used(answered[:-1], names)
    return Evidence(
        table_said=names.tables_said.coverage(table_mentions),
        column_said=names.columns_said.coverage(column_mentions),
        own_part_said=names.own_parts_said.coverage(names.own_parts_said.mentions(said)),
        table_mentions=table_mentions,
        column_mentions=column_mentions,
        table_before=table_before,
        column_before=column_before,
        value=value,
        table_last=table_last,
        column_last=column_last,
        table_earlier=table_earlier,
        column_earlier=column_earlier,
        star_last=star_last,
        all_columns=_ALL_COLUMNS.search(question) is not None,
        count=_COUNT.search(question) is not None,
        measures=_MEASURES.search(question) is not None,
        times=_TIMES.search(question) is not None,
        points_back=_POINTS_BACK.search(question) is not None,
        first=not history,
    )


def _used(turns: Sequence[PastTurn], names: Names) -> tuple[Shares, Shares, Shares]:
    """What past SQL used, the latest of the turns counting 1: tables, columns, tables with all their columns."""
    tables, columns, stars = (np.zeros(len(size)) for size in (names.table_number, names.columns, names.table_number))
    for ago, turn in enumerate(reversed(turns)):
        for table, column in past_items(turn.sql, names.schema):
            where, number = tables, names.table_number[table]
            if column == STAR:
                where = stars
            elif column is not None:
                where, number = columns, names.column_number[(table, column)]
            where[number] = max(where[number], _DECAY**ago)
    return tables, columns, stars
