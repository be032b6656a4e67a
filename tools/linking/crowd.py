"""The part of a large schema to show: the group of tables that a question's words cover together, and its rivals.

Table by table a crowd holds too many that fit: every business has customers. Which of them is meant shows by what
stands beside it, so groups of tables (`group_of`) are weighed by how much of the question they cover: each content word
counts once a group, where it says most, and the more the fewer groups know it. Values count likewise; the linker's
probabilities bring in synonyms and the conversation.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..database import Schema, TableSchema
from ..values import ValueMatch, likely
from ..values.question import Question, read
from ..values.schema_words import name_stems
from .groups import group_of, set_aside
from .join_path import join_path
from .linked import SchemaItem

_IN_TABLE, _OF_TABLE, _IN_GROUP = 1.5, 0.2, 0.5
"""What a word counts in a table's name, against 1 in a column's: less the more words the name has; and in a group's."""

_PROBABILITY = 6.0
"""What the linker's two most probable tables of a group count."""

_ASIDE = 0.25
"""What a table counts that is empty, or staging, a backup, stale or deprecated."""

_WHOLE, _RIVALS = 4, 40
"""The first groups are shown whole, more of them by the tables that a word is about."""

_WHOLE_COLUMNS, _SMALL = 120, 12
"""Columns of a group that can be shown whole, and of one so small that it is at any rank."""

_FEW_RIVALS = 3
"""Rivals of a first group that is so large that it is shown in part itself: the room is that group's."""

_LOOKED_UP = 6
"""Columns of a table that a larger group's tables refer to and that is shown with them: codes, kinds, places."""

_NEAR = 0.25
"""Least weight of a rival, as a share of the first group's."""

_LIKELY, _LIKELIEST = 0.1, 10
"""Least probability of tables shown of a group that is not shown whole, and how many of a group of many tables."""

MOST_COLUMNS = 450
"""Columns shown at most; the usual question takes half of them, some 1,200 tokens."""


@dataclass(frozen=True)
class _Weighed:
    """Groups by weight, and which words speak for which tables."""

    groups: Mapping[str, float]
    tables: Mapping[tuple[str, str], float]


