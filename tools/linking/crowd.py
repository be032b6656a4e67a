"""The part of a large schema to show: the likeliest tables whole, and of many more the keys and the likeliest columns.

The linker's probabilities are made for small schemas. In a crowd too many tables fit: every business has customers.
Which of them is meant shows also by how much of the question a table's names, comments, codes and values cover, and by
what refers to it or reads it. Each content word counts once, where it says most, and the more the fewer tables know it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..database import ForeignKey, Schema, TableSchema
from ..database.rendering.compact import table_line
from ..database.rendering.text import Names
from ..values import ValueMatch, likely
from ..values.match import Question
from ..words import MONTHS, name_stems, stem, stems
from .copies import copies, copy_words, families
from .join_path import join_path
from .large import WHOLE, Light, lists, registers, united_views, views
from .linked import SchemaItem

_IN_TABLE, _OF_TABLE = 1.5, 0.2
"""What a word counts in a table's name, against 1 in a column's: less the more words the name has."""

_SHORT, _TOLD = 0.5, 0.8
"""What a word counts that has some letters of another, and one of a comment or of what codes mean."""

_WORDS, _BEST = 0.3, 0.25
"""What the best cover of a question's words counts against a probability of 1, and each word that none says more of."""

_ASIDE = 0.1
"""What a table counts that is empty or a copy, against others."""

_OF_VIEW, _VIEW = 0.8, 0.5
"""What of a view's score its tables have at least, and what it keeps itself: what it tells can be asked of them."""

_REFERRED, _CODED, _REFERRING, _ROUNDS = 0.5, 0.25, 0.5, 2
"""What of a table's score passes along keys, to tables that it refers to, to those of its codes, and to those that
refer to it; how often."""

_BRIDGE = 0.5
"""What a table counts that refers to two others, against the less likely of both."""

_JOINED, _NEAR, _LISTS = 8, 15, 3
"""Of the first tables: how many are joined by others in between; of how many all are shown that hold a period that the
question names; with how many those come that say what their codes mean."""

_FEW = 9
"""Columns shown of a table that is not shown whole, and three times as many of one that is; keys come in addition."""

_ROOM = 2_120
"""Tokens of the lines shown, by `_tokens`."""

_PIECE = re.compile(r"[A-Za-z]+|\d|[^\w\s]+|[^\W_a-zA-Z\d]")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)

_SAMPLES = 3
"""Sample values of a column that are counted with."""


def _tokens(line: str) -> int:
    """Return how many tokens a line takes: of five schemas' lines 2 to 11 % above Qwen's vocabulary, never below.

    Words are whole pieces; names without vowels or in capitals break at each second letter, numbers at each digit.
    """
    pieces: list[str] = _PIECE.findall(line)
    opaque = {word for word in pieces if word.isupper() or len(_VOWEL.findall(word)) * 4 < len(word)}
    return sum(math.ceil(len(p) / (1.5 if p in opaque else 8)) if p.isalpha() and p.isascii() else 1 for p in pieces)


