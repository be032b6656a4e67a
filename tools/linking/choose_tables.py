"""The choice of tables from a large schema: the likeliest whole, many more by key columns.

The linker's probabilities are made for small schemas. In a crowd too many tables fit: every business has customers.
Which of them is meant shows also by how much of the question a table's names, comments and codes cover, and by what
refers to it or reads it. Each content word counts the more the fewer tables know it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ..database import ForeignKey, Schema, TableSchema
from ..database.rendering.compact import render_table_line
from ..database.rendering.text import NameFormatter
from ..sql.join_path import find_joining_keys
from ..words import MONTHS, TokenizedQuestion, is_word_or_abbreviation, stem_name, stem_word, stems
from .large import (
    WHOLE,
    TableShortener,
    extract_copy_words,
    find_code_tables,
    find_copies,
    find_shared_codes,
    find_table_families,
    find_tables_of_views,
    find_union_views,
)
from .linked import SchemaItem

_IN_TABLE = 1.5  # what a word counts in a table's name, against 1 in a column's, a comment or what codes mean
_WORDS = 0.3  # what the best cover of a question's words counts against a probability of 1
_ASIDE = 0.1  # what a table counts that is empty or a copy, against others

_OF_VIEW, _VIEW = 0.8, 0.5
"""What of a view's score its tables have at least, and what it keeps itself: what it tells can be asked of them."""

_PASSED, _ROUNDS = 0.5, 2  # what of a table's score passes along keys, and how often

_JOINED, _NEAR, _LISTS = 8, 15, 3
"""Of the first tables: how many are joined by others in between; of how many all are shown that hold a period that the
question names; with how many those come that say what their codes mean."""

_FEW = 9
"""Columns shown of a table that is not shown whole, and three times as many of one that is; keys come in addition."""

_ROOM = 2_120  # tokens of the lines shown, by `_estimate_tokens`
_SAMPLES = 3  # sample values of a column that are counted with

_PIECE = re.compile(r"[A-Za-z]+|\d|[^\w\s]+|[^\W_a-zA-Z\d]")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


def _estimate_tokens(line: str) -> int:
    """Estimate the number of tokens in a line, 2 to 11 % above Qwen's count.

    Words are whole pieces; names without vowels or in capitals break at each second letter, numbers at each digit.
    """
    pieces: list[str] = _PIECE.findall(line)
    opaque = {word for word in pieces if word.isupper() or len(_VOWEL.findall(word)) * 4 < len(word)}
    return sum(math.ceil(len(p) / (1.5 if p in opaque else 8)) if p.isalpha() and p.isascii() else 1 for p in pieces)


