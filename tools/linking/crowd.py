"""The part of a large schema to show: the likeliest tables whole, and of many more the keys and the likeliest columns.

The linker's probabilities are made for small schemas. In a crowd too many tables fit: every business has customers.
Which of them is meant shows also by how much of the question a table's names and values cover, and by what stands
beside it: groups of tables (`group_of`) are weighed likewise, where names make them. Each content word counts once,
where it says most, and the more the fewer groups know it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..database import ForeignKey, Schema, TableSchema
from ..values import ValueMatch, likely
from ..values.question import Question, read
from ..values.schema_words import name_stems
from ..values.text_words import stem
from .groups import copy_words, families, group_of, is_copy
from .join_path import join_path
from .linked import SchemaItem

_IN_TABLE, _OF_TABLE, _IN_GROUP = 1.5, 0.2, 0.5
"""What a word counts in a table's name, against 1 in a column's: less the more words the name has; and in a group's."""

_PROBABILITY = 6.0
"""What the linker's two most probable tables of a group count."""

_WORDS, _OF_GROUP = 0.1, 0.1
"""What the best cover of a question's words, by a table and by its group, counts against a probability of 1."""

_ASIDE = 0.1
"""What a table counts that is empty or a copy, against others."""

_OF_VIEW, _VIEW = 0.8, 0.5
"""What of a view's score its tables have at least, and what it keeps itself: what it tells can be asked of them."""

_WHOLE, _JOINED = 8, 12
"""The first tables are shown whole, and so many are joined by others in between."""

_LIKELY = 0.25
"""Least score of tables that others in between join."""

_LOOKED_UP = 6
"""Columns of a table that one of those shown refers to and that is shown with it: codes, kinds, places."""

_MOST_ROWS = 500
_CODES = re.compile(r"(?i)(^|_)(cd|codes?|lookups?|lov|enums?|status(es)?|types?)(_|$)")
"""Tables of codes by their names; those that are looked up without a key say nothing of the question's words."""

_MOST_CODES = 4

_FEW = 9
"""Columns shown of a table that is not shown whole, and three times as many of one that is; keys come in addition."""