class Crowd:
    """A large schema, ready to be asked which of its tables a question is about."""

    def __init__(self, schema: Schema) -> None:
        """Indexes a schema's names."""
        self._schema = schema
        self._written = Names(schema)
        tables = {table.name: table for table in schema.tables}
        self._copies = {name: frozenset(map(stem, copy_words(tables[name]))) for name in copies(schema)}
        self._empty = {table.name for table in schema.tables if table.row_count == 0}
        self._lists, self._views, self._family = lists(schema), views(schema), families(schema)
        united = united_views(schema)
        self._members = {**self._family, **united}
        self._heads = {name: view for view, members in united.items() for name in members}
        # Looked up by several threads at once: a look adds nothing.
        self._from: dict[str, list[ForeignKey]] = {table.name: [] for table in schema.tables}
        self._to: dict[str, list[ForeignKey]] = {table.name: [] for table in schema.tables}
        for key in schema.foreign_keys:
            self._from[key.table].append(key)
            self._to[key.ref_table].append(key)
        keys = tuple(key for key in schema.foreign_keys if key.ref_table not in self._lists)
        self._joinable = replace(schema, foreign_keys=keys)
        self._named: dict[str, dict[str, float]] = defaultdict(dict)
        for table in schema.tables:
            self._index(table)
        self._starting: dict[str, list[str]] = defaultdict(list)
        for word in self._named:
            self._starting[word[0]].append(word)
        self._rarity = {word: self._rare(names) for word, names in self._named.items()}

    def _index(self, table: TableSchema) -> None:
        weight, own = self._standing(table.name), set(name_stems(table.name))
        codes = self._lists.get(table.name)
        told = [table.comment, *(column.comment for column in table.columns)]
        told += [text for _, text in codes.meanings] if codes else []
        for word in {part for text in told for part in stems(text)}:
            self._named[word][table.name] = weight * _TOLD
        for word in {part for column in table.columns for part in name_stems(column.name)}:
            self._named[word][table.name] = weight
        for word in own:
            self._named[word][table.name] = weight * _IN_TABLE * len(own) ** -_OF_TABLE

    def _standing(self, name: str) -> float:
        return _ASIDE if name in self._copies or name in self._empty else 1.0

    def _first_of(self, name: str) -> str:
        """One name for all tables of a family."""
        return self._members.get(name, (name,))[0]

    def _rare(self, holders: Iterable[str]) -> float:
        """What few tables know says more; copies know nothing of their own."""
        known = {self._first_of(name) for name in holders if name not in self._copies}
        return math.log((len(self._schema.tables) + 1) / (len(known) + 0.5))

    def keep(self, text: str, items: Sequence[SchemaItem], values: Sequence[ValueMatch]) -> Schema:
        """The tables to show, the likeliest first; those shown whole, `WHOLE`, stand before the others.

        Args:
            text: The question.
            items: What the linker found, most probable first.
            values: Values that the question may mention.
        """
        question = Question.of(text)
        score = self._spread(self._score(question, items, values))
        used = {item.table for item in items if item.used_before}
        ranked = self._ranked(score, question, used)
        place = {(item.table, item.column): number for number, item in enumerate(items)}
        shown: dict[str, Sequence[str]] = {}
        light = Light(self._schema)
        room = _ROOM
        for name in self._in_order(ranked, used):
            table = self._schema.table(name)
            if table is None or name in shown:
                continue
            columns = self._columns(table, 3 * _FEW if light.whole(table) else _FEW, place)
            part = replace(table, columns=tuple(column for column in table.columns if column.name in columns))
            line = table_line(light.of(part), self._from[name], self._written, _SAMPLES)
            if (tokens := _tokens(line)) < room or not shown:
                room -= tokens
                shown[name] = columns
        return self._schema.part(list(shown.items()))

    def _in_order(self, ranked: Sequence[str], used: Iterable[str]) -> Iterable[str]:
        """Tables shown whole, those used before, those that join them, what their codes mean, and the others."""
        things = self._apart([name for name in ranked if name not in self._lists]) or list(ranked)
        likeliest = things[:_JOINED]
        joins = join_path(self._joinable, likeliest)
        between = [name for key in joins for name in (key.table, key.ref_table)]
        told = [key.ref_table for name in things[:_LISTS] for key in self._from[name] if key.ref_table in self._lists]
        return [*things[:WHOLE], *sorted(used), *likeliest, *between, *registers(self._schema), *told, *ranked]

    def _apart(self, names: Sequence[str]) -> list[str]:
        """The first of each family."""
        first: dict[str, str] = {}
        for name in names:
            first.setdefault(self._first_of(name), name)
        return list(first.values())

    def _score(
        self, question: Question, items: Sequence[SchemaItem], values: Sequence[ValueMatch]
    ) -> Mapping[str, float]:
        score = {item.table: item.p * self._standing(item.table) for item in items if not item.column}
        weighed = self._weigh(question, values)
        words: dict[str, float] = defaultdict(float)
        for weights in weighed.values():
            leading = [name for name, weight in weights.items() if weight >= 0.99 * max(weights.values())]
            for name, weight in weights.items():
                words[name] += weight
            for name in leading:
                score[name] += _BEST * len(leading) ** -0.5
        most = max(words.values(), default=1.0)
        for name, weight in words.items():
            score[name] += _WORDS * weight / most
        for view, tables in self._views.items():
            for name in tables:
                score[name] = max(score[name], _OF_VIEW * score[view] * self._standing(name))
            if view not in self._members:
                score[view] *= _VIEW
        return score

    def _spread(self, score: Mapping[str, float]) -> dict[str, float]:
        """Scores with what passes along keys: the best two of the tables beside it count for a table too."""
        # Tables of one family count as one.
        referring = Counter(
            name
            for name, _ in {
                (key.ref_table, self._first_of(key.table))
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
        for name, keys in self._from.items():
            ends = {key.ref_table: score.get(key.ref_table, 0.0) for key in keys if key.ref_table not in self._lists}
            if len(ends) > 1:
                spread[name] += _BRIDGE * sorted(ends.values())[-2] * self._standing(name)
        for view, tables in self._views.items():
            if view in self._members:
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
            words, members = self._copies.get(name), self._members.get(name, ())
            named = [member for member in members if periods.cover(member)]
            head = self._heads.get(name) or (name if name in self._views else None)
            if name in used:
                ranked[name] = None
            elif words is not None and not (
                words and (words <= said or (name in named and all(map(str.isdecimal, words))))
            ):
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
        kept.update(name for key in self._from[table.name] for name in key.columns)
        kept.update(name for key in self._to[table.name] for name in key.ref_columns)
        ranked = sorted((column.name for column in table.columns), key=lambda name: place.get((table.name, name), 0))
        kept.update([name for name in ranked if name not in kept][:most])
        return [column.name for column in table.columns if column.name in kept]

    def _weigh(self, question: Question, values: Sequence[ValueMatch]) -> Mapping[str, Mapping[str, float]]:
        """What each content word says for which tables: by their names, or by a value that it mentions."""
        weighed: dict[str, dict[str, float]] = defaultdict(dict)

        def count(word: str, name: str, weight: float) -> None:
            weighed[word][name] = max(weighed[word].get(name, 0.0), weight)

        for number, each in enumerate(question.words):
            word = each.stem
            if len(word) < 2 or question.says_nothing(number) or word.isdecimal():
                continue
            for other, likeness in [(word, 1.0), *self._short_for(word)]:
                for name, weight in self._named.get(other, {}).items():
                    count(word, name, likeness * weight * self._rarity[other])
        meant = likely(question.text, values, self._schema)
        holders: dict[tuple[int, int], set[str]] = defaultdict(set)
        for match in meant:
            holders[match.start, match.end].add(match.table)
        for match in meant:
            words = [word.stem for word in question.words if match.start <= word.start and word.end <= match.end]
            weight = match.score * self._rare(holders[match.start, match.end]) * self._standing(match.table)
            for word in words:
                count(word, match.table, weight * len(words) ** -0.5)
        return weighed

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


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_MONTH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](0?[1-9]|1[0-2])(?!\d)")
_QUARTER = re.compile(
    r"\b(?:q([1-4])|([1-4])(?:st|nd|rd|th)? quarter|(first|second|third|fourth|last) quarter)\b", re.I
)
_ORDINALS = ("first", "second", "third", "fourth", "last")
_MONTHS = {form: number for number, name in enumerate(MONTHS, 1) for form in {name, name[:3]} - {"may"}}
_MAY = re.compile(r"\bMay\b")
_IN_NAME = re.compile(r"((?:19|20)\d\d)_?(?:[qQ]_?([1-4])|[mM]?_?(0[1-9]|1[0-2]))?(?!\d)")


@dataclass(frozen=True)
class Periods:
    """What a question says of time.

    Attributes:
        years: Years named; none if none is.
        months: Numbers of the months named, those of quarters among them; none if none is.
    """

    years: frozenset[int]
    months: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Periods:
        """Reads them off a question."""
        months = {_MONTHS[word] for word in re.findall(r"[^\W\d_]+", text.lower()) if word in _MONTHS}
        months |= {5 for _ in _MAY.findall(text)} | {int(month) for _, month in _YEAR_MONTH.findall(text)}
        for one, two, word in _QUARTER.findall(text):
            quarter = int(one or two or 0) or min(4, _ORDINALS.index(word.lower()) + 1)
            months |= set(range(3 * quarter - 2, 3 * quarter + 1))
        return cls(frozenset(map(int, _YEAR.findall(text))), frozenset(months))

    def cover(self, name: str) -> bool:
        """Whether a table's name tells a period that the question names."""
        told = _IN_NAME.search(name)
        if told is None or int(told[1]) not in self.years:
            return False
        months = (
            {int(told[3])} if told[3] else set(range(3 * int(told[2]) - 2, 3 * int(told[2]) + 1)) if told[2] else ()
        )
        return not months or not self.months or not self.months.isdisjoint(months)