class TableChooser:
    """A chooser of the tables in a large schema that a question is about."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._formatter = NameFormatter(schema, samples=_SAMPLES)
        self._lists, self._views = find_code_tables(schema), find_tables_of_views(schema)
        self._members = find_table_families(schema) | find_union_views(schema)
        self._heads = {name: view for view, members in find_union_views(schema).items() for name in members}
        # Looked up by several threads at once: a look adds nothing.
        self._from: dict[str, list[ForeignKey]] = {table.name: [] for table in schema.tables}
        self._key_columns = {table.name: {*table.key} for table in schema.tables}
        for key in schema.foreign_keys:
            self._from[key.table].append(key)
            self._key_columns[key.table].update(key.columns)
            self._key_columns[key.ref_table].update(key.ref_columns)
        keys = tuple(key for key in schema.foreign_keys if key.ref_table not in self._lists)
        self._joinable = replace(schema, foreign_keys=keys)
        self._copies: dict[str, frozenset[str]] = {}
        self._standing: dict[str, float] = {}
        self._weights: dict[str, dict[str, float]] = defaultdict(dict)  # by word, the weight of each table that has it
        for table in schema.tables:
            if table.name in find_copies(schema):
                self._copies[table.name] = frozenset(map(stem_word, extract_copy_words(table)))
            weight = _ASIDE if table.name in self._copies or table.row_count == 0 else 1.0
            self._standing[table.name] = weight
            parts = (table, *table.columns)
            texts = [part.comment for part in parts]
            if codes := self._lists.get(table.name):
                texts += [text for _, text in codes.meanings]
            for word in chain(*map(stems, texts), *(stem_name(column.name) for column in table.columns)):
                self._weights[word][table.name] = weight
            for word in stem_name(table.name):
                self._weights[word][table.name] = weight * _IN_TABLE
        for weights in self._weights.values():
            representatives = {self._get_family_representative(name) for name in weights if name not in self._copies}
            rarity = math.log((len(schema.tables) + 1) / (len(representatives) + 0.5))
            weights.update({name: weight * rarity for name, weight in weights.items()})

    def _get_family_representative(self, name: str) -> str:
        """Return the name of the table that represents a table's family of similar tables."""
        return self._members.get(name, (name,))[0]

    def choose(self, text: str, items: Sequence[SchemaItem]) -> Schema:
        """Return the part of the schema to show, the likeliest tables first.

        Args:
            text: The question.
            items: What the linker found, most probable first.
        """
        question = TokenizedQuestion(text)
        score = self._add_neighbour_scores(self._score_tables(question, items))
        used_tables = {item.table for item in items if item.used_before}
        ranking = self._rank_tables(score, question, used_tables)
        rank_of = {(item.table, item.column): number for number, item in enumerate(items)}
        columns_by_table: dict[str, Sequence[str]] = {}
        light = TableShortener(self._schema)
        room = _ROOM
        for name in self._order_tables(ranking, used_tables):
            table = self._schema.table(name)
            if table is None or name in columns_by_table:
                continue
            columns = self._choose_columns(table, 3 * _FEW if light.is_table_shown_whole(table) else _FEW, rank_of)
            part = replace(table, columns=tuple(column for column in table.columns if column.name in columns))
            line = render_table_line(light.shorten_next_table(part), self._from[name], self._formatter)
            if (tokens := _estimate_tokens(line)) < room or not columns_by_table:
                room -= tokens
                columns_by_table[name] = columns
        return self._schema.part(list(columns_by_table.items()))

    def _order_tables(self, ranking: Sequence[str], recent: Iterable[str]) -> Iterable[str]:
        """Return all tables, the best choice first; a table may occur several times."""
        first: dict[str, str] = {}  # of each family
        for name in ranking:
            if name not in self._lists:
                first.setdefault(self._get_family_representative(name), name)
        things = list(first.values()) or list(ranking)
        likely = things[:_JOINED]
        bridges = [name for key in find_joining_keys(self._joinable, likely) for name in (key.table, key.ref_table)]
        lists = [key.ref_table for name in things[:_LISTS] for key in self._from[name] if key.ref_table in self._lists]
        return [*things[:WHOLE], *sorted(recent), *likely, *bridges, *find_shared_codes(self._schema), *lists, *ranking]

    def _score_tables(self, question: TokenizedQuestion, items: Sequence[SchemaItem]) -> dict[str, float]:
        score = {item.table: item.p * self._standing[item.table] for item in items if not item.column}
        words: dict[str, float] = defaultdict(float)
        question_stems = [word.stem for word, common in zip(question.words, question.common, strict=True) if not common]
        for word in dict.fromkeys(stem for stem in question_stems if len(stem) > 1 and not stem.isdecimal()):
            best: dict[str, float] = {}
            for other, weights in self._weights.items():
                if is_word_or_abbreviation(word, (other,)):
                    likeness = min(len(word), len(other)) / max(len(word), len(other))
                    for name, weight in weights.items():
                        best[name] = max(best.get(name, 0.0), likeness * weight)
            for name, weight in best.items():
                words[name] += weight
        most = max(words.values(), default=1.0)
        for name, weight in words.items():
            score[name] += _WORDS * weight / most
        for view, tables in self._views.items():
            for name in tables:
                score[name] = max(score[name], _OF_VIEW * score[view] * self._standing[name])
            if view not in self._members:
                score[view] *= _VIEW
        return score

    def _add_neighbour_scores(self, score: dict[str, float]) -> dict[str, float]:
        """Return the scores of tables, with shares of each table's two best neighbours added."""
        # Tables of one family refer to another as one.
        links = {
            (key.ref_table, self._get_family_representative(key.table))
            for key in self._schema.foreign_keys
            if self._standing[key.table] == 1
        }
        referring = Counter(name for name, _ in links)
        spread = score
        for _ in range(_ROUNDS):
            beside: dict[str, dict[str, float]] = {name: {} for name in score}
            for key in self._schema.foreign_keys:
                table, target = key.table, key.ref_table
                if table != target:
                    beside[table][target] = _PASSED * spread[target] / math.sqrt(max(1, referring[target]))
                    beside[target][table] = max(beside[target].get(table, 0.0), _PASSED * spread[table])
            best = {name: sorted(others.values(), reverse=True)[:2] for name, others in beside.items()}
            spread = {
                name: base + self._standing[name] * sum(share / place for place, share in enumerate(best[name], 1))
                for name, base in score.items()
            }
        for view in self._views.keys() & self._members.keys():
            spread[view] = max(spread[name] for name in (view, *self._views[view]))
        return spread

    def _rank_tables(self, score: Mapping[str, float], question: TokenizedQuestion, used_tables: set[str]) -> list[str]:
        """Return tables by score, without copies that no question or earlier query names."""
        # Of tables that differ by a period, those that the question names stand for all, or the last, or a view of all.
        question_stems, periods = {word.stem for word in question.words}, _read_periods(question.text)
        ranking: dict[str, None] = {}
        copies: list[str] = []
        for name in sorted(score, key=lambda name: -score[name]):
            words, members = self._copies.get(name), self._members.get(name, ())
            hits = [member for member in members if _has_common_period(periods, member)]
            head = self._heads.get(name) or (name if name in self._views else None)
            is_requested = words and (words <= question_stems or (name in hits and "".join(words).isdecimal()))
            if name in used_tables:
                ranking[name] = None
            elif words is not None and not is_requested:
                copies.append(name)
            elif not members:
                ranking[name] = None
            elif not any(member in ranking for member in members):
                first, *others = hits or [max(members)]
                ranking.update(dict.fromkeys([first, *filter(None, [head]), *(others if len(ranking) < _NEAR else ())]))
        return list(ranking) or copies

    def _choose_columns(
        self, table: TableSchema, limit: int, rank_of: Mapping[tuple[str, str | None], int]
    ) -> Sequence[str]:
        """Return a table's keys and its likeliest columns, in declared order."""
        names = [column.name for column in table.columns]
        if len(names) <= limit:
            return names
        others = [name for name in names if name not in self._key_columns[table.name]]
        likeliest = sorted(others, key=lambda name: rank_of.get((table.name, name), 0))[:limit]
        columns = self._key_columns[table.name].union(likeliest)
        return [name for name in names if name in columns]