class Crowd:
    """A large schema, ready to be asked which of its tables a question is about."""

    def __init__(self, schema: Schema) -> None:
        """Indexes a schema's names by group."""
        self._schema = schema
        self._group = group_of(schema)
        self._members: dict[str, list[TableSchema]] = defaultdict(list)
        self._named: dict[str, dict[str, float]] = defaultdict(dict)
        self._aside = {table.name for table in schema.tables if set_aside(table, schema)}
        for table in schema.tables:
            group = self._group[table.name]
            self._members[group].append(table)
            of_group = set(name_stems(group)) if len(name_stems(table.name)) > len(name_stems(group)) else set[str]()
            own = set(name_stems(table.name)) - of_group or set(name_stems(table.name))
            weight = _ASIDE if table.name in self._aside else 1.0
            for word in {stem for column in table.columns for stem in name_stems(column.name)}:
                self._named[word][table.name] = weight
            for word in own:
                self._named[word][table.name] = weight * _IN_TABLE * len(own) ** -_OF_TABLE
        self._group_words = {group: set(name_stems(group)) for group in self._members}
        holders = {word: len({self._group[name] for name in tables}) for word, tables in self._named.items()}
        self._rarity = {word: self._rare(count) for word, count in holders.items()}

    def _rare(self, groups: int) -> float:
        """What is known to few groups says more."""
        return math.log((len(self._members) + 1) / (groups + 0.5))

    def keep(self, text: str, items: Sequence[SchemaItem], values: Sequence[ValueMatch]) -> Schema:
        """The tables to show, with all of their columns, the group that is meant first.

        Args:
            text: The question.
            items: What the linker found, most probable first.
            values: Values that the question may mention.
        """
        question = read(text)
        p = {
            item.table: item.p * (_ASIDE if item.table in self._aside else 1)
            for item in reversed(items)
            if not item.column
        }
        weighed = self._weigh(question, p, values)
        order = sorted(weighed.groups, key=lambda group: -weighed.groups[group])[: _WHOLE + _RIVALS]
        if not self._is_whole(order[0], 0):
            order = order[: 1 + _FEW_RIVALS]
        room, shown = MOST_COLUMNS, list[TableSchema]()
        for rank, group in enumerate(order):
            near = weighed.groups[group] >= _NEAR * weighed.groups[order[0]]
            if rank >= _WHOLE and not near:
                break
            taken = self._taken(group, rank, weighed, p)
            for table in sorted(taken, key=lambda table: (table.name in self._aside, -p.get(table.name, 0.0))):
                if len(table.columns) <= room or not shown:
                    shown.append(table)
                    room -= len(table.columns)
        shown.sort(key=lambda table: table.name in self._aside)
        return self._schema.part([(table.name, [column.name for column in table.columns]) for table in shown])

    def _weigh(self, question: Question, p: Mapping[str, float], values: Sequence[ValueMatch]) -> _Weighed:
        words = {word.stem for number, word in enumerate(question.words) if not question.says_nothing(number)}
        tables = {
            (name, word): weight * self._rarity[word]
            for word in words
            for name, weight in self._named.get(word, {}).items()
        }
        for name, word, weight in self._told(question, values):
            tables[name, word] = max(tables.get((name, word), 0.0), weight)
        best: dict[tuple[str, str], float] = {}
        for (name, word), weight in tables.items():
            place = self._group[name], word
            best[place] = max(best.get(place, 0.0), weight)
        groups = dict.fromkeys(self._members, 0.0)
        for (group, _), weight in best.items():
            groups[group] += weight
        likeliest: dict[str, list[float]] = defaultdict(list)
        for name, probability in p.items():
            likeliest[self._group[name]].append(probability)
        for group, known in self._group_words.items():
            groups[group] += _IN_GROUP * len(words & known) + _PROBABILITY * sum(sorted(likeliest[group])[-2:])
        return _Weighed(groups, tables)

    def _told(self, question: Question, values: Sequence[ValueMatch]) -> Iterator[tuple[str, str, float]]:
        """Tables that hold a value, with a word that mentions it and what it counts."""
        meant = likely(question.text, values, self._schema)
        places = {(match.start, match.end, self._group[match.table]) for match in meant}
        holders = Counter((start, end) for start, end, _ in places)
        for match in meant:
            words = [word.stem for word in question.words if match.start <= word.start and word.end <= match.end]
            for word in words:
                weight = match.score * self._rare(holders[match.start, match.end]) * len(words) ** -0.5
                yield match.table, word, weight * (_ASIDE if match.table in self._aside else 1)

    def _taken(self, group: str, rank: int, weighed: _Weighed, p: Mapping[str, float]) -> Sequence[TableSchema]:
        """The group whole where there is room; else the tables that words are about, and what joins them.

        Of the first group the small tables that these refer to come with them: there codes are looked up.
        """
        members = self._members[group]
        if self._is_whole(group, rank):
            return members
        best: dict[str, tuple[float, float, str]] = {}
        own = {table.name for table in members}
        for (name, word), weight in weighed.tables.items():
            if name in own:
                best[word] = max(best.get(word, (0.0, 0.0, "")), (weight, p.get(name, 0.0), name))
        likeliest = sorted((name for name in own if p.get(name, 0.0) >= _LIKELY), key=lambda name: -p[name])
        names = dict.fromkeys([*(name for *_, name in best.values()), *likeliest[:_LIKELIEST]])
        for key in join_path(self._schema, list(names)) if len(names) > 1 else ():
            names |= dict.fromkeys((key.table, key.ref_table))
        if rank == 0:
            referred = [key.ref_table for key in self._schema.foreign_keys if key.table in names]
            names |= dict.fromkeys(name for name in referred if self._is_looked_up(name))
        return [table for name in names if (table := self._schema.table(name))]

    def _is_whole(self, group: str, rank: int) -> bool:
        """Whether a group at this rank is shown whole."""
        size = sum(len(table.columns) for table in self._members[group])
        return size <= _SMALL or (rank < _WHOLE and size <= _WHOLE_COLUMNS)

    def _is_looked_up(self, name: str) -> bool:
        table = self._schema.table(name)
        return table is not None and len(table.columns) <= _LOOKED_UP and name not in self._aside
