"""The part of a large schema to show: the likeliest tables whole, and of many more the keys and the likeliest columns.

The linker's probabilities are made for small schemas. In a crowd too many tables fit: every business has customers.
Which of them is meant shows also by how much of the question a table's names and values cover, by what stands beside it
(groups of tables, `group_of`, are weighed likewise, where names make them), and by what refers to it or reads it. Each
content word counts once, where it says most, and the more the fewer groups know it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..database import ForeignKey, Schema, TableSchema
from ..database.rendering.compact import table_line
from ..database.rendering.text import identifiers
from ..database.schema import Codes
from ..derived import derived
from ..values import ValueMatch, likely
from ..values.question import Question, read
from ..values.schema_words import name_stems
from ..values.text_words import stem, stems
from .groups import copies, copy_words, families, group_of
from .join_path import join_path
from .linked import SchemaItem
from .periods import Periods

_IN_TABLE, _OF_TABLE, _IN_GROUP = 1.5, 0.2, 0.5
"""What a word counts in a table's name, against 1 in a column's: less the more words the name has; and in a group's."""

_SHORT, _TOLD = 0.5, 0.8
"""What a word counts that has some letters of another, and one of a comment or of what codes mean."""

_PROBABILITY = 6.0
"""What the linker's two most probable tables of a group count."""

_WORDS, _OF_GROUP = 0.3, 0.1
"""What the best cover of a question's words, by a table and by its group, counts against a probability of 1."""

_BEST = 0.2
"""What a table counts for each word that no other says more of."""

_ASIDE = 0.1
"""What a table counts that is empty or a copy, against others."""

_OF_VIEW, _VIEW = 0.8, 0.5
"""What of a view's score its tables have at least, and what it keeps itself: what it tells can be asked of them."""

_REFERRED, _CODED, _REFERRING, _ROUNDS = 0.5, 0.25, 0.4, 2
"""What of a table's score passes along keys, to tables that it refers to, to those of its codes, and to those that
refer to it; how often."""

WHOLE = 5
"""The first tables are shown whole."""

_BRIDGE = 0.5
"""What a table counts that refers to two others, against the less likely of both."""

_JOINED, _LIKELY = 12, 0.25
"""So many tables, if they are likely, are joined by others in between."""

_NEAR = 15
"""Of so many first tables all are shown that hold a period that the question names."""

_LISTS = 4
"""The first tables with whose codes the tables come that say what they mean."""

_REGISTERS, _REGISTER_COLUMNS, _REGISTER_ROWS = 2, 8, 2_000
"""So many tables that hold the codes of many lists are always shown."""

_LONGEST_CODE = 12
"""Characters of a code in one of them."""

_FEW = 9
"""Columns shown of a table that is not shown whole, and three times as many of one that is; keys come in addition."""

_ROOM = 7_400
"""Characters of the lines shown: some 1,850 tokens."""

SAMPLES = 3
"""Sample values of a column that are counted with."""


class _Light:
    """The tables of a part of a large schema as they are shown, one after the other."""

    def __init__(self, schema: Schema) -> None:
        self._schema, self._lists = schema, _lists(schema)
        self._family = {**families(schema), **_united(schema)}
        self._whole = WHOLE
        self._first: dict[str, str] = {}
        self._columns: dict[str, list[str]] = {}

    def whole(self, table: TableSchema) -> bool:
        """Whether the next table would be shown whole."""
        return self._whole > 0 and table.name not in self._lists and not self._like(table)

    def of(self, table: TableSchema) -> TableSchema:
        """The next table."""
        if codes := self._lists.get(table.name):
            own = replace(codes, table="")
            columns = (replace(each, codes=own if each.name == codes.key else None) for each in table.columns)
            return replace(table, columns=tuple(columns), brief=True)
        if like := self._like(table):
            return replace(table, like=like)
        self._columns[table.name] = [column.name for column in table.columns]
        if table.name in self._family:
            self._first[self._family[table.name][0]] = table.name
        if table.name in _registers(self._schema):
            return table
        if not self.whole(table):
            return replace(table, brief=True, definition="")
        self._whole -= 1
        return table

    def _like(self, table: TableSchema) -> str:
        """A table that came before with the same columns: of its family, or read by the view that it is."""
        columns = [column.name for column in table.columns]
        for name in _views(self._schema).get(table.name, ()):
            if self._columns.get(name) == columns:
                return name
        return self._first.get(self._family.get(table.name, (table.name,))[0], "")


