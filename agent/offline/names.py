"""A schema's names, found by the stems of a question's words, and facts about its tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest

from ...tools.database.schema import ColumnSchema, Schema
from ...tools.words import find_similar, load_synonyms, split_name_into_words
from .frame import Column, Scalar
from .words import COMMANDS, COMPARATIVES, GENERIC, PHRASES, SUPERLATIVES, UNSPOKEN, Token, split_identifier, stem_word

_VIEW = 0.9  # the factor for scores of a view's names: a table that fits as well comes first
_MAX_HITS = 200  # maximum number of hits for one run of words
_DISTINCTIVE = 0.8  # the minimum share of different values at which a column that is not a name identifies a row
_CONNECTING = frozenset({"of", "in", "by", "for", "the", "and"})
_FILLERS = frozenset({"data", "list", "info", "information", "detail", "record", "ref", "table", "tbl", "all"})
_QUANTITY = re.compile(r"\s*[-+$]?\d[\d,.]*\s*[%a-z]{0,3}\Z|\d{1,4}[-/]\d\d?[-/]\d{1,4}")
_NAMES = ("name", "title")
_NEVER = {"address", "billing", "shipping", "postal", "zip", "phone", "fax", "email"}
"""Words of columns that never identify a row."""
_PEOPLE = {"people", "person", "individual", "user", "member", "employee"}
_YES = frozenset({"1", "y", "yes", "t", "true"})
_NO = frozenset({"0", "n", "no", "f", "false"})
_GENERIC_NAMES = ("date", "name", "type", "code", "time", "year", "number")


@dataclass(frozen=True)
class NameHit:
    """A table or column that some words may name; `score` is 1 for the full name."""

    score: float
    table: str
    column: str | None = None


class StemIndex:
    """An index of a schema's tables and columns by word stems, with facts for the grammar."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._hits: dict[tuple[str, ...], dict[tuple[str, str | None], float]] = defaultdict(dict)
        self._distances: dict[str, dict[str, int]] = {}
        self._views = frozenset(table.name for table in schema.tables if table.kind == "view")
        for table in schema.tables:
            table_words = [stem_word(word) for word in split_identifier(table.name)]
            self._index_table_name(table.name, table_words)
            for column in table.columns:
                self._index_column_name(table.name, column.name, table_words)
        self.stems = frozenset(word for key in self._hits for word in key)
        self.vocabulary = sorted(word for word in self.stems if len(word) > 4)
        self.short = frozenset(word for word in self.stems if 3 <= len(word) <= 4)

    def _add_index_entry(self, words: Sequence[str], score: float, table: str, column: str | None = None) -> None:
        key = tuple(words)
        if key:
            slot = self._hits[key]
            score *= _VIEW if table in self._views else 1.0
            slot[table, column] = max(score, slot.get((table, column), 0.0))

    def _index_table_name(self, table: str, words: list[str]) -> None:
        for variant, factor in _list_synonym_variants(words):
            self._add_index_entry(variant, factor, table)
        content = [word for word in words if word not in _FILLERS]
        if content and content != words:
            for variant, factor in _list_synonym_variants(content):
                self._add_index_entry(variant, 0.95 * factor, table)
        for part, share in _list_name_parts(content):
            self._add_index_entry(part, (0.4 + 0.4 * share) * (1.0 if part[-1] == content[-1] else 0.85), table)

    def _index_column_name(self, table: str, column: str, table_words: list[str]) -> None:
        words = [stem_word(word) for word in split_identifier(column)]
        if len(words) > 1 and 3 <= len(words[0]) <= 4:
            words[0] = next((word for word in table_words if word.startswith(words[0])), words[0])
        bare = [word for word in words if word not in ("of", "in", "the", "for", "s")]
        spelling = [stem_word(word) for word in split_name_into_words(column)]
        self._add_index_entry(spelling, 1.0, table, column)
        for variant, factor in (*_list_synonym_variants(words), *_list_synonym_variants(bare)):
            self._add_index_entry(variant, factor, table, column)
        if len(words) == 3 and words[1] == "of":
            self._add_index_entry([words[2], words[0]], 0.97, table, column)
        if len(bare) == 2:
            self._add_index_entry(bare[::-1], 0.85, table, column)
            self._add_index_entry([stem_word("".join(split_identifier(column)))], 0.9, table, column)
        if len(bare) > 2:
            self._add_index_entry([bare[0], bare[-1]], 0.6, table, column)
        tail = bare
        while len(tail) > 1 and (tail[0] in table_words or [tail[0]] == [word[:1] for word in table_words[:1]]):
            tail = tail[1:]
        if tail != bare:
            for variant, factor in _list_synonym_variants(tail):
                self._add_index_entry(variant, 0.97 * factor, table, column)
        if self.find_parent(Column(table, column)) != table:
            for start in range(len(table_words)):
                for variant, factor in _list_synonym_variants(tail):
                    self._add_index_entry([*table_words[start:], *variant], 1.02 * factor, table, column)
        for part, share in _list_name_parts(bare):
            head = part[-1] == bare[-1]
            score = 0.35 + 0.4 * share + (0.1 if head else 0.0)
            if len(part) == 1 and (part[0] in GENERIC and not head):
                if part[0] not in _GENERIC_NAMES:
                    continue
                score = 0.41
            self._add_index_entry(part, score, table, column)
            for variant, factor in _list_synonym_variants(list(part))[1:]:
                self._add_index_entry(variant, score * factor, table, column)

    def find(self, stems: tuple[str, ...]) -> list[NameHit]:
        """Return the tables and columns that some word stems may name, best first."""
        scores = self._hits.get(stems)
        if not scores:
            return []
        best = nlargest(_MAX_HITS, scores.items(), key=lambda item: item[1])
        return [NameHit(score, table, column) for (table, column), score in best]

    def correct_stem(self, word: Token) -> str:
        """Return the word's stem, or the nearest name's stem if the word looks mistyped."""
        if "_" in word.text and not word.quoted:
            return " ".join(stem_word(part) for part in split_identifier(word.text))
        if word.quoted or len(word.lower) < 5 or not word.lower.isalpha() or word.stem in self.stems:
            return word.stem
        if any(word.lower in lexicon for lexicon in (COMMANDS, UNSPOKEN, SUPERLATIVES, COMPARATIVES, PHRASES)):
            return word.stem
        for size in (4, 3):
            if len(word.lower) >= size + 3 and word.lower[:size] in self.short:
                return word.lower[:size]
        nearest = (other for _, other in find_similar(word.stem, self.vocabulary))
        return next((other for other in nearest if len(other) > 4 and other[0] == word.stem[0]), word.stem)

    def column(self, column: Column) -> ColumnSchema:
        """Return the schema entry of a column."""
        entry = self.schema.column(column.table, column.name)
        assert entry is not None
        return entry

    def kind(self, column: Column) -> str:
        """Return the kind of values in a column."""
        return self.column(column).kind

    def is_numeric(self, column: Column) -> bool:
        """Whether the column contains quantities or times, possibly as text."""
        schema = self.column(column)
        texts = [sample for sample in schema.samples if isinstance(sample, str)]
        return schema.kind in ("number", "time") or bool(schema.samples and all(map(_QUANTITY.match, texts)))

    def find_yes_value(self, column: Column) -> Scalar | None:
        """Return the value that means yes in a yes/no column, or None for other columns."""
        samples = {str(sample).lower(): sample for sample in self.column(column).samples}
        if not samples or not set(samples) <= _YES | _NO:
            return None
        for word, sample in samples.items():
            if word in _YES and isinstance(sample, int | str):
                return sample
        return 1 if "0" in samples else None

    def is_quantity(self, column: Column) -> bool:
        """Whether the column measures something instead of identifying a row."""
        return self.is_numeric(column) and self.key(column.table) != column and self.find_parent(column) is None

    def key(self, table: str) -> Column | None:
        """Return the column that identifies the table's rows, or None."""
        schema = self.schema.table(table)
        if schema is None or len(schema.primary_key) > 1:
            return None
        if schema.primary_key:
            return Column(schema.name, schema.primary_key[0])
        first = schema.columns[0].name if schema.columns else ""
        owner = {*map(stem_word, split_identifier(first))} - {*map(stem_word, split_identifier(schema.name))}
        return Column(schema.name, first) if owner == {"id"} else None

    def find_titles(self, table: str) -> tuple[Column, ...]:
        """Return the columns that name the table's rows: a name or title, else first and last name."""
        schema = self.schema.table(table)
        assert schema is not None
        table_words = {stem_word(word) for word in split_identifier(table)}
        candidates: list[tuple[int, Column]] = []
        for column in schema.columns:
            words = split_identifier(column.name)
            if words and words[-1] in _NAMES and column.kind != "number":
                other_words = [word for word in words[:-1] if stem_word(word) not in table_words]
                candidates.append((len(other_words), Column(schema.name, column.name)))
        people = [c for _, c in candidates if {"first", "last"} & set(split_identifier(c.name))]
        exact = [column for others, column in candidates if others == 0]
        if exact and (len(people) < 2 or split_identifier(exact[0].name)[-1:] == ("name",)):
            return (exact[0],)
        if len(people) >= 2:
            return tuple(people[:2])
        if candidates:
            return (min(candidates, key=lambda pair: pair[0])[1],)
        for column in schema.columns[:3]:
            parent = self.find_parent(Column(schema.name, column.name))
            if parent and parent != table and set(split_identifier(parent)) & _PEOPLE and self.has_own_name(parent):
                return self.find_titles(parent)
        for column in schema.columns:
            words, title = split_identifier(column.name), Column(schema.name, column.name)
            own_text = column.kind == "text" and not column.primary_key
            if own_text and words[-1:] != ("id",) and not _NEVER & set(words) and self.find_yes_value(title) is None:
                return (title,)
        key = self.key(table)
        return (key,) if key else (Column(schema.name, schema.columns[0].name),)

    def choose_identity_column(self, table: str) -> Column:
        """Return the column that stands for the table's rows: its key, else its title."""
        return self.key(table) or self.find_titles(table)[0]

    def has_own_name(self, table: str) -> bool:
        """Whether the table's rows have a name or title of their own."""
        titles = (c.name for c in self.find_titles(table) if c.table == table)
        return any(word in _NAMES for title in titles for word in split_identifier(title)[-1:])

    def has_distinctive_title(self, table: str) -> bool:
        """Whether the title of a table identifies a row; a status shared by many rows does not."""
        entry, column = self.schema.table(table), self.find_titles(table)[0]
        assert entry is not None
        stem = {stem_word(word) for word in split_identifier(table)}
        if column.table != table or self.has_own_name(table) or stem & {*map(stem_word, split_identifier(column.name))}:
            return True
        distinct = self.column(column).distinct
        return distinct is None or entry.row_count is None or distinct >= _DISTINCTIVE * entry.row_count

    def find_hinted_column(self, hints: Sequence[str], tables: Sequence[str], max_joins: int = 2) -> Column | None:
        """Return the column that the first fitting hint names, in the nearest of `tables`."""
        best: tuple[tuple[int, int, int], Column] | None = None
        for table in self.schema.tables:
            distance = min((self.count_joins(table.name, other) for other in tables), default=max_joins + 1)
            if distance > max_joins:
                continue
            for column in table.columns:
                words = split_identifier(column.name)
                candidate = Column(table.name, column.name)
                if words[-1:] == ("id",) or not (self.is_numeric(candidate) or {"date", "time"} & set(words)):
                    continue
                names = (*words, "date", "time") if column.kind == "time" else words
                for rank, hint in enumerate(hints):
                    if hint in names:
                        order = (distance + (table.name in self._views), rank, len(words))
                        if best is None or order < best[0]:
                            best = order, candidate
        return best[1] if best else None

    @cached_property
    def _neighbour_tables(self) -> dict[str, set[str]]:
        neighbours: dict[str, set[str]] = defaultdict(set)
        for key in self.schema.foreign_keys:
            neighbours[key.table].add(key.ref_table)
            neighbours[key.ref_table].add(key.table)
        return neighbours

    def count_joins(self, start: str, other: str) -> int:
        """Return the number of foreign keys between two tables, or 9 if none connect them."""
        if (depths := self._distances.get(start)) is None:
            depths, ring = {start: 0}, {start}
            for step in range(1, 6):
                ring = {near for table in ring for near in self._neighbour_tables.get(table, ())} - depths.keys()
                depths |= dict.fromkeys(ring, step)
            self._distances[start] = depths
        return depths.get(other, 9)

    def references_table(self, table: str, other: str) -> bool:
        """Whether a foreign key of the first table points to the second."""
        return any(key.table == table and key.ref_table == other for key in self.schema.foreign_keys)

    def find_link_columns(self, table: str, other: str) -> tuple[Column, Column] | None:
        """Return the columns that connect rows of two tables, or None.

        They are the ends of a foreign key, else the first table's key as a table between them holds it, else, where
        joins lead from one to the other, that key on both sides.
        """
        table_key = self.key(table)
        link: tuple[Column, Column] | None = None
        for key in self.schema.foreign_keys:
            if len(key.columns) != 1 or not key.ref_columns:
                continue
            child, parent = Column(key.table, key.columns[0]), Column(key.ref_table, key.ref_columns[0])
            if {table, other} == {key.table, key.ref_table}:
                return (child, parent) if table == key.table else (parent, child)
            if link is None and table_key == parent and self.count_joins(key.table, other) == 1:
                link = parent, child
        if table_key is None or self.count_joins(table, other) > 3:
            return None
        return link or (table_key, table_key)

    def find_parent(self, column: Column) -> str | None:
        """Return the table that a foreign key column points to."""
        source = (column.table, (column.name,))
        return next((key.ref_table for key in self.schema.foreign_keys if (key.table, key.columns) == source), None)


def _list_synonym_variants(words: Sequence[str]) -> list[tuple[list[str], float]]:
    """Return the words as they are, then with one word replaced by a synonym."""
    variants: list[tuple[list[str], float]] = [(list(words), 1.0)]
    for position, word in enumerate(words):
        for other in _SYNONYMS.get(word, ()):
            variants.append(([*words[:position], other, *words[position + 1 :]], 0.85))
    return variants


_SYNONYMS = {stem_word(word): tuple(stem_word(other) for other in others) for word, others in load_synonyms().items()}


def _list_name_parts(words: Sequence[str]) -> list[tuple[tuple[str, ...], float]]:
    """Return the proper parts of a name, each with its share of the whole name."""
    size = len(words)
    runs = [(tuple(words[start : start + n]), n / size) for n in range(1, size) for start in range(size - n + 1)]
    return [(part, share) for part, share in runs if not {part[0], part[-1]} & _CONNECTING]
