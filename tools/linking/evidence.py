"""The evidence for each table and column in one turn: words, values and earlier turns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from ..database import Schema
from ..sql import ROLES, UsedSchemaItems, read_query
from ..values import ValueMatch
from ..words import Word, split_name_into_words, stem_word, words
from .linked import STAR, PastTurn
from .shape import SchemaShape
from .vocabulary import MentionScores, Shares, Vocabulary, WordAssociations, drop_shared_words, extract_content_words

_DECAY = 0.6  # what an earlier turn counts for, against the one after it


class NameIndex:
    """An index of a schema's names for searches; items are numbered in schema order."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns = [(table.name, column.name) for table in schema.tables for column in table.columns]
        self.table_number = {table.name: number for number, table in enumerate(schema.tables)}
        self.column_number = {place: number for number, place in enumerate(self.columns)}
        tables = [extract_content_words(table.comment) for table in schema.tables]
        columns = [extract_content_words(column.comment) for table in schema.tables for column in table.columns]
        table_names = [split_name_into_words(table.name) for table in schema.tables]
        column_names = [split_name_into_words(column) for _, column in self.columns]
        self.shape = SchemaShape.of(schema)
        self.table_names = Vocabulary(table_names, tables)
        self.column_names = Vocabulary(column_names, columns)
        # Columns without their tables' words: "name" of `concert.concert_name`.
        self.own_parts = Vocabulary(
            *(
                [drop_shared_words(parts, of[table]) for parts, table in zip(every, self.shape.table_of, strict=True)]
                for every, of in ((column_names, table_names), (columns, tables))
            )
        )
        self.column_heads = [stem_word(parts[-1]) for parts in column_names]
        self.past_use = lru_cache(maxsize=256)(partial(_read_use, schema=schema))


def _read_use(sql: str, schema: Schema) -> UsedSchemaItems:
    query = read_query(sql, schema)
    return query.used if query else UsedSchemaItems()


@dataclass(frozen=True)
class PastMentions:
    """The mentions and uses of items of one kind in earlier turns, one number per item."""

    before: Shares  # how much of its name earlier questions mention, decayed
    latest: Shares  # the same of the latest question
    last: Shares  # 1 where the latest past SQL used it
    second: Shares  # 1 where the one before that did
    earlier: Shares  # decayed, where SQL before the latest used it
    share_before: Shares  # the share of past SQL that used it
    likely_last: Shares  # how probable the linker found it in the latest turn
    likely_earlier: Shares  # the same, decayed, in those before


@dataclass(frozen=True)
class LinkingEvidence:
    """The evidence of one turn for each table and column of a schema."""

    shape: SchemaShape
    tables: MentionScores
    columns: MentionScores
    own_parts: MentionScores  # columns by their names without their tables' words
    tables_before: PastMentions
    columns_before: PastMentions
    roles: Mapping[str, Shares]  # by role, 1 for columns that the latest past SQL used so
    star_last: Shares  # 1 where the latest past SQL asked for all of the table's columns
    value: Shares  # the best score of a mentioned value that the column holds
    value_share: Shares  # the same, each value shared among the columns that hold it
    usual: Shares  # how usual columns of such names are
    turn: Mapping[str, float]  # what holds of the whole turn


def gather(
    question: str,
    history: Sequence[PastTurn],
    values: Sequence[ValueMatch],
    names: NameIndex,
    associations: WordAssociations,
) -> LinkingEvidence:
    """Gather the evidence for tables and columns from a question, past turns and values."""
    asked = words(question)
    uses = [names.past_use(turn.sql) for turn in history if turn.sql]
    last = uses[-1] if uses else UsedSchemaItems()
    tables, columns = len(names.table_number), len(names.columns)
    roles = {role: np.zeros(columns) for role in ROLES}
    for table, column, role in last.roles:
        roles[role][names.column_number[table, column]] = 1.0
    star_last = np.zeros(tables)
    star_last[[names.table_number[table] for table, column in last.columns if column == STAR]] = 1.0
    value, value_share, mentioned_values = _score_value_matches(values, names)
    earlier = [words(turn.question) for turn in history]
    used_tables = [[names.table_number[name] for name in use.tables] for use in uses]
    used_columns = [[names.column_number[place] for place in use.columns if place[1] != STAR] for use in uses]
    likely_tables, likely_columns = _gather_past_probabilities(history, names)
    return LinkingEvidence(
        shape=names.shape,
        tables=names.table_names.score_mentions(asked, associations),
        columns=names.column_names.score_mentions(asked, associations),
        own_parts=names.own_parts.score_mentions(asked, associations),
        tables_before=_gather_past_mentions(earlier, names.table_names, used_tables, likely_tables),
        columns_before=_gather_past_mentions(earlier, names.column_names, used_columns, likely_columns),
        roles=roles,
        star_last=star_last,
        value=value,
        value_share=value_share,
        usual=np.array([associations.usual.get(head, 0.0) for head in names.column_heads]),
        turn={
            **find_question_cues(question),
            "length": len(asked),
            "turns": len(history),
            "values": mentioned_values,
            "last_selects": last.selects,
            # SQL that does more than list columns: what a linker alone found does not.
            "written": sum(any(role != "shown" for *_, role in use.roles) for use in uses) / max(1, len(uses)),
        },
    )