_ROOM = 3_800
"""Characters of what is shown, as `_cost` counts them: some 1,800 tokens."""


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
        self._family = families(schema)
        self._copies = {
            table.name: frozenset(map(stem, copy_words(table))) for table in schema.tables if is_copy(table, schema)
        }
        self._empty = {table.name for table in schema.tables if table.row_count == 0}
        for table in schema.tables:
            group = self._group[table.name]
            self._members[group].append(table)
            of_group = set(name_stems(group)) if len(name_stems(table.name)) > len(name_stems(group)) else set[str]()
            own = set(name_stems(table.name)) - of_group or set(name_stems(table.name))
            weight = self._standing(table.name)
            for word in {part for column in table.columns for part in name_stems(column.name)}:
                self._named[word][table.name] = weight
            for word in own:
                self._named[word][table.name] = weight * _IN_TABLE * len(own) ** -_OF_TABLE
        self._keys_of: dict[str, list[ForeignKey]] = defaultdict(list)
        for key in schema.foreign_keys:
            self._keys_of[key.table].append(key)
        self._views = {table.name: self._read_by(table) for table in schema.tables if table.kind == "view"}
        self._group_words = {group: set(name_stems(group)) for group in self._members}
        holders = {word: len({self._group[name] for name in tables}) for word, tables in self._named.items()}
        self._rarity = {word: self._rare(count) for word, count in holders.items()}

    def _read_by(self, view: TableSchema) -> Sequence[str]:
        """The tables that a view's query names."""
        words = dict.fromkeys(re.findall(r"[\w.]+", view.definition))
        return [table.name for word in words if (table := self._schema.table(word)) and table.name != view.name]

    def _standing(self, name: str) -> float:
        return _ASIDE if name in self._copies or name in self._empty else 1.0

    def _rare(self, groups: int) -> float:
        """What is known to few groups says more."""
        return math.log((len(self._members) + 1) / (groups + 0.5))

    def keep(self, text: str, items: Sequence[SchemaItem], values: Sequence[ValueMatch]) -> Schema:
        """The tables to show, the likeliest first.

        Args:
            text: The question.
            items: What the linker found, most probable first.
            values: Values that the question may mention.
        """
        score = self._score(read(text), items, values)
        ranked = sorted(score, key=lambda name: -score[name])
        ranked = self._without_copies(ranked, read(text), items) or ranked
        likeliest = [name for name in ranked[:_JOINED] if score[name] >= _LIKELY] or ranked[:1]
        order = dict.fromkeys([*likeliest, *self._beside(likeliest), *ranked])
        place = {(item.table, item.column): number for number, item in enumerate(items)}
        shown: list[tuple[str, Sequence[str]]] = []
        room = _ROOM
        for number, name in enumerate(order):
            table = self._schema.table(name)
            if table is None:
                continue
            columns = self._columns(table, 3 * _FEW if number < _WHOLE else _FEW, place)
            room -= self._cost(table, columns, number < _WHOLE)
            if room < 0 and shown:
                break
            shown.append((name, columns))
        return self._schema.part(shown)

    def _score(
        self, question: Question, items: Sequence[SchemaItem], values: Sequence[ValueMatch]
    ) -> Mapping[str, float]:
        p = {item.table: item.p * self._standing(item.table) for item in items if not item.column}
        weighed = self._weigh(question, p, values)
        words: dict[str, float] = defaultdict(float)
        for (name, _), weight in weighed.tables.items():
            words[name] += weight
        most_words, most = max(words.values(), default=1.0), max(weighed.groups.values())
        score = {
            name: p[name] + _WORDS * words[name] / most_words + _OF_GROUP * weighed.groups[self._group[name]] / most
            for name in p
        }
        for view, tables in self._views.items():
            for name in tables:
                score[name] = max(score[name], _OF_VIEW * score[view] * self._standing(name))
            score[view] *= _VIEW if tables else 1
        return score

    def _without_copies(self, ranked: Sequence[str], question: Question, items: Sequence[SchemaItem]) -> list[str]:
        """Without copies that neither the question nor an earlier query names, and one table alone of each family."""
        said = {word.stem for word in question.words}
        used = {item.table for item in items if item.used_before}
        found: dict[str, str] = {}
        for name in ranked:
            words = self._copies.get(name)
            if words is None or name in used or (words and words <= said):
                found.setdefault(name if name in used else self._family.get(name, [name])[0], name)
        return list(found.values())

    def _beside(self, likeliest: Sequence[str]) -> Iterable[str]:
        """What comes with the likeliest tables: those that join them, and those where their codes are looked up."""
        joined = dict.fromkeys(likeliest)
        for key in join_path(self._schema, likeliest):
            joined |= dict.fromkeys((key.table, key.ref_table))
        referred = [key.ref_table for key in self._schema.foreign_keys if key.table in joined]
        return dict.fromkeys([*joined, *self._codes, *filter(self._is_looked_up, referred)])

    @cached_property
    def _codes(self) -> Sequence[str]:
        """Tables of codes to which no key leads."""
        keyed = {key.ref_table for key in self._schema.foreign_keys}
        return [
            table.name
            for table in self._schema.tables
            if table.name not in keyed and _CODES.search(table.name) and self._is_looked_up(table.name)
        ][:_MOST_CODES]

    def _is_looked_up(self, name: str) -> bool:
        table = self._schema.table(name)
        return (
            table is not None
            and len(table.columns) <= _LOOKED_UP
            and (table.row_count or 0) <= _MOST_ROWS
            and self._standing(name) == 1
        )

    def _columns(self, table: TableSchema, most: int, place: Mapping[tuple[str, str | None], int]) -> Sequence[str]:
        """A table's keys and its likeliest columns, as declared."""
        if len(table.columns) <= most:
            return [column.name for column in table.columns]
        own = [key for key in self._schema.foreign_keys if table.name in (key.table, key.ref_table)]
        kept = {*table.key}
        for key in own:
            kept.update(key.columns if key.table == table.name else key.ref_columns)
        ranked = sorted((column.name for column in table.columns), key=lambda name: place.get((table.name, name), 0))
        kept.update([name for name in ranked if name not in kept][:most])
        return [column.name for column in table.columns if column.name in kept]

    def _cost(self, table: TableSchema, columns: Iterable[str], whole: bool) -> int:
        """About how many characters a table's line has."""
        references = sum(len(key.ref_table) + len(key.ref_columns[0]) for key in self._keys_of[table.name])
        return len(table.name) + sum(len(column) + (26 if whole else 9) for column in columns) + references

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
                yield match.table, word, weight * self._standing(match.table)