_PERIOD = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[-/._]?(?:q_?([1-4])|m?_?(0?[1-9]|1[0-2])))?(?!\d)")
_QUARTER = re.compile(r"\b(?:q([1-4])|(\w+) quarter)\b")
_QUARTERS = {
    word: number
    for number, words in enumerate(("1 1st first", "2 2nd second", "3 3rd third", "4 4th fourth last"), 1)
    for word in words.split()
}
_MONTHS = {form: number for number, name in enumerate(MONTHS, 1) for form in {name, name[:3]} - {"may"}}


def _read_periods(text: str) -> tuple[set[int], set[int]]:
    """Return the years and months in a question or a name; a quarter counts as its months."""
    lower = text.lower()
    periods = _PERIOD.findall(lower)
    months = {_MONTHS[word] for word in re.findall(r"[^\W\d_]+", lower) if word in _MONTHS}
    months |= {5 for _ in re.findall(r"\bMay\b", text)} | {int(month) for *_, month in periods if month}
    quarters = [quarter for _, quarter, _ in periods] + [first or second for first, second in _QUARTER.findall(lower)]
    for last in (3 * _QUARTERS[quarter] for quarter in quarters if quarter in _QUARTERS):
        months |= {last - 2, last - 1, last}
    return {int(year) for year, *_ in periods}, months


def _has_common_period(periods: tuple[set[int], set[int]], name: str) -> bool:
    """Whether a table's name contains one of the given years and months."""
    (years, months), (own_years, own_months) = periods, _read_periods(name)
    return not years.isdisjoint(own_years) and not (months and own_months and months.isdisjoint(own_months))
