"""Entries proposed from queries: what a correction changes, and what recurs in a log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp

from ..database.schema import Schema
from ..sql import Query, read_query
from ..sql.query import qualify_column
from ..words import STOP_WORDS, Word, fold, make_word_set, stem_name, stems, words
from .entry import Entry, Item
from .read import write_path

MOST = 200_000  # statements that are read; a log goes on for ever
_SHOWN = 5

# Words that are no part of a term's name.
_ORDINARY = STOP_WORDS | make_word_set("average day first last month name names top total year")


@dataclass(frozen=True)
class EntrySuggestion:
    """A knowledge entry suggested by a query log, with queries that support it."""

    entry: Entry  # terms and metrics still need a name that people use
    count: int  # queries that it comes from
    queries: tuple[str, ...]  # the first of them


def propose_entries_from_correction(before: Query, after: Query, question: str) -> tuple[Entry, ...]:
    """Propose knowledge entries from the correction of a query, for a person to accept."""
    old, new, schema = _QueryParts(before), _QueryParts(after), after.schema
    entries: dict[str, Entry] = {}
    joins = (Entry("join", text, sql=text) for text in new.find_undeclared_joins() if text not in old.conditions)
    for entry in (*joins, *_find_corrected_values(old, new, question), *_find_definition(old, new, question, schema)):
        entries.setdefault(entry.key, entry)
    return tuple(entries.values())


def suggest_entries(queries: Iterable[str], schema: Schema, min_count: int = 2) -> tuple[EntrySuggestion, ...]:
    """Suggest the entries that occur in at least `min_count` queries, most frequent first."""
    by_key: dict[str, tuple[Entry, dict[str, None]]] = {}
    for query in islice(dict.fromkeys(queries), MOST):
        for entry in _extract_query_entries(query, schema):
            by_key.setdefault(entry.key, (entry, {}))[1][query] = None
    suggestions = (EntrySuggestion(entry, len(having), tuple(having)[:_SHOWN]) for entry, having in by_key.values())
    return tuple(sorted((s for s in suggestions if s.count >= min_count), key=lambda s: -s.count))


class _QueryParts:
    """The conditions and aggregates of a query, with qualified column names."""

    def __init__(self, query: Query) -> None:
        self.query, self._qualified = query, query.edit()
        for column in query.columns:
            qualify_column(copy := self._qualified.of(column.node), column.item, query.schema)
            for part in copy.parts:
                part.set("quoted", not part.name.isidentifier())
        conditions = (condition for scope in query.scopes for condition in query.conditions(scope))
        # What CASE tells apart in an aggregate is a part of a metric, and no term.
        parts = (part.node for part in conditions if part.clause != "counted" or query.ancestor(part.node, exp.Filter))
        self.conditions = {self.write_qualified(part): part for part in parts}
        self.literals = {str(node.this) for node in query.find(exp.Literal)}
        self.aggregates = {self.write_qualified(node): node for node in query.find(exp.AggFunc)}

    def write_qualified(self, node: exp.Expr) -> str:
        """Return an expression of the query as SQL, with columns qualified by the schema's tables."""
        return self._qualified.of(node).sql(dialect=self.query.schema.dialect)

    def get_compared_columns(self, node: exp.Expr) -> tuple[Item, Item] | None:
        """Return the two columns that an equality compares; None for any other condition."""
        left, right = map(self.query.column, (node.this, node.expression)) if isinstance(node, exp.EQ) else (None, None)
        return (left.item, right.item) if left and right else None

    def reads_any_column(self, node: exp.Expr) -> bool:
        """Whether a part of the query reads a column."""
        return any(map(self.query.column, self.query.find(exp.Column, within=node)))

    def find_undeclared_joins(self) -> dict[str, tuple[Item, Item]]:
        """Return the conditions that join two tables by columns other than declared keys."""
        keys = {frozenset(pair) for key in self.query.schema.foreign_keys for pair in key.pairs}
        pairs = {text: ends for text, node in self.conditions.items() if (ends := self.get_compared_columns(node))}
        return {text: ends for text, ends in pairs.items() if ends[0][0] != ends[1][0] and frozenset(ends) not in keys}