def lighten(part: Schema, schema: Schema) -> Schema:
    """A part of a large schema as it is shown: its first tables whole, of the others names, keys and what codes mean.

    Args:
        part: The tables to show.
        schema: All.
    """
    light = _Light(schema)
    tables = [light.of(table) for table in part.tables]
    listed = {table.name for table in tables} & {*_lists(schema)}
    return replace(part, tables=tuple(_without_told(table, listed) for table in tables))


def _without_told(table: TableSchema, listed: Collection[str]) -> TableSchema:
    """The table without meanings that stand beside the codes themselves."""
    if not any(column.codes and column.codes.table in listed for column in table.columns):
        return table
    columns = (
        replace(column, codes=None) if column.codes and column.codes.table in listed else column
        for column in table.columns
    )
    return replace(table, columns=tuple(columns))


@derived
def _lists(schema: Schema) -> Mapping[str, Codes]:
    """The tables of codes, by name, with what they say."""
    return {column.codes.table: column.codes for table in schema.tables for column in table.columns if column.codes}


@derived
def _views(schema: Schema) -> Mapping[str, Sequence[str]]:
    """The tables that each view's query names."""
    return {
        view.name: [
            table.name
            for word in dict.fromkeys(re.findall(r"[\w.]+", view.definition))
            if (table := schema.table(word)) and table is not view
        ]
        for view in schema.tables
        if view.kind == "view"
    }


@derived
def _united(schema: Schema) -> Mapping[str, Sequence[str]]:
    """The views that read tables of one family together and have their columns, each with the family."""
    united: dict[str, Sequence[str]] = {}
    for name, tables in _views(schema).items():
        members = max((families(schema).get(table, ()) for table in tables), key=len, default=())
        if len({*members} & {*tables}) > 1 and {*members} >= {table for table in tables if table in families(schema)}:
            united[name] = members
    return united


@derived
def _registers(schema: Schema) -> Sequence[str]:
    """Tables that hold the codes of many lists, each by the name of its list and the code: no key leads to them."""
    joined = {name for key in schema.foreign_keys for name in (key.table, key.ref_table)}
    apart = [table for table in schema.tables if table.name not in joined | copies(schema)]
    return [table.name for table in apart if _is_register(table)][:_REGISTERS]


def _is_register(table: TableSchema) -> bool:
    keys = table.primary_key or tuple(column.name for column in table.columns[:2])
    texts = [column for column in table.columns if column.kind == "text"]
    if len(keys) != 2 or not 2 < len(texts) <= len(table.columns) <= _REGISTER_COLUMNS or not table.row_count:
        return False
    of, code = map(table.column, keys)
    return (
        table.row_count <= _REGISTER_ROWS
        and of in texts
        and code in texts
        and 1 < (of.distinct or 0) <= table.row_count / 2
        and all(len(str(sample)) <= _LONGEST_CODE for sample in code.samples)
    )