_CUES: Mapping[str, str] = {
    "all_columns": r"(all (of )?(the )?(information|info|details?|columns|fields|data|attributes)|everything|"
    r"(information|info|details) (of|on|about|for))",
    "count": r"(how many|number of|count|amount of)",
    "those": r"(th(ose|ese|em|ey)|ones?)",
    "their": r"(their|its?|his|her|he|she|him)",
    "this": r"(this|that|it|same)",
    "also": r"(also|too|as well|add|include|along with|besides)",
    "instead": r"(instead|rather|what about|how about|change|only|just)",
    "measures": r"(average|avg|mean|total|sum|max(imum)?|min(imum)?|most|least|more|less|fewer|greater|over|under|"
    r"above|below|(high|low|larg|small|old|young|long|short|heav|big|cheap|great)(er|est)|ier|iest|between)",
    "most": r"(most|least|fewest|top|maximum|minimum|highest|lowest|largest|smallest|best|first|last)",
    "average": r"(average|avg|mean|total|sum)",
    "times": r"(when|dates?|years?|months?|days?|times?|recent(ly)?|earl(y|ier|iest)|lat(er|est)|since)",
    "who": r"(who|whose|whom|people|person)",
    "where": r"(where|located|location|place)",
    "name": r"(names?|called|named|titles?)",
    "identify": r"(ids?|identifiers?|codes?|numbers?)",
    "each": r"(each|every|per|by|respective(ly)?|group(ed)?)",
    "distinct": r"(different|distinct|unique|various)",
    "order": r"(sort(ed)?|order(ed)?|rank(ed)?|alphabetical(ly)?|ascending|descending)",
    "not": r"(not|no|never|without|n't|except|other|don|doesn|didn|haven|hasn)",
    "have": r"(ha(ve|s|d)|with|own(s|ed)?|belong(s|ing)?)",
    "many": r"(both|and|or|any|some)",
    "which": r"(which|what|show|list|give|find|tell)",
    "thanks": r"(thanks?|great|ok(ay)?|good|cool|please|nice|no)",
}
_PATTERNS = {cue: re.compile(rf"\b{pattern}\b", re.IGNORECASE) for cue, pattern in _CUES.items()}


def find_question_cues(question: str) -> dict[str, float]:
    """Return 1 for each cue (a kind of word) in the question, 0 for all other cues."""
    return {cue: float(pattern.search(question) is not None) for cue, pattern in _PATTERNS.items()}


def _gather_past_mentions(
    earlier: Sequence[Sequence[Word]], vocabulary: Vocabulary, uses: Sequence[Sequence[int]], likely: Shares
) -> PastMentions:
    count = likely.shape[1]
    shares = [vocabulary.cover(vocabulary.find_mentions(asked)) for asked in earlier]
    mentioned = np.zeros(count)
    for ago, share in enumerate(reversed(shares), start=1):
        np.maximum(mentioned, _DECAY**ago * share, out=mentioned)
    used = np.zeros((max(2, len(uses)), count))
    for row, numbers in zip(used, reversed(uses), strict=False):
        row[list(numbers)] = 1.0
    decayed = used[1:] * _DECAY ** np.arange(1, len(used))[:, None]
    return PastMentions(
        before=mentioned,
        latest=shares[-1] if shares else np.zeros(count),
        last=used[0],
        second=used[1],
        earlier=decayed.max(axis=0),
        share_before=used.sum(axis=0) / max(1, len(uses)),
        likely_last=likely[0],
        likely_earlier=likely[1],
    )


def _gather_past_probabilities(history: Sequence[PastTurn], names: NameIndex) -> tuple[Shares, Shares]:
    """Return the linker's probabilities of the latest turn, and decayed ones of earlier turns."""
    tables, columns = np.zeros((2, len(names.table_number))), np.zeros((2, len(names.columns)))
    for ago, turn in enumerate(reversed(history)):
        row, decay = min(ago, 1), _DECAY ** max(0, ago - 1)
        use = names.past_use(turn.sql)
        # Of a turn whose probabilities were not kept, what its SQL used counts as found.
        for table, column, p in turn.items or [(t, None, 1.0) for t in use.tables] + [(*c, 1.0) for c in use.columns]:
            of = tables if column is None else columns
            number = names.table_number.get(table) if column is None else names.column_number.get((table, column))
            if number is not None:
                of[row, number] = max(of[row, number], decay * p)
    return tables, columns


def _score_value_matches(values: Sequence[ValueMatch], names: NameIndex) -> tuple[Shares, Shares, int]:
    value, shared = np.zeros(len(names.columns)), np.zeros(len(names.columns))
    holders: dict[tuple[int, int], dict[int, float]] = {}
    for match in values:
        number = names.column_number.get((match.table, match.column))
        if number is not None:
            held = holders.setdefault((match.start, match.end), {})
            held[number] = max(held.get(number, 0.0), match.score)
    for held in holders.values():
        total = sum(held.values())
        for number, score in held.items():
            value[number] = max(value[number], score)
            shared[number] = max(shared[number], score / total if total else 0.0)
    return value, shared, len(holders)