def _find_corrected_values(old: _QueryParts, new: _QueryParts, question: str) -> Iterator[Entry]:
    """Yield an entry for a value that the correction spells differently from the question."""

    def list_comparisons(parts: _QueryParts) -> Iterator[tuple[Item, str]]:
        """Yield each column that a query compares with a text, and the text."""
        for node in parts.conditions.values():
            column = parts.query.column(node.this) if isinstance(node, exp.EQ | exp.Like) else None
            if column and isinstance(node.expression, exp.Literal) and node.expression.is_string:
                yield column.item, str(node.expression.this)

    before = dict(list_comparisons(old))
    for place, text in list_comparisons(new):
        spelling = before.get(place, "")
        if spelling and spelling != text and spelling.casefold().strip("%") in question.casefold():
            yield Entry.make_item_description(*place, "", values=((text, spelling.strip("%")),))


def _find_definition(old: _QueryParts, new: _QueryParts, question: str, schema: Schema) -> Iterator[Entry]:
    """Yield a term or metric for a word unknown to the schema, with SQL of the correction."""
    conditions = {
        text: node
        for text, node in new.conditions.items()
        if text not in old.conditions
        and new.reads_any_column(node)
        and not new.get_compared_columns(node)
        and node.find(exp.AggFunc) is None
        and not any(
            str(literal.this).casefold() in question.casefold() for literal in new.query.find(exp.Literal, within=node)
        )
    }
    tables = {word for table in schema.tables for word in stem_name(table.name)}
    if conditions:
        parts = [part for node in conditions.values() for part in new.query.find(exp.Column, exp.Literal, within=node)]
        condition_stems = {stem for part in parts for stem in stem_name(part.name)}
        columns = {part.name.lower() for part in parts if isinstance(part, exp.Column)}
        if name := _find_phrase(question, tables, lambda stem: stem in condition_stems, columns):
            yield Entry("term", name, " and ".join(conditions), " AND ".join(conditions))
        return
    known_stems = {stem for literal in (*old.literals, *new.literals) for stem in stems(literal)} | tables
    known_stems |= {word for table in schema.tables for column in table.columns for word in stem_name(column.name)}
    name = _find_phrase(question, tables, lambda stem: stem not in known_stems)
    aggregates = [text for text in new.aggregates if text not in old.aggregates]
    if name and len(aggregates) == 1 and new.reads_any_column(new.aggregates[aggregates[0]]):
        yield Entry("metric", name, sql=aggregates[0])


def _find_phrase(
    question: str, tables: Collection[str], is_relevant: Callable[[str], bool], columns: Collection[str] = ()
) -> str:
    """Return the question's first phrase of relevant stems, with a table's name; '' if none.

    A phrase of columns alone, as in `by status`, names none of their values.
    """
    run: list[Word] = []
    for word in (*words(question), None):
        if word and is_relevant(word.stem) and fold(word.text) not in _ORDINARY and not word.text.isdigit():
            run.append(word)
            continue
        phrase = [*run, word] if run and word and word.stem in tables else run
        if phrase is not run or any(fold(part.text) not in columns for part in run):
            return " ".join(part.text if part.text.isupper() else part.text.lower() for part in phrase)
        run = []
    return ""


def _extract_query_entries(query: str, schema: Schema) -> Iterator[Entry]:
    """Yield the joins, conditions and metrics of a query as entries."""
    if (analysis := read_query(query, schema)) is None:
        return
    parts = _QueryParts(analysis)
    joins = parts.find_undeclared_joins()
    for text, node in parts.conditions.items():
        if text in joins:
            condition = " = ".join(map(write_path, sorted(joins[text])))
            yield Entry("join", condition, sql=condition)
        elif not parts.get_compared_columns(node) and _is_business_condition(node) and parts.reads_any_column(node):
            yield Entry("term", text, text, text)
    for text, node in parts.aggregates.items():
        if isinstance(node.this, exp.Binary | exp.Case) and parts.reads_any_column(node):
            yield Entry("metric", text, sql=text)


def _is_business_condition(node: exp.Expr) -> bool:
    """Whether a condition has a business meaning, instead of choosing single rows."""
    if node.find(exp.Subquery, exp.Select, exp.AggFunc, exp.Placeholder, exp.Parameter) is not None:
        return False
    return isinstance(node, exp.Is | exp.Not | exp.In | exp.Between | exp.Or) or (
        isinstance(node, exp.Binary) and node.find(exp.Literal) is not None
    )