def _is_number(words: Iterable[str]) -> bool:
    return all(map(str.isdecimal, words))


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
        tables = {table.name: table for table in schema.tables}
        self._copies = {name: frozenset(map(stem, copy_words(tables[name]))) for name in copies(schema)}
        self._empty = {table.name for table in schema.tables if table.row_count == 0}
        self._lists = _lists(schema)
        keys = tuple(key for key in schema.foreign_keys if key.ref_table not in self._lists)
        self._joinable = replace(schema, foreign_keys=keys)
        self._written = identifiers(schema)
        for table in schema.tables:
            self._index(table)
        self._starting: dict[str, list[str]] = defaultdict(list)
        for word in self._named:
            self._starting[word[0]].append(word)
        # Looked up by several threads at once: a look adds nothing.
        self._keys_from: dict[str, list[ForeignKey]] = {table.name: [] for table in schema.tables}
        self._keys_to: dict[str, list[ForeignKey]] = {table.name: [] for table in schema.tables}
        for key in schema.foreign_keys:
            self._keys_from[key.table].append(key)
            self._keys_to[key.ref_table].append(key)
        self._views = _views(schema)
        united = _united(schema)
        self._members_of = {**self._family, **united}
        self._heads = {name: view for view, members in united.items() for name in members}
        self._group_words = {group: set(name_stems(group)) for group in self._members}
        holders = {word: len({self._group[name] for name in names}) for word, names in self._named.items()}
        self._rarity = {word: self._rare(count) for word, count in holders.items()}

    def _index(self, table: TableSchema) -> None:
        group, weight = self._group[table.name], self._standing(table.name)
        self._members[group].append(table)
        of_group = set(name_stems(group)) if len(name_stems(table.name)) > len(name_stems(group)) else set[str]()
        own = set(name_stems(table.name)) - of_group or set(name_stems(table.name))
        codes = self._lists.get(table.name)
        told = [
            table.comment,
            *(column.comment for column in table.columns),
            *(text for _, text in (codes.meanings if codes else ())),
        ]
        for word in {part for text in told for part in stems(text)}:
            self._named[word][table.name] = weight * _TOLD
        for word in {part for column in table.columns for part in name_stems(column.name)}:
            self._named[word][table.name] = weight
        for word in own:
            self._named[word][table.name] = weight * _IN_TABLE * len(own) ** -_OF_TABLE

    def _standing(self, name: str) -> float:
        return _ASIDE if name in self._copies or name in self._empty else 1.0

    def _rare(self, groups: int) -> float:
        """What is known to few groups says more."""
        return math.log((len(self._members) + 1) / (groups + 0.5))

    def keep(self, text: str, items: Sequence[SchemaItem], values: Sequence[ValueMatch]) -> Schema:
        """The tables to show, the likeliest first; those shown whole, `WHOLE`, stand before the others.

        Args:
            text: The question.
            items: What the linker found, most probable first.
            values: Values that the question may mention.
        """
        question = read(text)
        own = self._score(question, items, values)
        score = self._spread(own)
        used = {item.table for item in items if item.used_before}
        ranked = self._ranked(score, question, used)
        place = {(item.table, item.column): number for number, item in enumerate(items)}
        shown: dict[str, Sequence[str]] = {}
        light = _Light(self._schema)
        room = _ROOM
        for name in self._in_order(ranked, own, used):
            table = self._schema.table(name)
            if table is None or name in shown:
                continue
            columns = self._columns(table, 3 * _FEW if light.whole(table) else _FEW, place)
            part = replace(table, columns=tuple(column for column in table.columns if column.name in columns))
            line = table_line(light.of(part), self._keys_from[name], self._written, SAMPLES)
            room -= len(line) + 1
            if room < 0 and shown:
                break
            shown[name] = columns
        return self._schema.part(list(shown.items()))

    def _in_order(self, ranked: Sequence[str], own: Mapping[str, float], used: Iterable[str]) -> Iterable[str]:
        """Tables shown whole, those used before, those that join them, what their codes mean, and the others."""
        things = self._apart([name for name in ranked if name not in self._lists]) or list(ranked)
        things.sort(key=lambda name: -own[name])
        likeliest = [name for name in things[:_JOINED] if own[name] >= _LIKELY] or ranked[:1]
        joins = join_path(self._joinable, likeliest)
        between = [name for key in joins for name in (key.table, key.ref_table)]
        told = [
            key.ref_table for name in things[:_LISTS] for key in self._keys_from[name] if key.ref_table in self._lists
        ]
        return [*things[:WHOLE], *sorted(used), *likeliest, *between, *_registers(self._schema), *told, *ranked]

    def _apart(self, names: Sequence[str]) -> list[str]:
        """The first of each family."""
        first: dict[str, str] = {}
        for name in names:
            first.setdefault(self._members_of.get(name, (name,))[0], name)
        return list(first.values())

    def _score(
        self, question: Question, items: Sequence[SchemaItem], values: Sequence[ValueMatch]
    ) -> Mapping[str, float]:
        p = {item.table: item.p * self._standing(item.table) for item in items if not item.column}
        weighed = self._weigh(question, p, values)
        words: dict[str, float] = defaultdict(float)
        for (name, _), weight in weighed.tables.items():
            words[name] += weight
        most_words, most = max(words.values(), default=1.0), max(weighed.groups.values())
        best = self._best_of_words(weighed.tables)
        score = {
            name: p[name]
            + _WORDS * words[name] / most_words
            + _BEST * best[name]
            + _OF_GROUP * weighed.groups[self._group[name]] / most
            for name in p
        }
        for view, tables in self._views.items():
            for name in tables:
                score[name] = max(score[name], _OF_VIEW * score[view] * self._standing(name))
            if view not in self._members_of:
                score[view] *= _VIEW
        return score

    def _best_of_words(self, tables: Mapping[tuple[str, str], float]) -> Mapping[str, float]:
        """For how many words a table is the best, shared by those that are as good."""
        of_word: dict[str, dict[str, float]] = defaultdict(dict)
        for (name, word), weight in tables.items():
            of_word[word][name] = weight
        best: dict[str, float] = defaultdict(float)
        for weights in of_word.values():
            most = max(weights.values())
            leading = [name for name, weight in weights.items() if weight >= 0.99 * most]
            for name in leading:
                best[name] += len(leading) ** -0.5
        return best

    def _spread(self, score: Mapping[str, float]) -> dict[str, float]:
        """Scores with what passes along keys: the best two of the tables beside it count for a table too."""
        # Tables of one family count as one.
        referring = Counter(
            name
            for name, _ in {
                (key.ref_table, self._family.get(key.table, (key.table,))[0])
                for key in self._schema.foreign_keys
                if self._standing(key.table) == 1
            }
        )
        spread = dict(score)
        for _ in range(_ROUNDS):
            beside: dict[str, dict[str, float]] = defaultdict(dict)
            for key in self._schema.foreign_keys:
                one, other = key.table, key.ref_table
                if one in spread and other in spread and one != other:
                    beside[one][other] = _REFERRING * spread[other] / math.sqrt(max(1, referring[other]))
                    share = _CODED if other in self._lists else _REFERRED
                    beside[other][one] = max(beside[other].get(one, 0.0), share * spread[one])
            best = {name: sorted(others.values(), reverse=True)[:2] for name, others in beside.items()}
            spread = {
                name: own
                + self._standing(name) * sum(passed / place for place, passed in enumerate(best.get(name, ()), 1))
                for name, own in score.items()
            }
        for name, keys in self._keys_from.items():
            ends = {key.ref_table: score.get(key.ref_table, 0.0) for key in keys if key.ref_table not in self._lists}
            if len(ends) > 1:
                spread[name] += _BRIDGE * sorted(ends.values())[-2] * self._standing(name)
        for view, tables in self._views.items():
            if view in self._members_of:
                spread[view] = max([spread[view], *(spread[name] for name in tables)])
        return spread

    def _ranked(self, score: Mapping[str, float], question: Question, used: set[str]) -> list[str]:
        """Tables by score, without copies that neither the question nor an earlier query names.

        Of tables that differ by a period those stand for all that the question names, or the last, or what reads all.
        """
        said, periods = {word.stem for word in question.words}, Periods.of(question.text)
        ranked: dict[str, None] = {}
        left: list[str] = []
        for name in sorted(score, key=lambda name: -score[name]):
            words, members = self._copies.get(name), self._members_of.get(name, ())
            named = [member for member in members if periods.cover(member)]
            head = self._heads.get(name) or (name if name in self._views else None)
            if name in used:
                ranked[name] = None
            elif words is not None and not (words and (words <= said or (name in named and _is_number(words)))):
                left.append(name)
            elif not members:
                ranked[name] = None
            elif not any(member in ranked for member in members):
                first, *others = named or [max(members)]
                ranked.update(dict.fromkeys([first, *filter(None, [head]), *(others if len(ranked) < _NEAR else ())]))
        return list(ranked) or left

    def _columns(self, table: TableSchema, most: int, place: Mapping[tuple[str, str | None], int]) -> Sequence[str]:
        """A table's keys and its likeliest columns, as declared."""
        if len(table.columns) <= most:
            return [column.name for column in table.columns]
        kept = {*table.key}
        kept.update(name for key in self._keys_from[table.name] for name in key.columns)
        kept.update(name for key in self._keys_to[table.name] for name in key.ref_columns)
        ranked = sorted((column.name for column in table.columns), key=lambda name: place.get((table.name, name), 0))
        kept.update([name for name in ranked if name not in kept][:most])
        return [column.name for column in table.columns if column.name in kept]

    def _weigh(self, question: Question, p: Mapping[str, float], values: Sequence[ValueMatch]) -> _Weighed:
        words = {
            word.stem
            for number, word in enumerate(question.words)
            if len(word.stem) > 1 and not question.says_nothing(number) and not word.stem.isdecimal()
        }
        tables: dict[tuple[str, str], float] = {}
        for word in words:
            for name, weight in self._named.get(word, {}).items():
                tables[name, word] = weight * self._rarity[word]
            for short, likeness in self._short_for(word):
                for name, weight in self._named[short].items():
                    counted = likeness * weight * self._rarity[short]
                    tables[name, word] = max(tables.get((name, word), 0.0), counted)
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

    def _short_for(self, word: str) -> Iterator[tuple[str, float]]:
        """The names' words that may be short for a question's word, or the other way round: `mvmt`, `movement`."""
        for other in self._starting.get(word[:1], ()):
            short, long = sorted((word, other), key=len)
            if short == long or len(short) < 3 or not word.isalpha() or not other.isalpha():
                continue
            letters = iter(long)
            if long.startswith(short):
                yield other, len(short) / len(long)
            elif 2 * len(short) >= len(long) and all(each in letters for each in short):
                yield other, _SHORT * len(short) / len(long)

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
